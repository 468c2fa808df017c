#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double average_precision(const JudgedRanking& judged, const Params& params) {
  return divide(sum_of_precisions(judged, params.rel, params.cutoff),
                static_cast<double>(judged.relevant_total(params.rel)));
}

double geometric_average_precision(const JudgedRanking& judged, const Params& params) {
  return std::max(average_precision(judged, params), kLeast);
}

double yet_another_average_precision(const JudgedRanking& judged, const Params& params) {
  const double total = sum_of_precisions(judged, params.rel, kNoCutoff);
  const auto relevant = static_cast<double>(judged.relevant_total(params.rel));
  return std::log((1.0 + total) / (1.0 + relevant - total));
}

}  // namespace berryeval::formulas
