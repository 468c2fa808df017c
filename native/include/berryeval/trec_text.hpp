// Lines with a query, a document and a number: the definition of valid lines and their columns. The
// Python twin is berryeval.data.formats.trec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berryeval {

enum class LineProblem : std::uint8_t {
  none,
  columns,
  number,
  not_a_number,
  encoding,
  infinite,
  rank,
  duplicate,
};

struct LineError {
  LineProblem problem;
  std::size_t line;   // counted from 1
  std::string found;  // the offending text
};

// Removes the next column from `line` and returns it; empty at the end.
inline std::string_view next_column(std::string_view& line) {
  // One comparison decides for letters and digits.
  const auto is_space = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r'));
  };
  std::size_t begin = 0;
  while (begin < line.size() && is_space(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_space(line[end])) ++end;
  const std::string_view column = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return column;
}

// A row of a file: "query Q0 document rank score tag" in a run, "query group document grade" in
// judgments, "query document number" in either with tabs.
struct TextRow {
  std::string_view query;
  std::string_view second;
  std::string_view document;
  std::string_view rank;
  double value;
  std::string_view tag;
};

// The number in a line of kind run_ranks is a rank, converted to the score -rank.
enum class TextKind : std::uint8_t { run, qrels, run_tsv, qrels_tsv, run_ranks };

// Returns false for a blank line or, unless tabs separate columns, a comment starting with #.
bool has_content(TextKind kind, std::string_view line);
LineProblem parse_line(TextKind kind, std::string_view line, TextRow& row, std::string_view& found);

// Whether all bytes are ASCII other than NUL.
bool is_plain(std::string_view text);
// Whether the text is valid UTF-8 without NUL.
bool is_text(std::string_view text);

}  // namespace berryeval
