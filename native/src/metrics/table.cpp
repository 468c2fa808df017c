#include <algorithm>
#include <array>

#include "berryeval/metrics.hpp"
#include "families.hpp"

namespace berryeval {
namespace {

struct Entry {
  std::string_view name;
  Formula formula;
  std::string_view needs;  // separated by blanks
};

// One line per metric: the canonical name of the Python catalogue and the required parameters, that
// is, all but judged_only and those that are optional in Python.
constexpr auto kTable = std::to_array<Entry>({
    {"P", formulas::precision, "cutoff rel"},
    {"Success", formulas::success, "rel"},
    {"R", formulas::recall, "cutoff rel"},
    {"RelP", formulas::relative_precision, "cutoff rel"},
    {"F1", formulas::f1, "cutoff rel"},
    {"Rprec", formulas::r_precision, "rel"},
    {"RprecMult", formulas::r_precision_multiple, "mult rel"},
    {"SetP", formulas::set_precision, "rel relative"},
    {"SetRelP", formulas::set_relative_precision, "rel"},
    {"SetR", formulas::set_recall, "rel"},
    {"SetF", formulas::set_f, "beta rel"},
    {"SetAP", formulas::set_average_precision, "rel"},
    {"RR", formulas::reciprocal_rank, "rel"},
    {"AP", formulas::average_precision, "rel"},
    {"GMAP", formulas::geometric_average_precision, "rel"},
    {"Yaap", formulas::yet_another_average_precision, "rel"},
    {"IPrec", formulas::interpolated_precision, "recall rel rounding"},
    {"AvgIPrec", formulas::average_interpolated_precision, "rel rounding levels"},
    {"Bpref", formulas::bpref, "rel"},
    {"GMBpref", formulas::geometric_bpref, "rel"},
    {"infAP", formulas::inferred_average_precision, "rel"},
    {"nDCG", formulas::ndcg, "dcg rel"},
    {"ERR", formulas::expected_reciprocal_rank, "max_rel"},
    {"Judged", formulas::judged_share, ""},
    {"Accuracy", formulas::accuracy, "rel"},
    {"Compat", formulas::compatibility, "p normalize"},
    {"SDCG", formulas::scaled_dcg, "cutoff min_rel max_rel"},
    {"BPM", formulas::bejeweled_player, "cutoff T min_rel max_rel"},
    {"INSQ", formulas::insq, "T min_rel max_rel"},
    {"INST", formulas::inst, "T min_rel max_rel"},
    {"NERR8", formulas::nerr8, "cutoff min_rel max_rel"},
    {"NERR9", formulas::nerr9, "cutoff min_rel max_rel"},
    {"NERR10", formulas::nerr10, "p min_rel max_rel"},
    {"NERR11", formulas::nerr11, "T min_rel max_rel"},
    {"DCG", formulas::discounted_gain, "dcg rel"},
    {"IDCG", formulas::ideal_gain, "dcg rel"},
    {"nDCGrel", formulas::ndcg_at_relevant, ""},
    {"RnDCG", formulas::ndcg_at_changes, "rel"},
    {"binG", formulas::binary_g, "rel"},
    {"G", formulas::g, ""},
    {"RBP", formulas::rank_biased_precision, "p rel gain normalize"},
    {"RBPResidual", formulas::rbp_residual, "p complete_is_zero"},
    {"NumQ", formulas::number_of_queries, ""},
    {"NumRet", formulas::number_retrieved, ""},
    {"NumRel", formulas::number_relevant, "rel"},
    {"NumRelRet", formulas::number_relevant_retrieved, "rel"},
    {"NumNonrelJudgedRet", formulas::number_nonrelevant_retrieved, "rel"},
    {"Unjudged", formulas::unjudged, "cutoff"},
    {"Utility", formulas::utility, "a b c d docs rel"},
});

const Entry* find(std::string_view name) {
  for (const Entry& entry : kTable) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

Formula find_formula(std::string_view name) {
  const Entry* const entry = find(name);
  return entry == nullptr ? nullptr : entry->formula;
}

std::vector<std::string_view> needed_parameters(std::string_view name) {
  std::vector<std::string_view> needed;
  const Entry* const entry = find(name);
  for (std::string_view rest = entry == nullptr ? "" : entry->needs; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    needed.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return needed;
}

std::vector<std::string_view> formula_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kTable) names.push_back(entry.name);
  return names;
}

}  // namespace berryeval
