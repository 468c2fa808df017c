#include "berryeval/score_file.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "berryeval/parallel.hpp"
#include "berryeval/place_table.hpp"
#include "berryeval/run_lines.hpp"
#include "berryeval/trec_text.hpp"

namespace berryeval {
namespace {

// Below this many bytes another thread costs more than it saves.
constexpr std::size_t kBytesPerPart = std::size_t{1} << 18;
// More parts than threads, so that other threads can take over from a slow one.
constexpr std::size_t kPartsPerThread = 8;

using QueryIndex = std::unordered_map<std::string_view, std::size_t, HashOfText>;

std::size_t line_end(std::string_view text, std::size_t from) {
  const std::size_t end = text.find('\n', from);
  return end == std::string_view::npos ? text.size() : end;
}

// The first byte at or after `from` at which the lines of another query start.
std::size_t query_boundary(std::string_view text, std::size_t from) {
  std::size_t at = from == 0 ? 0 : line_end(text, from - 1) + 1;
  std::string_view current;
  while (at < text.size()) {
    const std::size_t end = line_end(text, at);
    std::string_view line = text.substr(at, end - at);
    if (has_content(TextKind::run, line)) {
      const std::string_view query = next_column(line);
      if (!current.empty() && query != current) return at;
      current = query;
    }
    at = end + 1;
  }
  return text.size();
}

// The findings of one thread in its part of the file.
struct Part {
  std::vector<std::string_view> extra_queries;
  std::string_view tag;
};

class PartScorer {
 public:
  PartScorer(const Task& task, const QueryIndex& index, std::atomic_flag* taken,
             std::atomic<bool>& clean)
      : index_(index), taken_(taken), clean_(clean), scorer_(task) {}

  // Scores the queries of `text`, or gives up and stops the other parts.
  void score(std::string_view text, Part& part) {
    if (!score_lines(text, part) || !finish(part)) clean_.store(false, std::memory_order_relaxed);
    part.tag = tag_;  // written once, because parts share cache lines
  }

 private:
  bool score_lines(std::string_view text, Part& part) {
    const auto take = [&](const TextRow& row) {
      if (!same_text(row.query, query_)) {
        if (!finish(part) || !clean_.load(std::memory_order_relaxed)) return false;
        query_ = row.query;
      }
      rows_.push_back({row.document, row.value});
      tag_ = row.tag;
      return true;
    };
    return RunLines(take).read(text);
  }

  // Scores the completed query; returns false on failure.
  bool finish(Part& part) {
    if (rows_.empty()) return true;
    const auto known = index_.find(query_);
    bool fine = true;
    if (known == index_.end()) {
      part.extra_queries.push_back(query_);
      seen_.reset(rows_.size());
      fine =
          std::ranges::all_of(rows_, [&](const Scored& row) { return seen_.insert(row.document); });
    } else {
      fine = !taken_[known->second].test_and_set(std::memory_order_relaxed) &&
             !scorer_.score(known->second, rows_, true);
    }
    rows_.clear();
    return fine;
  }

  const QueryIndex& index_;
  std::atomic_flag* taken_;
  std::atomic<bool>& clean_;
  QueryScorer scorer_;
  std::string_view query_;
  std::string_view tag_;
  std::vector<Scored> rows_;
  DocumentSet seen_;
};

// Offsets that split the text between queries.
std::vector<std::size_t> bounds_of(std::string_view text, std::size_t parts) {
  std::vector<std::size_t> bounds{0};
  for (std::size_t part = 1; part < parts; ++part) {
    const std::size_t from = std::max(bounds.back(), text.size() / parts * part);
    bounds.push_back(query_boundary(text, from));
  }
  bounds.push_back(text.size());
  return bounds;
}

// Merges the parts; returns false if the lines of an extra query are not adjacent.
bool merge(const std::vector<Part>& parts, FileOutcome& outcome) {
  std::unordered_set<std::string_view, HashOfText> extra;
  for (const Part& part : parts) {
    for (const std::string_view query : part.extra_queries) {
      if (!extra.insert(query).second) return false;
      outcome.extra_queries.emplace_back(query);
    }
    if (!part.tag.empty()) outcome.tag = part.tag;
  }
  return true;
}

}  // namespace

FileOutcome score_run_text(const Task& task, std::string_view text, std::size_t threads) {
  const std::size_t queries = task.qrels.queries.count;
  QueryIndex index;
  index.reserve(queries);
  for (std::size_t query = 0; query < queries; ++query)
    index.emplace(task.qrels.queries[query], query);

  const std::size_t parts =
      std::clamp<std::size_t>(threads * kPartsPerThread, 1, 1 + text.size() / kBytesPerPart);
  const std::vector<std::size_t> bounds = bounds_of(text, parts);
  const auto taken = std::make_unique<std::atomic_flag[]>(queries);
  std::atomic<bool> clean{true};
  std::vector<Part> found(parts);
  for_each_item(parts, threads, [&](std::size_t part) {
    PartScorer(task, index, taken.get(), clean)
        .score(text.substr(bounds[part], bounds[part + 1] - bounds[part]), found[part]);
  });

  FileOutcome outcome;
  outcome.clean = clean.load() && merge(found, outcome) && !outcome.tag.empty();
  if (!outcome.clean) return outcome;

  // Judged queries missing from the run are scored as empty rankings.
  QueryScorer scorer(task);
  for (std::size_t query = 0; query < queries && outcome.clean; ++query) {
    if (!taken[query].test(std::memory_order_relaxed)) {
      outcome.clean = !scorer.score(query, {}, false);  // judgments may repeat a document
    }
  }
  return outcome;
}

}  // namespace berryeval
