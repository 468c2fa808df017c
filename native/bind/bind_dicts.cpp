// Dicts and tuples of Python, scored where they are: {query: {document: grade}} against
// {query: {document: score}}, or rows of a query, a document and a number. No string is copied, and
// documents are found by the hashes that strings remember. The GIL is held: the objects belong to
// the caller. No code of Python runs, and no dict is made, before everything is read and scored.
#include "bind_dicts.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berryeval/place_table.hpp"
#include "berryeval/row_order.hpp"
#include "specs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr double kUnjudged = std::numeric_limits<double>::quiet_NaN();

// Where a tuple holds the query, the document and the number.
using Fields = std::array<std::size_t, 3>;

// A plain str with its hash, and a number.
struct Row {
  PyObject* id;
  std::uint64_t hash;
  double value;
};

double float_value(PyObject* value) {
#ifdef Py_LIMITED_API
  return PyFloat_AsDouble(value);
#else
  return PyFloat_AS_DOUBLE(value);
#endif
}

// An int or float, or NaN for anything else and for ints beyond the range of double.
double number_of(PyObject* value, bool whole) {
  if (!whole && PyFloat_Check(value)) return float_value(value);
  if (PyLong_Check(value)) {
    const double number =
        whole ? static_cast<double>(PyLong_AsLongLong(value)) : PyLong_AsDouble(value);
    if (number != -1.0 || PyErr_Occurred() == nullptr) return number;
    PyErr_Clear();
    return kUnjudged;
  }
  return kUnjudged;
}

// A plain str with the same text; null for anything else. A subclass of str may run Python code
// where it is hashed, which may change the dict that is read.
nb::object plain_string(PyObject* id) {
  if (PyUnicode_CheckExact(id)) return nb::borrow(id);
  if (!PyUnicode_Check(id)) return {};
  return nb::steal(PyUnicode_FromObject(id));
}

// The text, empty with a null pointer if it is not valid Unicode.
std::string_view utf8_of(PyObject* id) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(id, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {text, static_cast<std::size_t>(size)};
}

bool is_unicode(PyObject* id) {
#ifndef Py_LIMITED_API
  if (PyUnicode_IS_COMPACT_ASCII(id)) return true;
#endif
  return utf8_of(id).data() != nullptr;
}

Row row_of(PyObject* id, double value) {
#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)
  const Py_hash_t known = reinterpret_cast<PyASCIIObject*>(id)->hash;  // -1 before the first use
  if (known != -1) return {id, static_cast<std::uint64_t>(known), value};
#endif
  return {id, static_cast<std::uint64_t>(PyObject_Hash(id)), value};
}

bool is_same(const Row& a, const Row& b) {
  if (a.id == b.id) return true;
  if (a.hash != b.hash) return false;
#ifndef Py_LIMITED_API
  if (PyUnicode_IS_COMPACT_ASCII(a.id) && PyUnicode_IS_COMPACT_ASCII(b.id)) {
    const auto text_of = [](PyObject* id) {
      return std::string_view(reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(id)),
                              static_cast<std::size_t>(PyUnicode_GET_LENGTH(id)));
    };
    return berryeval::same_text(text_of(a.id), text_of(b.id));
  }
#endif
  return PyUnicode_Compare(a.id, b.id) == 0;
}

nb::object item_of(const nb::object& dict, const nb::object& key) {
  PyObject* const item = PyDict_GetItemWithError(dict.ptr(), key.ptr());
  if (item == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  return nb::borrow(item);
}

void set_item(const nb::object& dict, const nb::object& key, const nb::object& value) {
  if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr()) != 0) throw nb::python_error();
}

// What scorers of the same metrics share; it does not change.
struct DictPlan {
  DictPlan(const std::vector<nb::object>& all_names, const std::vector<SpecArrays>& described,
           const std::string& ties, bool single_precision, std::size_t depth, bool only_judged)
      : names(all_names),
        specs(specs_of(described)),
        rule(rule_of(ties, single_precision, depth)),
        judged_only(only_judged) {
    if (names.size() != specs.size()) throw std::invalid_argument("a metric needs one name");
    if (names.size() > kSmallDict) empty = nb::dict();
    for (const nb::object& name : names) {
      if (empty.is_valid()) set_item(empty, name, nb::float_(0.0));
    }
    condenses = judged_only || std::ranges::any_of(specs, [](const berryeval::Spec& spec) {
                  return spec.params.judged_only;
                });
  }

  std::vector<nb::object> names;
  std::vector<berryeval::Spec> specs;
  berryeval::RankingRule rule;
  bool judged_only;
  bool condenses = false;  // whether any metric leaves out documents without a judgment
  nb::object empty;        // a dict with a value for every name, whose copies need not grow

 private:
  static constexpr std::size_t kSmallDict = 5;  // up to here an empty dict does not grow
};

// Finds rows by their ids.
class Finder {
  auto equal_to(const Row& row) const {
    return [this, &row](std::size_t place) { return is_same(rows_[place], row); };
  }

 public:
  // Replaces the rows, which must stay where they are; false if an id is repeated.
  bool learn(std::span<const Row> rows, bool distinct = false) {
    rows_ = rows;
    is_small_ = rows.size() <= kFew;
    if (is_small_ && distinct) return true;
    if (!is_small_) table_.reset(rows.size(), rows.size() <= kMany ? 4 : 2);
    for (std::size_t place = 0; place < rows.size(); ++place) {
      if (is_small_) {
        for (std::size_t other = 0; other < place; ++other) {
          if (is_same(rows[other], rows[place])) return false;
        }
      } else if (table_.insert(rows[place].hash, place, equal_to(rows[place])) !=
                 berryeval::PlaceTable::kNowhere) {
        return false;
      }
    }
    return true;
  }

  // The place of the row with the same id, or PlaceTable::kNowhere.
  std::size_t find(const Row& row) const {
    if (!is_small_) return table_.find(row.hash, equal_to(row));
    for (std::size_t place = 0; place < rows_.size(); ++place) {
      if (is_same(rows_[place], row)) return place;
    }
    return berryeval::PlaceTable::kNowhere;
  }

 private:
  static constexpr std::size_t kFew = 16;  // up to here a table costs more than it saves
  static constexpr std::size_t kMany = 4096;

  std::span<const Row> rows_;
  bool is_small_ = true;
  berryeval::PlaceTable table_;
};

// The buffers of a thread.
struct Scratch {
  std::vector<Row> rows;  // of one query
  std::vector<double> scores;
  std::vector<double> grades;  // of the rows; NaN without a judgment
  Finder judged;
  Finder retrieved;
  berryeval::RowOrder order;
  std::vector<berryeval::Hit> hits;
  std::vector<berryeval::Hit> condensed;
  std::size_t ranked = 0;
};

// Calls are not nested, because no code of Python runs meanwhile. Large buffers are not kept.
class BorrowedScratch {
 public:
  BorrowedScratch() = default;
  BorrowedScratch(const BorrowedScratch&) = delete;
  BorrowedScratch& operator=(const BorrowedScratch&) = delete;
  ~BorrowedScratch() {
    if (kept_.rows.capacity() > kMostKept) kept_ = Scratch{};
  }
  Scratch& operator*() const { return kept_; }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 17;
  static thread_local Scratch kept_;
};
thread_local Scratch BorrowedScratch::kept_;

// Reads the rows of one query after the other, of dicts or of tuples.
class Reader {
 public:
  Reader(const nb::object& rows, const std::optional<Fields>& fields, bool whole, Scratch& scratch)
      : rows_(rows), fields_(fields), whole_(whole), scratch_(scratch) {}

  // Calls visit(query, distinct) when scratch.rows has the rows of a query; `distinct` if their ids
  // are known to differ. Returns false if Python must report a fault, or visit returned false.
  template <class Visit>
  bool read(const Visit& visit) {
    const nb::ft_object_guard guard{rows_};
    return fields_ ? read_tuples(visit) : read_dict(visit);
  }

  // The number of queries if it is known, else 0.
  std::size_t queries() const {
    return PyDict_Check(rows_.ptr()) ? static_cast<std::size_t>(PyDict_Size(rows_.ptr())) : 0;
  }

  // The number of rows if it is known, else 0.
  std::size_t size() const {
    if (fields_)
      return PyList_Check(rows_.ptr()) ? static_cast<std::size_t>(PyList_Size(rows_.ptr())) : 0;
    if (!PyDict_Check(rows_.ptr())) return 0;
    const nb::ft_object_guard guard{rows_};
    std::size_t size = 0;
    PyObject *query = nullptr, *row = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(rows_.ptr(), &at, &query, &row) != 0;) {
      if (PyDict_Check(row)) size += static_cast<std::size_t>(PyDict_Size(row));
    }
    return size;
  }

 private:
  template <class Visit>
  bool read_dict(const Visit& visit) {
    if (!PyDict_Check(rows_.ptr())) return false;
    PyObject *query = nullptr, *row = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(rows_.ptr(), &at, &query, &row) != 0;) {
      const nb::object id = plain_string(query);
      if (!id.is_valid() || !PyDict_Check(row)) return false;
      start();
      const nb::ft_object_guard guard{nb::handle(row)};
      PyObject *document = nullptr, *value = nullptr;
      for (Py_ssize_t next = 0; PyDict_Next(row, &next, &document, &value) != 0;) {
        if (!add(document, value)) return false;
      }
      if (!visit(id, copies_.empty())) return false;
    }
    return true;
  }

  template <class Visit>
  bool read_tuples(const Visit& visit) {
    if (!PyList_CheckExact(rows_.ptr())) return false;
    const auto [query_at, document_at, value_at] = *fields_;
    const std::size_t most = std::max({query_at, document_at, value_at});
    const auto size = static_cast<std::size_t>(NB_LIST_GET_SIZE(rows_.ptr()));
    nb::object id;
    Row latest{};
    start();
    for (std::size_t i = 0; i < size; ++i) {
      PyObject* const row = NB_LIST_GET_ITEM(rows_.ptr(), i);
      if (!PyTuple_Check(row) || static_cast<std::size_t>(NB_TUPLE_GET_SIZE(row)) <= most) {
        return false;
      }
      PyObject* const query = NB_TUPLE_GET_ITEM(row, query_at);
      if (query != latest.id) {
        if (!PyUnicode_CheckExact(query)) return false;
        const Row other = ::row_of(query, 0.0);
        if (latest.id == nullptr || !is_same(other, latest)) {
          if (id.is_valid() && !visit(id, false)) return false;
          start();
          id = nb::borrow(query);
        }
        latest = other;
      }
      if (!add(NB_TUPLE_GET_ITEM(row, document_at), NB_TUPLE_GET_ITEM(row, value_at))) return false;
    }
    return !id.is_valid() || visit(id, false);
  }

  void start() {
    scratch_.rows.clear();
    copies_.clear();
  }

  bool add(PyObject* document, PyObject* value) {
    if (!PyUnicode_CheckExact(document)) {
      copies_.push_back(plain_string(document));
      document = copies_.back().ptr();
      if (document == nullptr) return false;
    }
    const double number = number_of(value, whole_);
    if (number != number || !is_unicode(document)) return false;
    scratch_.rows.push_back(::row_of(document, number));
    return true;
  }

  const nb::object& rows_;
  const std::optional<Fields>& fields_;
  bool whole_;
  Scratch& scratch_;
  std::vector<nb::object> copies_;  // of ids that are no plain strings
};

// Scores runs against judgments that are read once.
class DictScorer {
 public:
  // Keeps the ids and grades of queries with judgments. Raises a TypeError if Python must report a
  // fault of them.
  DictScorer(nb::handle_t<DictPlan> plan, const nb::object& rows,
             const std::optional<Fields>& fields)
      : plan_object_(nb::borrow(plan)), plan_(*nb::inst_ptr<DictPlan>(plan)) {
    const BorrowedScratch borrowed;
    Reader reader(rows, fields, true, *borrowed);
    queries_.reserve(reader.queries());
    ends_.reserve(reader.queries());
    const std::size_t size = reader.size();
    rows_.reserve(size);
    grades_.reserve(size);
    const bool read = reader.read([&](const nb::object& id, bool distinct) {
      return (*borrowed).rows.empty() || keep(id, distinct, *borrowed);
    });
    if (!read || !places_.learn(queries_)) {
      release();
      throw nb::type_error("the judgments are not {query: {document: grade}}");
    }
  }
  DictScorer(const DictScorer&) = delete;
  DictScorer& operator=(const DictScorer&) = delete;
  ~DictScorer() { release(); }

  nb::list queries() const {
    nb::list found;
    for (const Row& query : queries_) found.append(nb::borrow(query.id));
    return found;
  }

  // {query: {name: value}} of the judged queries of the run; None if Python must report a fault.
  nb::object score(const nb::object& rows, const std::optional<Fields>& fields) const {
    std::vector<nb::object> ids;
    std::vector<double> values;
    {
      const BorrowedScratch borrowed;
      Scratch& scratch = *borrowed;
      std::vector<Row> found;
      Reader reader(rows, fields, false, scratch);
      ids.reserve(reader.queries());
      values.reserve(reader.queries() * plan_.specs.size());
      const bool read = reader.read([&](const nb::object& id, bool distinct) {
        const Row query = row_of(id.ptr(), 0.0);
        if (fields) found.push_back(query);
        if (!distinct && !scratch.retrieved.learn(scratch.rows)) return false;
        const std::size_t place = places_.find(query);
        if (place == berryeval::PlaceTable::kNowhere) return true;
        rank(place, scratch);
        add_values(place, scratch, values);
        ids.push_back(id);
        return true;
      });
      if (!read || (fields && !scratch.retrieved.learn(found))) return nb::none();
    }
    return dict_of(ids, values);
  }

 private:
  bool keep(const nb::object& id, bool distinct, Scratch& scratch) {
    if (!distinct && !scratch.judged.learn(scratch.rows)) return false;
    rows_.insert(rows_.end(), scratch.rows.begin(), scratch.rows.end());
    for (const Row& row : scratch.rows) Py_INCREF(row.id);
    queries_.push_back(row_of(id.ptr(), 0.0));
    Py_INCREF(id.ptr());
    ends_.push_back(rows_.size());
    add_descending(scratch.rows);
    return true;
  }

  void release() {
    for (const Row& row : rows_) Py_DECREF(row.id);
    for (const Row& row : queries_) Py_DECREF(row.id);
    rows_.clear();
    queries_.clear();
  }

  // Adds the grades of the rows, highest first. Most are of few levels, which are counted.
  void add_descending(std::span<const Row> rows) {
    constexpr double kLevels = 32;
    const auto [least, most] = std::ranges::minmax(rows, {}, &Row::value);
    if (rows.size() < 2 * static_cast<std::size_t>(kLevels) ||
        !(most.value - least.value < kLevels)) {
      const auto first = static_cast<std::ptrdiff_t>(grades_.size());
      for (const Row& row : rows) grades_.push_back(row.value);
      std::sort(grades_.begin() + first, grades_.end(), std::greater<>());
      return;
    }
    std::array<std::size_t, static_cast<std::size_t>(kLevels)> counts{};
    for (const Row& row : rows) ++counts[static_cast<std::size_t>(most.value - row.value)];
    for (std::size_t below = 0; below < counts.size(); ++below) {
      grades_.insert(grades_.end(), counts[below], most.value - static_cast<double>(below));
    }
  }

  std::size_t begin_of(std::size_t place) const { return place == 0 ? 0 : ends_[place - 1]; }

  // Joins the rows with the judgments of a query.
  void rank(std::size_t place, Scratch& scratch) const {
    const std::size_t first = begin_of(place);
    const std::span judged = std::span(rows_).subspan(first, ends_[place] - first);
    scratch.judged.learn(judged, true);
    scratch.scores.clear();
    scratch.grades.clear();
    for (const Row& row : scratch.rows) {
      const std::size_t known = scratch.judged.find(row);
      scratch.scores.push_back(row.value);
      scratch.grades.push_back(known == berryeval::PlaceTable::kNowhere ? kUnjudged
                                                                        : judged[known].value);
    }
    const auto text_of = [&](std::uint32_t row) { return utf8_of(scratch.rows[row].id); };
    const auto ranked = scratch.order.order(scratch.scores, plan_.rule, text_of);
    scratch.hits.clear();
    scratch.condensed.clear();
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      const double grade = scratch.grades[ranked[i]];
      if (grade == grade) scratch.hits.push_back({i + 1, grade});
    }
    scratch.ranked = ranked.size();
    if (!plan_.condenses) return;
    for (const berryeval::Hit& hit : scratch.hits) {
      if (hit.grade >= 0) scratch.condensed.push_back({scratch.condensed.size() + 1, hit.grade});
    }
  }

  void add_values(std::size_t place, const Scratch& scratch, std::vector<double>& values) const {
    const std::size_t first = begin_of(place);
    const std::span grades = std::span(grades_).subspan(first, ends_[place] - first);
    const berryeval::JudgedRanking ranking{scratch.hits, scratch.ranked, grades};
    const berryeval::JudgedRanking condensed{scratch.condensed, scratch.condensed.size(), grades};
    for (const berryeval::Spec& spec : plan_.specs) {
      const bool only = plan_.judged_only || spec.params.judged_only;
      values.push_back(spec.formula(only ? condensed : ranking, spec.params));
    }
  }

  nb::object dict_of(std::span<const nb::object> ids, std::span<const double> values) const {
    nb::dict result;
    auto value = values.begin();
    for (const nb::object& id : ids) {
      nb::object row =
          nb::steal(plan_.empty.is_valid() ? PyDict_Copy(plan_.empty.ptr()) : PyDict_New());
      if (!row.is_valid()) throw nb::python_error();
      for (const nb::object& name : plan_.names) set_item(row, name, nb::float_(*value++));
      set_item(result, id, row);
    }
    return result;
  }

  nb::object plan_object_;
  const DictPlan& plan_;
  std::vector<Row> queries_;
  std::vector<std::size_t> ends_;  // of the queries in rows_ and grades_
  std::vector<Row> rows_;
  std::vector<double> grades_;  // highest first
  Finder places_;               // of queries
};

// Groups rows by query: {query: {document: value}}. A row is a tuple with the three at these
// places; the last value of a document counts.
nb::dict group_tuples(const nb::object& rows, std::size_t query_at, std::size_t document_at,
                      std::size_t value_at) {
  nb::dict result;
  nb::object latest, latest_query;
  const std::size_t most = std::max({query_at, document_at, value_at});
  const nb::object iterator = nb::steal(PyObject_GetIter(rows.ptr()));
  if (!iterator.is_valid()) throw nb::python_error();
  for (nb::object row; (row = nb::steal(PyIter_Next(iterator.ptr()))).is_valid();) {
    if (!PyTuple_Check(row.ptr()) || static_cast<std::size_t>(PyTuple_Size(row.ptr())) <= most) {
      throw nb::type_error("every row must be a tuple with the fields of the first");
    }
    const auto field = [&](std::size_t at) {
      return nb::borrow(PyTuple_GetItem(row.ptr(), static_cast<Py_ssize_t>(at)));
    };
    const nb::object query = field(query_at);
    if (!query.is(latest_query)) {
      latest = item_of(result, query);
      if (!latest.is_valid()) set_item(result, query, latest = nb::dict());
      latest_query = query;
    }
    set_item(latest, field(document_at), field(value_at));
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return result;
}

}  // namespace

void bind_dicts(nb::module_& module) {
  nb::class_<DictPlan>(module, "DictPlan", "Metrics and rules that scorers of dicts share.")
      .def(nb::init<const std::vector<nb::object>&, const std::vector<SpecArrays>&,
                    const std::string&, bool, std::size_t, bool>(),
           "names"_a, "specs"_a.noconvert(), "ties"_a, "single_precision"_a, "depth"_a,
           "judged_only"_a);
  // Arguments without names are passed on faster, which counts for small runs.
  nb::class_<DictScorer>(module, "DictScorer", "Scores dicts of runs against dicts of judgments.")
      .def(nb::init<nb::handle_t<DictPlan>, const nb::object&, const std::optional<Fields>&>(),
           "Copy the judgments; a TypeError for faulty ones.")
      .def("queries", &DictScorer::queries, "Return the judged queries.")
      .def("score", &DictScorer::score, "Score a run; None for a faulty one.");
  module.def("group_tuples", &group_tuples, "rows"_a, "query_at"_a, "document_at"_a, "value_at"_a,
             "Convert tuples to {query: {document: value}}.");
}
