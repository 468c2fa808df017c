#include "berryeval/row_judge.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace berryeval {
namespace {

// Most ids of a ranking are not judged. In a table this empty they meet a free slot at once, so the
// scan in find_in() hardly ever takes an unexpected branch: twice as fast as a half-full table.
// Very long rows get a denser table, which would otherwise leave the cache.
std::size_t table_size(std::size_t max_judged) {
  const std::size_t spread = max_judged <= 4096 ? 16 : 4;
  return std::bit_ceil(std::max<std::size_t>(2, max_judged * spread));
}

}  // namespace

RowJudge::RowJudge(std::size_t max_judged, std::size_t max_depth)
    : slots_(table_size(max_judged)),
      shift_(64 - std::countr_zero(slots_.size())),
      candidates_(max_depth) {
  judged_.reserve(max_judged);
  hits_.reserve(std::min(max_judged, max_depth));
  gains_.reserve(max_judged);
}

// Fibonacci hashing: neighbouring ids land far apart.
std::size_t RowJudge::home(std::int32_t id) const {
  const auto bits = static_cast<std::uint64_t>(static_cast<std::uint32_t>(id));
  return static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15ULL) >> shift_);
}

// The slot that holds `id`, or the free slot where it would go.
std::size_t RowJudge::slot_of(std::int32_t id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = home(id);
  while (slots_[slot].id != kPadding && slots_[slot].id != id) slot = (slot + 1) & mask;
  return slot;
}

void RowJudge::start_row() {
  for (const Judged& judged : judged_) slots_[judged.slot].id = kPadding;
  judged_.clear();
}

std::optional<std::size_t> RowJudge::add(std::int32_t id, double grade, std::size_t column) {
  const std::size_t slot = slot_of(id);
  if (slots_[slot].id == id) {
    const Judged& earlier = judged_[slots_[slot].judged];
    if (earlier.grade != grade) return earlier.column;
    return std::nullopt;
  }
  slots_[slot] = {id, static_cast<std::uint32_t>(judged_.size())};
  judged_.push_back({grade, column, slot, false});
  return std::nullopt;
}

std::span<const Hit> RowJudge::find_in(std::span<const std::int32_t> ranking) {
  hits_.clear();
  // First a scan without branches that keeps the places worth a closer look, then the closer look.
  std::size_t found = 0;
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    candidates_[found] = place;
    found += slots_[home(ranking[place])].id != kPadding;
  }
  for (const std::size_t place : std::span(candidates_).first(found)) {
    const std::int32_t id = ranking[place];
    const Slot& slot = slots_[slot_of(id)];
    if (slot.id != id || id == kPadding) continue;
    Judged& judged = judged_[slot.judged];
    if (judged.seen) continue;
    judged.seen = true;
    hits_.push_back({place + 1, judged.grade});
  }
  return hits_;
}

std::size_t RowJudge::count_at_least(double threshold) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      judged_, [threshold](const Judged& judged) { return judged.grade >= threshold; }));
}

std::span<const double> RowJudge::ideal_gains() {
  gains_.clear();
  for (const Judged& judged : judged_) {
    if (judged.grade > 0) gains_.push_back(judged.grade);
  }
  std::ranges::sort(gains_, std::greater<>());
  return gains_;
}

}  // namespace berryeval
