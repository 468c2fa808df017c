// The table of metrics: a name, as in the Python catalogue, and a pure function.
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

enum class Dcg { log2, exp_log2 };
enum class Rounding { lround, ceil_from_a_tenth };
enum class RbpGain { binary, scaled, minmax, raw };

// The parameters of all metrics, under their Python names; each metric reads its own. An optional
// number that was not given is NaN.
struct Params {
  std::size_t cutoff = kNoCutoff;
  double rel = 1.0;
  bool judged_only = false;
  double recall = 0.0;
  double p = 0.0;
  double beta = 0.0;
  double T = 0.0;
  double min_rel = 0.0;
  double max_rel = 0.0;
  double mult = 0.0;
  double a = 0.0;  // the coefficients of Utility
  double b = 0.0;
  double c = 0.0;
  double d = 0.0;
  double docs = 0.0;
  bool relative = false;
  bool normalize = false;
  bool complete_is_zero = false;
  Dcg dcg = Dcg::log2;
  Rounding rounding = Rounding::lround;
  RbpGain gain = RbpGain::binary;
  std::vector<double> levels;
  std::vector<std::pair<double, double>> gains;

  // Set the parameter of that name. Throw std::invalid_argument if the name or word is unknown.
  void set(std::string_view name, double value);
  void set(std::string_view name, std::string_view word);
  void set(std::string_view name, const std::vector<double>& list);
};

using Formula = double (*)(const JudgedRanking&, const Params&);

// The formula of that name, or null.
Formula find_formula(std::string_view name);
// The parameters that the metric of that name requires.
std::vector<std::string_view> needed_parameters(std::string_view name);
std::vector<std::string_view> formula_names();

}  // namespace berryeval
