#include "berryeval/fuse_runs.hpp"

#include <algorithm>
#include <cstring>

#include "berryeval/parallel.hpp"
#include "berryeval/place_table.hpp"
#include "berryeval/query_judge.hpp"

namespace berryeval {
namespace {

// The first row of the query whose document came before.
RepeatedRow find_repeated(std::span<const QueryTable> runs, std::size_t run, std::int64_t place) {
  const QueryTable& table = runs[run];
  const std::size_t begin = table.begin_of(static_cast<std::size_t>(place));
  const std::size_t end = table.end_of(static_cast<std::size_t>(place));
  DocumentSet seen;
  seen.reset(end - begin);
  for (std::size_t row = begin; row < end; ++row) {
    if (!seen.insert(table.documents[row])) return {run, row};
  }
  return {run, begin};
}

// The output of one thread, with room for every row of its queries. Room that is not used costs
// no memory, because it is never touched.
struct Part {
  std::unique_ptr<char[]> text;
  std::unique_ptr<std::int64_t[]> ends;  // of the documents in the text
  std::unique_ptr<double[]> scores;
  std::size_t text_size = 0;
  std::size_t text_room = 0;
  std::size_t count = 0;
  std::optional<RepeatedRow> repeated;

  void reserve(std::span<const QueryTable> runs, std::span<const std::int64_t> places,
               std::size_t queries, std::size_t begin, std::size_t end) {
    std::size_t rows = 0;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (std::size_t query = begin; query < end; ++query) {
        const std::int64_t place = places[run * queries + query];
        if (place == kNotInRun) continue;
        const std::size_t first = runs[run].begin_of(static_cast<std::size_t>(place));
        const std::size_t last = runs[run].end_of(static_cast<std::size_t>(place));
        rows += last - first;
        for (std::size_t row = first; row < last; ++row) {
          text_room += runs[run].documents[row].size();
        }
      }
    }
    text = std::make_unique_for_overwrite<char[]>(text_room);
    ends = std::make_unique_for_overwrite<std::int64_t[]>(rows);
    scores = std::make_unique_for_overwrite<double[]>(rows);
  }
};

void append(Part& part, QueryFusion& fusion, std::size_t depth) {
  const auto documents = fusion.documents();
  const auto scores = fusion.scores();
  const auto order = fusion.order();
  for (const std::uint32_t place : order.first(std::min(depth, order.size()))) {
    const std::string_view document = documents[place];
    if (document.size() > part.text_room - part.text_size) {
      throw std::invalid_argument("the runs were changed while they were fused");
    }
    std::memcpy(part.text.get() + part.text_size, document.data(), document.size());
    part.text_size += document.size();
    part.ends[part.count] = static_cast<std::int64_t>(part.text_size);
    part.scores[part.count++] = scores[place];
  }
}

FusedRows join_parts(std::vector<Part>& parts, std::vector<std::int64_t>&& sizes) {
  FusedRows rows;
  std::vector<std::size_t> texts{0};
  std::vector<std::size_t> counts{0};
  for (const Part& part : parts) {
    texts.push_back(texts.back() + part.text_size);
    counts.push_back(counts.back() + part.count);
  }
  rows.documents.count = counts.back();
  rows.documents.size = texts.back();
  rows.documents.data = std::make_unique_for_overwrite<char[]>(texts.back());
  rows.documents.offsets = std::make_unique_for_overwrite<std::int64_t[]>(counts.back() + 1);
  rows.documents.offsets[0] = 0;
  rows.scores = std::make_unique_for_overwrite<double[]>(counts.back());
  for_each_part(parts.size(), parts.size(), [&](std::size_t i, std::size_t, std::size_t) {
    Part& part = parts[i];
    std::copy_n(part.text.get(), part.text_size, rows.documents.data.get() + texts[i]);
    std::copy_n(part.scores.get(), part.count, rows.scores.get() + counts[i]);
    std::int64_t* const offsets = rows.documents.offsets.get() + counts[i] + 1;
    for (std::size_t row = 0; row < part.count; ++row) {
      offsets[row] = static_cast<std::int64_t>(texts[i]) + part.ends[row];
    }
    part = Part{};
  });
  for (std::size_t i = 1; i < sizes.size(); ++i) sizes[i] += sizes[i - 1];
  rows.offsets = std::move(sizes);
  return rows;
}

std::size_t part_count(std::size_t threads, std::size_t queries) {
  return std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, queries));
}

}  // namespace

std::variant<RepeatedRow, FusedRows> fuse_runs(std::span<const QueryTable> runs,
                                               std::span<const std::int64_t> places,
                                               std::size_t queries, const FusionRecipe& recipe,
                                               std::size_t depth, std::size_t threads) {
  std::vector<Part> parts(part_count(threads, queries));
  std::vector<std::int64_t> sizes(queries + 1, 0);
  for_each_part(queries, parts.size(), [&](std::size_t i, std::size_t begin, std::size_t end) {
    Part& part = parts[i];
    part.reserve(runs, places, queries, begin, end);
    QueryFusion fusion(runs);
    std::vector<WindowPoints> windows(runs.size());
    for (std::size_t query = begin; query < end; ++query) {
      if (const auto run = fusion.join(places.data() + query, queries, recipe.inverted)) {
        part.repeated = find_repeated(runs, *run, places[*run * queries + query]);
        return;
      }
      fusion.combine(recipe, windows);
      const std::size_t before = part.count;
      append(part, fusion, depth);
      sizes[query + 1] = static_cast<std::int64_t>(part.count - before);
    }
  });
  for (const Part& part : parts) {
    if (part.repeated) return *part.repeated;
  }
  return join_parts(parts, std::move(sizes));
}

std::optional<RepeatedRow> score_fusions(const QueryTable& qrels, std::span<const QueryTable> runs,
                                         std::span<const std::int64_t> places,
                                         std::span<const FusionRecipe> recipes, const Spec& spec,
                                         std::span<double> out, std::size_t threads) {
  const std::size_t queries = qrels.queries.count;
  const std::size_t parts = part_count(threads, queries);
  std::vector<std::optional<RepeatedRow>> repeated(parts);
  for_each_part(queries, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
    QueryFusion fusion(runs);
    QueryJudge judge{RankingRule{}};
    std::vector<WindowPoints> windows(runs.size() * recipes.size());
    std::vector<Scored> rows;
    for (std::size_t query = begin; query < end; ++query) {
      const std::size_t first = qrels.begin_of(query);
      const auto judged_twice = judge.learn(
          qrels.end_of(query) - first, [&](std::size_t i) { return qrels.documents[first + i]; },
          [&](std::size_t i) { return qrels.values[first + i]; });
      if (judged_twice) {
        repeated[part] = RepeatedRow{runs.size(), first + *judged_twice};
        return;
      }
      if (const auto run = fusion.join(places.data() + query, queries, recipes[0].inverted)) {
        repeated[part] = find_repeated(runs, *run, places[*run * queries + query]);
        return;
      }
      const auto documents = fusion.documents();
      rows.resize(documents.size());
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {documents[i], 0.0};
      judge.rank(rows, true);
      for (std::size_t i = 0; i < recipes.size(); ++i) {
        fusion.combine(recipes[i], {windows.data() + i * runs.size(), runs.size()});
        const auto scores = fusion.scores();
        for (std::size_t row = 0; row < rows.size(); ++row) rows[row].score = scores[row];
        judge.rank_again(rows);
        out[i * queries + query] = spec.formula(
            spec.params.judged_only ? judge.condensed() : judge.ranking(), spec.params);
      }
    }
  });
  for (const auto& row : repeated) {
    if (row) return row;
  }
  return std::nullopt;
}

RelevantRanks relevant_ranks(const QueryTable& qrels, const QueryTable& run,
                             std::span<const std::int64_t> places, double rel,
                             std::size_t threads) {
  const std::size_t queries = qrels.queries.count;
  std::vector<RelevantRanks> parts(part_count(threads, queries));
  for_each_part(queries, parts.size(), [&](std::size_t i, std::size_t begin, std::size_t end) {
    RelevantRanks& part = parts[i];
    QueryJudge judge{RankingRule{}};
    std::vector<Scored> rows;
    for (std::size_t query = begin; query < end; ++query) {
      const std::size_t first = qrels.begin_of(query);
      const auto judged_twice = judge.learn(
          qrels.end_of(query) - first, [&](std::size_t k) { return qrels.documents[first + k]; },
          [&](std::size_t k) { return qrels.values[first + k]; });
      if (judged_twice) {
        part.repeated = Duplicate{false, first + *judged_twice};
        return;
      }
      rows.clear();
      std::size_t start = 0;
      if (places[query] != kNotInRun) {
        const auto place = static_cast<std::size_t>(places[query]);
        start = run.begin_of(place);
        for (std::size_t row = start; row < run.end_of(place); ++row) {
          rows.push_back({run.documents[row], run.values[row]});
          require_number(rows.back().score);
        }
      }
      if (const auto row = judge.rank(rows, run.distinct)) {
        part.repeated = Duplicate{true, start + *row};
        return;
      }
      std::int64_t count = 0;
      for (const Hit& hit : judge.ranking().hits) {
        if (hit.grade < rel) continue;
        part.ranks.push_back(static_cast<std::int64_t>(hit.rank) - 1);
        ++count;
      }
      part.counts.push_back(count);
    }
  });
  RelevantRanks found;
  for (const RelevantRanks& part : parts) {
    if (part.repeated) return {part.repeated, {}, {}};
    found.counts.insert(found.counts.end(), part.counts.begin(), part.counts.end());
    found.ranks.insert(found.ranks.end(), part.ranks.begin(), part.ranks.end());
  }
  return found;
}

}  // namespace berryeval
