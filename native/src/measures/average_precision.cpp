#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double average_precision(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  std::size_t found = 0;
  for (const Hit& hit : judged.hits) {
    if (hit.rank > params.cutoff) break;
    if (hit.grade < params.rel) continue;
    ++found;
    total += static_cast<double>(found) / static_cast<double>(hit.rank);
  }
  return divide(total, static_cast<double>(judged.relevant_total(params.rel)));
}

}  // namespace berryeval::formulas
