// score_rows for Python. Every argument is declared with .noconvert(): nothing is copied or
// converted silently, and an argument that does not fit is a TypeError.
#include "bind_arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berryeval/score_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using berryeval::Rows;

template <class... Scalar>
using Array2D = nb::ndarray<Scalar..., nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IdArray = Array2D<const std::int32_t>;
using GradeArray = Array2D<nb::ro>;
using OutArray = Array2D<float>;
using Conflict = std::tuple<std::size_t, std::size_t, std::size_t>;

template <class T, class Array>
Rows<T> rows_of(const Array& array, const char* name) {
  // Vector instructions may require alignment.
  if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0) {
    throw nb::value_error((std::string(name) + " must be aligned in memory").c_str());
  }
  return {static_cast<const T*>(array.data()), array.shape(0), array.shape(1)};
}

berryeval::Grades grades_of(const std::optional<GradeArray>& grades) {
  if (!grades) return std::monostate{};
  if (grades->dtype() == nb::dtype<std::int32_t>()) return rows_of<std::int32_t>(*grades, "grades");
  if (grades->dtype() == nb::dtype<float>()) return rows_of<float>(*grades, "grades");
  if (grades->dtype() == nb::dtype<double>()) return rows_of<double>(*grades, "grades");
  throw nb::type_error("grades must be int32, float32 or float64");
}

std::vector<berryeval::Request> requests_of(
    const std::vector<std::pair<std::string, std::size_t>>& named) {
  std::vector<berryeval::Request> requests;
  for (const auto& [name, cutoff] : named) {
    const berryeval::Formula formula = berryeval::find_array_formula(name);
    if (formula == nullptr) throw nb::value_error(("unknown metric '" + name + "'").c_str());
    requests.push_back({formula, cutoff});
  }
  return requests;
}

std::optional<Conflict> score_rows(const IdArray& retrieved, const IdArray& relevant,
                                   const std::optional<GradeArray>& grades, double threshold,
                                   const std::vector<std::pair<std::string, std::size_t>>& requests,
                                   const OutArray& out, std::size_t threads) {
  const berryeval::ScoreInput input{
      .retrieved = rows_of<std::int32_t>(retrieved, "retrieved"),
      .relevant = rows_of<std::int32_t>(relevant, "relevant"),
      .grades = grades_of(grades),
      .threshold = threshold,
  };
  const auto parsed = requests_of(requests);
  rows_of<float>(out, "out");
  if (out.shape(0) != parsed.size() || out.shape(1) != input.retrieved.count) {
    throw nb::value_error("out must hold one row per request and one column per query");
  }

  const nb::gil_scoped_release release;
  const auto conflict = berryeval::score_rows(input, parsed, threads, {out.data(), out.size()});
  if (!conflict) return std::nullopt;
  return Conflict{conflict->row, conflict->first, conflict->second};
}

}  // namespace

void bind_arrays(nb::module_& module) {
  module.def("score_rows", &score_rows, "retrieved"_a.noconvert(), "relevant"_a.noconvert(),
             "grades"_a.noconvert().none(), "threshold"_a.noconvert(), "requests"_a.noconvert(),
             "out"_a.noconvert(), "threads"_a.noconvert(),
             "Score every row of `retrieved`; the twin of berryeval.metrics._python.score_rows.");
}
