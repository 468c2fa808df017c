#include <algorithm>
#include <cmath>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {
namespace {

// Uses pow, as Python does. With a visible constant base, a compiler may call exp2 instead, which
// may round differently.
double two_to(double exponent) {
  const volatile double base = 2.0;
  return std::pow(base, exponent);
}

}  // namespace

double expected_reciprocal_rank(const JudgedRanking& judged, const Params& params) {
  const double top = params.max_rel;
  const double floor = two_to(-top);
  double reached = 1.0;
  double total = 0.0;
  for (const Hit& hit : judged.hits) {
    if (hit.rank > params.cutoff) break;
    if (hit.grade <= 0) continue;
    const double stop = two_to(std::min(hit.grade, top) - top) - floor;
    total += reached * stop / static_cast<double>(hit.rank);
    reached *= 1.0 - stop;
  }
  return total;
}

}  // namespace berryeval::formulas
