#include <algorithm>
#include <functional>
#include <vector>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {
namespace {

// The gain of a grade: itself, 2^grade - 1, or what the caller says.
double gain_of(double grade, const Params& params) {
  for (const auto& [level, gain] : params.gains) {
    if (level == grade) return gain;
  }
  if (grade <= 0) return 0.0;
  return params.exponential ? std::exp2(grade) - 1.0 : grade;
}

double ideal_dcg(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  std::size_t rank = 0;
  const auto add = [&](double gain) {
    if (gain > 0 && rank < params.cutoff) {
      ++rank;
      total += gain / discount(rank);
    }
  };
  if (params.gains.empty()) {  // gains rise with grades, which are sorted already
    for (const double grade : judged.grades) {
      if (grade <= 0 || rank == params.cutoff) break;
      add(gain_of(grade, params));
    }
    return total;
  }
  std::vector<double> gains;
  for (const double grade : judged.grades) gains.push_back(gain_of(grade, params));
  std::ranges::sort(gains, std::greater<>());
  for (const double gain : gains) add(gain);
  return total;
}

}  // namespace

double ndcg(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  for (const Hit& hit : judged.hits) {
    if (hit.rank > params.cutoff) break;
    const double gain = gain_of(hit.grade, params);
    if (gain != 0) total += gain / discount(hit.rank);
  }
  return divide(total, ideal_dcg(judged, params));
}

}  // namespace berryeval::formulas
