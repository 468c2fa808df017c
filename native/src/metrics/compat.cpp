#include <algorithm>
#include <functional>
#include <vector>

#include "common.hpp"
#include "families.hpp"

namespace berryeval::formulas {
namespace {

// For each relevant document found, the depth at which both the ranking and the ideal hold it.
std::vector<std::size_t> meeting_places(const JudgedRanking& judged) {
  struct Level {
    double grade;
    std::size_t next_place;
  };
  std::vector<Level> levels;  // highest grade first
  for (std::size_t i = 0; i < judged.grades.size() && judged.grades[i] > 0; ++i) {
    if (levels.empty() || levels.back().grade != judged.grades[i]) {
      levels.push_back({judged.grades[i], i + 1});
    }
  }
  std::vector<std::size_t> places;
  for (const Hit& hit : judged.hits) {
    if (!(hit.grade > 0)) continue;
    const auto level = std::ranges::lower_bound(levels, hit.grade, std::greater<>(), &Level::grade);
    places.push_back(std::max(hit.rank, level->next_place++));
  }
  std::ranges::sort(places);
  return places;
}

}  // namespace

double compatibility(const JudgedRanking& judged, const Params& params) {
  std::size_t ideal = 0;
  while (ideal < judged.grades.size() && judged.grades[ideal] > 0) ++ideal;
  if (ideal == 0) return 0.0;
  const std::size_t depth = std::max(judged.retrieved, ideal);
  const std::vector<std::size_t> joins = meeting_places(judged);
  std::size_t met = 0;
  double score = 0.0;
  double best = 0.0;
  double total = 0.0;
  double weight = 1.0;
  for (std::size_t rank = 1; rank <= depth; ++rank) {
    while (met < joins.size() && joins[met] <= rank) ++met;
    score += weight * static_cast<double>(met) / static_cast<double>(rank);
    best += weight * static_cast<double>(std::min(rank, ideal)) / static_cast<double>(rank);
    total += weight;
    weight *= params.p;
  }
  return at_most_one(params.normalize ? (score / total) / (best / total) : score / total);
}

}  // namespace berryeval::formulas
