// Fuzz tests of the readers: on any bytes they terminate, stay within the text and agree with each
// other. Run them under the sanitizers. Exits with 1 if a check failed.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berryeval/gaps.hpp"
#include "berryeval/group_rows.hpp"
#include "berryeval/parse_number.hpp"
#include "berryeval/read_table.hpp"
#include "berryeval/score_file.hpp"
#include "berryeval/string_views.hpp"

namespace {

using berryeval::TableColumns;
using berryeval::TextKind;

int checks = 0;
int failures = 0;

void check(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

class Texts {
 public:
  // Noise, or lines that are almost valid.
  std::string next() {
    std::string text;
    if (below(3) == 0) {
      for (std::size_t left = below(200); left > 0; --left) text += static_cast<char>(below(256));
      return text;
    }
    for (std::size_t lines = below(12); lines > 0; --lines) {
      for (std::size_t words = 3 + below(5); words > 0; --words) {
        text += kWords[below(std::size(kWords))];
        text += kSpaces[below(std::size(kSpaces))];
      }
      text += below(9) == 0 ? "" : "\n";
    }
    return text;
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  static constexpr std::string_view kWords[] = {
      "q1",     "q2", "q3", "Q0",  "0",   "d1",     "d2",   "d3",       "1",    "2.5",
      "-1e400", "#",  "x",  "nan", "inf", "1e-999", "nan(", "\xc3\xa9", "\xff", "\xe2\x82"};
  static constexpr std::string_view kSpaces[] = {" ", " ", "\t", "\t", "\r", "  "};
  std::mt19937 random_{20240607};
};

void check_columns(TextKind kind, const TableColumns& columns) {
  const std::size_t rows = columns.values.size();
  check(columns.documents.offsets.size() == rows + 1, "one document per row");
  check(columns.lines.size() == rows, "one line per row");
  check(columns.offsets.size() == columns.queries.offsets.size(), "one offset per query and one");
  check(columns.offsets.back() == static_cast<std::int64_t>(rows), "offsets end with the rows");
  for (std::size_t query = 0; query + 1 < columns.offsets.size(); ++query) {
    std::set<std::string_view> seen;
    for (auto row = static_cast<std::size_t>(columns.offsets[query]);
         row < static_cast<std::size_t>(columns.offsets[query + 1]); ++row) {
      const auto& [data, offsets] = columns.documents;
      const std::string_view document(data.data() + offsets[row],
                                      static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
      check(seen.insert(document).second || kind == TextKind::qrels, "no document is repeated");
      check(!document.empty() && berryeval::is_text(document), "a document is text");
      check(!std::isnan(columns.values[row]), "a value is a number");
    }
    check(!seen.empty(), "a query has rows");
  }
}

berryeval::Strings strings_of(const berryeval::StringBuilder& builder) {
  return {builder.data.data(), builder.data.size(), builder.offsets.data(),
          builder.offsets.size() - 1};
}

// Scores a run from its text both ways and compares them. Returns whether it can be scored.
bool check_scoring(const std::string& text, const berryeval::QueryTable& qrels,
                   std::size_t threads) {
  const std::vector<berryeval::Spec> specs{{berryeval::find_formula("P"), {.cutoff = 3}}};
  const std::size_t queries = qrels.queries.count;
  std::vector<double> streamed(queries, -1), tabled(queries, -1);
  std::vector<berryeval::Counts> counts(queries), other_counts(queries);
  const auto outcome =
      berryeval::score_run_text({qrels, specs, {}, streamed, counts}, text, threads);
  TableColumns columns;
  const auto error = berryeval::read_table(TextKind::run, text, false, columns);
  if (outcome.clean) check(!error && !columns.values.empty(), "a scored text can be read");
  if (!outcome.clean || error) return outcome.clean;
  const berryeval::QueryTable run{strings_of(columns.queries), columns.offsets.data(),
                                  strings_of(columns.documents), columns.values.data(), true};
  std::vector<std::int64_t> matches(queries, berryeval::kNotInRun);
  for (std::size_t query = 0; query < queries; ++query) {
    for (std::size_t i = 0; i < run.queries.count; ++i) {
      if (run.queries[i] == qrels.queries[query]) matches[query] = static_cast<std::int64_t>(i);
    }
  }
  check(!berryeval::evaluate({qrels, specs, {}, tabled, other_counts}, run, matches, threads),
        "a table that was read has no duplicates");
  check(streamed == tabled, "reading and streaming give the same scores");
  check(outcome.tag == columns.tag, "reading and streaming give the same tag");
  return true;
}

void test_noise() {
  Texts texts;
  TableColumns judged;
  check(!berryeval::read_table(TextKind::qrels, "q1 0 d1 1\nq1 0 d2 2\nq2 0 d1 1\n", false, judged),
        "plain judgments can be read");
  const berryeval::QueryTable qrels{strings_of(judged.queries), judged.offsets.data(),
                                    strings_of(judged.documents), judged.values.data(), true};
  for (int i = 0; i < 6000; ++i) {
    const std::string text = texts.next();
    for (const auto kind : {TextKind::run, TextKind::qrels, TextKind::run_tsv, TextKind::qrels_tsv,
                            TextKind::run_ranks}) {
      for (const bool lenient : {false, true}) {
        TableColumns columns;
        const auto error = berryeval::read_table(kind, text, lenient, columns);
        check(!(lenient && error), "lenient reading never fails");
        if (!error) check_columns(kind, columns);
      }
    }
    check_scoring(text, qrels, 1 + texts.below(3));
  }
}

// Long enough for several threads, which must split it between queries.
void test_parts() {
  std::string text;
  for (int i = 0; i < 40000; ++i) {
    text += "q" + std::to_string(i / 90) + " Q0 d" + std::to_string(i % 90) + " 1 " +
            std::to_string(i * 7919 % 97) + " tag\n";
  }
  TableColumns judged;
  std::string judgments;
  for (int i = 0; i < 500; i += 3) judgments += "q" + std::to_string(i) + " 0 d7 1\n";
  check(!berryeval::read_table(TextKind::qrels, judgments, false, judged), "judgments are read");
  const berryeval::QueryTable qrels{strings_of(judged.queries), judged.offsets.data(),
                                    strings_of(judged.documents), judged.values.data(), true};
  for (const std::size_t threads : {1, 2, 3, 8}) check_scoring(text, qrels, threads);
}

// Long enough for several stretches, with some lines of unusual form.
void test_unusual_lines() {
  constexpr std::string_view kFine[] = {"\n",
                                        "# a comment\n",
                                        "%q Q0 %d 1 2.5 t\r\n",
                                        "%q  Q0 %d 1 2 t\n",
                                        "\t%q Q0 %d 1 -3 t\n",
                                        "%q Q0 %d 1 5e2 t more\n",
                                        "%q\tQ0\t%d\t1\t.125\tt\n",
                                        "%q Q0 \xc3\xa9%d 1 0 t\n",
                                        "%q Q0 %d 1 12345678901234567890.5 t\n",
                                        "%q Q0 %d\x01 1 +7.25 t \n"};
  constexpr std::string_view kFaulty[] = {
      "%q Q0 %d 1 2.5\n",        "%q Q0 %d 1 nan t\n",   "%q Q0 %d 1 1.2.3 t\n",
      "%q Q0 %d 1 12x4.567 t\n", "%q Q0 \xff%d 1 1 t\n", std::string_view("%q Q0 %d\0 1 1 t\n", 17),
      "%q Q0 d0 1 1 t\n",        "%q Q0 %d 1  t\n",      "q1 Q0 %d 1 1 t\nq0 Q0 %d 1 1 t\n"};
  TableColumns judged;
  check(!berryeval::read_table(TextKind::qrels, "q0 0 d7 1\nq1 0 d3 2\n", false, judged), "read");
  const berryeval::QueryTable qrels{strings_of(judged.queries), judged.offsets.data(),
                                    strings_of(judged.documents), judged.values.data(), true};
  Texts random;
  const auto line_of = [](std::string_view form, int query, int document) {
    std::string line(form);
    for (std::size_t at; (at = line.find("%q")) != line.npos;) {
      line.replace(at, 2, "q" + std::to_string(query));
    }
    for (std::size_t at; (at = line.find("%d")) != line.npos;) {
      line.replace(at, 2, "d" + std::to_string(document));
    }
    return line;
  };
  for (int round = 0; round < 400; ++round) {
    std::string text;
    const std::size_t odd = round % 4 == 0 ? 0 : random.below(400);
    const int faulty_at = round % 3 == 0 ? static_cast<int>(random.below(2000)) : -1;
    for (int i = 0; i < 2000; ++i) {
      const int query = i / 500;
      if (i == faulty_at) {
        text += line_of(kFaulty[random.below(std::size(kFaulty))], query, i);
      } else if (odd > 0 && random.below(odd + 1) == 0) {
        text += line_of(kFine[random.below(std::size(kFine))], query, i);
      } else {
        const std::string name = i % 500 == 0 ? "d0" : "d" + std::to_string(i);
        text += "q" + std::to_string(query) + " Q0 " + name + " 1 " +
                std::to_string(random.below(100000)) + "." + std::to_string(random.below(10000)) +
                " tag\n";
      }
    }
    if (round % 5 == 0) text.insert(text.find('\n') + 1, "# " + std::string(20000, '#') + "\n");
    if (round % 7 == 0) text.pop_back();
    check(check_scoring(text, qrels, 1 + random.below(3)) == (faulty_at < 0),
          "exactly the faulty texts are rejected");
  }
}

template <class Gaps>
void check_gaps(Gaps& gaps, const std::string& block, std::size_t& lines, bool& others) {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool gap = block[i] == ' ' || block[i] == '\t' || block[i] == '\n';
    expected |= std::uint64_t{gap} << i;
    lines += block[i] == '\n';
    others |= !gap && !(block[i] > ' ');
  }
  check(gaps.find_in(block.data()) == expected, "gaps are found");
  check(gaps.lines() == lines && gaps.others() == others, "lines are counted, others noticed");
}

void test_gaps() {
  Texts random;
  for (int round = 0; round < 2000; ++round) {
    berryeval::PortableGaps portable;
    berryeval::Gaps best;
    std::size_t lines = 0, same_lines = 0;
    bool others = false, same_others = false;
    for (int i = 0; i < 4; ++i) {
      std::string block;
      while (block.size() < berryeval::kBlock) {
        constexpr std::string_view kUsual = "a0~! \t\n\n ";
        const bool any = round % 2 == 0 && random.below(100) == 0;
        block += any ? static_cast<char>(random.below(256)) : kUsual[random.below(kUsual.size())];
      }
      check_gaps(portable, block, lines, others);
      check_gaps(best, block, same_lines, same_others);
    }
  }
}

void test_grouping() {
  Texts random;
  for (int i = 0; i < 300; ++i) {
    berryeval::StringBuilder queries, documents;
    std::set<std::pair<std::size_t, std::size_t>> seen;
    const std::size_t rows = random.below(i == 0 ? 1 : 40000 / (1 + random.below(4000)));
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t query = random.below(5), document = random.below(1000);
      seen.emplace(query, document);
      queries.add(std::string(query, 'q'));
      documents.add(std::to_string(document));
    }
    const auto grouping = berryeval::group_rows(strings_of(queries), strings_of(documents), 3);
    check(grouping.repeated.size() + seen.size() == rows, "every repeated row is found");
    check(grouping.offsets.back() == static_cast<std::int64_t>(seen.size()),
          "all other rows are kept");
    check(grouping.in_place || grouping.order.size() == seen.size(), "kept rows are put in order");
    const auto taken = berryeval::take_strings(strings_of(documents), grouping.order.data(),
                                               grouping.order.size());
    check(taken.offsets.size() == grouping.order.size() + 1, "ordered rows can be copied");
  }
}

// Views of these strings, with the long ones in a buffer of exactly their size.
void test_views() {
  Texts random;
  for (int round = 0; round < 20; ++round) {
    berryeval::StringBuilder strings;
    std::vector<char> views, buffer;
    const std::size_t rows = round == 0 ? 200000 : random.below(50);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::string text(random.below(17), static_cast<char>('a' + random.below(2)));
      strings.add(text);
      std::uint32_t view[4] = {static_cast<std::uint32_t>(text.size()), 0, 0,
                               static_cast<std::uint32_t>(buffer.size())};
      if (text.size() > berryeval::StringViews::kLongestInside) {
        buffer.insert(buffer.end(), text.begin(), text.end());
      } else {
        view[3] = 0;
        std::memcpy(&view[1], text.data(), text.size());
      }
      const auto* const bytes = reinterpret_cast<const char*>(view);
      views.insert(views.end(), bytes, bytes + sizeof view);
    }
    const std::string_view all(buffer.data(), buffer.size());
    const auto copy = berryeval::copy_of({views.data(), rows, {&all, 1}}, 3);
    check(std::vector<char>(copy.data.get(), copy.data.get() + copy.size) == strings.data,
          "the strings of views are copied");
    check(std::vector<std::int64_t>(copy.offsets.get(), copy.offsets.get() + rows + 1) ==
              strings.offsets,
          "the offsets of views are set");
  }
}

void test_numbers() {
  const auto is = [](std::string_view text, double value) {
    const auto found = berryeval::parse_number(text);
    check(found && *found == value && std::signbit(*found) == std::signbit(value),
          "the number " + std::string(text));
  };
  is("1e400", INFINITY);
  is("-1e400", -INFINITY);
  is("1e-400", 0.0);
  is("-1e-400", -0.0);
  is("+0.5", 0.5);
  is("0.000000001e+999999999999999999999", INFINITY);
  is("100000000000e-999999999999999999999", 0.0);
  Texts random;
  for (int i = 0; i < 100000; ++i) {
    std::string text = random.below(3) == 0 ? "-" : "";
    for (std::size_t left = 1 + random.below(18); left > 0; --left) {
      text += random.below(9) == 0 ? '.' : static_cast<char>('0' + random.below(10));
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() + text.size()) is(text, value);
    check(berryeval::parse_number(text).has_value() == (end == text.c_str() + text.size()),
          "whether this is a number: " + text);
  }
  for (const char* text :
       {"", "+", "-", "+-1", "++1", ".", "1e", "0x10", "1_0", " 1", "1 ", "nan("}) {
    check(!berryeval::parse_number(text), "not a number: '" + std::string(text) + "'");
  }
}

}  // namespace

int main() {
  test_noise();
  test_parts();
  test_unusual_lines();
  test_gaps();
  test_grouping();
  test_views();
  test_numbers();
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
