// The join: one row of judged ids against one ranking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berryeval/rows.hpp"

namespace berryeval {

// A judged document at the first rank (counted from 1) where the ranking holds it.
struct Hit {
  std::size_t rank;
  double grade;
};

// Looks every id of a ranking up once. All memory is taken in the constructor and used again for
// every row, so that scoring a row allocates nothing.
class RowJudge {
 public:
  RowJudge(std::size_t max_judged, std::size_t max_depth);

  // Forgets the row before, then learns the documents of the next one through add().
  void start_row();

  // Judges `id`, found at `column`. A repeated id counts once; returns the column of the earlier
  // judgment if the two grades differ.
  std::optional<std::size_t> add(std::int32_t id, double grade, std::size_t column);

  // The judged documents that `ranking` holds, best rank first, each once. Valid until the next
  // call; at most one ranking per row.
  std::span<const Hit> find_in(std::span<const std::int32_t> ranking);

  std::size_t judged_count() const { return judged_.size(); }
  std::size_t count_at_least(double threshold) const;
  // The positive grades, highest first: the gains of the best possible ranking.
  std::span<const double> ideal_gains();

 private:
  struct Judged {
    double grade;
    std::size_t column;
    std::size_t slot;
    bool seen;
  };
  // An open-addressing table; `id == kPadding` marks a free slot, since padding is never judged.
  struct Slot {
    std::int32_t id = kPadding;
    std::uint32_t judged = 0;
  };

  std::size_t home(std::int32_t id) const;
  std::size_t slot_of(std::int32_t id) const;

  std::vector<Slot> slots_;
  int shift_;
  std::vector<Judged> judged_;
  std::vector<std::size_t> candidates_;
  std::vector<Hit> hits_;
  std::vector<double> gains_;
};

}  // namespace berryeval
