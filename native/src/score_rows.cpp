#include "berryeval/score_rows.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "berryeval/parallel.hpp"
#include "berryeval/row_judge.hpp"
#include "metrics/families.hpp"

namespace berryeval {
namespace {

// Starting a thread costs about as much as looking up this many ids.
constexpr std::size_t kIdsPerThread = std::size_t{1} << 16;

constexpr auto kMetricNames = std::to_array<std::pair<std::string_view, Formula>>({
    {"recall", formulas::recall},
    {"precision_of_retrieved", formulas::set_precision},
    {"precision_of_k", formulas::precision},
    {"mrr", formulas::reciprocal_rank},
    {"ndcg", formulas::ndcg},
    {"hit_rate", formulas::success},
});

// A request with its parameters, the same for every row.
struct Column {
  Formula formula;
  Params params;
  bool counts_documents;  // divides by the documents in the top k rather than by its places
};

std::vector<Column> columns_of(std::span<const Request> requests, double threshold) {
  std::vector<Column> columns;
  for (const Request& request : requests) {
    Column column{request.formula, {}, request.formula == formulas::set_precision};
    column.params.cutoff = request.cutoff;
    column.params.rel = request.formula == formulas::ndcg ? 0.0 : threshold;  // gains are grades
    columns.push_back(std::move(column));
  }
  return columns;
}

GradeOrder order_for(std::span<const Column> columns, bool binary) {
  if (binary) return GradeOrder::all_one;
  const bool sorted = std::ranges::any_of(
      columns, [](const Column& column) { return column.formula == formulas::ndcg; });
  return sorted ? GradeOrder::descending : GradeOrder::any;
}

// The ranking down to rank `depth`; its places without padding are the retrieved documents.
JudgedRanking cut(const JudgedRanking& judged, std::span<const std::int32_t> ranking,
                  std::size_t depth) {
  const auto padding = std::ranges::count(ranking.first(depth), kPadding);
  const auto end = std::ranges::upper_bound(judged.hits, depth, {}, &Hit::rank);
  return {judged.hits.first(static_cast<std::size_t>(end - judged.hits.begin())),
          depth - static_cast<std::size_t>(padding), judged.grades};
}

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

// Scores the rows [begin, end). `grade_at(row, column)` hides the type of the grades.
template <class GradeAt>
std::optional<GradeConflict> score_part(const ScoreInput& input, std::span<const Column> columns,
                                        std::size_t depth, GradeOrder order,
                                        const GradeAt& grade_at, std::size_t begin, std::size_t end,
                                        std::span<float> out) {
  RowJudge judge(input.relevant.width, depth, order);
  for (std::size_t row = begin; row < end; ++row) {
    const auto grade_in_row = [&](std::size_t column) { return grade_at(row, column); };
    if (const auto conflict = judge.learn(input.relevant[row], grade_in_row)) {
      return GradeConflict{row, conflict->first, conflict->second};
    }
    const auto ranking = input.retrieved[row].first(depth);
    const JudgedRanking judged = judge.rank(ranking);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& [formula, params, counts_documents] = columns[i];
      const double score = counts_documents ? formula(cut(judged, ranking, params.cutoff), params)
                                            : formula(judged, params);
      out[i * input.retrieved.count + row] = static_cast<float>(score);
    }
  }
  return std::nullopt;
}

}  // namespace

Formula find_array_formula(std::string_view name) {
  for (const auto& [known, formula] : kMetricNames) {
    if (known == name) return formula;
  }
  return nullptr;
}

std::optional<GradeConflict> score_rows(const ScoreInput& input, std::span<const Request> requests,
                                        std::size_t threads, std::span<float> out) {
  check(input, requests, out.size());
  const std::size_t rows = input.retrieved.count;
  if (requests.empty() || rows == 0) return std::nullopt;

  const std::size_t depth = std::ranges::max_element(requests, {}, &Request::cutoff)->cutoff;
  const std::vector<Column> columns = columns_of(requests, input.threshold);
  const std::size_t worthwhile = 1 + rows * (depth + input.relevant.width) / kIdsPerThread;
  const std::size_t parts = std::clamp<std::size_t>(threads, 1, std::min(worthwhile, rows));
  std::vector<std::optional<GradeConflict>> conflicts(parts);

  std::visit(
      [&](const auto& grades) {
        constexpr bool binary = std::is_same_v<std::decay_t<decltype(grades)>, std::monostate>;
        const GradeOrder order = order_for(columns, binary);
        const auto grade_at = [&](std::size_t row, std::size_t column) {
          if constexpr (binary) {
            return 1.0;
          } else {
            return static_cast<double>(grades[row][column]);
          }
        };
        for_each_part(rows, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
          conflicts[part] = score_part(input, columns, depth, order, grade_at, begin, end, out);
        });
      },
      input.grades);

  for (const auto& conflict : conflicts) {
    if (conflict) return conflict;
  }
  return std::nullopt;
}

}  // namespace berryeval
