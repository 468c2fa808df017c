#include <algorithm>
#include <vector>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {
namespace {

// The number of relevant documents, at least 1, that reaches the recall level.
double place_of(double recall, double relevant, Rounding rounding) {
  const double wanted = recall * relevant;
  const double whole = std::floor(wanted);
  double count = wanted - whole >= 0.5 ? whole + 1.0 : whole;
  if (rounding == Rounding::ceil_from_a_tenth) count = std::floor(wanted + 0.9);
  return std::max(count, 1.0);
}

// Calls visit(n, best precision from the n-th relevant document on), from the last to the first.
template <class Visit>
void walk_precisions(const JudgedRanking& judged, double rel, const Visit& visit) {
  std::size_t found = relevant_found(judged, rel, kNoCutoff);
  double best = 0.0;
  for (std::size_t i = judged.hits.size(); i > 0 && found > 0; --i) {
    const Hit& hit = judged.hits[i - 1];
    if (hit.grade < rel) continue;
    best = std::max(best, static_cast<double>(found) / static_cast<double>(hit.rank));
    visit(static_cast<double>(found), best);
    --found;
  }
}

}  // namespace

double interpolated_precision(const JudgedRanking& judged, const Params& params) {
  const auto relevant = static_cast<double>(judged.relevant_total(params.rel));
  const double place = place_of(params.recall, relevant, params.rounding);
  double value = 0.0;
  walk_precisions(judged, params.rel, [&](double found, double best) {
    if (found == place) value = best;
  });
  return value;
}

double average_interpolated_precision(const JudgedRanking& judged, const Params& params) {
  const auto relevant = static_cast<double>(judged.relevant_total(params.rel));
  std::vector<double> precisions(relevant_found(judged, params.rel, kNoCutoff));
  walk_precisions(judged, params.rel, [&](double found, double best) {
    precisions[static_cast<std::size_t>(found) - 1] = best;
  });
  double total = 0.0;
  for (const double recall : params.levels) {
    const double place = place_of(recall, relevant, params.rounding);
    if (place <= static_cast<double>(precisions.size())) {
      total += precisions[static_cast<std::size_t>(place) - 1];
    }
  }
  return divide(total, static_cast<double>(params.levels.size()));
}

}  // namespace berryeval::formulas
