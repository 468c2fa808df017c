#include "berryeval/trec_text.hpp"

#include <algorithm>
#include <cmath>

#include "berryeval/parse_number.hpp"

namespace berryeval {
namespace {

constexpr bool is_tsv(TextKind kind) { return kind != TextKind::run && kind != TextKind::qrels; }

// Removes the text up to the next tab from `line` and returns it.
std::string_view next_field(std::string_view& line) {
  const std::size_t end = std::min(line.find('\t'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

// Each of these splits the line and returns the number as text, empty if the number of columns is
// wrong.
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
  if (kind == TextKind::run_ranks) {
    if (!(*value >= 1 && *value < 0x1p53 && *value == std::floor(*value))) return LineProblem::rank;
    row.value = -*value;
    return LineProblem::none;
  }
  row.value = *value;
  return LineProblem::none;
}

}  // namespace berryeval
