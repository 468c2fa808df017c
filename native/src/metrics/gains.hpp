// The gain of a document; the twin of GainRule in berryeval.metrics.families.ndcg.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "berryeval/metrics.hpp"

namespace berryeval::formulas {

// The level of a document is its grade, or one of these.
inline constexpr double kNoJudgment = -1.0;
inline constexpr double kNotJudged = -2.0;
// The largest exponent of 2^grade, so that every gain is finite.
inline constexpr double kLargest = 1000.0;

// The gain of a level: the grade, 2^grade - 1, or the number given for it; 0 below rel.
struct GainRule {
  const std::vector<std::pair<double, double>>& gains;
  Dcg dcg = Dcg::log2;
  double rel = 0.0;

  explicit GainRule(const Params& params) : gains(params.gains) {}
  GainRule(const Params& params, Dcg chosen, double least)
      : gains(params.gains), dcg(chosen), rel(least) {}

  bool names(double wanted) const {
    return std::ranges::any_of(gains, [&](const auto& pair) { return pair.first == wanted; });
  }

  // Whether the ideal ranking gains most: nothing is negative, and unjudged documents gain nothing.
  bool is_bounded() const {
    return std::ranges::none_of(
        gains, [](const auto& pair) { return std::min(pair.first, pair.second) < 0; });
  }

  double operator()(double level) const {
    if (level >= 0 && level < rel) return 0.0;
    for (const auto& [known, gain] : gains) {
      if (known == level) return gain;
    }
    if (level < 0) return 0.0;
    return dcg == Dcg::exp_log2 ? std::pow(2.0, std::min(level, kLargest)) - 1.0 : level;
  }
};

// Calls visit(rank, gain) for every rank with a gain other than 0, from rank 1 down.
template <class GainOf, class Visit>
void walk(const JudgedRanking& judged, const GainOf& gain_of, std::size_t cutoff,
          const Visit& visit) {
  const double unknown = gain_of(kNoJudgment);
  const std::size_t depth = std::min(cutoff, judged.retrieved);
  std::size_t rank = 0;
  const auto pass = [&](std::size_t end) {
    if (unknown == 0) return;
    for (std::size_t between = rank + 1; between < end; ++between) visit(between, unknown);
  };
  for (const Hit& hit : judged.hits) {
    if (hit.rank > depth) break;
    pass(hit.rank);
    rank = hit.rank;
    const double gain = gain_of(hit.grade >= 0 ? hit.grade : kNotJudged);
    if (gain != 0) visit(rank, gain);
  }
  pass(depth + 1);
}

// The positive gains of the judged documents, highest first: the ideal ranking.
template <class GainOf>
std::vector<double> best_gains(const JudgedRanking& judged, const GainOf& gain_of,
                               std::size_t cutoff) {
  std::vector<double> gains;
  bool falling = true;
  for (const double grade : judged.grades) {
    if (grade < 0) break;
    const double gain = gain_of(grade);
    if (!(gain > 0)) continue;
    falling = falling && (gains.empty() || gains.back() >= gain);
    gains.push_back(gain);
  }
  if (!falling) std::ranges::sort(gains, std::greater<>());
  if (gains.size() > cutoff) gains.resize(cutoff);
  return gains;
}

}  // namespace berryeval::formulas
