// Rows in any order, grouped by query; the Python twin is berryeval.io.columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berryeval/string_views.hpp"
#include "berryeval/strings.hpp"

namespace berryeval {

struct Grouping {
  StringBuilder queries;                 // each once, in order of appearance
  std::vector<std::int64_t> offsets{0};  // where the rows of each query begin
  bool in_place = true;                  // the rows stand grouped already, none repeated
  std::vector<std::int64_t> order;       // unless in place: the rows, query by query
  std::vector<std::int64_t> repeated;    // rows whose document their query has already, rising
};

Grouping group_rows(const Strings& queries, const Strings& documents, std::size_t threads);
Grouping group_rows(const StringViews& queries, const Strings& documents, std::size_t threads);

// The strings at these places.
StringBuilder take_strings(const Strings& strings, const std::int64_t* places, std::size_t count);

// Whole numbers as decimal strings.
StringBuilder decimal_strings(const std::int64_t* numbers, std::size_t count);

}  // namespace berryeval
