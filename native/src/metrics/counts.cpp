#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {
namespace {

std::size_t judged_found(const JudgedRanking& judged, std::size_t cutoff) {
  std::size_t found = 0;
  for (const Hit& hit : judged.hits) {
    if (hit.rank > cutoff) break;
    found += hit.grade >= 0;
  }
  return found;
}

}  // namespace

double number_of_queries(const JudgedRanking&, const Params&) { return 1.0; }

double number_retrieved(const JudgedRanking& judged, const Params& params) {
  if (std::isnan(params.rel)) return static_cast<double>(judged.retrieved);
  return static_cast<double>(relevant_found(judged, params.rel, kNoCutoff));
}

double number_relevant(const JudgedRanking& judged, const Params& params) {
  return static_cast<double>(judged.relevant_total(params.rel));
}

double number_relevant_retrieved(const JudgedRanking& judged, const Params& params) {
  return static_cast<double>(relevant_found(judged, params.rel, params.cutoff));
}

double number_nonrelevant_retrieved(const JudgedRanking& judged, const Params& params) {
  std::size_t count = 0;
  for (const Hit& hit : judged.hits) count += hit.grade >= 0 && hit.grade < params.rel;
  return static_cast<double>(count);
}

double unjudged(const JudgedRanking& judged, const Params& params) {
  const std::size_t known = judged_found(judged, params.cutoff);
  return divide(std::min(params.cutoff, judged.retrieved) - known, params.cutoff);
}

double utility(const JudgedRanking& judged, const Params& params) {
  const auto found = static_cast<double>(relevant_found(judged, params.rel, kNoCutoff));
  const auto retrieved = static_cast<double>(judged.retrieved);
  const double wrong = retrieved - found;
  const double missed = static_cast<double>(judged.relevant_total(params.rel)) - found;
  const double left_out = params.docs - retrieved - missed;
  return params.a * found + params.b * wrong + params.c * missed + params.d * left_out;
}

}  // namespace berryeval::formulas
