#include "berryeval/read_table.hpp"

#include <unordered_map>

#include "berryeval/strings.hpp"

namespace berryeval {
namespace {

struct HashOfText {
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(hash_of(text));
  }
};

struct Row {
  TextRow text;
  std::int64_t line;
};

}  // namespace

std::optional<LineError> read_table(TextKind kind, std::string_view text, bool lenient,
                                    TableColumns& columns) {
  // Runs of consecutive lines of one query; a query may have several if the file is not grouped.
  std::vector<Row> rows;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> segments;
  std::unordered_map<std::string_view, std::size_t, HashOfText> index;
  std::string_view current;
  std::size_t current_query = 0;
  std::size_t line_count = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t stop = text.find('\n', at);
    if (stop == std::string_view::npos) stop = text.size();
    const std::string_view line = text.substr(at, stop - at);
    at = stop + 1;
    ++line_count;
    if (!has_content(line)) continue;
    TextRow row{};
    std::string_view found;
    if (const LineProblem problem = parse_line(kind, line, row, found);
        problem != LineProblem::none) {
      if (!lenient) return LineError{problem, line_count, std::string(found)};
      ++columns.dropped;
      continue;
    }
    if (rows.empty() || row.query != current) {
      current = row.query;
      const auto [known, is_new] = index.try_emplace(row.query, segments.size());
      if (is_new) {
        segments.emplace_back();
        columns.queries.add(row.query);
      }
      current_query = known->second;
      segments[current_query].emplace_back(rows.size(), rows.size());
    }
    rows.push_back({row, static_cast<std::int64_t>(line_count)});
    segments[current_query].back().second = rows.size();
    if (kind == TextKind::run) columns.tag = row.tag;
  }
  columns.values.reserve(rows.size());
  columns.documents.offsets.reserve(rows.size() + 1);
  for (const auto& parts : segments) {
    for (const auto& [begin, end] : parts) {
      for (std::size_t i = begin; i < end; ++i) {
        columns.documents.add(rows[i].text.document);
        columns.values.push_back(rows[i].text.value);
        if (kind == TextKind::qrels) columns.seconds.add(rows[i].text.second);
        columns.lines.push_back(rows[i].line);
      }
    }
    columns.offsets.push_back(static_cast<std::int64_t>(columns.values.size()));
  }
  return std::nullopt;
}

}  // namespace berryeval
