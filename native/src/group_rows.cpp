#include "berryeval/group_rows.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "berryeval/parallel.hpp"
#include "berryeval/place_table.hpp"

namespace berryeval {
namespace {

// Below this many rows another thread costs more than it saves.
constexpr std::size_t kRowsPerThread = std::size_t{1} << 14;

// Begin and end of consecutive rows of one query; several if the rows are not grouped.
using Stretches = std::vector<std::pair<std::size_t, std::size_t>>;

bool same_as_before(const Strings& queries, std::size_t row) {
  return same_text(queries[row], queries[row - 1]);
}

bool same_as_before(const StringViews& queries, std::size_t row) {
  return same_text({queries.view(row), StringViews::kSize},
                   {queries.view(row - 1), StringViews::kSize}) ||
         queries[row] == queries[row - 1];
}

// The stretches of consecutive rows of each query.
template <class Queries>
std::vector<Stretches> stretches_of(const Queries& queries, StringBuilder& unique) {
  std::vector<Stretches> stretches;
  std::unordered_map<std::string_view, std::size_t, HashOfText> index;
  std::size_t current = 0;
  for (std::size_t row = 0; row < queries.count; ++row) {
    if (row == 0 || !same_as_before(queries, row)) {
      const std::string_view query = queries[row];
      const auto [known, is_new] = index.try_emplace(query, stretches.size());
      if (is_new) {
        stretches.emplace_back();
        unique.add(query);
      }
      current = known->second;
      stretches[current].emplace_back(row, row);
    }
    stretches[current].back().second = row + 1;
  }
  return stretches;
}

// Finds the rows of these queries that repeat a document.
void find_repeated(const std::vector<Stretches>& stretches, std::size_t first, std::size_t last,
                   const Strings& documents, std::vector<std::int64_t>& repeated) {
  DocumentSet seen;
  for (std::size_t query = first; query < last; ++query) {
    std::size_t count = 0;
    for (const auto& [begin, end] : stretches[query]) count += end - begin;
    seen.reset(count);
    for (const auto& [begin, end] : stretches[query]) {
      for (std::size_t row = begin; row < end; ++row) {
        if (!seen.insert(documents[row])) repeated.push_back(static_cast<std::int64_t>(row));
      }
    }
  }
}

// Sets the order of the rows and the offsets of the queries.
void put_in_order(const std::vector<Stretches>& stretches, Grouping& grouping) {
  std::size_t size = 0;
  for (const Stretches& parts : stretches) {
    for (const auto& [begin, end] : parts) {
      size += end - begin;
      if (grouping.in_place) continue;
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = static_cast<std::int64_t>(i);
        if (std::ranges::binary_search(grouping.repeated, row)) {
          --size;
        } else {
          grouping.order.push_back(row);
        }
      }
    }
    grouping.offsets.push_back(static_cast<std::int64_t>(size));
  }
}

template <class Queries>
Grouping group(const Queries& queries, const Strings& documents, std::size_t threads) {
  Grouping grouping;
  const auto stretches = stretches_of(queries, grouping.queries);
  const std::size_t parts =
      std::clamp<std::size_t>(std::min(threads, queries.count / kRowsPerThread), 1,
                              std::max<std::size_t>(1, stretches.size()));
  std::vector<std::vector<std::int64_t>> repeated(parts);
  for_each_part(stretches.size(), parts,
                [&](std::size_t part, std::size_t first, std::size_t last) {
                  find_repeated(stretches, first, last, documents, repeated[part]);
                });
  for (const auto& rows : repeated) {
    grouping.repeated.insert(grouping.repeated.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(grouping.repeated);
  grouping.in_place =
      grouping.repeated.empty() &&
      std::ranges::all_of(stretches, [](const Stretches& s) { return s.size() == 1; });
  put_in_order(stretches, grouping);
  return grouping;
}

}  // namespace

Grouping group_rows(const Strings& queries, const Strings& documents, std::size_t threads) {
  return group(queries, documents, threads);
}

Grouping group_rows(const StringViews& queries, const Strings& documents, std::size_t threads) {
  return group(queries, documents, threads);
}

StringBuilder take_strings(const Strings& strings, const std::int64_t* places, std::size_t count) {
  StringBuilder taken;
  taken.offsets.reserve(count + 1);
  const volatile std::int64_t* const at =
      places;  // read once, so that the checked value is the one in use
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(at[i]);
    if (place >= strings.count) throw std::invalid_argument("a place is out of range");
    taken.add(strings[place]);
  }
  return taken;
}

StringBuilder decimal_strings(const std::int64_t* numbers, std::size_t count) {
  StringBuilder text;
  text.offsets.reserve(count + 1);
  char buffer[24];
  for (std::size_t i = 0; i < count; ++i) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, numbers[i]).ptr;
    text.add({buffer, static_cast<std::size_t>(end - buffer)});
  }
  return text;
}

}  // namespace berryeval
