#include <algorithm>

#include "common.hpp"
#include "families.hpp"
#include "gains.hpp"

namespace berryeval::formulas {
namespace {

double weight(double p, std::size_t above) { return std::pow(p, static_cast<double>(above)); }

template <class GainOf>
double biased(const JudgedRanking& judged, const Params& params, const GainOf& gain_of) {
  double total = 0.0;
  walk(judged, gain_of, params.cutoff,
       [&](std::size_t rank, double gain) { total += gain * weight(params.p, rank - 1); });
  if (!params.normalize) return (1.0 - params.p) * total;
  double best = 0.0;
  std::size_t place = 0;
  for (const double gain : best_gains(judged, gain_of, params.cutoff)) {
    best += gain * weight(params.p, place++);
  }
  return divide(total, best);
}

double biased_moved(const JudgedRanking& judged, const Params& params, const GainRule& rule) {
  double low = rule(0.0);
  double high = low;
  const auto include = [&](double gain) {
    low = std::min(low, gain);
    high = std::max(high, gain);
  };
  for (const double grade : judged.grades) {
    if (grade >= 0) include(rule(grade));
  }
  for (const auto& [level, gain] : params.gains) include(gain);
  if (low >= 0 && high <= 1) return biased(judged, params, rule);
  return biased(judged, params, [&](double level) {
    const bool gains_something = level >= 0 ? level >= rule.rel : rule.names(level);
    return gains_something && high > low ? (rule(level) - low) / (high - low) : 0.0;
  });
}

double unclamped(const JudgedRanking& judged, const Params& params) {
  const GainRule rule(params, Dcg::log2, params.rel);
  const double least = std::max(params.rel, 0.0);
  switch (params.gain) {
    case RbpGain::binary:
      return biased(judged, params, [&](double level) { return level >= least ? 1.0 : 0.0; });
    case RbpGain::scaled: {
      double top = params.max_rel;
      if (std::isnan(top)) top = judged.grades.empty() ? 0.0 : judged.grades[0];
      return biased(judged, params, [&](double level) {
        return level >= least && top > 0 ? std::min(level / top, 1.0) : 0.0;
      });
    }
    case RbpGain::minmax:
      return biased_moved(judged, params, rule);
    case RbpGain::raw:
      return biased(judged, params, rule);
  }
  return 0.0;
}

}  // namespace

double rank_biased_precision(const JudgedRanking& judged, const Params& params) {
  const double value = unclamped(judged, params);
  const bool bounded =
      params.gain != RbpGain::raw && !(params.normalize && !GainRule(params).is_bounded());
  return bounded ? at_most_one(value) : value;
}

double rbp_residual(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  std::size_t known = 0;
  for (const Hit& hit : judged.hits) {
    if (hit.grade < 0) continue;
    ++known;
    total += weight(params.p, hit.rank - 1);
  }
  if (params.complete_is_zero && known == judged.retrieved) return 0.0;
  return std::max(1.0 - (1.0 - params.p) * total, 0.0);
}

}  // namespace berryeval::formulas
