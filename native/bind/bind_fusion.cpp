// Fusion of runs for Python.
#include "bind_fusion.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "berryeval/fuse_runs.hpp"
#include "engine_arguments.hpp"
#include "specs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr std::array<std::string_view, 6> kPoints = {"score",  "rank",  "segment",
                                                     "window", "borda", "boosted"};
constexpr std::array<std::string_view, 7> kCombinations = {"sum",    "mean",  "max",      "min",
                                                           "median", "votes", "condorcet"};
constexpr std::array<std::string_view, 7> kNorms = {"none", "min-max", "max",  "sum",
                                                    "zmuv", "rank",    "borda"};

// points, combine, norm, inverted, least, missing, window, scales, votes, factors, tables
using RecipeArrays = std::tuple<std::string, std::string, std::string, bool, double, double,
                                std::size_t, std::vector<double>, std::vector<double>,
                                std::vector<double>, std::vector<Column<const double>>>;

// The enumerator at the place of the name.
template <class Enum, std::size_t N>
Enum word_of(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("unknown step of a fusion");
}

// Tables of the runs, which must not move: each points into itself.
struct Runs {
  explicit Runs(const std::vector<TableArrays>& arrays) {
    for (const TableArrays& one : arrays) {
      owned.emplace_back(one);
      tables.push_back(owned.back());
    }
  }
  std::size_t longest(std::size_t run) const {
    const berryeval::QueryTable& table = tables[run];
    std::size_t longest = 0;
    for (std::size_t i = 0; i < table.queries.count; ++i) {
      longest = std::max(longest, table.end_of(i) - table.begin_of(i));
    }
    return longest;
  }

  std::deque<Table> owned;
  std::vector<berryeval::QueryTable> tables;
};

void check_tables(const berryeval::FusionRecipe& recipe, const Runs& runs) {
  using enum berryeval::FusionPoints;
  const bool by_rank = recipe.points == rank || recipe.points == window || recipe.points == boosted;
  if (recipe.combine == berryeval::FusionCombine::condorcet) return;
  if (!by_rank && recipe.points != segment) return;
  require(recipe.tables.size() == runs.tables.size(), "a table per run is needed");
  for (std::size_t run = 0; run < runs.tables.size(); ++run) {
    const std::size_t size = recipe.tables[run].size();
    require(by_rank ? size >= runs.longest(run) : size > 0, "a table of a recipe is too short");
  }
}

berryeval::FusionRecipe recipe_of(const RecipeArrays& arrays, const Runs& runs) {
  const auto& [points, combine, norm, inverted, least, missing, window, scales, votes, factors,
               tables] = arrays;
  berryeval::FusionRecipe recipe{word_of<berryeval::FusionPoints>(kPoints, points),
                                 word_of<berryeval::FusionCombine>(kCombinations, combine),
                                 word_of<berryeval::FusionNorm>(kNorms, norm),
                                 inverted,
                                 least,
                                 missing,
                                 window,
                                 scales,
                                 votes,
                                 factors,
                                 {}};
  for (const auto& table : tables) recipe.tables.push_back(copy_of(table));
  const std::size_t count = runs.tables.size();
  require(scales.size() == count && votes.size() == count && factors.size() == count + 1,
          "the numbers of a recipe do not fit the runs");
  check_tables(recipe, runs);
  return recipe;
}

std::vector<std::int64_t> places_of(const Matrix<const std::int64_t>& places, const Runs& runs) {
  require(places.shape(0) == runs.tables.size() && places.shape(0) > 0,
          "places must be runs x queries");
  const auto given = span_of(places);
  std::vector<std::int64_t> copy(given.begin(), given.end());
  for (std::size_t run = 0; run < runs.tables.size(); ++run) {
    const auto count = static_cast<std::int64_t>(runs.tables[run].queries.count);
    for (std::size_t i = 0; i < places.shape(1); ++i) {
      const std::int64_t place = copy[run * places.shape(1) + i];
      require(place >= berryeval::kNotInRun && place < count, "a place is out of range");
    }
  }
  return copy;
}

// The documents, offsets and scores, or the run and row of a repeated document.
nb::tuple fuse(const std::vector<TableArrays>& run_arrays,
               const Matrix<const std::int64_t>& place_matrix, const RecipeArrays& arrays,
               std::size_t depth, std::size_t threads) {
  const Runs runs(run_arrays);
  const auto places = places_of(place_matrix, runs);
  const auto recipe = recipe_of(arrays, runs);
  const std::size_t most = depth == 0 ? std::numeric_limits<std::size_t>::max() : depth;
  std::variant<berryeval::RepeatedRow, berryeval::FusedRows> found;
  {
    const nb::gil_scoped_release release;
    found = berryeval::fuse_runs(runs.tables, places, place_matrix.shape(1), recipe, most, threads);
  }
  if (const auto* const repeated = std::get_if<berryeval::RepeatedRow>(&found)) {
    return nb::make_tuple(repeated->run, repeated->row);
  }
  auto& rows = std::get<berryeval::FusedRows>(found);
  const std::size_t count = rows.documents.count;
  return nb::make_tuple(text_of(std::move(rows.documents)),
                        hand_over<std::int64_t>(std::move(rows.offsets)),
                        hand_over<double>(std::move(rows.scores), count));
}

std::optional<std::pair<std::size_t, std::size_t>> score_fusions(
    const TableArrays& qrels_arrays, const std::vector<TableArrays>& run_arrays,
    const Matrix<const std::int64_t>& place_matrix, const std::vector<RecipeArrays>& recipe_arrays,
    const SpecArrays& named, const Matrix<double>& out, std::size_t threads) {
  const Table qrels(qrels_arrays);
  const Runs runs(run_arrays);
  const auto places = places_of(place_matrix, runs);
  require(place_matrix.shape(1) == qrels.queries.count, "a place per judged query is needed");
  const auto specs = specs_of({named});
  std::vector<berryeval::FusionRecipe> recipes;
  for (const RecipeArrays& arrays : recipe_arrays) recipes.push_back(recipe_of(arrays, runs));
  require(!recipes.empty() && out.shape(0) == recipes.size() && out.shape(1) == qrels.queries.count,
          "out must be recipes x queries");
  const std::span<double> values = span_of(out);
  const nb::gil_scoped_release release;
  const auto repeated =
      berryeval::score_fusions(qrels, runs.tables, places, recipes, specs[0], values, threads);
  if (!repeated) return std::nullopt;
  return std::pair{repeated->run, repeated->row};
}

nb::tuple relevant_ranks(const TableArrays& qrels_arrays, const TableArrays& run_arrays,
                         const Column<const std::int64_t>& run_query_of, double rel,
                         std::size_t threads) {
  const Table qrels(qrels_arrays);
  const Table run(run_arrays);
  const std::vector<std::int64_t> places = copy_of(run_query_of);
  require(places.size() == qrels.queries.count, "one run query per judged query is needed");
  for (const std::int64_t query : places) {
    require(query >= berryeval::kNotInRun && query < static_cast<std::int64_t>(run.queries.count),
            "a run query is out of range");
  }
  berryeval::RelevantRanks found;
  {
    const nb::gil_scoped_release release;
    found = berryeval::relevant_ranks(qrels, run, places, rel, threads);
  }
  nb::object repeated = nb::none();
  if (found.repeated) repeated = nb::make_tuple(found.repeated->in_run, found.repeated->row);
  return nb::make_tuple(repeated, hand_over<std::int64_t>(std::move(found.counts)),
                        hand_over<std::int64_t>(std::move(found.ranks)));
}

}  // namespace

void bind_fusion(nb::module_& module) {
  module.def("fuse", &fuse, "runs"_a.noconvert(), "places"_a.noconvert(), "recipe"_a, "depth"_a,
             "threads"_a, "Fuse runs: documents, offsets and scores, or a repeated row.");
  module.def("score_fusions", &score_fusions, "qrels"_a.noconvert(), "runs"_a.noconvert(),
             "places"_a.noconvert(), "recipes"_a, "spec"_a.noconvert(), "out"_a.noconvert(),
             "threads"_a, "Score fusions of runs by one metric, without a run for each.");
  module.def("relevant_ranks", &relevant_ranks, "qrels"_a.noconvert(), "run"_a.noconvert(),
             "run_query_of"_a.noconvert(), "rel"_a, "threads"_a,
             "Find the ranks of relevant documents: a repeated row, counts per query, ranks.");
}
