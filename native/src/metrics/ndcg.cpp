#include "common.hpp"
#include "families.hpp"
#include "gains.hpp"

namespace berryeval::formulas {
namespace {

double found_dcg(const JudgedRanking& judged, const GainRule& rule, std::size_t cutoff) {
  double total = 0.0;
  walk(judged, rule, cutoff,
       [&](std::size_t rank, double gain) { total += gain / discount(rank); });
  return total;
}

double best_dcg(const JudgedRanking& judged, const GainRule& rule, std::size_t cutoff) {
  double total = 0.0;
  if (!rule.gains.empty()) {
    std::size_t rank = 0;
    for (const double gain : best_gains(judged, rule, cutoff)) total += gain / discount(++rank);
    return total;
  }
  const std::size_t depth = std::min(cutoff, judged.grades.size());
  if (depth > 0 && depth < Discounts::kRanks && rule.dcg == Dcg::log2 && rule.rel <= 1.0 &&
      judged.grades[0] == 1.0 && judged.grades[depth - 1] == 1.0) {
    return kDiscounts.unit_ideal[depth];
  }
  for (std::size_t place = 0; place < depth; ++place) {  // gains descend with grades
    const double gain = judged.grades[place] < 0 ? 0.0 : rule(judged.grades[place]);
    if (!(gain > 0)) break;
    total += gain / discount(place + 1);
  }
  return total;
}

GainRule rule_of(const Params& params) { return {params, params.dcg, params.rel}; }

// The DCG of the ideal ranking up to a rank; ranks must be requested in ascending order.
class IdealSum {
 public:
  explicit IdealSum(const std::vector<double>& best) : best_(best) {}

  double up_to(std::size_t rank) {
    for (; placed_ < std::min(rank, best_.size()); ++placed_) {
      total_ += best_[placed_] / discount(placed_ + 1);
    }
    return total_;
  }

 private:
  const std::vector<double>& best_;
  std::size_t placed_ = 0;
  double total_ = 0.0;
};

}  // namespace

double ndcg(const JudgedRanking& judged, const Params& params) {
  const GainRule rule = rule_of(params);
  const double ratio =
      divide(found_dcg(judged, rule, params.cutoff), best_dcg(judged, rule, params.cutoff));
  return rule.is_bounded() ? at_most_one(ratio) : ratio;
}

double discounted_gain(const JudgedRanking& judged, const Params& params) {
  return found_dcg(judged, rule_of(params), params.cutoff);
}

double ideal_gain(const JudgedRanking& judged, const Params& params) {
  return best_dcg(judged, rule_of(params), params.cutoff);
}

double ndcg_at_relevant(const JudgedRanking& judged, const Params& params) {
  const GainRule rule(params);
  const std::vector<double> best = best_gains(judged, rule, kNoCutoff);
  if (best.empty()) return 0.0;
  IdealSum ideal(best);
  double total = 0.0;
  double dcg = 0.0;
  double missed = static_cast<double>(best.size());
  walk(judged, rule, kNoCutoff, [&](std::size_t rank, double gain) {
    dcg += gain / discount(rank);
    if (!(gain > 0)) return;
    total += dcg / ideal.up_to(rank);
    missed -= 1.0;
  });
  total += missed * dcg / ideal.up_to(best.size());
  if (!(total > 0)) return 0.0;
  const double mean = total / static_cast<double>(best.size());
  return rule.is_bounded() ? at_most_one(mean) : mean;
}

double ndcg_at_changes(const JudgedRanking& judged, const Params& params) {
  const GainRule rule(params, Dcg::log2, params.rel);
  const std::vector<double> best = best_gains(judged, rule, kNoCutoff);
  if (best.empty()) return 0.0;
  IdealSum ideal(best);
  double total = 0.0;
  double dcg = 0.0;
  std::size_t points = 0;
  std::size_t next = 0;  // the rank of the next point, 0 before the first
  const auto advance = [&] {
    do ++next;
    while (next < best.size() && best[next] == best[next - 1]);
  };
  const auto close = [&] {
    total += dcg / ideal.up_to(next);
    ++points;
    advance();
  };
  advance();
  walk(judged, rule, kNoCutoff, [&](std::size_t rank, double gain) {
    while (next < rank && next <= best.size()) close();
    dcg += gain / discount(rank);
  });
  while (next <= best.size()) close();
  if (judged.retrieved > best.size() + 1) {
    total += dcg / ideal.up_to(best.size());
    ++points;
  }
  const double mean = total / static_cast<double>(points);
  return rule.is_bounded() ? at_most_one(mean) : mean;
}

}  // namespace berryeval::formulas
