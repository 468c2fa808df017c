// Numbers from text. The general parser is slow; nearly all scores of runs are plain decimals of at
// most sixteen characters, which are read here eight at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "berryeval/strings.hpp"
#include "berryeval/words.hpp"

namespace berryeval {

// The value of a decimal number (also "inf"), or nothing, independent of the locale.
std::optional<double> parse_number(std::string_view text);

// Digits and an optional point, right-aligned in sixteen bytes and padded with zeros.
struct SixteenBytes {
  static constexpr std::uint64_t kZeros = 0x3030303030303030ULL;  // "00000000"

  std::uint64_t upper;  // the first eight
  std::uint64_t lower;

  // `text` has 4 to 16 characters. Shifts in two steps, since one by 64 is undefined.
  explicit SixteenBytes(std::string_view text) {
    const char* const at = text.data();
    const auto bits = static_cast<int>(4 * text.size());
    if (text.size() >= 8) {
      upper = load<std::uint64_t>(at) << (64 - bits) << (64 - bits) |
              kZeros >> (bits - 32) >> (bits - 32);
      lower = load<std::uint64_t>(at + text.size() - 8);
    } else {
      upper = kZeros;
      lower = load<std::uint32_t>(at) << (64 - 2 * bits) |
              load<std::uint32_t>(at + text.size() - 4) << 32 | kZeros >> (2 * bits);
    }
  }

  // Moves everything before the first point one byte to the right, over the point.
  void drop_upper_point(std::uint64_t points) {
    const std::uint64_t up_to_point = points ^ (points - 1);
    upper = ((upper << 8 | '0') & up_to_point) | (upper & ~up_to_point);
  }
  void drop_lower_point(std::uint64_t points) {
    const std::uint64_t up_to_point = points ^ (points - 1);
    lower = ((lower << 8 | upper >> 56) & up_to_point) | (lower & ~up_to_point);
    upper = upper << 8 | '0';
  }

  bool all_digits() const { return (others_in(upper) | others_in(lower)) == 0; }

  std::uint64_t value() const { return eight_digits(upper) * 100000000 + eight_digits(lower); }

 private:
  // Nonzero if a byte is not a digit: the high half of a digit is 3, also after adding 6.
  static std::uint64_t others_in(std::uint64_t text) {
    constexpr std::uint64_t kHalves = 0xF0F0F0F0F0F0F0F0ULL;
    constexpr std::uint64_t kSixes = 0x0606060606060606ULL;
    return ((text ^ kZeros) | ((text + kSixes) ^ kZeros)) & kHalves;
  }

  // The first digit is in the lowest byte: pairs, then fours, then all eight.
  static std::uint64_t eight_digits(std::uint64_t text) {
    constexpr std::uint64_t kPair = 0x000000FF000000FFULL;
    text -= kZeros;
    text = text * 10 + (text >> 8);
    return ((text & kPair) * 0x000F424000000064ULL +
            ((text >> 16) & kPair) * 0x0000271000000001ULL) >>
           32;
  }
};

// Reads a decimal of 4 to 16 characters with a point, an optional minus and no exponent; returns
// false for all other texts. Its digits (at most 15) and the power of ten are exact doubles, so one
// division rounds correctly.
inline bool parse_plain(std::string_view text, double& value) {
  constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  if (std::endian::native != std::endian::little || text.size() < 4 || text.size() > 16) {
    return false;
  }
  SixteenBytes bytes(text);
  int place = 0;  // position of the point
  if (const std::uint64_t point = bytes_equal(bytes.lower, '.'); point != 0) {
    place = 8 + std::countr_zero(point) / 8;
    bytes.drop_lower_point(point);  // a second point is not a digit
  } else if (const std::uint64_t higher = bytes_equal(bytes.upper, '.'); higher != 0) {
    place = std::countr_zero(higher) / 8;
    bytes.drop_upper_point(higher);
  } else {
    return false;
  }
  if (!bytes.all_digits()) return false;
  const double number = static_cast<double>(bytes.value()) / kPowers[15 - place];
  value = negative ? -number : number;
  return true;
}

}  // namespace berryeval
