// The table of measures: a name, as in the Python registry, and a pure function.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berryeval/judged_ranking.hpp"

namespace berryeval {

inline constexpr std::size_t kNoCutoff = std::numeric_limits<std::size_t>::max();

// The parameters of all measures; each reads those it has.
struct Params {
  std::size_t cutoff = kNoCutoff;
  double rel = 1.0;
  bool judged_only = false;
  double recall = 0.0;
  double p = 0.0;
  double alpha = 0.0;
  double beta = 0.0;
  double T = 0.0;
  double min_rel = 0.0;
  double max_rel = 0.0;
  double mult = 0.0;
  bool exponential = false;
  bool normalize = false;
  bool flag = false;
  std::vector<double> weights;
  std::vector<std::pair<double, double>> gains;
};

using Formula = double (*)(const JudgedRanking&, const Params&);

// The formula of that name, or null.
Formula find_formula(std::string_view name);
std::vector<std::string_view> formula_names();

}  // namespace berryeval
