#include "berryeval/parse_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <version>

namespace berryeval {
namespace {

#ifdef __cpp_lib_to_chars
// The value of a valid number that is out of the range of double: infinity or zero, depending on
// the position of its first nonzero digit.
double beyond_range(std::string_view text) {
  const double sign = text.starts_with('-') ? -1.0 : 1.0;
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, e);
  const std::size_t dot = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return sign * 0.0;
  std::int64_t scale = first < dot ? static_cast<std::int64_t>(dot - first)
                                   : -static_cast<std::int64_t>(first - dot - 1);
  if (e < text.size()) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    std::int64_t exponent = 0;
    const auto [end, problem] =
        std::from_chars(power.data(), power.data() + power.size(), exponent);
    constexpr std::int64_t kHuge = std::int64_t{1} << 62;
    if (problem != std::errc{}) exponent = power.starts_with('-') ? -kHuge : kHuge;
    scale = std::min(kHuge, std::max(-kHuge, exponent)) + scale;
  }
  return scale > 0 ? sign * std::numeric_limits<double>::infinity() : sign * 0.0;
}
#else
// For standard libraries without from_chars.
std::optional<double> parse_slowly(std::string_view text) {
  const std::string copy(text);
  if (copy.find_first_of("xXpP") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  return value;
}
#endif

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  }
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  if (parse_plain(text, value)) return value;
#ifdef __cpp_lib_to_chars
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (problem == std::errc::result_out_of_range) return beyond_range(text);
  if (problem != std::errc{}) return std::nullopt;
  return value;
#else
  return parse_slowly(text);
#endif
}

}  // namespace berryeval
