#include "berryeval/read_table.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "berryeval/place_table.hpp"

namespace berryeval {
namespace {

struct Row {
  std::string_view query;
  std::string_view second;
  std::string_view document;
  double value;
  std::int64_t line;
  std::string_view text;  // the whole line
};

// Begin and end of consecutive rows of one query; several if the file is not grouped.
using Stretches = std::vector<std::pair<std::size_t, std::size_t>>;

class TableReader {
 public:
  TableReader(TextKind kind, bool lenient) : kind_(kind), lenient_(lenient) {}

  std::optional<LineError> read(std::string_view text, TableColumns& columns) {
    auto error = split(text, columns);
    if (const auto repeated = find_repeated(); !lenient_ && repeated) {
      // Only lines before a faulty one were read, so a repeated one among them comes first.
      const Row& row = rows_[*repeated];
      error = LineError{LineProblem::duplicate, static_cast<std::size_t>(row.line),
                        std::string(row.text)};
    }
    if (!error) write(columns);
    return error;
  }

 private:
  std::optional<LineError> split(std::string_view text, TableColumns& columns) {
    const bool plain = is_plain(text);
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t stop = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, stop - at);
      at = stop + 1;
      ++number;
      if (!has_content(kind_, line)) continue;
      TextRow row{};
      std::string_view found = line;
      const LineProblem problem =
          plain || is_text(line) ? parse_line(kind_, line, row, found) : LineProblem::encoding;
      if (problem == LineProblem::none) {
        add(row, number, line, columns);
      } else if (lenient_) {
        ++columns.dropped;
      } else {
        return LineError{problem, number, std::string(found)};
      }
    }
    return std::nullopt;
  }

  void add(const TextRow& row, std::size_t number, std::string_view line, TableColumns& columns) {
    if (rows_.empty() || row.query != rows_.back().query) {
      const auto [known, is_new] = index_.try_emplace(row.query, segments_.size());
      if (is_new) {
        segments_.emplace_back();
        columns.queries.add(row.query);
      }
      current_ = known->second;
      segments_[current_].emplace_back(rows_.size(), rows_.size());
    }
    rows_.push_back(
        {row.query, row.second, row.document, row.value, static_cast<std::int64_t>(number), line});
    segments_[current_].back().second = rows_.size();
    if (kind_ == TextKind::run) columns.tag = row.tag;
  }

  // Marks every row that repeats a document of its query, and returns the first of them.
  std::optional<std::size_t> find_repeated() {
    repeated_.assign(rows_.size(), false);
    std::optional<std::size_t> first;
    for (const Stretches& parts : segments_) {
      std::vector<std::size_t> places = repeated_documents(parts);
      // A document may be judged once in each of several groups.
      if (kind_ == TextKind::qrels && !places.empty()) places = repeated_judgments(parts);
      for (const std::size_t place : places) {
        repeated_[place] = true;
        first = std::min(first.value_or(place), place);
      }
    }
    return first;
  }

  std::vector<std::size_t> repeated_documents(const Stretches& parts) {
    std::size_t count = 0;
    for (const auto& [begin, end] : parts) count += end - begin;
    seen_.reset(count);
    std::vector<std::size_t> places;
    for (const auto& [begin, end] : parts) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!seen_.insert(rows_[i].document)) places.push_back(i);
      }
    }
    return places;
  }

  std::vector<std::size_t> repeated_judgments(const Stretches& parts) const {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    std::vector<std::size_t> places;
    for (const auto& [begin, end] : parts) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!seen.emplace(rows_[i].document, rows_[i].second).second) places.push_back(i);
      }
    }
    return places;
  }

  void write(TableColumns& columns) const {
    columns.values.reserve(rows_.size());
    columns.lines.reserve(rows_.size());
    columns.documents.offsets.reserve(rows_.size() + 1);
    for (const Stretches& parts : segments_) {
      for (const auto& [begin, end] : parts) {
        for (std::size_t i = begin; i < end; ++i) write(i, columns);
      }
      columns.offsets.push_back(static_cast<std::int64_t>(columns.values.size()));
    }
  }

  void write(std::size_t i, TableColumns& columns) const {
    if (repeated_[i]) {
      ++columns.dropped;
      return;
    }
    columns.documents.add(rows_[i].document);
    columns.values.push_back(rows_[i].value);
    if (kind_ == TextKind::qrels) columns.seconds.add(rows_[i].second);
    columns.lines.push_back(rows_[i].line);
  }

  TextKind kind_;
  bool lenient_;
  std::vector<Row> rows_;
  std::vector<bool> repeated_;
  std::vector<Stretches> segments_;
  std::unordered_map<std::string_view, std::size_t, HashOfText> index_;
  std::size_t current_ = 0;
  DocumentSet seen_;
};

}  // namespace

std::optional<LineError> read_table(TextKind kind, std::string_view text, bool lenient,
                                    TableColumns& columns) {
  return TableReader(kind, lenient).read(text, columns);
}

}  // namespace berryeval
