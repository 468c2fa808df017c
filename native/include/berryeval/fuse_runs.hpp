// Fusion of whole runs, and scores of many fusions without a run for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "berryeval/evaluate.hpp"
#include "berryeval/fusion.hpp"
#include "berryeval/string_views.hpp"

namespace berryeval {

// A document that a run repeats in a query, with its row in the run.
struct RepeatedRow {
  std::size_t run;
  std::size_t row;
};

struct FusedRows {
  OwnedStrings documents;
  std::vector<std::int64_t> offsets;  // of each query
  std::unique_ptr<double[]> scores;
};

// places[run * queries + query] is the place of the query in the run, or kNotInRun. At most `depth`
// documents per query are kept.
std::variant<RepeatedRow, FusedRows> fuse_runs(std::span<const QueryTable> runs,
                                               std::span<const std::int64_t> places,
                                               std::size_t queries, const FusionRecipe& recipe,
                                               std::size_t depth, std::size_t threads);

// Scores each fusion of the runs on each judged query: out[recipe * queries + query]. All recipes
// must agree on `inverted`. Returns a repeated document of a run; its run is runs.size() for one
// of the judgments.
std::optional<RepeatedRow> score_fusions(const QueryTable& qrels, std::span<const QueryTable> runs,
                                         std::span<const std::int64_t> places,
                                         std::span<const FusionRecipe> recipes, const Spec& spec,
                                         std::span<double> out, std::size_t threads);

struct RelevantRanks {
  std::optional<Duplicate> repeated;
  std::vector<std::int64_t> counts;  // of each judged query
  std::vector<std::int64_t> ranks;   // from 0, ascending within a query
};

// Finds the documents with a grade of at least `rel`; places as in `evaluate`.
RelevantRanks relevant_ranks(const QueryTable& qrels, const QueryTable& run,
                             std::span<const std::int64_t> places, double rel, std::size_t threads);

}  // namespace berryeval
