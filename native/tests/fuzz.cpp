// Feeds damaged texts, views, tables and arrays to the core until the time is over. Whatever it is
// given, the core refuses it or computes the same with any number of threads and from a file. Run
// it under the sanitizers: fuzz --seed N --seconds S. Prints "cases N, failures M".
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "berryeval/fuse_runs.hpp"
#include "berryeval/group_rows.hpp"
#include "berryeval/read_table.hpp"
#include "berryeval/resampling.hpp"
#include "berryeval/score_file.hpp"
#include "berryeval/score_rows.hpp"
#include "berryeval/string_views.hpp"

namespace {

using namespace berryeval;

std::uint64_t cases = 0;
std::uint64_t failures = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "FAILED in case %llu: %s\n", static_cast<unsigned long long>(cases), what);
}

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool once_in(std::size_t count) { return below(count) == 0; }
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[below(std::size(items))];
  }
  // Mostly usual numbers, sometimes the worst ones.
  double number() {
    using Limits = std::numeric_limits<double>;
    static constexpr double kWorst[] = {Limits::quiet_NaN(),
                                        Limits::infinity(),
                                        -Limits::infinity(),
                                        Limits::max(),
                                        Limits::denorm_min(),
                                        -0.0,
                                        -1.0,
                                        1e300,
                                        0x1p63};
    return once_in(9) ? one_of(kWorst) : static_cast<double>(below(40)) / 8.0;
  }
  std::int64_t integer() {
    static constexpr std::int64_t kWorst[] = {-1, std::int64_t{1} << 40,
                                              std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max()};
    return once_in(9) ? one_of(kWorst) : static_cast<std::int64_t>(below(30));
  }

 private:
  std::mt19937_64 random_;
};

// A copy in memory of its own, so that the sanitizer sees every byte read beyond it.
struct Exact {
  explicit Exact(std::string_view text) : size(text.size()), data(new char[text.size()]) {
    std::copy(text.begin(), text.end(), data.get());
  }
  std::string_view view() const { return {data.get(), size}; }
  std::size_t size;
  std::unique_ptr<char[]> data;
};

// Lines of a run or of judgments with some bytes changed.
std::string damaged_text(Chance& chance) {
  static constexpr std::string_view kNumbers[] = {
      "1",   "0.5", "-3.25", "12.000001",        "1e3", "1e999", "inf",
      "nan", "+2",  ".5",    "00000000.00000001"};
  const std::size_t lines = chance.once_in(2000) ? 60000 : chance.below(14);
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t query = lines > 100 ? line / 500 : line / 4;
    const std::string_view gap = chance.once_in(30) ? "\t" : " ";
    text += "q" + std::to_string(query);
    text += gap;
    text += "Q0 d" + std::to_string(chance.below(lines > 100 ? 100000000 : 12));
    if (!chance.once_in(8)) text += " " + std::to_string(line);
    text += " ";
    text += lines > 100 || !chance.once_in(4) ? kNumbers[chance.below(4)] : chance.one_of(kNumbers);
    if (!chance.once_in(8)) text += " tag";
    text += chance.once_in(20) ? "\r\n" : "\n";
  }
  for (std::size_t left = chance.once_in(2) ? chance.below(4) : 0; left > 0 && !text.empty();
       --left) {
    const std::size_t at = chance.below(text.size());
    switch (chance.below(4)) {
      case 0:
        text[at] = static_cast<char>(chance.below(256));
        break;
      case 1:
        text.erase(at, 1 + chance.below(8));
        break;
      case 2:
        text.insert(at, text.substr(chance.below(text.size()), chance.below(64)));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

struct Table : QueryTable {
  explicit Table(TableColumns given) : columns(std::move(given)) {
    queries = strings_of(columns.queries);
    offsets = columns.offsets.data();
    documents = strings_of(columns.documents);
    values = columns.values.data();
  }
  static Strings strings_of(const StringBuilder& built) {
    return {built.data.data(), built.data.size(), built.offsets.data(), built.offsets.size() - 1};
  }
  TableColumns columns;
};

std::vector<Spec> all_metrics(Chance& chance) {
  std::vector<Spec> specs;
  for (const std::string_view name : formula_names()) {
    Spec spec{find_formula(name), {}};
    for (const char* const parameter : {"rel", "recall", "p", "beta", "T", "min_rel", "max_rel",
                                        "mult", "a", "b", "c", "d", "docs"}) {
      spec.params.set(parameter, chance.number());
    }
    spec.params.set("judged_only", static_cast<double>(chance.below(2)));
    spec.params.set("levels", std::vector<double>{0.0, 0.5, chance.number()});
    const auto needed = needed_parameters(name);
    const bool needs_cutoff = std::find(needed.begin(), needed.end(), "cutoff") != needed.end();
    if (needs_cutoff || chance.once_in(2)) spec.params.cutoff = 1 + chance.below(12);
    if (chance.once_in(4)) spec.params.gains = {{1.0, chance.number()}, {-1.0, 0.5}};
    specs.push_back(spec);
  }
  return specs;
}

// Compares bits: NaN equals NaN.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0);
}

// What was computed.
struct Output {
  explicit Output(std::size_t metrics, std::size_t queries)
      : values(metrics * queries), counts(queries) {}
  Task task(const QueryTable& qrels, std::span<const Spec> specs, RankingRule rule) {
    return {qrels, specs, rule, values, counts};
  }
  bool same_as(const Output& other) const {
    return same_bits(values, other.values) && same_bits(counts, other.counts);
  }
  std::vector<double> values;
  std::vector<Counts> counts;
};

RankingRule any_rule(Chance& chance) {
  RankingRule rule;
  rule.ties = static_cast<Ties>(chance.below(3));
  rule.single_precision = chance.once_in(2);
  if (chance.once_in(2)) rule.depth = 1 + chance.below(6);
  return rule;
}

std::vector<std::int64_t> matches_of(const QueryTable& qrels, const QueryTable& run) {
  std::vector<std::int64_t> matches;
  for (std::size_t i = 0; i < qrels.queries.count; ++i) {
    matches.push_back(kNotInRun);
    for (std::size_t j = 0; j < run.queries.count; ++j) {
      if (qrels.queries[i] == run.queries[j]) matches.back() = static_cast<std::int64_t>(j);
    }
  }
  return matches;
}

FileOutcome score_from_file(const Task& task, std::string_view text, std::size_t threads) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  if (!file) throw std::bad_alloc();
  std::fwrite(text.data(), 1, text.size(), file.get());
  std::rewind(file.get());
#ifdef _WIN32
  return score_run_file(task, _fileno(file.get()), text.size(), threads);
#else
  return score_run_file(task, fileno(file.get()), text.size(), threads);
#endif
}

void fuzz_text(Chance& chance) {
  const Exact text(damaged_text(chance));
  for (const TextKind kind : {TextKind::run, TextKind::qrels, TextKind::run_tsv,
                              TextKind::qrels_tsv, TextKind::run_ranks}) {
    TableColumns columns;
    const auto error = read_table(kind, text.view(), true, columns);
    check(!error, "a lenient reader refuses nothing");
    check(columns.documents.offsets.size() == columns.values.size() + 1, "one number per document");
  }
  TableColumns judged;
  const Exact judgments(chance.once_in(4) ? damaged_text(chance)
                                          : "q0 0 d1 1\nq0 0 d2 2\nq1 0 d3 0\nq2 0 d1 1\n");
  if (read_table(TextKind::qrels, judgments.view(), false, judged)) return;
  const Table qrels(std::move(judged));
  const auto specs = all_metrics(chance);
  const RankingRule rule = any_rule(chance);
  const auto score = [&](auto call) {
    Output output(specs.size(), qrels.queries.count);
    const Task task = output.task(qrels, specs, rule);
    const FileOutcome outcome = call(task);
    return std::pair(outcome, output);
  };
  const auto [outcome, output] =
      score([&](const Task& task) { return score_run_text(task, text.view(), 1); });
  const auto [threaded, same] =
      score([&](const Task& task) { return score_run_text(task, text.view(), 3); });
  const auto [filed, read] =
      score([&](const Task& task) { return score_from_file(task, text.view(), 3); });
  for (const auto* const other : {&threaded, &filed}) {
    check(outcome.clean == other->clean, "threads and files agree on faults");
    if (!outcome.clean || !other->clean) continue;
    check(outcome.tag == other->tag && outcome.extra_queries == other->extra_queries,
          "threads and files find the same queries");
  }
  if (!outcome.clean) return;
  check(output.same_as(same) && output.same_as(read), "threads and files give the same bits");
  TableColumns columns;
  check(!read_table(TextKind::run, text.view(), false, columns), "both readers accept the text");
  const Table run(std::move(columns));
  Output tabled(specs.size(), qrels.queries.count);
  check(!evaluate(tabled.task(qrels, specs, rule), run, matches_of(qrels, run), 2),
        "neither finds a repeated document");
  check(tabled.same_as(output), "the table gives the same bits");
}

// Tables whose strings and numbers are anything; only the offsets of queries are checked by
// callers.
void fuzz_table(Chance& chance) {
  TableColumns columns;
  const std::size_t queries = chance.below(5);
  for (std::size_t query = 0; query < queries; ++query) {
    columns.queries.add("q" + std::to_string(query));
    for (std::size_t rows = chance.below(8); rows > 0; --rows) {
      columns.documents.add("document " + std::to_string(chance.below(9)));
      columns.values.push_back(chance.number());
    }
    columns.offsets.push_back(static_cast<std::int64_t>(columns.values.size()));
  }
  for (std::int64_t& offset : columns.documents.offsets) {
    if (chance.once_in(40)) offset = chance.integer();
  }
  Table table(std::move(columns));
  table.distinct = chance.once_in(2);
  const auto specs = all_metrics(chance);
  const RankingRule rule = any_rule(chance);
  std::vector<std::int64_t> matches;
  for (std::size_t query = 0; query < queries; ++query) {
    matches.push_back(static_cast<std::int64_t>(chance.below(queries + 1)) - 1);
  }
  Output one(specs.size(), queries), three(specs.size(), queries);
  const auto first = evaluate(one.task(table, specs, rule), table, matches, 1);
  const auto second = evaluate(three.task(table, specs, rule), table, matches, 3);
  check(first.has_value() == second.has_value(), "threads agree on repeated documents");
  check(first || one.same_as(three), "threads give the same bits");
  std::vector<std::int64_t> places;
  for (std::size_t left = chance.below(6); left > 0; --left) places.push_back(chance.integer());
  group_rows(table.documents, table.documents, 3);
  take_strings(table.documents, places.data(), places.size());
}

FusionRecipe any_recipe(Chance& chance, std::size_t runs, std::size_t longest) {
  FusionRecipe recipe{static_cast<FusionPoints>(chance.below(6)),
                      static_cast<FusionCombine>(chance.below(7)),
                      static_cast<FusionNorm>(chance.below(7)),
                      false,
                      chance.once_in(3) ? 1e-9 : 0.0,
                      chance.once_in(2) ? std::numeric_limits<double>::quiet_NaN() : 0.5,
                      1 + chance.below(9),
                      {},
                      {},
                      {0.0},
                      {}};
  const bool by_segment = recipe.points == FusionPoints::segment;
  for (std::size_t run = 0; run < runs; ++run) {
    recipe.scales.push_back(static_cast<double>(chance.below(4)));
    recipe.votes.push_back(static_cast<double>(chance.below(4)));
    recipe.factors.push_back(chance.number());
    auto& table = recipe.tables.emplace_back(by_segment ? 1 + chance.below(30) : longest);
    for (double& number : table) number = static_cast<double>(chance.below(40)) / 8.0;
  }
  return recipe;
}

// Runs with as many queries as the judgments; a document is seldom repeated.
TableColumns any_run(Chance& chance, std::size_t queries, std::size_t longest) {
  TableColumns columns;
  for (std::size_t query = 0; query < queries; ++query) {
    columns.queries.add("q" + std::to_string(query));
    const std::size_t shift = chance.below(4), step = 1 + chance.below(3);
    const std::size_t count = chance.below(longest + 1);
    for (std::size_t row = 0; row < count; ++row) {
      const std::size_t name = chance.once_in(500) ? 3 : (shift + row * step) % 1009;
      columns.documents.add("document " + std::to_string(name));
      columns.values.push_back(chance.once_in(50) ? chance.number()
                                                  : static_cast<double>(chance.below(900)) / 8.0);
    }
    columns.offsets.push_back(static_cast<std::int64_t>(columns.values.size()));
  }
  for (std::int64_t& offset : columns.documents.offsets) {
    if (chance.once_in(3000)) offset = chance.integer();
  }
  return columns;
}

void fuzz_fusion(Chance& chance) {
  const std::size_t queries = chance.below(6), longest = chance.once_in(30) ? 600 : 12;
  const Table qrels(any_run(chance, queries, 12));
  std::deque<Table> owned;
  std::vector<QueryTable> runs;
  std::vector<std::int64_t> places;
  for (std::size_t left = 1 + chance.below(4); left > 0; --left) {
    runs.push_back(owned.emplace_back(any_run(chance, queries, longest)));
    for (std::size_t query = 0; query < queries; ++query) {
      places.push_back(static_cast<std::int64_t>(chance.below(queries + 1)) - 1);
    }
  }
  std::vector<FusionRecipe> recipes;
  const bool inverted = chance.once_in(3);
  for (std::size_t left = 1 + chance.below(3); left > 0; --left) {
    recipes.push_back(any_recipe(chance, runs.size(), longest));
    recipes.back().inverted = inverted;
  }
  const std::size_t depth = chance.once_in(2) ? 1 + chance.below(9) : longest * runs.size();
  const auto fuse = [&](std::size_t threads) {
    return fuse_runs(runs, places, queries, recipes[0], depth, threads);
  };
  const auto one = fuse(1), three = fuse(3);
  check(one.index() == three.index(), "threads agree on repeated documents");
  const auto* const rows = std::get_if<FusedRows>(&one);
  if (rows != nullptr && three.index() == one.index()) {
    const auto& same = std::get<FusedRows>(three);
    const std::size_t count = rows->documents.count;
    check(rows->offsets == same.offsets && count == same.documents.count, "the same rows");
    check(std::memcmp(rows->scores.get(), same.scores.get(), count * sizeof(double)) == 0 &&
              std::memcmp(rows->documents.data.get(), same.documents.data.get(),
                          rows->documents.size) == 0,
          "threads fuse to the same bits");
    check(rows->offsets.back() == static_cast<std::int64_t>(count), "the offsets fit the rows");
  }
  const auto specs = all_metrics(chance);
  const Spec& spec = specs[chance.below(specs.size())];
  std::vector<double> values(recipes.size() * queries), again(values.size());
  const auto first = score_fusions(qrels, runs, places, recipes, spec, values, 1);
  const auto second = score_fusions(qrels, runs, places, recipes, spec, again, 3);
  check(first.has_value() == second.has_value(), "threads agree on repeated documents");
  check(first || same_bits(values, again), "threads score fusions to the same bits");
  const std::span<const std::int64_t> of_first = std::span(places).first(queries);
  const auto found = relevant_ranks(qrels, runs[0], of_first, chance.number(), 1);
  const auto same = relevant_ranks(qrels, runs[0], of_first, chance.number(), 3);
  check(found.repeated.has_value() == same.repeated.has_value(), "threads agree on repeats");
}

void fuzz_views(Chance& chance) {
  const Exact buffer(std::string(chance.below(64), 'b'));
  const std::vector<std::string_view> buffers(chance.below(3), buffer.view());
  const std::size_t count = chance.below(12);
  std::string bytes(16 * count, '\0');
  StringBuilder documents;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t place = 0; place < 4; ++place) {
      const auto limit = chance.once_in(20) ? std::size_t{1} << 32 : place == 2 ? 2 : 30;
      const auto number = static_cast<std::uint32_t>(chance.below(limit));
      std::memcpy(&bytes[16 * i + 4 * place], &number, 4);
    }
    documents.add(std::to_string(chance.below(5)));
  }
  Exact owned(bytes);
  const StringViews views{owned.data.get(), count, buffers};
  if (chance.once_in(50)) {  // another thread writes to the views; the sanitizer must stay silent
    std::thread writer([&, seed = chance.below(1000)] {
      volatile char* const at = owned.data.get();
      for (std::size_t i = 0; i < 400 && owned.size > 0; ++i) {
        at[16 * ((i + seed) % count)] = static_cast<char>(i % 31);
      }
    });
    try {
      for (int i = 0; i < 20; ++i) copy_of(views, 2);
    } catch (const std::invalid_argument&) {
    }
    writer.join();
    return;
  }
  const OwnedStrings copy = copy_of(views, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::size_t>(copy.offsets[i]);
    const auto end = static_cast<std::size_t>(copy.offsets[i + 1]);
    check(views[i] == std::string_view(copy.data.get() + begin, end - begin), "a copied string");
  }
  const Grouping grouping = group_rows(views, Table::strings_of(documents), 2);
  check(grouping.offsets.size() == grouping.queries.offsets.size(), "one offset per query");
}

void fuzz_arrays(Chance& chance) {
  const std::size_t rows = chance.below(5), width = chance.below(6), depth = chance.below(6);
  std::vector<std::int32_t> retrieved(rows * depth), relevant(rows * width);
  for (auto& id : retrieved) id = static_cast<std::int32_t>(chance.integer());
  for (auto& id : relevant) id = static_cast<std::int32_t>(chance.integer());
  std::vector<double> grades;
  for (std::size_t i = 0; i < relevant.size(); ++i) grades.push_back(chance.number());
  ScoreInput input{{retrieved.data(), rows, depth}, {relevant.data(), rows, width}, {}, 1.0};
  if (chance.once_in(2)) input.grades = Rows<double>{grades.data(), rows, width};
  input.threshold = chance.number();
  std::vector<Request> requests;
  for (const char* const name :
       {"recall", "precision_of_retrieved", "precision_of_k", "mrr", "ndcg", "hit_rate"}) {
    requests.push_back({find_array_formula(name), chance.below(depth + 2)});
  }
  std::vector<float> one(requests.size() * rows), three(one.size());
  const auto first = score_rows(input, requests, 1, one);
  const auto second = score_rows(input, requests, 3, three);
  check(first.has_value() == second.has_value(), "threads agree on contradictory grades");
  check(first || same_bits(one, three), "the same bits");

  std::vector<std::int64_t> values;
  for (std::size_t left = 1 + chance.below(70); left > 0; --left) {
    values.push_back(static_cast<std::int64_t>(chance.below(100)) - 50);
  }
  std::vector<std::int64_t> sums(chance.below(600)), again(sums.size());
  resample_sums(values, chance.below(9), sums, 1);
  count_sign_flips(values, chance.integer(), chance.below(9), sums.size(), 2);
  shuffled_ranges(values, values.size(), chance.below(9), again, 2);
}

void run_case(std::uint64_t seed) {
  Chance chance(seed);
  constexpr void (*kKinds[])(Chance&) = {fuzz_text,   fuzz_text,  fuzz_table,
                                         fuzz_fusion, fuzz_views, fuzz_arrays};
  try {
    kKinds[chance.below(std::size(kKinds))](chance);
  } catch (const std::invalid_argument&) {  // refused
  } catch (const std::exception& error) {
    check(false, error.what());
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t seed = 1;
  double seconds = 1.0;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--seed") {
      seed = std::strtoull(arguments[i + 1], nullptr, 10);
    } else if (name == "--seconds") {
      seconds = std::strtod(arguments[i + 1], nullptr);
    } else {
      std::fprintf(stderr, "unknown option %s; expected --seed N --seconds S\n", arguments[i]);
      return 2;
    }
  }
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    run_case(seed * 0x9E3779B97F4A7C15ULL + cases);
    ++cases;
  }
  std::printf("cases %llu, failures %llu\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}
