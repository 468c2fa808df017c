#include "berryeval/query_judge.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "berryeval/strings.hpp"

namespace berryeval {

std::uint64_t QueryJudge::hash_of_document(std::string_view document) { return hash_of(document); }

void QueryJudge::reserve(Table& table, std::size_t count) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(4, 3 * count));
  if (table.slots.size() < size) {
    table.slots.assign(size, Slot{});
  } else {
    std::fill_n(table.slots.begin(), size, Slot{});
  }
  table.mask = size - 1;
}

void QueryJudge::sort_grades() { std::ranges::sort(grades_, std::greater<>()); }

bool QueryJudge::before(const Scored& a, const Scored& b) const {
  if (rule_.single_precision) {
    const auto left = static_cast<float>(a.score);
    const auto right = static_cast<float>(b.score);
    if (left != right) return left > right;
  } else if (a.score != b.score) {
    return a.score > b.score;
  }
  switch (rule_.ties) {
    case Ties::document_descending:
      return a.document > b.document;
    case Ties::document_ascending:
      return a.document < b.document;
    case Ties::given_order:
      return false;
  }
  return false;
}

bool QueryJudge::in_order(std::span<const Scored> rows) const {
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (before(rows[i], rows[i - 1])) return false;
  }
  return true;
}

std::optional<std::size_t> QueryJudge::rank(std::span<const Scored> rows) {
  reserve(run_table_, rows.size());
  found_.clear();
  hits_.clear();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string_view document = rows[row].document;
    const std::uint64_t hash = hash_of(document);
    if (!insert(run_table_, hash, row,
                [&](std::size_t other) { return rows[other].document == document; })) {
      return row;
    }
    std::size_t slot = hash & judged_table_.mask;
    for (; judged_table_.slots[slot].place != 0; slot = (slot + 1) & judged_table_.mask) {
      if (judged_table_.slots[slot].hash != hash >> 32) continue;
      const Scored& judged = judged_[judged_table_.slots[slot].place - 1];
      if (judged.document != document) continue;
      found_.push_back({row, judged.score});
      break;
    }
  }
  retrieved_ = std::min(rows.size(), rule_.depth);
  if (in_order(rows)) {  // as almost every run is written
    for (const Found& found : found_) {
      if (found.row < retrieved_) hits_.push_back({found.row + 1, found.grade});
    }
    return std::nullopt;
  }
  order_.resize(rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_,
                           [&](std::size_t a, std::size_t b) { return before(rows[a], rows[b]); });
  rank_of_.resize(rows.size());
  for (std::size_t place = 0; place < order_.size(); ++place) rank_of_[order_[place]] = place + 1;
  for (const Found& found : found_) {
    const std::size_t rank = rank_of_[found.row];
    if (rank <= retrieved_) hits_.push_back({rank, found.grade});
  }
  std::ranges::sort(hits_, {}, &Hit::rank);
  return std::nullopt;
}

JudgedRanking QueryJudge::condensed() {
  condensed_.clear();
  for (const Hit& hit : hits_) {
    if (hit.grade >= 0) condensed_.push_back({condensed_.size() + 1, hit.grade});
  }
  return {condensed_, condensed_.size(), grades_};
}

}  // namespace berryeval
