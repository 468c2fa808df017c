#include "berryeval/row_order.hpp"

#include <array>
#include <bit>

namespace berryeval {
namespace {

constexpr std::size_t kDigits = 256;
constexpr std::size_t kFewRows = 64;  // below, comparisons are faster than counting digits

template <class Key>
std::size_t digit_of(const Key& key, std::size_t digit) {
  return (score_of(key) >> (8 * digit)) & 255U;
}

// Unsigned numbers in the opposite order of the scores; -0.0 is 0.0.
std::uint64_t falling(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
  return (bits >> 63) != 0 ? bits : ~(bits | (std::uint64_t{1} << 63));
}

std::uint64_t falling(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);
  return (bits >> 31) != 0 ? bits : static_cast<std::uint32_t>(~(bits | (std::uint32_t{1} << 31)));
}

void set_key(NarrowKey& key, double score, std::size_t row) {
  key = falling(static_cast<float>(score)) << 32 | static_cast<std::uint32_t>(row);
}

void set_key(WideKey& key, double score, std::size_t row) {
  key = {falling(score), static_cast<std::uint32_t>(row)};
}

template <class Key>
void sort_digits(std::vector<Key>& keys, std::vector<Key>& spare, std::size_t digits) {
  spare.resize(keys.size());
  std::array<std::array<std::uint32_t, kDigits>, 8> starts{};
  for (const Key& key : keys) {
    for (std::size_t digit = 0; digit < digits; ++digit) ++starts[digit][digit_of(key, digit)];
  }
  for (std::size_t digit = 0; digit < digits; ++digit) {
    auto& places = starts[digit];
    if (places[digit_of(keys[0], digit)] == keys.size()) continue;  // the same in all
    std::uint32_t start = 0;
    for (std::uint32_t& place : places) {
      const std::uint32_t count = place;
      place = start;
      start += count;
    }
    for (const Key& key : keys) spare[places[digit_of(key, digit)]++] = key;
    keys.swap(spare);
  }
}

template <class Key>
void sort_keys(std::span<const double> scores, std::vector<Key>& keys, std::vector<Key>& spare,
               std::size_t digits) {
  keys.resize(scores.size());
  bool sorted = true;
  bool reversed = true;  // without equal scores, which stay in their order
  for (std::size_t row = 0; row < scores.size(); ++row) {
    set_key(keys[row], scores[row], row);
    if (row == 0) continue;
    sorted = sorted && score_of(keys[row - 1]) <= score_of(keys[row]);
    reversed = reversed && score_of(keys[row - 1]) > score_of(keys[row]);
  }
  if (sorted) return;
  if (reversed) {
    std::ranges::reverse(keys);
    return;
  }
  if (keys.size() >= kFewRows) return sort_digits(keys, spare, digits);
  std::ranges::sort(keys, [](const Key& a, const Key& b) {
    return score_of(a) != score_of(b) ? score_of(a) < score_of(b) : row_of(a) < row_of(b);
  });
}

}  // namespace

void RowOrder::sort_scores(std::span<const double> scores, std::vector<NarrowKey>& keys,
                           std::vector<NarrowKey>& spare) {
  sort_keys(scores, keys, spare, 4);
}

void RowOrder::sort_scores(std::span<const double> scores, std::vector<WideKey>& keys,
                           std::vector<WideKey>& spare) {
  sort_keys(scores, keys, spare, 8);
}

}  // namespace berryeval
