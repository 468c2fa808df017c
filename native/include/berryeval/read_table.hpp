// Parses a file into columns, grouped by query in order of appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berryeval/strings.hpp"
#include "berryeval/trec_text.hpp"

namespace berryeval {

struct TableColumns {
  StringBuilder queries;
  std::vector<std::int64_t> offsets{0};
  StringBuilder documents;
  std::vector<double> values;
  StringBuilder seconds;            // the second column: Q0, or the group of a judgment
  std::vector<std::int64_t> lines;  // line number of each row, for messages
  std::string tag;
  std::size_t dropped = 0;
};

// Reads `text`. The first faulty line or repeated document is an error; if lenient, such lines are
// dropped and counted.
std::optional<LineError> read_table(TextKind kind, std::string_view text, bool lenient,
                                    TableColumns& columns);

}  // namespace berryeval
