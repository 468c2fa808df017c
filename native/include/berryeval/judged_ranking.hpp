// What every metric reads: one ranking after the join with its judgments. The twin of
// berryeval.metrics.base.JudgedRanking.
#pragma once

#include <cstddef>
#include <span>

#include "berryeval/row_judge.hpp"

namespace berryeval {

struct JudgedRanking {
  // The documents that the judgments know, best rank first; a negative grade is "not judged".
  std::span<const Hit> hits;
  std::size_t retrieved = 0;
  // The grades of all documents of the query's judgments, highest first.
  std::span<const double> grades;

  std::size_t relevant_total(double rel) const {
    std::size_t total = 0;
    while (total < grades.size() && grades[total] >= rel) ++total;
    return total;
  }
};

}  // namespace berryeval
