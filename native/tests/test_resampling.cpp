// Native tests without Python: counts and sums against naive loops over the same random words, on
// any number of threads. Exits with 1 if a check failed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "berryeval/random_words.hpp"
#include "berryeval/resampling.hpp"

namespace {

using berryeval::RandomWords;
using Values = std::vector<std::int64_t>;

int checks = 0;
int failures = 0;

void check(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

Values random_values(std::mt19937_64& random, std::size_t size) {
  std::uniform_int_distribution<std::int64_t> value(-1'000'000, 1'000'000);
  Values values(size);
  for (auto& one : values) one = value(random);
  return values;
}

std::uint64_t naive_flips(const Values& values, std::int64_t threshold, std::uint64_t seed,
                          std::size_t samples) {
  const RandomWords words(seed, 1);
  const std::size_t blocks = (values.size() + 63) / 64;
  std::uint64_t count = 0;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool flipped = (words(sample * blocks + i / 64) >> (i % 64)) & 1;
      sum += flipped ? -values[i] : values[i];
    }
    count += std::abs(sum) >= threshold;
  }
  return count;
}

void known_words() {
  // The first words of SplitMix64 from 0, as Vigna's reference implementation gives them.
  check(RandomWords::mixed(0x9E3779B97F4A7C15U) == 0xE220A8397B1DCDAFU, "the first word");
  check(RandomWords::mixed(2 * 0x9E3779B97F4A7C15U) == 0x6E789E6AA1B965F4U, "the second word");
  check(RandomWords(0, 1)(5) != RandomWords(0, 2)(5), "purposes have different words");
  check(RandomWords(0, 1)(5) != RandomWords(1, 1)(5), "seeds have different words");
}

void flips(std::mt19937_64& random) {
  for (const std::size_t size : {1U, 7U, 8U, 63U, 64U, 65U, 130U, 1000U}) {
    const Values values = random_values(random, size);
    const auto threshold =
        static_cast<std::int64_t>(1e6 * std::sqrt(static_cast<double>(size)) / 2);
    const std::uint64_t expected = naive_flips(values, threshold, size, 600);
    for (const std::size_t threads : {1U, 2U, 8U}) {
      check(berryeval::count_sign_flips(values, threshold, size, 600, threads) == expected,
            "sign flips of " + std::to_string(size) + " values");
    }
  }
  check(berryeval::count_sign_flips(Values{3, 4}, 0, 0, 100, 1) == 100,
        "every sum reaches the threshold 0");
  check(berryeval::count_sign_flips(Values{3, 4}, 8, 0, 100, 1) == 0, "no sum exceeds the total");
  check(berryeval::count_sign_flips(Values{3, 4}, 7, 0, 0, 4) == 0, "no samples, no count");
}

void resamples(std::mt19937_64& random) {
  for (const std::size_t size : {1U, 2U, 3U, 100U}) {
    const Values values = random_values(random, size);
    const RandomWords words(9, 2);
    const std::size_t pairs = (size + 1) / 2;
    Values sums(700);
    berryeval::resample_sums(values, 9, sums, 1);
    Values again(700);
    berryeval::resample_sums(values, 9, again, 5);
    check(sums == again, "resamples on any number of threads");
    bool alike = true;
    for (std::size_t sample = 0; sample < sums.size(); ++sample) {
      std::int64_t sum = 0;
      for (std::size_t draw = 0; draw < size; ++draw) {
        const std::uint64_t word = words(sample * pairs + draw / 2);
        const std::uint64_t half = draw % 2 == 0 ? word >> 32 : word & 0xFFFFFFFFU;
        sum += values[half * size >> 32];
      }
      alike &= sum == sums[sample];
    }
    check(alike, "resamples of " + std::to_string(size) + " values");
  }
}

void shuffles(std::mt19937_64& random) {
  for (const std::size_t columns : {1U, 2U, 3U, 6U}) {
    const Values values = random_values(random, 20 * columns);
    Values ranges(600);
    berryeval::shuffled_ranges(values, columns, 3, ranges, 1);
    Values again(600);
    berryeval::shuffled_ranges(values, columns, 3, again, 7);
    check(ranges == again, "shuffles on any number of threads");
    check(std::all_of(ranges.begin(), ranges.end(), [](auto range) { return range >= 0; }),
          "a range is not negative");
  }
  Values rows{1, 0, 1, 0, 1, 0, 1, 0};  // four rows of two: ranges are 0, 2 or 4
  Values ranges(4000);
  berryeval::shuffled_ranges(rows, 2, 0, ranges, 2);
  const auto full = std::count(ranges.begin(), ranges.end(), 4);
  const auto none = std::count(ranges.begin(), ranges.end(), 0);
  check(std::abs(static_cast<double>(full) - 500) < 100, "the full range: 2 of 16 shuffles");
  check(std::abs(static_cast<double>(none) - 1500) < 150, "no range: 6 of 16 shuffles");
}

}  // namespace

int main() {
  std::mt19937_64 random(20260221);
  known_words();
  flips(random);
  resamples(random);
  shuffles(random);
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
