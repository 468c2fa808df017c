// Operations on eight bytes in one word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berryeval {

inline constexpr std::uint64_t kTopBits = 0x8080808080808080ULL;

// Loads eight bytes, the first lowest on every machine; compilers emit a single load.
inline std::uint64_t load_word(const char* at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  }
  return word;
}

// Sets the top bit of every byte that equals `byte`, and no other bits.
inline std::uint64_t bytes_equal(std::uint64_t word, char byte) {
  const std::uint64_t other =
      word ^ static_cast<unsigned char>(byte) * std::uint64_t{0x0101010101010101ULL};
  return ~(((other & ~kTopBits) + ~kTopBits) | other) & kTopBits;
}

// Gathers the marks in the lowest eight bits.
inline std::uint64_t gather_marked(std::uint64_t marks) {
  return (marks >> 7) * 0x0102040810204080ULL >> 56;
}

inline std::uint64_t count_marked(std::uint64_t marks) {
  return (marks >> 7) * 0x0101010101010101ULL >> 56;
}

// Counts bits. Not every machine has an instruction for it, and a call would be slower.
inline std::size_t count_bits(std::uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555ULL;
  bits = (bits & 0x3333333333333333ULL) + ((bits >> 2) & 0x3333333333333333ULL);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
  return static_cast<std::size_t>(bits * 0x0101010101010101ULL >> 56);
}

}  // namespace berryeval
