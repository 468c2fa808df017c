#include "berryeval/resampling.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "berryeval/parallel.hpp"
#include "berryeval/random_words.hpp"

namespace berryeval {

namespace {

// Purposes of random words; the Python twin uses the same numbers.
constexpr std::uint64_t kFlips = 1;
constexpr std::uint64_t kResamples = 2;
constexpr std::uint64_t kShuffles = 3;

constexpr std::size_t kSigns = 64;    // per word
constexpr std::size_t kBytes = 8;     // per word, each with its own table
constexpr std::size_t kAtOnce = 256;  // samples, whose sums stay in the cache
using Tables = std::array<std::array<std::int64_t, 256>, kBytes>;

// For each byte of a word of signs, the sum of the values whose bit is set.
Tables tables_of(std::span<const std::int64_t> values) {
  Tables tables{};
  for (std::size_t place = 0; place < values.size(); ++place) {
    auto& table = tables[place / 8];
    const std::size_t bit = std::size_t{1} << (place % 8);
    for (std::size_t byte = bit; byte < table.size(); byte = (byte + 1) | bit) {
      table[byte] += values[place];
    }
  }
  return tables;
}

std::int64_t flipped_sum(const Tables& tables, std::uint64_t signs) {
  std::int64_t sum = 0;
  for (std::size_t byte = 0; byte < kBytes; ++byte) sum += tables[byte][(signs >> 8 * byte) & 255];
  return sum;
}

// An integer below `count` from 32 random bits.
std::size_t below(std::size_t count, std::uint64_t bits) { return (bits * count) >> 32; }

std::size_t parts_of(std::size_t samples, std::size_t threads) {
  return std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, samples / kAtOnce));
}

}  // namespace

std::uint64_t count_sign_flips(std::span<const std::int64_t> values, std::int64_t threshold,
                               std::uint64_t seed, std::size_t samples, std::size_t threads) {
  const RandomWords words(seed, kFlips);
  const std::int64_t total = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  std::vector<Tables> tables;
  for (std::size_t start = 0; start < values.size(); start += kSigns) {
    tables.push_back(tables_of(values.subspan(start, std::min(kSigns, values.size() - start))));
  }
  const std::size_t parts = parts_of(samples, threads);
  std::vector<std::uint64_t> counts(parts);
  for_each_part(samples, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::array<std::int64_t, kAtOnce> flipped;
    std::uint64_t count = 0;
    for (; begin < end; begin += kAtOnce) {
      const std::size_t size = std::min(kAtOnce, end - begin);
      flipped.fill(0);
      for (std::size_t block = 0; block < tables.size(); ++block) {
        for (std::size_t i = 0; i < size; ++i) {
          flipped[i] += flipped_sum(tables[block], words((begin + i) * tables.size() + block));
        }
      }
      for (std::size_t i = 0; i < size; ++i) count += std::abs(total - 2 * flipped[i]) >= threshold;
    }
    counts[part] = count;
  });
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void resample_sums(std::span<const std::int64_t> values, std::uint64_t seed,
                   std::span<std::int64_t> sums, std::size_t threads) {
  const RandomWords words(seed, kResamples);
  const std::size_t size = values.size();
  const std::size_t pairs = (size + 1) / 2;  // a word gives two draws
  for_each_part(sums.size(), parts_of(sums.size(), threads),
                [&](std::size_t, std::size_t begin, std::size_t end) {
                  for (std::size_t sample = begin; sample < end; ++sample) {
                    std::int64_t sum = 0;
                    for (std::size_t pair = 0; pair < pairs; ++pair) {
                      const std::uint64_t word = words(sample * pairs + pair);
                      sum += values[below(size, word >> 32)];
                      if (2 * pair + 1 < size) sum += values[below(size, word & 0xFFFFFFFFU)];
                    }
                    sums[sample] = sum;
                  }
                });
}

void shuffled_ranges(std::span<const std::int64_t> values, std::size_t columns, std::uint64_t seed,
                     std::span<std::int64_t> ranges, std::size_t threads) {
  const RandomWords words(seed, kShuffles);
  const std::size_t rows = values.size() / columns;
  for_each_part(ranges.size(), parts_of(ranges.size(), threads),
                [&](std::size_t, std::size_t begin, std::size_t end) {
                  std::vector<std::int64_t> row(columns);
                  std::vector<std::int64_t> sums(columns);
                  for (std::size_t sample = begin; sample < end; ++sample) {
                    std::fill(sums.begin(), sums.end(), 0);
                    for (std::size_t r = 0; r < rows; ++r) {
                      std::copy_n(&values[r * columns], columns, row.begin());
                      std::uint64_t at = (sample * rows + r) * (columns - 1);
                      for (std::size_t last = columns - 1; last > 0; --last) {
                        std::swap(row[last], row[below(last + 1, words(at++) >> 32)]);
                      }
                      for (std::size_t c = 0; c < columns; ++c) sums[c] += row[c];
                    }
                    const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
                    ranges[sample] = *high - *low;
                  }
                });
}

}  // namespace berryeval
