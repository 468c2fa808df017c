// The order of all rows of one ranking, for rows that hold still: strings that no thread changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berryeval/query_judge.hpp"

namespace berryeval {

// A score as an unsigned number that is smaller for a better score, and its row. Two halves of one
// word hold a float32, which is sorted in half of the time.
using NarrowKey = std::uint64_t;
struct WideKey {
  std::uint64_t score;
  std::uint32_t row;
};

inline std::uint64_t score_of(NarrowKey key) { return key >> 32; }
inline std::uint64_t score_of(const WideKey& key) { return key.score; }
inline std::uint32_t row_of(NarrowKey key) { return static_cast<std::uint32_t>(key); }
inline std::uint32_t row_of(const WideKey& key) { return key.row; }

class RowOrder {
 public:
  // The numbers of the rows, best first, at most as many as the rule's depth; valid until the next
  // call. No score may be NaN, and there may be at most 2^32 rows. `text_of(row)` is the id of a
  // row, which only equal scores need.
  template <class TextOf>
  std::span<const std::uint32_t> order(std::span<const double> scores, const RankingRule& rule,
                                       const TextOf& text_of) {
    return rule.single_precision ? order(narrow_, spare_narrow_, scores, rule, text_of)
                                 : order(wide_, spare_wide_, scores, rule, text_of);
  }

 private:
  template <class Key, class TextOf>
  std::span<const std::uint32_t> order(std::vector<Key>& keys, std::vector<Key>& spare,
                                       std::span<const double> scores, const RankingRule& rule,
                                       const TextOf& text_of) {
    sort_scores(scores, keys, spare);
    if (rule.ties != Ties::given_order) {
      sort_ties(keys, text_of, rule.ties == Ties::document_descending);
    }
    order_.resize(std::min(keys.size(), rule.depth));
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = row_of(keys[i]);
    return order_;
  }

  // Sorts by score and leaves rows with equal scores in their order.
  static void sort_scores(std::span<const double> scores, std::vector<NarrowKey>& keys,
                          std::vector<NarrowKey>& spare);
  static void sort_scores(std::span<const double> scores, std::vector<WideKey>& keys,
                          std::vector<WideKey>& spare);

  template <class Key, class TextOf>
  static void sort_ties(std::vector<Key>& keys, const TextOf& text_of, bool descending) {
    const auto before = [&](const Key& a, const Key& b) {
      const std::string_view left = text_of(row_of(a));
      const std::string_view right = text_of(row_of(b));
      return descending ? left > right : left < right;
    };
    for (auto first = keys.begin(); first != keys.end();) {
      auto last = first + 1;
      while (last != keys.end() && score_of(*last) == score_of(*first)) ++last;
      if (last - first > 1) std::sort(first, last, before);
      first = last;
    }
  }

  std::vector<NarrowKey> narrow_;
  std::vector<NarrowKey> spare_narrow_;
  std::vector<WideKey> wide_;
  std::vector<WideKey> spare_wide_;
  std::vector<std::uint32_t> order_;
};

}  // namespace berryeval
