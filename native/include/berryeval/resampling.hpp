// The inner loops of tests by resampling. Values are whole numbers (the caller scales them), so
// that sums are exact in any order; their absolute values must add up to at most kLargestSum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berryeval {

inline constexpr std::int64_t kLargestSum = std::int64_t{1} << 61;

// How many of `samples` random choices of signs give a sum of values of at least `threshold`,
// in absolute value.
std::uint64_t count_sign_flips(std::span<const std::int64_t> values, std::int64_t threshold,
                               std::uint64_t seed, std::size_t samples, std::size_t threads);

// The sum of each resample: as many values as there are, drawn with replacement. Columns of the
// same length and seed are resampled alike.
void resample_sums(std::span<const std::int64_t> values, std::uint64_t seed,
                   std::span<std::int64_t> sums, std::size_t threads);

// Of each sample the largest sum of a column less the smallest, after the values of every row
// (`columns` of them) were shuffled among the columns.
void shuffled_ranges(std::span<const std::int64_t> values, std::size_t columns, std::uint64_t seed,
                     std::span<std::int64_t> ranges, std::size_t threads);

}  // namespace berryeval
