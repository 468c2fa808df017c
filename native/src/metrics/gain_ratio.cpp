#include <algorithm>

#include "common.hpp"
#include "families.hpp"
#include "gains.hpp"

namespace berryeval::formulas {

double binary_g(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  std::size_t found = 0;
  for (const Hit& hit : judged.hits) {
    if (hit.grade < params.rel) continue;
    ++found;
    total += 1.0 / std::log2(static_cast<double>(2 + hit.rank - found));
  }
  return divide(total, static_cast<double>(judged.relevant_total(params.rel)));
}

double g(const JudgedRanking& judged, const Params& params) {
  const GainRule rule(params);
  const std::vector<double> best = best_gains(judged, rule, kNoCutoff);
  double total = 0.0;
  double cost = 0.0;
  double gained = 0.0;
  std::size_t paid = 0;
  walk(judged, rule, kNoCutoff, [&](std::size_t rank, double gain) {
    for (; paid < std::min(rank, best.size()); ++paid) cost += std::max(best[paid], 1.0);
    if (rank > paid) {
      cost += static_cast<double>(rank - paid);
      paid = rank;
    }
    gained += gain;
    total += gain / std::log2(2.0 + std::max(cost - gained, 0.0));
  });
  double ideal = 0.0;
  for (const double gain : best) ideal += gain;
  const double ratio = divide(total, ideal);
  return rule.is_bounded() ? at_most_one(ratio) : ratio;
}

}  // namespace berryeval::formulas
