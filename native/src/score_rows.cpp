#include "berryeval/score_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "berryeval/parallel.hpp"
#include "berryeval/row_judge.hpp"

namespace berryeval {
namespace {

// A thread costs about as much to start as this many ids cost to look up.
constexpr std::size_t kIdsPerThread = std::size_t{1} << 16;

constexpr auto kMetricNames = std::to_array<std::pair<std::string_view, Metric>>({
    {"recall", Metric::recall},
    {"precision_of_retrieved", Metric::precision_of_retrieved},
    {"precision_of_k", Metric::precision_of_k},
    {"mrr", Metric::mrr},
    {"ndcg", Metric::ndcg},
    {"hit_rate", Metric::hit_rate},
});

// What every row needs and no row changes.
struct Discounts {
  std::vector<double> log2_of_next;  // log2(rank + 1) at index rank
  std::vector<double> unit_ideal;    // the ideal DCG of n documents of grade 1 at index n

  explicit Discounts(std::size_t depth) : log2_of_next(depth + 1), unit_ideal(depth + 1) {
    for (std::size_t rank = 1; rank <= depth; ++rank) {
      log2_of_next[rank] = std::log2(static_cast<double>(rank + 1));
      unit_ideal[rank] = unit_ideal[rank - 1] + 1.0 / log2_of_next[rank];
    }
  }
};

double divide(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// One row after the join; every metric reads it and nothing else.
struct JudgedRow {
  std::span<const std::int32_t> ranking;
  std::span<const Hit> hits;
  std::size_t relevant_count;
  bool binary;
  std::size_t judged_count;
  std::span<const double> ideal_gains;
  double threshold;
  const Discounts& discounts;

  std::size_t relevant_found(std::size_t cutoff) const {
    std::size_t found = 0;
    for (const Hit& hit : hits) {
      if (hit.rank > cutoff) break;
      found += hit.grade >= threshold;
    }
    return found;
  }

  std::size_t retrieved_count(std::size_t cutoff) const {
    const auto padding = std::ranges::count(ranking.first(cutoff), kPadding);
    return cutoff - static_cast<std::size_t>(padding);
  }

  double reciprocal_rank(std::size_t cutoff) const {
    for (const Hit& hit : hits) {
      if (hit.rank > cutoff) break;
      if (hit.grade >= threshold) return 1.0 / static_cast<double>(hit.rank);
    }
    return 0.0;
  }

  double ideal_dcg(std::size_t cutoff) const {
    if (binary) return discounts.unit_ideal[std::min(judged_count, cutoff)];
    double total = 0.0;
    const std::size_t depth = std::min(ideal_gains.size(), cutoff);
    for (std::size_t rank = 1; rank <= depth; ++rank) {
      total += ideal_gains[rank - 1] / discounts.log2_of_next[rank];
    }
    return total;
  }

  double ndcg(std::size_t cutoff) const {
    double total = 0.0;
    for (const Hit& hit : hits) {
      if (hit.rank > cutoff) break;
      if (hit.grade > 0) total += hit.grade / discounts.log2_of_next[hit.rank];
    }
    const double ideal = ideal_dcg(cutoff);
    // Rounding may lift the sum of another order over that of the best one, by a hair.
    return ideal > 0.0 ? std::min(1.0, total / ideal) : 0.0;
  }

  double score(const Request& request) const {
    switch (request.metric) {
      case Metric::recall:
        return divide(relevant_found(request.cutoff), relevant_count);
      case Metric::precision_of_retrieved:
        return divide(relevant_found(request.cutoff), retrieved_count(request.cutoff));
      case Metric::precision_of_k:
        return divide(relevant_found(request.cutoff), request.cutoff);
      case Metric::mrr:
        return reciprocal_rank(request.cutoff);
      case Metric::ndcg:
        return ndcg(request.cutoff);
      case Metric::hit_rate:
        return relevant_found(request.cutoff) > 0 ? 1.0 : 0.0;
    }
    return 0.0;
  }
};

void check(const ScoreInput& input, std::span<const Request> requests, std::size_t out_size) {
  if (input.relevant.count != input.retrieved.count) {
    throw std::invalid_argument("retrieved and relevant must have the same number of rows");
  }
  std::visit(
      [&](const auto& grades) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(grades)>, std::monostate>) {
          if (grades.count != input.relevant.count || grades.width != input.relevant.width) {
            throw std::invalid_argument("grades must have the shape of relevant");
          }
        }
      },
      input.grades);
  for (const Request& request : requests) {
    if (request.cutoff < 1 || request.cutoff > input.retrieved.width) {
      throw std::invalid_argument("a cutoff must be between 1 and the columns of retrieved");
    }
  }
  if (out_size != requests.size() * input.retrieved.count) {
    throw std::invalid_argument("out must hold one row per request and one column per query");
  }
}

// Scores the rows [begin, end). `grade_at(row, column)` is the only thing that differs between the
// kinds of grades.
template <class GradeAt>
std::optional<GradeConflict> score_part(const ScoreInput& input, std::span<const Request> requests,
                                        const Discounts& discounts, const GradeAt& grade_at,
                                        bool binary, std::size_t begin, std::size_t end,
                                        std::span<float> out) {
  const std::size_t depth = discounts.log2_of_next.size() - 1;
  const bool graded_ideal = !binary && std::ranges::any_of(requests, [](const Request& request) {
    return request.metric == Metric::ndcg;
  });
  RowJudge judge(input.relevant.width, depth);
  for (std::size_t row = begin; row < end; ++row) {
    const auto grade_in_row = [&](std::size_t column) { return grade_at(row, column); };
    if (const auto columns = judge.learn(input.relevant[row], grade_in_row)) {
      return GradeConflict{row, columns->first, columns->second};
    }
    const auto ranking = input.retrieved[row].first(depth);
    const JudgedRow judged{
        .ranking = ranking,
        .hits = judge.find_in(ranking),
        .relevant_count = binary ? judge.judged_count() : judge.count_at_least(input.threshold),
        .binary = binary,
        .judged_count = judge.judged_count(),
        .ideal_gains = graded_ideal ? judge.ideal_gains() : std::span<const double>{},
        .threshold = input.threshold,
        .discounts = discounts,
    };
    for (std::size_t i = 0; i < requests.size(); ++i) {
      out[i * input.retrieved.count + row] = static_cast<float>(judged.score(requests[i]));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Metric> metric_named(std::string_view name) {
  for (const auto& [known, metric] : kMetricNames) {
    if (known == name) return metric;
  }
  return std::nullopt;
}

std::optional<GradeConflict> score_rows(const ScoreInput& input, std::span<const Request> requests,
                                        std::size_t threads, std::span<float> out) {
  check(input, requests, out.size());
  const std::size_t rows = input.retrieved.count;
  if (requests.empty() || rows == 0) return std::nullopt;

  const std::size_t depth = std::ranges::max_element(requests, {}, &Request::cutoff)->cutoff;
  const Discounts discounts(depth);
  const std::size_t worthwhile = 1 + rows * (depth + input.relevant.width) / kIdsPerThread;
  const std::size_t parts = std::clamp<std::size_t>(threads, 1, std::min(worthwhile, rows));
  std::vector<std::optional<GradeConflict>> conflicts(parts);

  std::visit(
      [&](const auto& grades) {
        constexpr bool binary = std::is_same_v<std::decay_t<decltype(grades)>, std::monostate>;
        const auto grade_at = [&](std::size_t row, std::size_t column) {
          if constexpr (binary) {
            return 1.0;
          } else {
            return static_cast<double>(grades[row][column]);
          }
        };
        for_each_part(rows, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
          conflicts[part] =
              score_part(input, requests, discounts, grade_at, binary, begin, end, out);
        });
      },
      input.grades);

  for (const auto& conflict : conflicts) {
    if (conflict) return conflict;
  }
  return std::nullopt;
}

}  // namespace berryeval
