#include "berryeval/trec_text.hpp"

#include <cmath>

namespace berryeval {

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
