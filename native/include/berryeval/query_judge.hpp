// The join of one query: rows of a run in any order against its judgments, and the ordering rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "berryeval/judged_ranking.hpp"
#include "berryeval/place_table.hpp"

namespace berryeval {

// The order of documents with equal scores.
enum class Ties : std::uint8_t { document_descending, document_ascending, given_order };

struct RankingRule {
  Ties ties = Ties::document_descending;
  bool single_precision = false;  // compare scores as float32, as trec_eval 9 does
  std::size_t depth = std::numeric_limits<std::size_t>::max();
};

// One row of a run.
struct Scored {
  std::string_view document;
  double score;
};

// NaN has no place in an order.
inline void require_number(double value) {
  if (value != value) throw std::invalid_argument("a grade or score is not a number");
}

class QueryJudge {
 public:
  explicit QueryJudge(const RankingRule& rule) : rule_(rule) {}

  // Replaces the judgments by those of the next query. Returns the index of a repeated document.
  template <class DocumentAt, class GradeAt>
  std::optional<std::size_t> learn(std::size_t count, const DocumentAt& document_at,
                                   const GradeAt& grade_at) {
    judged_table_.reset(count, 8);  // sparse: most searches end at a free slot
    judged_.clear();
    grades_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view document = document_at(i);
      const auto is_equal = [&](std::size_t other) { return judged_[other].document == document; };
      if (judged_table_.insert(hash_of(document), i, is_equal) != PlaceTable::kNowhere) return i;
      judged_.push_back({document, grade_at(i)});
      grades_.push_back(judged_.back().score);
      require_number(grades_.back());
    }
    sort_grades();
    return std::nullopt;
  }

  // Ranks the rows and joins them with the judgments. Returns the index of a repeated document,
  // which is not searched for if the rows are known to be distinct.
  std::optional<std::size_t> rank(std::span<const Scored> rows, bool distinct = false);

  // Ranks the same documents, in the same places, by other scores.
  void rank_again(std::span<const Scored> rows);

  // The latest ranking; valid until the next call.
  JudgedRanking ranking() const { return {hits_, retrieved_, grades_}; }
  // The latest ranking without unjudged documents; the others move up.
  JudgedRanking condensed();

 private:
  // A judged document that the run holds, with its row in the run.
  struct Found {
    std::size_t row;
    double grade;
  };

  void sort_grades();
  void rank_found(std::span<const Scored> rows);
  double key_of(const Scored& row) const;
  bool in_order(std::span<const Scored> rows) const;
  bool before(const Scored& a, const Scored& b) const;

  RankingRule rule_;
  PlaceTable judged_table_;
  PlaceTable run_table_;
  std::vector<Scored> judged_;  // the score is the grade
  std::vector<double> grades_;
  std::vector<Found> found_;
  std::vector<double> keys_;
  std::vector<std::size_t> counts_;
  std::vector<Hit> hits_;
  std::vector<Hit> condensed_;
  std::size_t retrieved_ = 0;
};

}  // namespace berryeval
