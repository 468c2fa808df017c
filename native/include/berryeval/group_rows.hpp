// Groups rows in any order by query; the Python twin is berryeval.data.columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berryeval/string_views.hpp"
#include "berryeval/strings.hpp"

namespace berryeval {

struct Grouping {
  StringBuilder queries;                 // each once, in order of appearance
  std::vector<std::int64_t> offsets{0};  // start of the rows of each query
  bool in_place = true;                  // the rows are already grouped, none repeated
  std::vector<std::int64_t> order;       // unless in place: the rows, query by query
  std::vector<std::int64_t> repeated;    // rows that repeat a document of their query, ascending
};

Grouping group_rows(const Strings& queries, const Strings& documents, std::size_t threads);
Grouping group_rows(const StringViews& queries, const Strings& documents, std::size_t threads);

// Copies the strings at these places.
StringBuilder take_strings(const Strings& strings, const std::int64_t* places, std::size_t count);

// Formats integers as decimal strings.
StringBuilder decimal_strings(const std::int64_t* numbers, std::size_t count);

}  // namespace berryeval
