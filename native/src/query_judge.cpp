#include "berryeval/query_judge.hpp"

#include <algorithm>
#include <functional>

#include "berryeval/strings.hpp"

namespace berryeval {
namespace {

// The index of the first of the descending numbers that is not above `key`. Branch-free, because
// the outcomes follow no pattern.
std::size_t first_not_above(const std::vector<double>& falling, double key) {
  std::size_t base = 0;
  std::size_t left = falling.size();
  while (left > 1) {
    const std::size_t half = left / 2;
    base += falling[base + half - 1] > key ? half : 0;
    left -= half;
  }
  return base + (left == 1 && falling[base] > key ? 1 : 0);
}

}  // namespace

void QueryJudge::sort_grades() { std::ranges::sort(grades_, std::greater<>()); }

double QueryJudge::key_of(const Scored& row) const {
  return rule_.single_precision ? static_cast<double>(static_cast<float>(row.score)) : row.score;
}

bool QueryJudge::before(const Scored& a, const Scored& b) const {
  const double left = key_of(a);
  const double right = key_of(b);
  if (left != right) return left > right;
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

std::optional<std::size_t> QueryJudge::rank(std::span<const Scored> rows, bool distinct) {
  if (!distinct) run_table_.reset(rows.size(), 3);
  found_.clear();
  hits_.clear();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string_view document = rows[row].document;
    const std::uint64_t hash = hash_of(document);
    const auto in_run = [&](std::size_t other) { return rows[other].document == document; };
    if (!distinct && run_table_.insert(hash, row, in_run) != PlaceTable::kNowhere) return row;
    const auto in_qrels = [&](std::size_t other) { return judged_[other].document == document; };
    const std::size_t known = judged_table_.find(hash, in_qrels);
    if (known != PlaceTable::kNowhere) found_.push_back({row, judged_[known].score});
  }
  retrieved_ = std::min(rows.size(), rule_.depth);
  if (in_order(rows)) {  // almost every run is written in order
    for (const Found& found : found_) {
      if (found.row < retrieved_) hits_.push_back({found.row + 1, found.grade});
    }
  } else {
    rank_found(rows);
  }
  return std::nullopt;
}

void QueryJudge::rank_again(std::span<const Scored> rows) {
  hits_.clear();
  rank_found(rows);
}

// Only judged documents need a rank: sort them, and count every row at the first judged document
// that it precedes.
void QueryJudge::rank_found(std::span<const Scored> rows) {
  const auto precedes = [&](std::size_t a, std::size_t b) {
    if (before(rows[a], rows[b])) return true;
    return rule_.ties == Ties::given_order && key_of(rows[a]) == key_of(rows[b]) && a < b;
  };
  // Another thread may change the ids meanwhile. A heap keeps inside its bounds even if the order
  // contradicts itself; std::sort may not.
  std::ranges::make_heap(found_, precedes, &Found::row);
  std::ranges::sort_heap(found_, precedes, &Found::row);
  keys_.clear();
  for (const Found& found : found_) keys_.push_back(key_of(rows[found.row]));
  counts_.assign(found_.size() + 1, 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double key = key_of(rows[row]);
    std::size_t place = first_not_above(keys_, key);
    while (place < keys_.size() && keys_[place] == key && !precedes(row, found_[place].row))
      ++place;
    ++counts_[place];
  }
  std::size_t rank = 1;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    rank += counts_[i];
    if (rank <= retrieved_) hits_.push_back({rank, found_[i].grade});
  }
}

JudgedRanking QueryJudge::condensed() {
  condensed_.clear();
  for (const Hit& hit : hits_) {
    if (hit.grade >= 0) condensed_.push_back({condensed_.size() + 1, hit.grade});
  }
  return {condensed_, condensed_.size(), grades_};
}

}  // namespace berryeval
