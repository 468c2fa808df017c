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
    {"AP", formulas::average_precision},
    {"nDCG", formulas::ndcg},
    {"ERR", formulas::expected_reciprocal_rank},
    {"Judged", formulas::judged_share},
    {"Accuracy", formulas::accuracy},
    {"Compat", formulas::compatibility},
    {"SDCG", formulas::scaled_dcg},
    {"BPM", formulas::bejeweled_player},
    {"INSQ", formulas::insq},
    {"INST", formulas::inst},
    {"NERR8", formulas::nerr8},
    {"NERR9", formulas::nerr9},
    {"NERR10", formulas::nerr10},
    {"NERR11", formulas::nerr11},
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
