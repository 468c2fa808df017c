#include "berryeval/evaluate.hpp"

#include <algorithm>
#include <vector>

#include "berryeval/parallel.hpp"

namespace berryeval {

std::optional<Duplicate> QueryScorer::score(std::size_t query, std::span<const Scored> rows,
                                            bool in_run, bool distinct) {
  const QueryTable& qrels = task_.qrels;
  const std::size_t begin = qrels.begin_of(query);
  const auto repeated = judge_.learn(
      qrels.end_of(query) - begin, [&](std::size_t i) { return qrels.documents[begin + i]; },
      [&](std::size_t i) { return qrels.values[begin + i]; });
  if (repeated) return Duplicate{false, begin + *repeated};
  if (const auto row = judge_.rank(rows, distinct)) return Duplicate{true, *row};

  const JudgedRanking ranking = judge_.ranking();
  const JudgedRanking condensed = judge_.condensed();
  task_.counts[query] = {
      .retrieved = static_cast<std::int64_t>(ranking.retrieved),
      .judged_retrieved = static_cast<std::int64_t>(condensed.retrieved),
      .relevant = static_cast<std::int64_t>(ranking.relevant_total(1.0)),
      .in_run = in_run ? 1 : 0,
  };
  const std::size_t queries = qrels.queries.count;
  for (std::size_t i = 0; i < task_.specs.size(); ++i) {
    const Spec& spec = task_.specs[i];
    task_.out[i * queries + query] =
        spec.formula(spec.params.judged_only ? condensed : ranking, spec.params);
  }
  return std::nullopt;
}

std::optional<Duplicate> evaluate(const Task& task, const QueryTable& run,
                                  std::span<const std::int64_t> run_query_of, std::size_t threads) {
  const std::size_t queries = task.qrels.queries.count;
  const std::size_t parts = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, queries));
  std::vector<std::optional<Duplicate>> duplicates(parts);
  for_each_part(queries, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
    QueryScorer scorer(task);
    std::vector<Scored> rows;
    for (std::size_t query = begin; query < end && !duplicates[part]; ++query) {
      std::size_t first = 0;
      std::size_t count = 0;
      const bool in_run = run_query_of[query] != kNotInRun;
      if (in_run) {
        const auto run_query = static_cast<std::size_t>(run_query_of[query]);
        first = run.begin_of(run_query);
        count = run.end_of(run_query) - first;
        if (rows.size() < count) rows.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
          rows[i] = {run.documents[first + i], run.values[first + i]};
          require_number(rows[i].score);
        }
      }
      duplicates[part] = scorer.score(query, {rows.data(), count}, in_run, run.distinct);
      if (duplicates[part] && duplicates[part]->in_run) duplicates[part]->row += first;
    }
  });
  for (const auto& duplicate : duplicates) {
    if (duplicate) return duplicate;
  }
  return std::nullopt;
}

}  // namespace berryeval
