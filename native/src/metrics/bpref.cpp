#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double bpref(const JudgedRanking& judged, const Params& params) {
  const std::size_t relevant = judged.relevant_total(params.rel);
  std::size_t nonrelevant = 0;
  for (const double grade : judged.grades) nonrelevant += grade >= 0 && grade < params.rel;
  std::size_t above = 0;
  double total = 0.0;
  for (const Hit& hit : judged.hits) {
    if (hit.grade < 0) continue;
    if (hit.grade < params.rel) {
      ++above;
    } else if (above > 0) {
      total += 1.0 - divide(std::min(above, relevant), std::min(nonrelevant, relevant));
    } else {
      total += 1.0;
    }
  }
  return divide(total, static_cast<double>(relevant));
}

double geometric_bpref(const JudgedRanking& judged, const Params& params) {
  return std::max(bpref(judged, params), kLeast);
}

double inferred_average_precision(const JudgedRanking& judged, const Params& params) {
  constexpr double kEpsilon = 0.00001;
  double found = 0.0;
  double nonrelevant = 0.0;
  double unjudged = 0.0;
  double total = 0.0;
  for (const Hit& hit : judged.hits) {
    if (hit.grade < 0) {
      unjudged += 1.0;
    } else if (hit.grade < params.rel) {
      nonrelevant += 1.0;
    } else {
      const auto rank = static_cast<double>(hit.rank);
      const double above = rank - 1.0;
      if (above > 0) {
        const double pooled = (found + nonrelevant + unjudged) / above;
        const double precision = (found + kEpsilon) / (found + nonrelevant + 2.0 * kEpsilon);
        total += 1.0 / rank + above / rank * pooled * precision;
      } else {
        total += 1.0;
      }
      found += 1.0;
    }
  }
  return divide(total, static_cast<double>(judged.relevant_total(params.rel)));
}

}  // namespace berryeval::formulas
