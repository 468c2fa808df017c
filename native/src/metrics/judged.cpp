#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double judged_share(const JudgedRanking& judged, const Params& params) {
  const std::size_t top = std::min(params.cutoff, judged.retrieved);
  return divide(relevant_found(judged, 0.0, top), top);  // a grade of 0 or more is a judgment
}

double accuracy(const JudgedRanking& judged, const Params& params) {
  const std::size_t top = std::min(params.cutoff, judged.retrieved);
  std::size_t found = 0;
  std::size_t wrong = 0;  // pairs in which the nonrelevant document ranks first
  for (const Hit& hit : judged.hits) {
    if (hit.rank > top) break;
    if (hit.grade < params.rel) continue;
    ++found;
    wrong += hit.rank - found;
  }
  if (found == 0) return 0.0;
  return 1.0 - divide(wrong, (top - found) * found);
}

}  // namespace berryeval::formulas
