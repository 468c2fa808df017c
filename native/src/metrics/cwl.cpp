// The C/W/L family: a user at rank i continues with probability C(i) and gains what is read.
#include <algorithm>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {
namespace {

constexpr std::size_t kDepth = 1000;

// Calls visit(rank, gain) for the ranks up to `depth` with a positive gain until it returns false.
template <class Visit>
void for_each_gain(const JudgedRanking& judged, const Params& params, std::size_t depth,
                   const Visit& visit) {
  for (const Hit& hit : judged.hits) {
    if (hit.rank > depth) return;
    if (!(hit.grade > params.min_rel)) continue;
    const double gain =
        (std::min(hit.grade, params.max_rel) - params.min_rel) / (params.max_rel - params.min_rel);
    if (!visit(hit.rank, gain)) return;
  }
}

// The gain per document of a user with C(i) = reads_on(rank, gain, gain so far).
template <class ReadsOn>
double expected_gain(const JudgedRanking& judged, const Params& params, std::size_t depth,
                     const ReadsOn& reads_on) {
  double reached = 1.0;
  double total = 0.0;
  double weight = 0.0;
  double so_far = 0.0;
  std::size_t rank = 1;
  const auto pass_until = [&](std::size_t end) {  // nothing is gained before `end`
    for (; rank < end; ++rank) {
      weight += reached;
      reached *= reads_on(static_cast<double>(rank), 0.0, so_far);
    }
  };
  for_each_gain(judged, params, depth, [&](std::size_t at, double gain) {
    pass_until(at);
    total += reached * gain;
    so_far += gain;
    weight += reached;
    reached *= reads_on(static_cast<double>(at), gain, so_far);
    rank = at + 1;
    return true;
  });
  pass_until(depth + 1);
  return total / weight;
}

double ratio_squared(double place) {
  if (place <= 1.0) return 0.0;
  const double ratio = (place - 1.0) / place;
  return ratio * ratio;
}

}  // namespace

// The largest cutoff that the grammar accepts.
constexpr std::size_t kDeepest = 10'000'000;

double scaled_dcg(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  for_each_gain(judged, params, params.cutoff, [&](std::size_t rank, double gain) {
    total += gain / discount(rank);
    return true;
  });
  double ideal = 0.0;
  const std::size_t depth = std::min(params.cutoff, kDeepest);
  for (std::size_t rank = 1; rank <= depth; ++rank) ideal += 1.0 / discount(rank);
  return total / ideal;
}

double bejeweled_player(const JudgedRanking& judged, const Params& params) {
  double total = 0.0;
  std::size_t last = params.cutoff;
  for_each_gain(judged, params, params.cutoff, [&](std::size_t rank, double gain) {
    total += gain;
    if (total >= params.T) last = rank;
    return total < params.T;
  });
  return total / static_cast<double>(last);
}

double insq(const JudgedRanking& judged, const Params& params) {
  const double T = params.T;
  return expected_gain(judged, params, kDepth,
                       [T](double rank, double, double) { return ratio_squared(rank + 2.0 * T); });
}

double inst(const JudgedRanking& judged, const Params& params) {
  const double T = params.T;
  return expected_gain(judged, params, kDepth, [T](double rank, double, double so_far) {
    return ratio_squared(rank + T + (T - so_far));
  });
}

double nerr8(const JudgedRanking& judged, const Params& params) {
  double reached = 1.0;
  double total = 0.0;
  double weight = 0.0;
  std::size_t before = 0;
  for_each_gain(judged, params, params.cutoff, [&](std::size_t rank, double gain) {
    weight += reached * static_cast<double>(rank - before);
    total += reached * gain;
    reached *= 1.0 - gain;
    before = rank;
    return true;
  });
  return total / (weight + reached * static_cast<double>(params.cutoff - before));
}

double nerr9(const JudgedRanking& judged, const Params& params) {
  return expected_gain(judged, params, params.cutoff, [](double rank, double gain, double) {
    return rank / (rank + 1.0) * (1.0 - gain);
  });
}

double nerr10(const JudgedRanking& judged, const Params& params) {
  const double p = params.p;
  return expected_gain(judged, params, kDepth,
                       [p](double, double gain, double) { return p * (1.0 - gain); });
}

double nerr11(const JudgedRanking& judged, const Params& params) {
  const double T = params.T;
  return expected_gain(judged, params, kDepth, [T](double rank, double gain, double) {
    return ratio_squared(rank + 2.0 * T) * (1.0 - gain);
  });
}

}  // namespace berryeval::formulas
