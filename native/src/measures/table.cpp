#include <array>

#include "berryeval/measures.hpp"
#include "families.hpp"

namespace berryeval {
namespace {

struct Entry {
  std::string_view name;
  Formula formula;
};

// One line per measure, by the canonical name of the Python registry.
constexpr auto kTable = std::to_array<Entry>({
    {"P", formulas::precision},
    {"Success", formulas::success},
    {"R", formulas::recall},
    {"RelP", formulas::relative_precision},
    {"F1", formulas::f1},
    {"Rprec", formulas::r_precision},
    {"RprecMult", formulas::r_precision_multiple},
    {"SetP", formulas::set_precision},
    {"SetRelP", formulas::set_relative_precision},
    {"SetR", formulas::set_recall},
    {"SetF", formulas::set_f},
    {"SetAP", formulas::set_average_precision},
    {"RR", formulas::reciprocal_rank},
    {"AP", formulas::average_precision},
    {"GMAP", formulas::geometric_average_precision},
    {"Yaap", formulas::yet_another_average_precision},
    {"IPrec", formulas::interpolated_precision},
    {"AvgIPrec", formulas::average_interpolated_precision},
    {"Bpref", formulas::bpref},
    {"GMBpref", formulas::geometric_bpref},
    {"infAP", formulas::inferred_average_precision},
    {"nDCG", formulas::ndcg},
    {"DCG", formulas::discounted_gain},
    {"IDCG", formulas::ideal_gain},
    {"nDCGrel", formulas::ndcg_at_relevant},
    {"RnDCG", formulas::ndcg_at_changes},
    {"binG", formulas::binary_g},
    {"G", formulas::g},
    {"RBP", formulas::rank_biased_precision},
    {"RBPResidual", formulas::rbp_residual},
    {"NumQ", formulas::number_of_queries},
    {"NumRet", formulas::number_retrieved},
    {"NumRel", formulas::number_relevant},
    {"NumRelRet", formulas::number_relevant_retrieved},
    {"NumNonrelJudgedRet", formulas::number_nonrelevant_retrieved},
    {"Unjudged", formulas::unjudged},
    {"Utility", formulas::utility},
});

}  // namespace

Formula find_formula(std::string_view name) {
  for (const Entry& entry : kTable) {
    if (entry.name == name) return entry.formula;
  }
  return nullptr;
}

std::vector<std::string_view> formula_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kTable) names.push_back(entry.name);
  return names;
}

}  // namespace berryeval
