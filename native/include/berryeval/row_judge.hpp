// The join: one row of judged ids against one ranking. This is where the time goes, so everything
// here avoids branches that cannot be foreseen, and memory is taken once for all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berryeval/rows.hpp"

namespace berryeval {

// A judged document at the first rank (counted from 1) where the ranking holds it.
struct Hit {
  std::size_t rank;
  double grade;
};

class RowJudge {
 public:
  RowJudge(std::size_t max_judged, std::size_t max_depth);

  // Forgets the row before and learns the judged `ids` of the next one; grade_at(column) is the
  // grade of the id in that column. Padding is passed over and a repeated id counts once. Returns
  // the two columns of the first id that is given two different grades.
  template <class GradeAt>
  std::optional<std::pair<std::size_t, std::size_t>> learn(std::span<const std::int32_t> ids,
                                                           const GradeAt& grade_at) {
    forget();
    for (std::size_t column = 0; column < ids.size(); ++column) {
      const std::int32_t id = ids[column];
      if (id == kPadding) continue;
      const std::size_t slot = slot_of(id);
      const double grade = grade_at(column);
      if (table_[slot] == id) {
        const Judged& earlier = judged_[index_[slot]];
        if (earlier.grade != grade) return std::pair(earlier.column, column);
        continue;
      }
      table_[slot] = id;
      index_[slot] = static_cast<std::uint32_t>(count_);
      judged_[count_] = {grade, static_cast<std::uint32_t>(column),
                         static_cast<std::uint32_t>(slot), false};
      ++count_;
    }
    return std::nullopt;
  }

  // The judged documents that `ranking` holds, best rank first, each once. At most one ranking per
  // row; the result is valid until the next call.
  std::span<const Hit> find_in(std::span<const std::int32_t> ranking);

  std::size_t judged_count() const { return count_; }
  std::size_t count_at_least(double threshold) const;
  // The positive grades, highest first: the gains of the best possible ranking.
  std::span<const double> ideal_gains();

 private:
  struct Judged {
    double grade;
    std::uint32_t column;
    std::uint32_t slot;
    bool seen;
  };

  // Fibonacci hashing: neighbouring ids land far apart.
  std::size_t home(std::int32_t id) const {
    const auto bits = static_cast<std::uint64_t>(static_cast<std::uint32_t>(id));
    return static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15ULL) >> shift_);
  }

  // The slot that holds `id`, or the free slot where it would go.
  std::size_t slot_of(std::int32_t id) const {
    std::size_t slot = home(id);
    while (table_[slot] != kPadding && table_[slot] != id) slot = (slot + 1) & (table_.size() - 1);
    return slot;
  }

  void forget() {
    for (std::size_t i = 0; i < count_; ++i) table_[judged_[i].slot] = kPadding;
    count_ = 0;
  }

  // An open-addressing hash table of ids; kPadding, which is never judged, marks a free slot.
  std::vector<std::int32_t> table_;
  std::vector<std::uint32_t> index_;  // of the slot's id in judged_
  int shift_;
  std::vector<Judged> judged_;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> candidates_;
  std::vector<Hit> hits_;
  std::vector<double> gains_;
};

}  // namespace berryeval
