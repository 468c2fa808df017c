// The join of one query: rows of a run in any order against its judgments, and THE ordering rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berryeval/judged_ranking.hpp"

namespace berryeval {

// How documents of one score are ordered.
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

class QueryJudge {
 public:
  explicit QueryJudge(const RankingRule& rule) : rule_(rule) {}

  // Forgets the query before; takes the judgments of the next one. Returns the index of a document
  // that stands there twice.
  template <class DocumentAt, class GradeAt>
  std::optional<std::size_t> learn(std::size_t count, const DocumentAt& document_at,
                                   const GradeAt& grade_at) {
    reserve(judged_table_, 8 * count);  // most searches end at a free slot, the first if possible
    judged_.clear();
    grades_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view document = document_at(i);
      if (!insert(judged_table_, hash_of_document(document), i,
                  [&](std::size_t other) { return judged_[other].document == document; })) {
        return i;
      }
      judged_.push_back({document, grade_at(i)});
      grades_.push_back(judged_.back().score);
    }
    sort_grades();
    return std::nullopt;
  }

  // Ranks the rows and joins them with the judgments. Returns the index of a document that stands
  // there twice; does not look for one if the rows are known to be distinct.
  std::optional<std::size_t> rank(std::span<const Scored> rows, bool distinct = false);

  // The ranking joined last; valid until the next call.
  JudgedRanking ranking() const { return {hits_, retrieved_, grades_}; }
  // The same without its unjudged documents, the others moved up.
  JudgedRanking condensed();

 private:
  // Open addressing: the place of an item plus one, 0 for a free slot; half its hash beside it.
  // Small, so that the table of a thousand documents stays in the first cache.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t place = 0;
  };
  struct Table {
    std::vector<Slot> slots;
    std::size_t mask = 0;
  };
  // A judged document that the run holds, with its place in the run.
  struct Found {
    std::size_t row;
    double grade;
  };

  static std::uint64_t hash_of_document(std::string_view document);
  static void reserve(Table& table, std::size_t slots);
  void sort_grades();
  void rank_found(std::span<const Scored> rows);
  double key_of(const Scored& row) const;
  bool in_order(std::span<const Scored> rows) const;
  bool before(const Scored& a, const Scored& b) const;

  // Puts `place` into the table unless an equal item is there.
  template <class IsEqual>
  static bool insert(Table& table, std::uint64_t hash, std::size_t place, const IsEqual& is_equal) {
    const auto half = static_cast<std::uint32_t>(hash >> 32);
    std::size_t slot = hash & table.mask;
    while (table.slots[slot].place != 0) {
      if (table.slots[slot].hash == half && is_equal(table.slots[slot].place - 1)) return false;
      slot = (slot + 1) & table.mask;
    }
    table.slots[slot] = {half, static_cast<std::uint32_t>(place + 1)};
    return true;
  }

  RankingRule rule_;
  Table judged_table_;
  Table run_table_;
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
