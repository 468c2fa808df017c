#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {

double set_precision(const JudgedRanking& judged, const Params& params) {
  if (params.relative) return set_relative_precision(judged, params);
  return divide(relevant_found(judged, params.rel, kNoCutoff), judged.retrieved);
}

double set_relative_precision(const JudgedRanking& judged, const Params& params) {
  return divide(relevant_found(judged, params.rel, kNoCutoff),
                std::min(judged.retrieved, judged.relevant_total(params.rel)));
}

double set_recall(const JudgedRanking& judged, const Params& params) {
  return divide(relevant_found(judged, params.rel, kNoCutoff), judged.relevant_total(params.rel));
}

double set_f(const JudgedRanking& judged, const Params& params) {
  const std::size_t found = relevant_found(judged, params.rel, kNoCutoff);
  if (found == 0) return 0.0;
  const double precision = divide(found, judged.retrieved);
  const double recalled = divide(found, judged.relevant_total(params.rel));
  const double weight = params.beta * params.beta;
  return at_most_one((weight + 1.0) * precision * recalled / (weight * precision + recalled));
}

double set_average_precision(const JudgedRanking& judged, const Params& params) {
  const std::size_t found = relevant_found(judged, params.rel, kNoCutoff);
  return divide(found * found, judged.retrieved * judged.relevant_total(params.rel));
}

}  // namespace berryeval::formulas
