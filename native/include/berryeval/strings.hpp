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

template <class Word>
inline std::uint64_t word_at(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

inline std::uint64_t mixed_in(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32);
}

// Eight bytes at a time, each mixed in by a multiplication; the last eight may overlap those before
// them, so that no copy of odd length is needed. Good enough for tables of document ids; equality
// is always checked on the bytes.
inline std::uint64_t hash_of(std::string_view text) {
  const char* at = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = size;
  if (size >= 8) {
    const char* const last = at + size - 8;
    for (; at < last; at += 8) hash = mixed_in(hash, word_at<std::uint64_t>(at));
    hash = mixed_in(hash, word_at<std::uint64_t>(last));
  } else if (size >= 4) {
    hash = mixed_in(hash, word_at<std::uint32_t>(at) << 32 | word_at<std::uint32_t>(at + size - 4));
  } else if (size > 0) {
    hash =
        mixed_in(hash, word_at<std::uint8_t>(at) << 16 | word_at<std::uint8_t>(at + size / 2) << 8 |
                           word_at<std::uint8_t>(at + size - 1));
  }
  return mixed_in(hash, 0);
}

struct HashOfText {
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(hash_of(text));
  }
};

}  // namespace berryeval
