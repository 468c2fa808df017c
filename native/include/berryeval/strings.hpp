// Columns of strings, and the hash of ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace berryeval {

// Concatenated strings with their offsets, owned by the caller. Another thread may write to them
// meanwhile; reads then return arbitrary bytes, but never outside of the data. Hence both offsets
// are read once (volatile: not again after the check).
struct Strings {
  const char* data = nullptr;
  std::size_t size = 0;  // of the data
  const std::int64_t* offsets = nullptr;
  std::size_t count = 0;

  std::string_view operator[](std::size_t index) const {
    const volatile std::int64_t* const at = offsets + index;
    const auto begin = static_cast<std::size_t>(at[0]);
    const auto end = static_cast<std::size_t>(at[1]);
    if (begin > end || end > size) return {data, 0};
    return {data + begin, end - begin};
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
std::uint64_t load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof(Word));
  return word;
}

// Mixes eight bytes at a time by a multiplication; the last eight may overlap the previous ones.
// Tables of document ids need no better hash, because they also compare the bytes.
inline std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  const char* at = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = size * kMultiplier;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  if (size >= 8) {
    for (std::size_t done = 0; done + 8 < size; done += 8) mix(load<std::uint64_t>(at + done));
    mix(load<std::uint64_t>(at + size - 8));
  } else if (size >= 4) {
    mix(load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4));
  } else if (size > 0) {
    mix(load<std::uint8_t>(at) << 16 | load<std::uint8_t>(at + size / 2) << 8 |
        load<std::uint8_t>(at + size - 1));
  }
  return hash * kMultiplier;
}

// Whether two ids are equal, without a call for short ones.
inline bool same_text(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return a == b;
  if (size >= 8) {
    return load<std::uint64_t>(a.data()) == load<std::uint64_t>(b.data()) &&
           load<std::uint64_t>(a.data() + size - 8) == load<std::uint64_t>(b.data() + size - 8);
  }
  if (size >= 4) {
    return load<std::uint32_t>(a.data()) == load<std::uint32_t>(b.data()) &&
           load<std::uint32_t>(a.data() + size - 4) == load<std::uint32_t>(b.data() + size - 4);
  }
  return a == b;
}

struct HashOfText {
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(hash_of(text));
  }
};

}  // namespace berryeval
