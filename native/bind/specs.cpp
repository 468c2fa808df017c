#include "specs.hpp"

#include <stdexcept>
#include <string_view>

namespace {

berryeval::Params params_of(const SpecArrays& spec) {
  const auto& [name, numbers, words, lists, gains] = spec;
  berryeval::Params params;
  for (const auto& [parameter, value] : numbers) params.set(parameter, value);
  for (const auto& [parameter, word] : words) params.set(parameter, word);
  for (const auto& [parameter, list] : lists) params.set(parameter, list);
  params.gains = gains;
  return params;
}

void require_needed(const SpecArrays& spec) {
  const auto& [name, numbers, words, lists, gains] = spec;
  for (const std::string_view needed : berryeval::needed_parameters(name)) {
    const std::string parameter(needed);
    if (!numbers.contains(parameter) && !words.contains(parameter) && !lists.contains(parameter)) {
      throw std::invalid_argument(name + " needs the parameter '" + parameter + "'");
    }
  }
}

}  // namespace

std::vector<berryeval::Spec> specs_of(const std::vector<SpecArrays>& named) {
  std::vector<berryeval::Spec> specs;
  for (const SpecArrays& spec : named) {
    const berryeval::Formula formula = berryeval::find_formula(std::get<0>(spec));
    if (formula == nullptr) {
      throw std::invalid_argument("no native metric '" + std::get<0>(spec) + "'");
    }
    specs.push_back({formula, params_of(spec)});
    require_needed(spec);
  }
  return specs;
}

berryeval::RankingRule rule_of(const std::string& ties, bool single_precision, std::size_t depth) {
  berryeval::RankingRule rule;
  rule.single_precision = single_precision;
  if (depth > 0) rule.depth = depth;
  if (ties == "document descending") {
    rule.ties = berryeval::Ties::document_descending;
  } else if (ties == "document ascending") {
    rule.ties = berryeval::Ties::document_ascending;
  } else if (ties == "given order") {
    rule.ties = berryeval::Ties::given_order;
  } else {
    throw std::invalid_argument("unknown rule for ties '" + ties + "'");
  }
  return rule;
}
