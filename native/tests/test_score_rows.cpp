// Native tests without Python: known values, edge cases, and random rows against a naive oracle
// without hash tables or threads. Exits with 1 if a check failed.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "berryeval/parallel.hpp"
#include "berryeval/score_rows.hpp"

namespace {

using berryeval::GradeConflict;
using berryeval::Grades;
using berryeval::kPadding;
using berryeval::Request;
using berryeval::Rows;
using berryeval::ScoreInput;

int checks = 0;
int failures = 0;

void check(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

const std::vector<std::string> kAll = {
    "recall", "precision_of_retrieved", "precision_of_k", "mrr", "ndcg", "hit_rate"};

Request request(const std::string& name, std::size_t cutoff) {
  return {berryeval::find_array_formula(name), cutoff};
}

struct Case {
  std::size_t rows, retrieved_width, relevant_width;
  std::vector<std::int32_t> retrieved, relevant;
  std::vector<double> grades;  // empty: binary
  double threshold = 1.0;

  ScoreInput input() const {
    Grades given;
    if (!grades.empty()) given = Rows<double>{grades.data(), rows, relevant_width};
    return {.retrieved = {retrieved.data(), rows, retrieved_width},
            .relevant = {relevant.data(), rows, relevant_width},
            .grades = given,
            .threshold = threshold};
  }

  std::vector<float> score(const std::vector<Request>& requests, std::size_t threads = 1) const {
    std::vector<float> out(requests.size() * rows, -1.0F);
    const auto conflict = berryeval::score_rows(input(), requests, threads, out);
    check(!conflict, "a consistent row is not a conflict");
    return out;
  }
};

// The definitions, written for one row with sets and maps.
double naive(const Case& c, std::size_t row, const std::string& name, std::size_t cutoff) {
  std::map<std::int32_t, double> grade_of;
  for (std::size_t j = 0; j < c.relevant_width; ++j) {
    const std::size_t at = row * c.relevant_width + j;
    if (c.relevant[at] != kPadding) grade_of[c.relevant[at]] = c.grades.empty() ? 1 : c.grades[at];
  }
  std::size_t total = 0, found = 0, present = 0, first = 0;
  std::vector<double> gains;
  for (const auto& [id, grade] : grade_of) {
    total += grade >= c.threshold;
    if (grade > 0) gains.push_back(grade);
  }
  std::sort(gains.rbegin(), gains.rend());
  double ideal = 0, dcg = 0;
  for (std::size_t i = 0; i < std::min(gains.size(), cutoff); ++i) {
    ideal += gains[i] / std::log2(static_cast<double>(i + 2));
  }
  std::set<std::int32_t> seen;
  for (std::size_t i = 0; i < cutoff; ++i) {
    const std::int32_t id = c.retrieved[row * c.retrieved_width + i];
    if (id == kPadding) continue;
    ++present;
    if (!grade_of.contains(id) || !seen.insert(id).second) continue;
    if (grade_of[id] > 0) dcg += grade_of[id] / std::log2(static_cast<double>(i + 2));
    if (grade_of[id] < c.threshold) continue;
    ++found;
    if (first == 0) first = i + 1;
  }
  const auto ratio = [](std::size_t a, std::size_t b) {
    return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
  };
  if (name == "recall") return ratio(found, total);
  if (name == "precision_of_retrieved") return ratio(found, present);
  if (name == "precision_of_k") return ratio(found, cutoff);
  if (name == "mrr") return ratio(first > 0, first);
  if (name == "ndcg") return ideal > 0 ? dcg / ideal : 0.0;
  return found > 0 ? 1.0 : 0.0;
}

void known_values() {
  const Case c{1, 5, 5, {1, 2, 3, 4, 5}, {1, 3, 5, kPadding, kPadding}, {}, 1.0};
  std::vector<Request> requests;
  for (const std::string& name : kAll) requests.push_back(request(name, 5));
  const double ideal = 1 / std::log2(2.0) + 1 / std::log2(3.0) + 1 / std::log2(4.0);
  const double dcg = 1 / std::log2(2.0) + 1 / std::log2(4.0) + 1 / std::log2(6.0);
  const std::vector<float> expected = {1.0F, 0.6F, 0.6F, 1.0F, static_cast<float>(dcg / ideal), 1};
  check(c.score(requests) == expected, "the five metrics of the contract's example");
}

void edges() {
  const std::vector<Request> requests = {request("recall", 2), request("ndcg", 1)};
  check(Case{0, 2, 3, {}, {}, {}, 1.0}.score(requests).empty(), "no queries, no scores");
  check(Case{1, 2, 0, {7, 8}, {}, {}, 1.0}.score(requests) == std::vector<float>{0, 0},
        "no relevant columns score 0");
  constexpr auto low = std::numeric_limits<std::int32_t>::min();
  constexpr auto high = std::numeric_limits<std::int32_t>::max();
  check(Case{1, 2, 3, {low, -2}, {high, -2, low}, {}, 1.0}.score(requests) ==
            std::vector<float>{static_cast<float>(2.0 / 3.0), 1},
        "ids reach from one end of int32 to the other");
  check(Case{1, 2, 1, {kPadding, kPadding}, {kPadding}, {}, 1.0}.score(requests) ==
            std::vector<float>{0, 0},
        "padding is never a hit");
}

template <class Change>
void rejects(const char* what, Change change) {
  const Case c{1, 2, 2, {1, 2}, {1, 2}, {}, 1.0};
  ScoreInput input = c.input();
  std::vector<Request> requests = {request("recall", 2)};
  std::vector<float> out(1);
  change(input, requests, out);
  try {
    (void)berryeval::score_rows(input, requests, 1, out);
    check(false, std::string("rejects ") + what);
  } catch (const std::invalid_argument&) {
    check(true, what);
  }
}

void misfits() {
  using Requests = std::vector<Request>;
  using Out = std::vector<float>;
  rejects("cutoff 0", [](auto&, Requests& requests, Out&) { requests[0].cutoff = 0; });
  rejects("cutoff past the end", [](auto&, Requests& requests, Out&) { requests[0].cutoff = 3; });
  rejects("unequal rows", [](ScoreInput& input, Requests&, Out&) { input.relevant.count = 0; });
  rejects("a short out", [](auto&, Requests&, Out& out) { out.clear(); });
  rejects("grades of another shape",
          [](ScoreInput& input, Requests&, Out&) { input.grades = Rows<float>{nullptr, 1, 1}; });
}

void conflicts() {
  Case c{200'000, 1, 2, {}, {}, {}, 1.0};
  c.retrieved.assign(c.rows, 5);
  c.relevant.assign(2 * c.rows, 5);
  c.grades.assign(2 * c.rows, 1.0);
  for (const std::size_t row : {199'999U, 120'000U, 70'000U}) c.grades[2 * row + 1] = 2.0;
  const std::vector<Request> requests = {request("ndcg", 1)};
  std::vector<float> out(c.rows);
  for (const std::size_t threads : {1U, 2U, 3U, 7U}) {
    const auto conflict = berryeval::score_rows(c.input(), requests, threads, out);
    check(conflict && conflict->row == 70'000 && conflict->first == 0 && conflict->second == 1,
          "the first contradiction is reported on any number of threads");
  }
}

void random_rows(std::mt19937& random, bool graded) {
  const auto upto = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n)(random);
  };
  Case c{upto(30), 1 + upto(upto(1) == 0 ? 12 : 400), upto(upto(1) == 0 ? 8 : 300), {}, {}, {},
         1.0};
  const auto vocabulary = static_cast<std::int32_t>(1 + upto(200));
  const auto id = [&] {
    return std::uniform_int_distribution<std::int32_t>(-3, vocabulary)(random);
  };
  for (std::size_t i = 0; i < c.rows * c.retrieved_width; ++i) c.retrieved.push_back(id());
  for (std::size_t i = 0; i < c.rows * c.relevant_width; ++i) c.relevant.push_back(id());
  if (graded) {
    // A grade that depends on the id alone never contradicts itself.
    for (const std::int32_t at : c.relevant) c.grades.push_back((at % 5) - 0.5 * (at % 3));
    c.threshold = static_cast<double>(upto(3)) - 0.5;
  }
  for (const std::string& name : kAll) {
    for (const std::size_t cutoff : {c.retrieved_width, 1 + upto(c.retrieved_width - 1)}) {
      const auto scores = c.score({request(name, cutoff)});
      for (std::size_t row = 0; row < c.rows; ++row) {
        const auto expected = static_cast<float>(naive(c, row, name, cutoff));
        check(scores[row] == expected, "equal to the oracle on random rows");
      }
    }
  }
}

void any_number_of_threads(std::mt19937& random) {
  Case c{20'000, 40, 10, {}, {}, {}, 1.0};
  std::uniform_int_distribution<std::int32_t> id(-2, 90);
  for (std::size_t i = 0; i < c.rows * 40; ++i) c.retrieved.push_back(id(random));
  for (std::size_t i = 0; i < c.rows * 10; ++i) c.relevant.push_back(id(random));
  std::vector<Request> requests;
  for (const std::string& name : kAll) requests.push_back(request(name, 40));
  const auto alone = c.score(requests, 1);
  for (const std::size_t threads : {0U, 2U, 3U, 8U, 64U}) {
    check(c.score(requests, threads) == alone, "the same scores on any number of threads");
  }
}

void parts() {
  for (const std::size_t count : {0U, 1U, 5U, 17U}) {
    for (const std::size_t wanted : {1U, 2U, 3U, 20U}) {
      std::vector<std::atomic<int>> visits(count);
      berryeval::for_each_part(count, wanted, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      check(std::ranges::all_of(visits, [](const auto& times) { return times == 1; }),
            "every row belongs to one part");
    }
  }
  for (const std::size_t broken : {0U, 2U}) {
    bool caught = false;
    try {
      berryeval::for_each_part(3, 3, [&](std::size_t part, std::size_t, std::size_t) {
        if (part == broken) throw std::runtime_error("broken");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check(caught, "an exception in a part reaches the caller");
  }
  std::atomic<int> together{0};
  berryeval::for_each_part(2, 2, [&](std::size_t, std::size_t, std::size_t) {
    ++together;
    while (together < 2) std::this_thread::yield();  // ends only if both parts run at once
  });
  check(together == 2, "parts run at the same time");
}

void names() {
  for (const std::string& name : kAll) {
    check(berryeval::find_array_formula(name) != nullptr, "a metric is found by its name");
  }
  check(berryeval::find_array_formula("nope") == nullptr, "an unknown name has no formula");
}

}  // namespace

int main() {
  std::mt19937 random(20260221);
  known_values();
  edges();
  misfits();
  conflicts();
  names();
  parts();
  for (int i = 0; i < 400; ++i) random_rows(random, i % 2 == 1);
  any_number_of_threads(random);
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
