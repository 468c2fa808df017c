// The array contract: rows of integer ids in, one float per row and requested metric out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "berryeval/rows.hpp"

namespace berryeval {

enum class Metric : std::uint8_t {
  recall,
  precision_of_retrieved,  // divided by the number of ids in the top k
  precision_of_k,          // divided by k
  mrr,
  ndcg,
  hit_rate,
};

// The metric of that name, as spelled by the Python reference, or nothing.
std::optional<Metric> metric_named(std::string_view name);

struct Request {
  Metric metric;
  std::size_t cutoff;
};

// No grades means that every id in `relevant` has grade 1.
using Grades = std::variant<std::monostate, Rows<std::int32_t>, Rows<float>, Rows<double>>;

struct ScoreInput {
  Rows<std::int32_t> retrieved;
  Rows<std::int32_t> relevant;
  Grades grades;
  double
      threshold;  // a document counts as relevant from this grade on; ndcg reads the grade itself
};

// `row` judges one id twice, with different grades in the columns `first` and `second`.
struct GradeConflict {
  std::size_t row;
  std::size_t first;
  std::size_t second;
};

// Writes the score of request i on row j to out[i * rows + j]. If a row contradicts itself nothing
// in `out` is meant to be read, and the first such row is returned whatever the number of threads.
// Throws std::invalid_argument when the shapes or cutoffs do not fit together.
std::optional<GradeConflict> score_rows(const ScoreInput& input, std::span<const Request> requests,
                                        std::size_t threads, std::span<float> out);

}  // namespace berryeval
