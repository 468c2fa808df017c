// Scores tables of judgments and results: one value per metric and judged query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "berryeval/metrics.hpp"
#include "berryeval/query_judge.hpp"
#include "berryeval/strings.hpp"

namespace berryeval {

// Rows of a document and a number, grouped by query; the twin of berryeval.data.QueryTable.
struct QueryTable {
  Strings queries;
  const std::int64_t* offsets = nullptr;  // must not change
  Strings documents;
  const double* values = nullptr;
  bool distinct = false;  // no query repeats a document

  std::size_t begin_of(std::size_t query) const { return static_cast<std::size_t>(offsets[query]); }
  std::size_t end_of(std::size_t query) const {
    return static_cast<std::size_t>(offsets[query + 1]);
  }
};

struct Spec {
  Formula formula;
  Params params;
};

// The counts of a judged query.
struct Counts {
  std::int64_t retrieved;
  std::int64_t judged_retrieved;
  std::int64_t relevant;
  std::int64_t in_run;
};

// A repeated document in a query of the run or of the judgments, with its row in the table.
struct Duplicate {
  bool in_run;
  std::size_t row;
};

inline constexpr std::int64_t kNotInRun = -1;

// An evaluation without the rows of the run.
struct Task {
  const QueryTable& qrels;
  std::span<const Spec> specs;
  RankingRule rule;
  std::span<double> out;  // out[spec * queries + query]
  std::span<Counts> counts;
};

// The worker of one thread, which scores queries into the task's output.
class QueryScorer {
 public:
  explicit QueryScorer(const Task& task) : task_(task), judge_(task.rule) {}
  // `distinct`: no document is repeated in the rows.
  std::optional<Duplicate> score(std::size_t query, std::span<const Scored> rows, bool in_run,
                                 bool distinct = false);

 private:
  const Task& task_;
  QueryJudge judge_;
};

// run_query_of[i] is the query of the run with the id of the i-th judged query, or kNotInRun.
std::optional<Duplicate> evaluate(const Task& task, const QueryTable& run,
                                  std::span<const std::int64_t> run_query_of, std::size_t threads);

}  // namespace berryeval
