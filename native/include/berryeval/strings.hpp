// Columns of strings, and the hash that everything looking for ids uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

template <class Word>
std::uint64_t load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof(Word));
  return word;
}

// Eight bytes at a time, each mixed in by a multiplication; the last eight may overlap those before.
// Good enough for tables of document ids; equality is always checked on the bytes.
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

}  // namespace berryeval
