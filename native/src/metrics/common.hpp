// Helpers that several metrics share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "berryeval/metrics.hpp"

namespace berryeval::formulas {

inline double divide(double part, double whole) { return whole == 0.0 ? 0.0 : part / whole; }

inline double divide(std::size_t part, std::size_t whole) {
  return divide(static_cast<double>(part), static_cast<double>(whole));
}

// The number of relevant documents up to `cutoff`.
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

// The least value of a query in a geometric mean.
inline constexpr double kLeast = 0.00001;

// Logarithmic discounts of the first ranks, computed once when the library is loaded.
struct Discounts {
  static constexpr std::size_t kRanks = 1024;
  std::array<double, kRanks> of_rank{};     // log2(rank + 1)
  std::array<double, kRanks> unit_ideal{};  // the DCG of n documents of gain 1 at index n

  Discounts() {
    for (std::size_t rank = 1; rank < kRanks; ++rank) {
      of_rank[rank] = std::log2(static_cast<double>(rank) + 1.0);
      unit_ideal[rank] = unit_ideal[rank - 1] + 1.0 / of_rank[rank];
    }
  }
};
inline const Discounts kDiscounts;

inline double discount(std::size_t rank) {
  if (rank < Discounts::kRanks) return kDiscounts.of_rank[rank];
  return std::log2(static_cast<double>(rank) + 1.0);
}

// A ratio that cannot exceed 1. Sums taken in another order may lift it above by rounding.
inline double at_most_one(double ratio) { return std::min(ratio, 1.0); }

}  // namespace berryeval::formulas
