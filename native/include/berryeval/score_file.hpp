// Scores a run while reading its file: one pass, no table, memory bounded by the largest query of
// each thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "berryeval/evaluate.hpp"

namespace berryeval {

struct FileOutcome {
  // False if nothing was scored because of a faulty line, a repeated document, a query with
  // scattered lines, or an empty file. The table reader then reports the cause.
  bool clean = true;
  std::vector<std::string> extra_queries;  // in the run, without judgments
  std::string tag;                         // of the last line
};

FileOutcome score_run_text(const Task& task, std::string_view text, std::size_t threads);

// Reads the file from its current place; `size` is about how much there is. Throws
// std::system_error if it cannot be read.
FileOutcome score_run_file(const Task& task, int descriptor, std::size_t size, std::size_t threads);

}  // namespace berryeval
