#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double recall(const JudgedRanking& judged, const Params& params) {
  return divide(relevant_found(judged, params.rel, params.cutoff),
                judged.relevant_total(params.rel));
}

double relative_precision(const JudgedRanking& judged, const Params& params) {
  return divide(relevant_found(judged, params.rel, params.cutoff),
                std::min(params.cutoff, judged.relevant_total(params.rel)));
}

double f1(const JudgedRanking& judged, const Params& params) {
  const std::size_t found = relevant_found(judged, params.rel, params.cutoff);
  if (found == 0) return 0.0;
  const double precision = divide(found, params.cutoff);
  const double recalled = divide(found, judged.relevant_total(params.rel));
  return 2.0 * precision * recalled / (precision + recalled);
}

double r_precision(const JudgedRanking& judged, const Params& params) {
  const std::size_t relevant = judged.relevant_total(params.rel);
  return divide(relevant_found(judged, params.rel, relevant), relevant);
}

double r_precision_multiple(const JudgedRanking& judged, const Params& params) {
  const auto relevant = static_cast<double>(judged.relevant_total(params.rel));
  const double cutoff = std::floor(params.mult * relevant + 0.9);
  double found = 0.0;
  for (const Hit& hit : judged.hits) {
    if (static_cast<double>(hit.rank) > cutoff) break;
    if (hit.grade >= params.rel) found += 1.0;
  }
  return divide(found, cutoff);
}

}  // namespace berryeval::formulas
