#include "berryeval/score_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

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
// Bytes read from a file at once, few enough to stay in the cache.
constexpr std::size_t kBytesPerRead = std::size_t{1} << 20;

// The most that every system reads in one call.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

// Reads until `size` bytes or the end of the file are reached.
std::size_t read_bytes(int descriptor, char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t wanted = std::min(size - done, kMostAtOnce);
#ifdef _WIN32
    const auto got = _read(descriptor, to + done, static_cast<unsigned>(wanted));
#else
    const auto got = ::read(descriptor, to + done, wanted);
#endif
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category());
    }
  }
  return done;
}

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

// The start of the lines of the last query; 0 if there is no other query. The last line may be
// incomplete and so is not looked at.
std::size_t last_query_start(std::string_view text) {
  std::string_view last;
  std::size_t start = 0;
  std::size_t end = text.rfind('\n');
  while (end != std::string_view::npos && end > 0) {
    const std::size_t before = text.rfind('\n', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::string_view line = text.substr(begin, end - begin);
    if (has_content(TextKind::run, line)) {
      const std::string_view query = next_column(line);
      if (last.empty()) last = query;
      if (query != last) return start;
      start = begin;
    }
    end = before;
  }
  return 0;
}

// Consecutive lines of whole queries.
struct Block {
  std::size_t number = 0;  // in the order of the text
  std::string_view text;
  std::vector<char> room;  // the text, if it was read from a file
};

// Divides a text in memory.
class TextBlocks {
 public:
  TextBlocks(std::string_view text, std::size_t parts)
      : text_(text), step_(text.size() / parts + 1) {}

  // Returns false at the end.
  bool next(Block& block) {
    const std::lock_guard lock(mutex_);
    if (at_ >= text_.size()) return false;
    const std::size_t left = text_.size() - at_;
    const std::size_t end = left <= step_ ? text_.size() : query_boundary(text_, at_ + step_);
    block.number = number_++;
    block.text = text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

 private:
  std::string_view text_;
  std::size_t step_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  std::mutex mutex_;
};

// Reads a file from its current place. Nobody else can change what was read.
class FileBlocks {
 public:
  explicit FileBlocks(int descriptor) : descriptor_(descriptor) {}

  // Returns false at the end.
  bool next(Block& block) {
    const std::lock_guard lock(mutex_);
    std::vector<char>& room = block.room;
    std::size_t size = rest_.size();
    if (ended_ && size == 0) return false;
    if (room.size() < size) room.resize(size);
    std::ranges::copy(rest_, room.begin());
    rest_.clear();
    std::size_t end = 0;
    while (end == 0 && !ended_) {
      room.resize(std::max({kBytesPerRead, 2 * size, room.size()}));
      const std::size_t wanted = room.size() - size;
      const std::size_t got = read_bytes(descriptor_, room.data() + size, wanted);
      size += got;
      ended_ = got < wanted;
      if (!ended_) end = last_query_start({room.data(), size});
    }
    if (ended_) end = size;
    rest_.assign(room.begin() + static_cast<std::ptrdiff_t>(end),
                 room.begin() + static_cast<std::ptrdiff_t>(size));
    block.number = number_++;
    block.text = {room.data(), end};
    return end > 0;
  }

 private:
  int descriptor_;
  std::vector<char> rest_;  // what was read beyond the last block
  bool ended_ = false;
  std::size_t number_ = 0;
  std::mutex mutex_;
};

// The findings of one thread.
struct Part {
  std::vector<std::pair<std::size_t, std::string>> extra_queries;  // with their blocks
  std::string tag;
  std::size_t tag_block = 0;
};

class PartScorer {
 public:
  PartScorer(const Task& task, const QueryIndex& index, std::atomic_flag* taken,
             std::atomic<bool>& clean, Part& part)
      : index_(index), taken_(taken), clean_(clean), part_(part), scorer_(task) {}

  // Scores the queries of a block, or gives up and stops the other threads.
  void score(const Block& block) {
    block_ = block.number;
    query_ = tag_ = {};
    if (!score_lines(block.text) || !finish()) clean_.store(false, std::memory_order_relaxed);
    if (tag_.empty()) return;
    part_.tag = tag_;
    part_.tag_block = block_;
  }

 private:
  bool score_lines(std::string_view text) {
    const auto take = [&](const TextRow& row) {
      if (!same_text(row.query, query_)) {
        if (!finish() || !clean_.load(std::memory_order_relaxed)) return false;
        query_ = row.query;
      }
      rows_.push_back({row.document, row.value});
      tag_ = row.tag;
      return true;
    };
    return RunLines(take).read(text);
  }

  // Scores the completed query; returns false on failure.
  bool finish() {
    if (rows_.empty()) return true;
    const auto known = index_.find(query_);
    bool fine = true;
    if (known == index_.end()) {
      part_.extra_queries.emplace_back(block_, query_);
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
  Part& part_;
  QueryScorer scorer_;
  std::size_t block_ = 0;
  std::string_view query_;
  std::string_view tag_;
  std::vector<Scored> rows_;
  DocumentSet seen_;
};

// Merges the parts; returns false if the lines of an extra query are not adjacent.
bool merge(const std::vector<Part>& parts, FileOutcome& outcome) {
  std::vector<std::pair<std::size_t, std::string>> extra;
  std::size_t last = 0;
  for (const Part& part : parts) {
    extra.insert(extra.end(), part.extra_queries.begin(), part.extra_queries.end());
    if (part.tag.empty() || (!outcome.tag.empty() && part.tag_block < last)) continue;
    outcome.tag = part.tag;
    last = part.tag_block;
  }
  std::ranges::stable_sort(extra, {}, &std::pair<std::size_t, std::string>::first);
  std::unordered_set<std::string_view, HashOfText> seen;
  for (const auto& [block, query] : extra) {
    if (!seen.insert(query).second) return false;
    outcome.extra_queries.push_back(query);
  }
  return true;
}

template <class Blocks>
FileOutcome score_blocks(const Task& task, Blocks& blocks, std::size_t threads) {
  const std::size_t queries = task.qrels.queries.count;
  QueryIndex index;
  index.reserve(queries);
  for (std::size_t query = 0; query < queries; ++query)
    index.emplace(task.qrels.queries[query], query);

  const auto taken = std::make_unique<std::atomic_flag[]>(queries);
  std::atomic<bool> clean{true};
  std::vector<Part> found(std::max<std::size_t>(1, threads));
  for_each_part(found.size(), found.size(), [&](std::size_t part, std::size_t, std::size_t) {
    Part own;  // copied at the end, because parts share cache lines
    PartScorer scorer(task, index, taken.get(), clean, own);
    Block block;
    while (clean.load(std::memory_order_relaxed) && blocks.next(block)) scorer.score(block);
    found[part] = std::move(own);
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

}  // namespace

FileOutcome score_run_text(const Task& task, std::string_view text, std::size_t threads) {
  const std::size_t most = 1 + text.size() / kBytesPerPart;
  const std::size_t used = std::clamp<std::size_t>(threads, 1, most);
  TextBlocks blocks(text, std::min(used * kPartsPerThread, most));
  return score_blocks(task, blocks, used);
}

FileOutcome score_run_file(const Task& task, int descriptor, std::size_t size,
                           std::size_t threads) {
  FileBlocks blocks(descriptor);
  const std::size_t used = std::clamp<std::size_t>(threads, 1, 1 + size / kBytesPerRead);
  return score_blocks(task, blocks, used);
}

}  // namespace berryeval
