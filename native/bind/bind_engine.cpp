// The engine for Python. Arguments are neither converted nor copied; a wrong type is a TypeError,
// and columns that do not fit together are a ValueError.
#include "bind_engine.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "berryeval/evaluate.hpp"
#include "berryeval/score_file.hpp"
#include "engine_arguments.hpp"
#include "specs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

std::span<berryeval::Counts> counts_of(const Matrix<std::int64_t>& counts, std::size_t queries) {
  static_assert(sizeof(berryeval::Counts) == 4 * sizeof(std::int64_t));
  require(counts.shape(0) == queries && counts.shape(1) == 4, "counts must be queries x 4");
  return {reinterpret_cast<berryeval::Counts*>(span_of(counts).data()), queries};
}

std::optional<std::pair<bool, std::size_t>> evaluate(
    const TableArrays& qrels_arrays, const TableArrays& run_arrays,
    const Column<const std::int64_t>& run_query_of, const std::vector<SpecArrays>& named,
    const std::string& ties, bool single_precision, std::size_t depth, const Matrix<double>& out,
    const Matrix<std::int64_t>& counts, std::size_t threads) {
  const Table qrels(qrels_arrays);
  const Table run(run_arrays);
  const auto specs = specs_of(named);
  const std::vector<std::int64_t> run_queries = copy_of(run_query_of);
  require(run_queries.size() == qrels.queries.count, "one run query per judged query is needed");
  for (const std::int64_t query : run_queries) {
    require(query >= berryeval::kNotInRun && query < static_cast<std::int64_t>(run.queries.count),
            "a run query is out of range");
  }
  require(out.shape(0) == specs.size() && out.shape(1) == qrels.queries.count,
          "out must be metrics x queries");
  const berryeval::Task task{qrels, specs, rule_of(ties, single_precision, depth), span_of(out),
                             counts_of(counts, qrels.queries.count)};
  const nb::gil_scoped_release release;
  const auto duplicate = berryeval::evaluate(task, run, run_queries, threads);
  if (!duplicate) return std::nullopt;
  return std::pair{duplicate->in_run, duplicate->row};
}

nb::dict dict_of(const berryeval::FileOutcome& outcome) {
  nb::dict result;
  result["clean"] = outcome.clean;
  nb::list extra;
  for (const std::string& query : outcome.extra_queries) {
    extra.append(nb::bytes(query.data(), query.size()));
  }
  result["extra_queries"] = extra;
  result["tag"] = nb::bytes(outcome.tag.data(), outcome.tag.size());
  return result;
}

// Calls score(task) without the GIL.
template <class Score>
nb::dict score_text(const TableArrays& qrels_arrays, const std::vector<SpecArrays>& named,
                    const std::string& ties, bool single_precision, std::size_t depth,
                    const Matrix<double>& out, const Matrix<std::int64_t>& counts,
                    const Score& score) {
  const Table qrels(qrels_arrays);
  const auto specs = specs_of(named);
  require(out.shape(0) == specs.size() && out.shape(1) == qrels.queries.count,
          "out must be metrics x queries");
  const berryeval::Task task{qrels, specs, rule_of(ties, single_precision, depth), span_of(out),
                             counts_of(counts, qrels.queries.count)};
  berryeval::FileOutcome outcome;
  {
    const nb::gil_scoped_release release;
    outcome = score(task);
  }
  return dict_of(outcome);
}

nb::dict score_run_text(const TableArrays& qrels, const Column<const std::uint8_t>& text,
                        const std::vector<SpecArrays>& specs, const std::string& ties,
                        bool single_precision, std::size_t depth, const Matrix<double>& out,
                        const Matrix<std::int64_t>& counts, std::size_t threads) {
  const std::string_view whole(reinterpret_cast<const char*>(text.data()), text.size());
  return score_text(
      qrels, specs, ties, single_precision, depth, out, counts,
      [&](const berryeval::Task& task) { return berryeval::score_run_text(task, whole, threads); });
}

nb::dict score_run_file(const TableArrays& qrels, int file, std::size_t size,
                        const std::vector<SpecArrays>& specs, const std::string& ties,
                        bool single_precision, std::size_t depth, const Matrix<double>& out,
                        const Matrix<std::int64_t>& counts, std::size_t threads) {
  try {
    return score_text(qrels, specs, ties, single_precision, depth, out, counts,
                      [&](const berryeval::Task& task) {
                        return berryeval::score_run_file(task, file, size, threads);
                      });
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const std::string_view name : berryeval::formula_names()) names.emplace_back(name);
  return names;
}

}  // namespace

void bind_engine(nb::module_& module) {
  module.def("metric_names", &metric_names, "Return the names of the native metrics.");
  module.def("evaluate", &evaluate, "qrels"_a.noconvert(), "run"_a.noconvert(),
             "run_query_of"_a.noconvert(), "specs"_a.noconvert(), "ties"_a, "single_precision"_a,
             "depth"_a, "out"_a.noconvert(), "counts"_a.noconvert(), "threads"_a,
             "Score a run in columns.");
  module.def("score_run_text", &score_run_text, "qrels"_a.noconvert(), "text"_a.noconvert(),
             "specs"_a.noconvert(), "ties"_a, "single_precision"_a, "depth"_a, "out"_a.noconvert(),
             "counts"_a.noconvert(), "threads"_a, "Score a run from the bytes of its TREC file.");
  module.def("score_run_file", &score_run_file, "qrels"_a.noconvert(), "file"_a, "size"_a,
             "specs"_a.noconvert(), "ties"_a, "single_precision"_a, "depth"_a, "out"_a.noconvert(),
             "counts"_a.noconvert(), "threads"_a,
             "Score a run while reading its TREC file from an open descriptor.");
}
