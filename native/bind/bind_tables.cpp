// Tables for Python: columns from text and dicts, grouped by query.
#include "bind_tables.hpp"

#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berryeval/group_rows.hpp"
#include "berryeval/read_table.hpp"
#include "columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr const char* kProblemNames[] = {"none",     "columns",  "number", "nan",
                                         "encoding", "infinite", "rank",   "duplicate"};
constexpr std::pair<std::string_view, berryeval::TextKind> kKinds[] = {
    {"run", berryeval::TextKind::run},
    {"qrels", berryeval::TextKind::qrels},
    {"run tsv", berryeval::TextKind::run_tsv},
    {"qrels tsv", berryeval::TextKind::qrels_tsv},
    {"run ranks tsv", berryeval::TextKind::run_ranks},
};

berryeval::TextKind kind_of(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (name == known) return kind;
  }
  throw std::invalid_argument("unknown kind of text");
}

// The columns as a dict, or the error as (problem, line, found).
nb::object read_table(const std::string& kind_name, const Column<const std::uint8_t>& text,
                      bool lenient) {
  const berryeval::TextKind kind = kind_of(kind_name);
  berryeval::TableColumns columns;
  std::optional<berryeval::LineError> error;
  {
    const nb::gil_scoped_release release;
    error = berryeval::read_table(kind, {reinterpret_cast<const char*>(text.data()), text.size()},
                                  lenient, columns);
  }
  if (error) {
    return nb::make_tuple(kProblemNames[static_cast<std::size_t>(error->problem)], error->line,
                          nb::bytes(error->found.data(), error->found.size()));
  }
  nb::dict result;
  result["queries"] = text_of(std::move(columns.queries));
  result["offsets"] = hand_over<std::int64_t>(std::move(columns.offsets));
  result["documents"] = text_of(std::move(columns.documents));
  result["values"] = hand_over<double>(std::move(columns.values));
  result["seconds"] = text_of(std::move(columns.seconds));
  result["lines"] = hand_over<std::int64_t>(std::move(columns.lines));
  result["tag"] = nb::bytes(columns.tag.data(), columns.tag.size());
  result["dropped"] = columns.dropped;
  return result;
}

// Converts {query: {document: number}} to columns.
class DictReader {
 public:
  DictReader(bool finite, const nb::tuple& dict_types, const nb::tuple& number_types)
      : finite_(finite), dict_types_(dict_types), number_types_(number_types) {}

  berryeval::StringBuilder queries;
  std::vector<std::int64_t> offsets{0};
  berryeval::StringBuilder documents;
  std::vector<double> values;

  // Returns false, without a Python error, unless dicts and content have plain types.
  bool read(PyObject* rows) {
    if (!is_plain_dict(rows)) return false;
    const nb::ft_object_guard guard{nb::handle(rows)};
    PyObject *query = nullptr, *row = nullptr;
    reserve(rows);
    for (Py_ssize_t at = 0; PyDict_Next(rows, &at, &query, &row) != 0;) {
      if (!add_id(queries, query) || !read_row(nb::borrow(row))) return false;
      offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
    return true;
  }

 private:
  void reserve(PyObject* rows) {
    constexpr std::size_t kUsualSize = 12;  // of an id
    std::size_t count = 0;
    PyObject *query = nullptr, *row = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(rows, &at, &query, &row) != 0;) {
      if (PyDict_Check(row)) count += static_cast<std::size_t>(PyDict_Size(row));
    }
    documents.offsets.reserve(count + 1);
    documents.data.reserve(kUsualSize * count);
    values.reserve(count);
  }

  bool read_row(const nb::object& row) {
    if (!is_plain_dict(row.ptr())) return false;
    const nb::ft_object_guard guard{row};
    PyObject *document = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(row.ptr(), &at, &document, &value) != 0;) {
      if (!add_id(documents, document) || !add_number(value)) return false;
    }
    return true;
  }

  static bool add_id(berryeval::StringBuilder& column, PyObject* id) {
    if (!PyUnicode_Check(id)) return false;
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(id, &size);
    if (text == nullptr) {  // a lone surrogate
      PyErr_Clear();
      return false;
    }
    column.add({text, static_cast<std::size_t>(size)});
    return true;
  }

  bool add_number(PyObject* value) {
    double number = 0;
    if (PyFloat_Check(value)) {
      number = PyFloat_AsDouble(value);
    } else if (PyLong_CheckExact(value)) {
      number = PyLong_AsDouble(value);
    } else if (is_one_of(value, number_types_)) {
      const nb::object kept = nb::borrow(value);
      number = PyFloat_AsDouble(kept.ptr());
    } else {
      return false;
    }
    if (number == -1.0 && PyErr_Occurred() != nullptr) {  // an int beyond the range of double
      PyErr_Clear();
      return false;
    }
    if (std::isnan(number) || (finite_ && std::isinf(number))) return false;
    values.push_back(number);
    return true;
  }

  // A subclass of dict may override its items, so only known types are accepted.
  bool is_plain_dict(PyObject* value) const {
    return PyDict_CheckExact(value) || (PyDict_Check(value) && is_one_of(value, dict_types_));
  }

  static bool is_one_of(PyObject* value, const nb::tuple& types) {
    for (const nb::handle type : types) {
      if (nb::handle(value).type().is(type)) return true;
    }
    return false;
  }

  bool finite_;
  const nb::tuple& dict_types_;
  const nb::tuple& number_types_;
};

// The columns, or None if the Python twin must read the dict and report its fault.
nb::object table_from_dict(const nb::object& rows, bool finite, const nb::tuple& dict_types,
                           const nb::tuple& number_types) {
  DictReader reader(finite, dict_types, number_types);
  if (!reader.read(rows.ptr())) return nb::none();
  return nb::make_tuple(
      text_of(std::move(reader.queries)), hand_over<std::int64_t>(std::move(reader.offsets)),
      text_of(std::move(reader.documents)), hand_over<double>(std::move(reader.values)));
}

template <class Queries>
nb::tuple group(const Queries& queries, const Text& documents, std::size_t threads) {
  const berryeval::Strings document_of = strings_of(documents);
  require(queries.count == document_of.count, "as many queries as documents are needed");
  berryeval::Grouping grouping;
  {
    const nb::gil_scoped_release release;
    grouping = berryeval::group_rows(queries, document_of, threads);
  }
  const nb::object order =
      grouping.in_place ? nb::none() : nb::cast(hand_over<std::int64_t>(std::move(grouping.order)));
  return nb::make_tuple(text_of(std::move(grouping.queries)),
                        hand_over<std::int64_t>(std::move(grouping.offsets)), order,
                        hand_over<std::int64_t>(std::move(grouping.repeated)));
}

nb::tuple group_rows(const Text& queries, const Text& documents, std::size_t threads) {
  return group(strings_of(queries), documents, threads);
}

nb::tuple group_view_rows(const Views& queries, const Text& documents, std::size_t threads) {
  const auto buffers = buffers_of(queries);
  return group(views_of(queries, buffers), documents, threads);
}

nb::tuple copy_views(const Views& views, std::size_t threads) {
  const auto buffers = buffers_of(views);
  const berryeval::StringViews strings = views_of(views, buffers);
  berryeval::OwnedStrings copy;
  {
    const nb::gil_scoped_release release;
    copy = berryeval::copy_of(strings, threads);
  }
  return text_of(std::move(copy));
}

nb::tuple take_strings(const Text& text, const Column<const std::int64_t>& places) {
  const berryeval::Strings strings = strings_of(text);
  return text_of(berryeval::take_strings(strings, span_of(places).data(), places.size()));
}

nb::tuple decimal_strings(const Column<const std::int64_t>& numbers) {
  return text_of(berryeval::decimal_strings(span_of(numbers).data(), numbers.size()));
}

}  // namespace

void bind_tables(nb::module_& module) {
  module.def("read_table", &read_table, "kind"_a, "text"_a.noconvert(), "lenient"_a,
             "Read the text of a file into columns.");
  module.def("table_from_dict", &table_from_dict, "rows"_a, "finite"_a, "dict_types"_a,
             "number_types"_a,
             "Convert {query: {document: number}} to columns, or return None if Python must.");
  module.def("group_rows", &group_rows, "queries"_a.noconvert(), "documents"_a.noconvert(),
             "threads"_a,
             "Group rows by query: queries, offsets, order (None: unchanged), repeated rows.");
  module.def("group_view_rows", &group_view_rows, "queries"_a.noconvert(),
             "documents"_a.noconvert(), "threads"_a,
             "Group rows by queries in Arrow's views, which are read in place.");
  module.def("copy_views", &copy_views, "views"_a.noconvert(), "threads"_a,
             "Copy Arrow's views to a column of strings.");
  module.def("take_strings", &take_strings, "text"_a.noconvert(), "places"_a.noconvert(),
             "Copy the strings at these places.");
  module.def("decimal_strings", &decimal_strings, "numbers"_a.noconvert(),
             "Format integers as decimal strings.");
}
