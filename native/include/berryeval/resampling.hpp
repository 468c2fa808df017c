// The inner loops of resampling tests. Values are integers (scaled by the caller), so that sums are
// exact in any order; the sum of their absolute values must not exceed kLargestSum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berryeval {

inline constexpr std::int64_t kLargestSum = std::int64_t{1} << 61;

// Counts how many of `samples` random choices of signs give a sum whose absolute value is at least
// `threshold`.
std::uint64_t count_sign_flips(std::span<const std::int64_t> values, std::int64_t threshold,
                               std::uint64_t seed, std::size_t samples, std::size_t threads);

// The sum of each resample of all values with replacement. Columns of the same length and seed
// share the resamples.
void resample_sums(std::span<const std::int64_t> values, std::uint64_t seed,
                   std::span<std::int64_t> sums, std::size_t threads);

// The range of the column sums of each sample, after shuffling the `columns` values of every row
// among the columns.
void shuffled_ranges(std::span<const std::int64_t> values, std::size_t columns, std::uint64_t seed,
                     std::span<std::int64_t> ranges, std::size_t threads);

}  // namespace berryeval
