#include "berryeval/row_judge.hpp"

#include <algorithm>
#include <functional>

namespace berryeval {

// Most ids of a ranking are not judged. In a sparse table the search for them ends at once, twice
// as fast as in a half-full one. Very long rows get a denser table that stays in the cache.
RowJudge::RowJudge(std::size_t max_judged, std::size_t max_depth, GradeOrder order)
    : order_(order),
      judged_(max_judged),
      candidates_(max_depth),
      hits_(std::min(max_judged, max_depth)),
      grades_(max_judged, 1.0) {
  table_.reset(max_judged, max_judged <= 256 ? 16 : max_judged <= 4096 ? 8 : 4);
}

JudgedRanking RowJudge::rank(std::span<const std::int32_t> ranking) {
  // First collect the places that may hold a judged id, without a branch; then look them up.
  std::size_t candidates = 0;
  std::uint32_t* const candidate = candidates_.data();
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    candidate[candidates] = static_cast<std::uint32_t>(place);
    candidates += table_.may_hold(hash_of_id(ranking[place]));
  }
  std::size_t hits = 0;
  for (std::size_t i = 0; i < candidates; ++i) {
    const std::size_t place = candidate[i];
    const std::size_t known = table_.find(hash_of_id(ranking[place]), kSameTag);
    if (known == PlaceTable::kNowhere || judged_[known].seen) continue;
    judged_[known].seen = true;
    hits_[hits++] = {place + 1, judged_[known].grade};
  }
  return {std::span(hits_).first(hits), ranking.size(), ordered_grades()};
}

std::span<const double> RowJudge::ordered_grades() {
  if (order_ == GradeOrder::all_one) return std::span(grades_).first(count_);
  std::size_t size = 0;
  for (const Judged& judged : std::span(judged_).first(count_)) {
    grades_[size] = judged.grade;
    size += judged.grade == judged.grade;  // NaN is neither relevant nor sortable
  }
  const auto grades = std::span(grades_).first(size);
  if (order_ == GradeOrder::descending) std::ranges::sort(grades, std::greater<>());
  return grades;
}

}  // namespace berryeval
