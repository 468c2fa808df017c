#include "berryeval/score_file.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <unordered_map>

#include "berryeval/parallel.hpp"

namespace berryeval {
namespace {

// Below this many bytes another thread costs more than it saves.
constexpr std::size_t kBytesPerThread = std::size_t{1} << 18;

struct HashOfText {
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(hash_of(text));
  }
};
using QueryIndex = std::unordered_map<std::string_view, std::size_t, HashOfText>;

std::size_t line_end(std::string_view text, std::size_t from) {
  const std::size_t end = text.find('\n', from);
  return end == std::string_view::npos ? text.size() : end;
}

// The first byte at or after `from` where a line of another query than the line before begins.
std::size_t query_boundary(std::string_view text, std::size_t from) {
  std::size_t at = from == 0 ? 0 : line_end(text, from - 1) + 1;
  std::string_view current;
  while (at < text.size()) {
    const std::size_t end = line_end(text, at);
    std::string_view line = text.substr(at, end - at);
    if (has_content(line)) {
      const std::string_view query = next_column(line);
      if (!current.empty() && query != current) return at;
      current = query;
    }
    at = end + 1;
  }
  return text.size();
}

std::size_t line_number(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

// What one thread finds in its part of the file.
struct Part {
  std::optional<LineError> error;
  std::size_t error_at = 0;
  std::optional<std::size_t> duplicate_at;
  std::string duplicate_document;
  std::optional<std::size_t> judged_twice;
  std::vector<std::string> extra_queries;
  std::string_view tag;
};

class PartScorer {
 public:
  PartScorer(const Task& task, const QueryIndex& index, std::atomic_flag* taken,
             std::atomic<bool>& grouped)
      : index_(index), taken_(taken), grouped_(grouped), scorer_(task) {}

  void score(std::string_view text, std::size_t begin, std::size_t end, Part& part) {
    TextRow row{};
    std::string_view found;
    for (std::size_t at = begin; at < end;) {
      const std::size_t stop = line_end(text, at);
      const std::string_view line = text.substr(at, stop - at);
      const LineProblem problem = parse_line(TextKind::run, line, row, found);
      if (problem != LineProblem::none || row.query.front() == '#') {
        if (has_content(line)) {
          part.error = LineError{problem, 0, std::string(found)};
          part.error_at = at;
          return;
        }
      } else {
        if (row.query != query_) {
          if (!finish(text, part) || !grouped_.load(std::memory_order_relaxed)) return;
          query_ = row.query;
        }
        rows_.push_back({row.document, row.value});
        places_.push_back(at);
        part.tag = row.tag;
      }
      at = stop + 1;
    }
    finish(text, part);
  }

 private:
  // Scores the query that is complete. False if it cannot be.
  bool finish(std::string_view, Part& part) {
    if (rows_.empty()) return true;
    const auto known = index_.find(query_);
    bool fine = true;
    if (known == index_.end()) {
      part.extra_queries.emplace_back(query_);
    } else if (taken_[known->second].test_and_set(std::memory_order_relaxed)) {
      grouped_.store(false, std::memory_order_relaxed);
      fine = false;
    } else if (const auto duplicate = scorer_.score(known->second, rows_, true)) {
      fine = false;
      if (duplicate->in_run) {
        part.duplicate_at = places_[duplicate->row];
        part.duplicate_document = rows_[duplicate->row].document;
      } else {
        part.judged_twice = duplicate->row;
      }
    }
    rows_.clear();
    places_.clear();
    return fine;
  }

  const QueryIndex& index_;
  std::atomic_flag* taken_;
  std::atomic<bool>& grouped_;
  QueryScorer scorer_;
  std::string_view query_;
  std::vector<Scored> rows_;
  std::vector<std::size_t> places_;
};

}  // namespace

FileOutcome score_run_text(const Task& task, std::string_view text, std::size_t threads) {
  const std::size_t queries = task.qrels.queries.count;
  QueryIndex index;
  index.reserve(queries);
  for (std::size_t query = 0; query < queries; ++query)
    index.emplace(task.qrels.queries[query], query);

  const std::size_t parts = std::clamp<std::size_t>(threads, 1, 1 + text.size() / kBytesPerThread);
  std::vector<std::size_t> bounds{0};
  for (std::size_t part = 1; part < parts; ++part) {
    const std::size_t from = std::max(bounds.back(), text.size() / parts * part);
    bounds.push_back(query_boundary(text, from));
  }
  bounds.push_back(text.size());

  const auto taken = std::make_unique<std::atomic_flag[]>(queries);
  std::atomic<bool> grouped{true};
  std::vector<Part> found(parts);
  for_each_part(parts, parts, [&](std::size_t part, std::size_t, std::size_t) {
    PartScorer(task, index, taken.get(), grouped)
        .score(text, bounds[part], bounds[part + 1], found[part]);
  });

  FileOutcome outcome;
  outcome.grouped = grouped.load();
  for (Part& part : found) {
    if (part.error && !outcome.error && !outcome.duplicate_line) {
      outcome.error =
          LineError{part.error->problem, line_number(text, part.error_at), part.error->found};
    }
    if (part.duplicate_at && !outcome.error && !outcome.duplicate_line) {
      outcome.duplicate_line = line_number(text, *part.duplicate_at);
      outcome.duplicate_document = part.duplicate_document;
    }
    if (part.judged_twice && !outcome.judged_twice) outcome.judged_twice = part.judged_twice;
    std::ranges::move(part.extra_queries, std::back_inserter(outcome.extra_queries));
    if (!part.tag.empty()) outcome.tag = part.tag;
  }
  if (!outcome.grouped || outcome.error || outcome.duplicate_line || outcome.judged_twice) {
    return outcome;
  }

  // Judged queries that the run does not hold are scored as empty rankings.
  QueryScorer scorer(task);
  for (std::size_t query = 0; query < queries; ++query) {
    if (taken[query].test(std::memory_order_relaxed)) continue;
    if (const auto duplicate = scorer.score(query, {}, false)) {
      outcome.judged_twice = duplicate->row;
      return outcome;
    }
  }
  return outcome;
}

}  // namespace berryeval
