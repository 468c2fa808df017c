// Columns of strings, and the hash that everything looking for ids uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace berryeval {

// Strings end to end with the offset where each begins, owned by somebody else.
struct Strings {
  const char* data = nullptr;
  const std::int64_t* offsets = nullptr;
  std::size_t count = 0;

  std::string_view operator[](std::size_t index) const {
    return {data + offsets[index], static_cast<std::size_t>(offsets[index + 1] - offsets[index])};
  }
};

// A growing column of strings.
struct StringBuilder {
  std::vector<char> data;
  std::vector<std::int64_t> offsets{0};

  void add(std::string_view text) {
    data.insert(data.end(), text.begin(), text.end());
    offsets.push_back(static_cast<std::int64_t>(data.size()));
  }
};

// Eight bytes at a time, each mixed in by a multiplication. Good enough for tables of document ids;
// equality is always checked on the bytes.
inline std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = text.size() * kMultiplier;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  return hash * kMultiplier;
}

struct HashOfText {
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(hash_of(text));
  }
};

}  // namespace berryeval
