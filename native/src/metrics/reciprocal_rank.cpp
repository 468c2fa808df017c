#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double reciprocal_rank(const JudgedRanking& judged, const Params& params) {
  for (const Hit& hit : judged.hits) {
    if (hit.rank > params.cutoff) break;
    if (hit.grade >= params.rel) return 1.0 / static_cast<double>(hit.rank);
  }
  return 0.0;
}

}  // namespace berryeval::formulas
