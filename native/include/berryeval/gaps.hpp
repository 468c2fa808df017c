// Finds the ends of columns (blanks, tabs and line ends) in blocks of 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "berryeval/words.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace berryeval {

// Bytes per block.
inline constexpr std::size_t kBlock = 64;

// Portable implementation.
class PortableGaps {
 public:
  // Sets a bit for each byte of the block that is a gap, lowest for the first byte.
  std::uint64_t find_in(const char* block) {
    std::uint64_t gaps = 0;
    for (std::size_t i = 0; i < kBlock; i += 8) {
      const std::uint64_t word = load_word(block + i);
      const std::uint64_t ends = bytes_equal(word, '\n');
      const std::uint64_t found = ends | bytes_equal(word, ' ') | bytes_equal(word, '\t');
      others_ |= found ^ bytes_outside(word);
      lines_ += count_marked(ends);
      gaps |= gather_marked(found) << i;
    }
    return gaps;
  }

  // Number of gaps that were line ends.
  std::size_t lines() const { return static_cast<std::size_t>(lines_); }
  // Whether there were other control characters or non-ASCII bytes.
  bool others() const { return others_ != 0; }

 private:
  // Marks the bytes that are not visible ASCII characters.
  static std::uint64_t bytes_outside(std::uint64_t word) {
    constexpr std::uint64_t kToTop = 0x5F5F5F5F5F5F5F5FULL;  // sets the top bit from '!' on
    return (word | ~((word & ~kTopBits) + kToTop)) & kTopBits;
  }

  std::uint64_t lines_ = 0;
  std::uint64_t others_ = 0;
};

#ifdef __SSE2__  // every x86-64 has it
// SSE2 implementation, sixteen bytes per operation.
class SseGaps {
 public:
  std::uint64_t find_in(const char* block) {
    std::uint64_t gaps = 0;
    __m128i line_ends = _mm_setzero_si128();
    for (std::size_t i = 0; i < kBlock; i += sizeof(__m128i)) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
      const __m128i ends = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
      const __m128i between = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
      const __m128i found = _mm_or_si128(ends, between);
      // Non-ASCII bytes are negative and so below '!'.
      const __m128i outside = _mm_cmplt_epi8(bytes, _mm_set1_epi8('!'));
      others_ = _mm_or_si128(others_, _mm_xor_si128(outside, found));
      line_ends = _mm_sub_epi8(line_ends, ends);  // a match is -1
      gaps |= static_cast<std::uint64_t>(_mm_movemask_epi8(found)) << i;
    }
    lines_ = _mm_add_epi64(lines_, _mm_sad_epu8(line_ends, _mm_setzero_si128()));
    return gaps;
  }

  std::size_t lines() const {
    return static_cast<std::size_t>(_mm_cvtsi128_si32(lines_)) +
           static_cast<std::size_t>(_mm_cvtsi128_si32(_mm_srli_si128(lines_, 8)));
  }
  bool others() const { return _mm_movemask_epi8(others_) != 0; }

 private:
  __m128i lines_ = _mm_setzero_si128();
  __m128i others_ = _mm_setzero_si128();
};
using Gaps = SseGaps;
#else
using Gaps = PortableGaps;
#endif

}  // namespace berryeval
