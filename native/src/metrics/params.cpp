// Parameters are set by the names and words that they have in Python.
#include <array>
#include <stdexcept>
#include <string>
#include <variant>

#include "berryeval/metrics.hpp"

namespace berryeval {
namespace {

struct Number {
  std::string_view name;
  std::variant<double Params::*, bool Params::*> field;
};

constexpr auto kNumbers = std::to_array<Number>({
    {"rel", &Params::rel},
    {"judged_only", &Params::judged_only},
    {"recall", &Params::recall},
    {"p", &Params::p},
    {"beta", &Params::beta},
    {"T", &Params::T},
    {"min_rel", &Params::min_rel},
    {"max_rel", &Params::max_rel},
    {"mult", &Params::mult},
    {"a", &Params::a},
    {"b", &Params::b},
    {"c", &Params::c},
    {"d", &Params::d},
    {"docs", &Params::docs},
    {"relative", &Params::relative},
    {"normalize", &Params::normalize},
    {"complete_is_zero", &Params::complete_is_zero},
});

struct Word {
  std::string_view name;
  std::string_view word;
  void (*choose)(Params&);
};

constexpr auto kWords = std::to_array<Word>({
    {"dcg", "log2", [](Params& params) { params.dcg = Dcg::log2; }},
    {"dcg", "exp-log2", [](Params& params) { params.dcg = Dcg::exp_log2; }},
    {"rounding", "lround", [](Params& params) { params.rounding = Rounding::lround; }},
    {"rounding", "ceil0.9", [](Params& params) { params.rounding = Rounding::ceil_from_a_tenth; }},
    {"gain", "binary", [](Params& params) { params.gain = RbpGain::binary; }},
    {"gain", "scaled", [](Params& params) { params.gain = RbpGain::scaled; }},
    {"gain", "minmax", [](Params& params) { params.gain = RbpGain::minmax; }},
    {"gain", "raw", [](Params& params) { params.gain = RbpGain::raw; }},
});

[[noreturn]] void reject(std::string_view name) {
  throw std::invalid_argument("unknown parameter '" + std::string(name) + "'");
}

}  // namespace

void Params::set(std::string_view name, double value) {
  if (name == "cutoff") {
    if (!(value >= 1 && value < 0x1p53)) throw std::invalid_argument("a cutoff must be 1 or more");
    cutoff = static_cast<std::size_t>(value);
    return;
  }
  for (const Number& number : kNumbers) {
    if (number.name != name) continue;
    if (const auto* const flag = std::get_if<bool Params::*>(&number.field)) {
      this->*(*flag) = value != 0;
    } else {
      this->*(std::get<double Params::*>(number.field)) = value;
    }
    return;
  }
  reject(name);
}

void Params::set(std::string_view name, std::string_view word) {
  bool known = false;
  for (const Word& entry : kWords) {
    if (entry.name != name) continue;
    known = true;
    if (entry.word == word) return entry.choose(*this);
  }
  if (!known) reject(name);
  throw std::invalid_argument("unknown choice '" + std::string(word) + "' for '" +
                              std::string(name) + "'");
}

void Params::set(std::string_view name, const std::vector<double>& list) {
  if (name != "levels") reject(name);
  levels = list;
}

}  // namespace berryeval
