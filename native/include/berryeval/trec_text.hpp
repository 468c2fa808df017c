// Lines of files with a query, a document and a number: split into columns, numbers parsed. One
// home for what a line may look like; the Python twin is berryeval.io.trec.
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

// Takes the next column off `line`; empty if there is none.
inline std::string_view next_column(std::string_view& line) {
  // One comparison settles it for letters and digits.
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

// A row of a file: of a run "query Q0 document rank score tag", of judgments
// "query group document grade", of either with tabs "query document number".
struct TextRow {
  std::string_view query;
  std::string_view second;
  std::string_view document;
  std::string_view rank;
  double value;
  std::string_view tag;
};

// The number of a line of kind run_ranks is a rank, which becomes the score -rank.
enum class TextKind : std::uint8_t { run, qrels, run_tsv, qrels_tsv, run_ranks };

// False for a line without content: blank, or, unless tabs separate, a comment that begins with #.
bool has_content(TextKind kind, std::string_view line);
LineProblem parse_line(TextKind kind, std::string_view line, TextRow& row, std::string_view& found);

// Whether all of it is ASCII without NUL, so that no line needs a closer look.
bool is_plain(std::string_view text);
// Whether it is valid UTF-8 without NUL.
bool is_text(std::string_view text);

}  // namespace berryeval
