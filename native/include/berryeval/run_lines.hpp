// Reads the rows of a run from its text. Lines of the usual form have a fast path; parse_line reads
// all others and defines valid lines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "berryeval/parse_number.hpp"
#include "berryeval/trec_text.hpp"
#include "berryeval/usual_lines.hpp"

namespace berryeval {

// Reads the usual line that begins at `line` and whose columns end at `ends`. Returns false if its
// score is not a number.
inline bool read_usual(const char* text, std::size_t line, const std::uint32_t* ends,
                       TextRow& row) {
  const auto column = [&](std::size_t i) {
    const std::size_t begin = std::size_t{ends[i - 1]} + 1;
    return std::string_view(text + begin, ends[i] - begin);
  };
  row.query = {text + line, ends[0] - line};
  row.second = column(1);
  row.document = column(2);
  row.rank = column(3);
  row.tag = column(5);
  if (parse_plain(column(4), row.value)) return true;
  row.value = parse_number(column(4)).value_or(std::numeric_limits<double>::quiet_NaN());
  return !std::isnan(row.value);
}

// Calls take(row) for all rows of a text until one returns false.
template <class Take>
class RunLines {
 public:
  explicit RunLines(const Take& take) : take_(take) {}

  // Returns false if take(row) did, or if a line is faulty.
  bool read(std::string_view text) {
    while (!text.empty()) {
      std::size_t done = 0;
      if (!(usual_.find_in(text) ? take_usual(text, done) : take_any(text, done))) return false;
      text.remove_prefix(std::min(done, text.size()));
    }
    return true;
  }

 private:
  bool take_usual(std::string_view text, std::size_t& done) {
    TextRow row{};
    for (std::size_t line = 0; line < usual_.count(); ++line) {
      const std::uint32_t* const ends = usual_.ends_of(line);
      if (!read_usual(text.data(), done, ends, row) || !take_(row)) return false;
      done = std::size_t{ends[UsualLines::kColumns - 1]} + 1;
    }
    return true;
  }

  // Reads the lines that begin in the first stretch.
  bool take_any(std::string_view text, std::size_t& done) {
    TextRow row{};
    std::string_view found;
    while (done < std::min(text.size(), UsualLines::kStretch)) {
      const std::size_t stop = std::min(text.find('\n', done), text.size());
      const std::string_view line = text.substr(done, stop - done);
      done = stop + 1;
      if (parse_line(TextKind::run, line, row, found) != LineProblem::none ||
          row.query.starts_with('#')) {
        if (has_content(TextKind::run, line)) return false;
      } else if (!is_text(line) || !take_(row)) {
        return false;
      }
    }
    return true;
  }

  const Take& take_;
  UsualLines usual_;
};

}  // namespace berryeval
