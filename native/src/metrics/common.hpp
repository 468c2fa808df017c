// Small things that several metrics share.
#pragma once

#include <cmath>
#include <cstddef>

#include "berryeval/metrics.hpp"

namespace berryeval::formulas {

inline double divide(double part, double whole) { return whole == 0.0 ? 0.0 : part / whole; }

inline double divide(std::size_t part, std::size_t whole) {
  return divide(static_cast<double>(part), static_cast<double>(whole));
}

// How many of the documents up to `cutoff` are relevant.
inline std::size_t relevant_found(const JudgedRanking& judged, double rel, std::size_t cutoff) {
  std::size_t found = 0;
  for (const Hit& hit : judged.hits) {
    if (hit.rank > cutoff) break;
    found += hit.grade >= rel;
  }
  return found;
}

// The sum of the precisions at the ranks of the relevant documents.
inline double sum_of_precisions(const JudgedRanking& judged, double rel, std::size_t cutoff) {
  double total = 0.0;
  std::size_t found = 0;
  for (const Hit& hit : judged.hits) {
    if (hit.rank > cutoff) break;
    if (hit.grade < rel) continue;
    ++found;
    total += static_cast<double>(found) / static_cast<double>(hit.rank);
  }
  return total;
}

// What a query counts at least in a geometric mean.
inline constexpr double kLeast = 0.00001;

inline double discount(std::size_t rank) { return std::log2(static_cast<double>(rank) + 1.0); }

}  // namespace berryeval::formulas
