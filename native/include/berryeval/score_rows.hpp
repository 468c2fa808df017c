// The array contract: rows of integer ids in, one float per row and requested metric out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "berryeval/metrics.hpp"
#include "berryeval/rows.hpp"

namespace berryeval {

// The formula of an array metric by the name that the Python reference uses, or null.
Formula find_array_formula(std::string_view name);

struct Request {
  Formula formula;
  std::size_t cutoff;
};

// No grades means that every id in `relevant` has grade 1.
using Grades = std::variant<std::monostate, Rows<std::int32_t>, Rows<float>, Rows<double>>;

struct ScoreInput {
  Rows<std::int32_t> retrieved;
  Rows<std::int32_t> relevant;
  Grades grades;
  double threshold;  // the least grade of a relevant document; nDCG reads the grade itself
};

// An id with different grades in the columns `first` and `second` of `row`.
struct GradeConflict {
  std::size_t row;
  std::size_t first;
  std::size_t second;
};

// Writes the score of request i on row j to out[i * rows + j]. If a row contradicts itself, returns
// the first such row, whatever the number of threads, and leaves `out` undefined. Throws
// std::invalid_argument if shapes or cutoffs do not fit together.
std::optional<GradeConflict> score_rows(const ScoreInput& input, std::span<const Request> requests,
                                        std::size_t threads, std::span<float> out);

}  // namespace berryeval
