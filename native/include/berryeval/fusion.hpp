// Fusion of the rankings of one query in several runs; the twin of berryeval.fusion.query_fusion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berryeval/evaluate.hpp"
#include "berryeval/place_table.hpp"

namespace berryeval {

enum class FusionPoints : std::uint8_t { score, rank, segment, window, borda, boosted };
enum class FusionCombine : std::uint8_t { sum, mean, max, min, median, votes, condorcet };
enum class FusionNorm : std::uint8_t { none, min_max, max, sum, zmuv, rank, borda };

// The steps of a fusion; see berryeval.fusion.Recipe. `scales`, `votes` and `tables` have one
// entry per run, `factors` one per number of runs from 0 up.
struct FusionRecipe {
  FusionPoints points;
  FusionCombine combine;
  FusionNorm norm;
  bool inverted = false;
  double least = 0.0;
  double missing = 0.0;  // NaN: a document that a run does not rank does not count
  std::size_t window = 0;
  std::vector<double> scales;
  std::vector<double> votes;
  std::vector<double> factors;
  std::vector<std::vector<double>> tables;
};

// Points by rank that depend only on the length of a ranking: kept for the next query.
struct WindowPoints {
  std::size_t length = 0;
  std::vector<double> points;
};

// The order of documents: score descending, then id descending by bytes.
class ScoreOrder {
 public:
  std::span<const std::uint32_t> sort(std::span<const double> scores,
                                      std::span<const std::string_view> documents);

 private:
  struct Key {
    std::uint64_t bits;  // descending like the score
    std::uint32_t place;
  };
  std::vector<Key> keys_;
  std::vector<Key> spare_;
  std::vector<std::uint32_t> order_;
};

class QueryFusion {
 public:
  explicit QueryFusion(std::span<const QueryTable> runs) : runs_(runs) {}

  // Ranks and joins the rankings of the next query; places[run * stride] is its place in the run,
  // or kNotInRun. Returns the run whose ranking repeats a document.
  std::optional<std::size_t> join(const std::int64_t* places, std::size_t stride, bool inverted);

  // Computes the fused score of every document. `windows` has one entry per run and belongs to
  // the recipe.
  void combine(const FusionRecipe& recipe, std::span<WindowPoints> windows);

  std::span<const std::string_view> documents() const { return documents_; }
  std::span<const double> scores() const { return scores_; }
  std::span<const std::uint32_t> order() { return by_score_.sort(scores_, documents_); }

 private:
  // The part of the joined columns with the documents of a run, best first.
  struct Ranking {
    std::size_t run;
    std::size_t begin;
    std::size_t count;
  };

  void read(std::size_t run, std::size_t place, bool inverted);
  bool in_order() const;
  void give_points(const Ranking& ranking, const FusionRecipe& recipe, WindowPoints& window);
  void normalize(std::span<const double> scores, const FusionRecipe& recipe);
  void add(const Ranking& ranking, const FusionRecipe& recipe);
  void collect(const Ranking& ranking);
  void finish_sums(const FusionRecipe& recipe);
  void finish_lists(FusionCombine combine);
  void sort_by_majority(const FusionRecipe& recipe);
  bool beats(std::uint32_t one, std::uint32_t other) const;

  std::span<const QueryTable> runs_;
  PlaceTable table_;
  ScoreOrder by_score_;
  std::vector<std::string_view> documents_;  // of all rankings, in order of appearance
  std::vector<std::uint32_t> last_run_;      // of each document
  std::vector<Ranking> rankings_;
  std::vector<std::uint32_t> document_of_;  // of each row of a ranking
  std::vector<double> score_of_;
  std::vector<std::string_view> row_documents_;
  std::vector<double> row_scores_;

  std::vector<double> points_;  // of one ranking
  double missing_ = 0.0;        // of the same
  std::vector<double> column_;
  std::vector<double> scores_;
  std::vector<double> votes_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> lists_;         // the points of each document, run after run
  std::vector<std::uint32_t> ranks_;  // ranks_[document * rankings + ranking]
  std::vector<double> ranking_votes_;
  std::vector<std::uint32_t> sorted_;
  std::vector<std::uint32_t> merged_;
};

}  // namespace berryeval
