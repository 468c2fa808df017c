// Sign flips, resamples and shuffles for Python; the twins of berryeval.stats.resampling.
#include "bind_resampling.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berryeval/resampling.hpp"
#include "columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The sum of any resample must fit in 64 bits.
std::vector<std::int64_t> values_of(const Column<const std::int64_t>& column) {
  std::vector<std::int64_t> values = copy_of(column);
  require(!values.empty(), "there must be values");
  require(values.size() < (std::size_t{1} << 32), "there are too many values");
  const std::int64_t largest = berryeval::kLargestSum / static_cast<std::int64_t>(values.size());
  bool fit = true;
  for (const std::int64_t value : values) fit &= -largest <= value && value <= largest;
  require(fit, "the values are too large to be added up");
  return values;
}

std::uint64_t count_sign_flips(const Column<const std::int64_t>& values, std::int64_t threshold,
                               std::uint64_t seed, std::size_t samples, std::size_t threads) {
  const auto given = values_of(values);
  const nb::gil_scoped_release release;
  return berryeval::count_sign_flips(given, threshold, seed, samples, threads);
}

void resample_sums(const Column<const std::int64_t>& values, std::uint64_t seed,
                   const Column<std::int64_t>& out, std::size_t threads) {
  const auto given = values_of(values);
  const auto sums = span_of(out);
  const nb::gil_scoped_release release;
  berryeval::resample_sums(given, seed, sums, threads);
}

void shuffled_ranges(const Column<const std::int64_t>& values, std::size_t columns,
                     std::uint64_t seed, const Column<std::int64_t>& out, std::size_t threads) {
  const auto given = values_of(values);
  require(columns > 0 && given.size() % columns == 0, "the values must fill their rows");
  const auto ranges = span_of(out);
  const nb::gil_scoped_release release;
  berryeval::shuffled_ranges(given, columns, seed, ranges, threads);
}

}  // namespace

void bind_resampling(nb::module_& module) {
  module.def("count_sign_flips", &count_sign_flips, "values"_a.noconvert(),
             "threshold"_a.noconvert(), "seed"_a.noconvert(), "samples"_a.noconvert(),
             "threads"_a.noconvert(),
             "Count random choices of signs whose sum is at least as far from 0.");
  module.def("resample_sums", &resample_sums, "values"_a.noconvert(), "seed"_a.noconvert(),
             "out"_a.noconvert(), "threads"_a.noconvert(),
             "Return the sums of resamples with replacement.");
  module.def("shuffled_ranges", &shuffled_ranges, "values"_a.noconvert(), "columns"_a.noconvert(),
             "seed"_a.noconvert(), "out"_a.noconvert(), "threads"_a.noconvert(),
             "Return the ranges of column sums after shuffling the rows.");
}
