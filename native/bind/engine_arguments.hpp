// Tables as Python hands them over.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "berryeval/evaluate.hpp"
#include "columns.hpp"

// queries, offsets, documents, values, whether no query repeats a document
using TableArrays = std::tuple<Text, Column<const std::int64_t>, Text, Column<const double>, bool>;

// A table with a copy of its offsets.
struct Table : berryeval::QueryTable {
  explicit Table(const TableArrays& arrays) : owned_offsets(copy_of(std::get<1>(arrays))) {
    const auto& [query_arrays, given_offsets, document_arrays, numbers, is_distinct] = arrays;
    queries = strings_of(query_arrays);
    offsets = owned_offsets.data();
    documents = strings_of(document_arrays);
    values = span_of(numbers).data();
    distinct = is_distinct;
    require(documents.count == numbers.size(), "a table needs one value per document");
    require(owned_offsets.size() == queries.count + 1,
            "a table needs one offset per query and one");
    check_offsets(owned_offsets, numbers.size(), "the offsets of a table do not fit its rows");
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  std::vector<std::int64_t> owned_offsets;
};
