// Numbers from text. The general ways are correct and slow; scores of runs are nearly all plain decimals
// of eight to sixteen characters, which are read here eight at a time.
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <version>

#include "berryeval/strings.hpp"
#include "berryeval/trec_text.hpp"

namespace berryeval {
namespace {

constexpr std::uint64_t kZeros = 0x3030303030303030ULL;  // "00000000"
constexpr std::uint64_t kPoints = 0x2E2E2E2E2E2E2E2EULL;
constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7FULL;
constexpr std::uint64_t kHalves = 0xF0F0F0F0F0F0F0F0ULL;
constexpr std::uint64_t kSixes = 0x0606060606060606ULL;

constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// The top bit of every byte that is a point.
std::uint64_t points_in(std::uint64_t text) {
  const std::uint64_t other = text ^ kPoints;
  return ~(((other & kLow) + kLow) | other | kLow);
}

bool all_digits(std::uint64_t text) {
  return (text & kHalves) == kZeros && ((text + kSixes) & kHalves) == kZeros;
}

// The value of eight digits, the first in the lowest byte: pairs, then fours, then all eight.
std::uint64_t eight_digits(std::uint64_t text) {
  text -= kZeros;
  text = text * 10 + (text >> 8);
  constexpr std::uint64_t kPair = 0x000000FF000000FFULL;
  return ((text & kPair) * 0x000F424000000064ULL + ((text >> 16) & kPair) * 0x0000271000000001ULL) >>
         32;
}

// A decimal of 8 to 16 characters without sign or exponent. Its digits (at most 15) and the power of
// ten are exact doubles, so one division rounds correctly.
std::optional<double> parse_plain(std::string_view text) {
  const std::size_t size = text.size();
  if (std::endian::native != std::endian::little || size < 8 || size > 16) return std::nullopt;
  // The text to the right in sixteen bytes, zeros before it. Shifts in two steps, since one by 64
  // is undefined.
  const auto gap = static_cast<int>(4 * (16 - size));
  const auto kept = static_cast<int>(4 * (size - 8));
  std::uint64_t upper = load<std::uint64_t>(text.data()) << gap << gap | kZeros >> kept >> kept;
  std::uint64_t lower = load<std::uint64_t>(text.data() + size - 8);
  const std::uint64_t upper_point = points_in(upper);
  const std::uint64_t lower_point = points_in(lower);
  const std::uint64_t point = upper_point | lower_point;
  if (point == 0 || (point & (point - 1)) != 0 || (upper_point != 0 && lower_point != 0)) {
    return std::nullopt;
  }
  // Everything before the point moves over it, one byte to the right.
  const std::uint64_t up_to_point = (point << 1) - 1;
  const std::uint64_t moved_upper = upper << 8 | '0';
  const std::uint64_t moved_lower = lower << 8 | upper >> 56;
  if (lower_point != 0) {
    upper = moved_upper;
    lower = (moved_lower & up_to_point) | (lower & ~up_to_point);
  } else {
    upper = (moved_upper & up_to_point) | (upper & ~up_to_point);
  }
  if (!all_digits(upper) || !all_digits(lower)) return std::nullopt;
  const int place = std::countr_zero(point) / 8 + (lower_point != 0 ? 8 : 0);
  const std::uint64_t digits = eight_digits(upper) * 100000000ULL + eight_digits(lower);
  return static_cast<double>(digits) / kPowers[15 - place];
}

// The slow way, for numbers beyond the range of double and compilers without the fast one.
std::optional<double> parse_slowly(std::string_view text) {
  const std::string copy(text);
  if (copy.find_first_of("xXpP") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.starts_with('+')) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (const auto plain = parse_plain(text.substr(negative ? 1 : 0))) {
    return negative ? -*plain : *plain;
  }
#ifdef __cpp_lib_to_chars
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::result_out_of_range) return parse_slowly(text);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
#else
  return parse_slowly(text);
#endif
}

}  // namespace berryeval
