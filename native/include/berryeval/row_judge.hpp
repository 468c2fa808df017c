// The join of the array contract: one row of judged ids against one ranking. Most of the time is
// spent here, so the code avoids unpredictable branches and allocates memory once for all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berryeval/judged_ranking.hpp"
#include "berryeval/place_table.hpp"
#include "berryeval/rows.hpp"

namespace berryeval {

// How the grades of a row are returned. Only nDCG needs them sorted, and sorting costs more than
// the rest of the join.
enum class GradeOrder : std::uint8_t { all_one, any, descending };

class RowJudge {
 public:
  RowJudge(std::size_t max_judged, std::size_t max_depth, GradeOrder order);

  // Replaces the judgments of the previous row by `ids`; grade_at(column) is the grade of the id in
  // that column. Padding is skipped and a repeated id counts once. Returns the two columns of the
  // first id that has two different grades.
  template <class GradeAt>
  std::optional<std::pair<std::size_t, std::size_t>> learn(std::span<const std::int32_t> ids,
                                                           const GradeAt& grade_at) {
    table_.clear();
    count_ = 0;
    for (std::size_t column = 0; column < ids.size(); ++column) {
      if (ids[column] == kPadding) continue;
      const double grade = grade_at(column);
      const std::size_t known = table_.insert(hash_of_id(ids[column]), count_, kSameTag);
      if (known == PlaceTable::kNowhere) {
        judged_[count_++] = {grade, static_cast<std::uint32_t>(column), false};
      } else if (judged_[known].grade != grade) {
        return std::pair<std::size_t, std::size_t>(judged_[known].column, column);
      }
    }
    return std::nullopt;
  }

  // Joins `ranking` with the judgments, each judged id at its first rank. Every column counts as a
  // retrieved place, padding too. Call at most once per row; valid until the next call.
  JudgedRanking rank(std::span<const std::int32_t> ranking);

 private:
  struct Judged {
    double grade;
    std::uint32_t column;
    bool seen;
  };

  // Fibonacci hashing: neighbouring ids land far apart. The low half is a permutation of all ids,
  // so equal tags are equal ids.
  static std::uint64_t hash_of_id(std::int32_t id) {
    return std::uint64_t{static_cast<std::uint32_t>(id)} * 0x9E3779B97F4A7C15ULL;
  }
  static constexpr auto kSameTag = [](std::size_t) { return true; };

  std::span<const double> ordered_grades();

  GradeOrder order_;
  PlaceTable table_;
  std::vector<Judged> judged_;  // the first count_ are in use
  std::size_t count_ = 0;
  std::vector<std::uint32_t> candidates_;
  std::vector<Hit> hits_;
  std::vector<double> grades_;
};

}  // namespace berryeval
