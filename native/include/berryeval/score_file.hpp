// Scoring a run straight from the bytes of its file: one pass, no table, memory bounded by the
// largest query of each thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berryeval/evaluate.hpp"
#include "berryeval/trec_text.hpp"

namespace berryeval {

struct FileOutcome {
  std::optional<LineError> error;
  std::optional<std::size_t> duplicate_line;  // a document that its query has already
  std::string duplicate_document;
  std::optional<std::size_t> judged_twice;  // the row of a document that its judgments have already
  bool grouped = true;  // false: a query's lines stand in several places; nothing was scored
  std::vector<std::string> extra_queries;  // in the run, without judgments
  std::string tag;                         // of the last line
};

FileOutcome score_run_text(const Task& task, std::string_view text, std::size_t threads);

}  // namespace berryeval
