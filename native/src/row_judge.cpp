#include "berryeval/row_judge.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace berryeval {
namespace {

// Most ids of a ranking are not judged. In a table this empty they meet a free slot at once, twice
// as fast as in a half-full one. Very long rows get a denser table, to stay in the cache.
std::size_t table_size(std::size_t max_judged) {
  const std::size_t spread = max_judged <= 4096 ? 16 : 4;
  return std::bit_ceil(std::max<std::size_t>(2, max_judged * spread));
}

}  // namespace

RowJudge::RowJudge(std::size_t max_judged, std::size_t max_depth)
    : table_(table_size(max_judged), kPadding),
      index_(table_.size()),
      shift_(64 - std::countr_zero(table_.size())),
      judged_(max_judged),
      candidates_(max_depth),
      hits_(std::min(max_judged, max_depth)) {
  gains_.reserve(max_judged);
}

std::span<const Hit> RowJudge::find_in(std::span<const std::int32_t> ranking) {
  // First gather the places worth a closer look, without a branch; then look closer.
  std::size_t candidates = 0;
  const std::int32_t* const table = table_.data();
  std::uint32_t* const candidate = candidates_.data();
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    candidate[candidates] = static_cast<std::uint32_t>(place);
    candidates += table[home(ranking[place])] != kPadding;
  }
  std::size_t hits = 0;
  for (std::size_t i = 0; i < candidates; ++i) {
    const std::size_t place = candidate[i];
    const std::int32_t id = ranking[place];
    const std::size_t slot = slot_of(id);
    if (id == kPadding || table[slot] != id) continue;
    Judged& judged = judged_[index_[slot]];
    if (judged.seen) continue;
    judged.seen = true;
    hits_[hits++] = {place + 1, judged.grade};
  }
  return std::span(hits_).first(hits);
}

std::size_t RowJudge::count_at_least(double threshold) const {
  const auto reaches = [threshold](const Judged& judged) { return judged.grade >= threshold; };
  return static_cast<std::size_t>(std::ranges::count_if(std::span(judged_).first(count_), reaches));
}

std::span<const double> RowJudge::ideal_gains() {
  gains_.clear();
  for (const Judged& judged : std::span(judged_).first(count_)) {
    if (judged.grade > 0) gains_.push_back(judged.grade);
  }
  std::ranges::sort(gains_, std::greater<>());
  return gains_;
}

}  // namespace berryeval
