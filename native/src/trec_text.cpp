#include "berryeval/trec_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <version>

namespace berryeval {
namespace {

constexpr bool is_tsv(TextKind kind) {
  return kind == TextKind::run_tsv || kind == TextKind::qrels_tsv;
}

#ifdef __cpp_lib_to_chars
// A number that from_chars found too large or too small for a double: infinity, or zero. `text` is
// a valid number; what counts is where its first digit other than 0 stands.
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

// Takes what stands before the next tab off `line`.
std::string_view next_field(std::string_view& line) {
  const std::size_t end = std::min(line.find('\t'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

// Each of these takes the line apart and gives the number as text, empty if columns are missing or
// too many.
std::string_view split_run(std::string_view line, TextRow& row) {
  row.query = next_column(line);
  row.second = next_column(line);
  row.document = next_column(line);
  row.rank = next_column(line);
  const std::string_view number = next_column(line);
  row.tag = next_column(line);
  return row.tag.empty() ? std::string_view{} : number;
}

std::string_view split_qrels(std::string_view line, TextRow& row) {
  row.query = next_column(line);
  row.second = next_column(line);
  row.document = next_column(line);
  const std::string_view number = next_column(line);
  return next_column(line).empty() ? number : std::string_view{};
}

std::string_view split_tsv(std::string_view line, TextRow& row) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  row.query = next_field(line);
  row.document = next_field(line);
  const bool complete = line.find('\t') == std::string_view::npos;
  return complete && !row.query.empty() && !row.document.empty() ? line : std::string_view{};
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  }
  if (text.empty()) return std::nullopt;
#ifdef __cpp_lib_to_chars
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (problem == std::errc::result_out_of_range) return beyond_range(text);
  if (problem != std::errc{}) return std::nullopt;
  return value;
#else
  return parse_slowly(text);
#endif
}

bool has_content(TextKind kind, std::string_view line) {
  const std::string_view first = next_column(line);
  return !first.empty() && (is_tsv(kind) || first.front() != '#');
}

LineProblem parse_line(TextKind kind, std::string_view line, TextRow& row,
                       std::string_view& found) {
  const std::string_view number = kind == TextKind::run     ? split_run(line, row)
                                  : kind == TextKind::qrels ? split_qrels(line, row)
                                                            : split_tsv(line, row);
  if (number.empty()) {
    found = line;
    return LineProblem::columns;
  }
  const auto value = parse_number(number);
  found = number;
  if (!value) return LineProblem::number;
  if (std::isnan(*value)) return LineProblem::not_a_number;
  const bool is_grade = kind == TextKind::qrels || kind == TextKind::qrels_tsv;
  if (is_grade && std::isinf(*value)) return LineProblem::infinite;
  row.value = *value;
  return LineProblem::none;
}

}  // namespace berryeval
