// The input of every metric: one ranking joined with its judgments. The twin of
// berryeval.data.JudgedRanking.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace berryeval {

// A judged document at the first rank (counted from 1) where the ranking holds it.
struct Hit {
  std::size_t rank;
  double grade;
};

struct JudgedRanking {
  // The documents of the ranking that have a judgment, best rank first. A negative grade means
  // "in the pool, but not judged".
  std::span<const Hit> hits;
  std::size_t retrieved = 0;
  // The grades of all judged documents of the query, highest first.
  std::span<const double> grades;

  std::size_t relevant_total(double rel) const {
    const auto is_relevant = [rel](double grade) { return grade >= rel; };
    return static_cast<std::size_t>(std::ranges::count_if(grades, is_relevant));
  }
};

}  // namespace berryeval
