#include "berryeval/trec_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <version>

namespace berryeval {
namespace {

bool is_number_start(std::string_view text) {
  // from_chars takes "nan(...)" and hexadecimal digits never; a sign or digit or dot or inf may
  // start.
  return !text.empty();
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
  if (!is_number_start(text) || text.starts_with('+')) return std::nullopt;
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

bool has_content(std::string_view line) {
  const std::string_view first = next_column(line);
  return !first.empty() && first.front() != '#';
}

LineProblem parse_line(TextKind kind, std::string_view line, TextRow& row,
                       std::string_view& found) {
  const std::string_view whole = line;
  row.query = next_column(line);
  row.second = next_column(line);
  row.document = next_column(line);
  std::string_view number;
  if (kind == TextKind::run) {
    row.rank = next_column(line);
    number = next_column(line);
    row.tag = next_column(line);
    if (row.tag.empty()) {
      found = whole;
      return LineProblem::columns;
    }
  } else {
    number = next_column(line);
    if (number.empty() || !next_column(line).empty()) {
      found = whole;
      return LineProblem::columns;
    }
  }
  const auto value = parse_number(number);
  if (!value || std::isnan(*value)) {
    found = number;
    return value ? LineProblem::not_a_number : LineProblem::number;
  }
  row.value = *value;
  return LineProblem::none;
}

}  // namespace berryeval
