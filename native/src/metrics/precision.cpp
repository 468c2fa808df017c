#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double precision(const JudgedRanking& judged, const Params& params) {
  return divide(relevant_found(judged, params.rel, params.cutoff), params.cutoff);
}

double success(const JudgedRanking& judged, const Params& params) {
  return relevant_found(judged, params.rel, params.cutoff) > 0 ? 1.0 : 0.0;
}

}  // namespace berryeval::formulas
