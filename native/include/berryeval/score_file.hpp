// Scoring a run straight from the bytes of its file: one pass, no table, memory bounded by the
// largest query of each thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "berryeval/evaluate.hpp"

namespace berryeval {

struct FileOutcome {
  // False if nothing was scored: a faulty line, a repeated document, a query whose lines stand in
  // several places, no lines at all. Who reads the table finds out which, and says so.
  bool clean = true;
  std::vector<std::string> extra_queries;  // in the run, without judgments
  std::string tag;                         // of the last line
};

FileOutcome score_run_text(const Task& task, std::string_view text, std::size_t threads);

}  // namespace berryeval
