#include "berryeval/fusion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "berryeval/strings.hpp"

namespace berryeval {
namespace {

constexpr std::uint32_t kUnranked = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kFewForRadix = 256;

// Larger bits for lower scores; 0 and -0 are equal.
std::uint64_t descending_bits(double score) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
  return (bits & kSign) != 0 ? bits : ~(bits | kSign);
}

double borda_missing(std::size_t candidates, std::size_t count) {
  return static_cast<double>(candidates - count + 1) / 2;
}

}  // namespace

std::span<const std::uint32_t> ScoreOrder::sort(std::span<const double> scores,
                                                std::span<const std::string_view> documents) {
  const std::size_t count = scores.size();
  keys_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys_[i] = {descending_bits(scores[i]), static_cast<std::uint32_t>(i)};
  }
  if (count < kFewForRadix) {
    std::ranges::sort(keys_, {}, &Key::bits);
  } else {  // by bytes, from the lowest; bytes that all share are skipped
    std::uint64_t differing = 0;
    for (const Key& key : keys_) differing |= key.bits ^ keys_[0].bits;
    spare_.resize(count);
    for (int shift = 0; shift < 64; shift += 8) {
      if ((differing >> shift & 0xFF) == 0) continue;
      std::uint32_t starts[257] = {};
      for (const Key& key : keys_) ++starts[(key.bits >> shift & 0xFF) + 1];
      for (std::size_t i = 1; i < 257; ++i) starts[i] += starts[i - 1];
      for (const Key& key : keys_) spare_[starts[key.bits >> shift & 0xFF]++] = key;
      keys_.swap(spare_);
    }
  }
  order_.resize(count);
  for (std::size_t i = 0; i < count; ++i) order_[i] = keys_[i].place;
  const auto higher = [&](std::uint32_t a, std::uint32_t b) { return documents[a] > documents[b]; };
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = begin + 1;
    while (end < count && keys_[end].bits == keys_[begin].bits) ++end;
    if (end - begin > 1) {
      // Another thread may change the ids meanwhile. A heap keeps inside its bounds even if the
      // order contradicts itself; std::sort may not.
      const std::span group(order_.data() + begin, end - begin);
      std::ranges::make_heap(group, higher);
      std::ranges::sort_heap(group, higher);
    }
    begin = end;
  }
  return order_;
}

void QueryFusion::read(std::size_t run, std::size_t place, bool inverted) {
  const QueryTable& table = runs_[run];
  const std::size_t begin = table.begin_of(place);
  const std::size_t count = table.end_of(place) - begin;
  row_documents_.resize(count);
  row_scores_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double score = table.values[begin + i];
    require_number(score);
    row_scores_[i] = (inverted ? -score : score) + 0.0;  // -0 becomes 0
    row_documents_[i] = table.documents[begin + i];
  }
}

bool QueryFusion::in_order() const {
  for (std::size_t i = 1; i < row_scores_.size(); ++i) {
    if (row_scores_[i - 1] > row_scores_[i]) continue;
    if (row_scores_[i - 1] < row_scores_[i] || row_documents_[i - 1] < row_documents_[i]) {
      return false;
    }
  }
  return true;
}

std::optional<std::size_t> QueryFusion::join(const std::int64_t* places, std::size_t stride,
                                             bool inverted) {
  std::size_t rows = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (places[run * stride] == kNotInRun) continue;
    const auto place = static_cast<std::size_t>(places[run * stride]);
    rows += runs_[run].end_of(place) - runs_[run].begin_of(place);
  }
  table_.reset(rows, 3);
  documents_.clear();
  last_run_.clear();
  rankings_.clear();
  document_of_.clear();
  score_of_.clear();
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (places[run * stride] == kNotInRun) continue;
    read(run, static_cast<std::size_t>(places[run * stride]), inverted);
    const std::size_t count = row_scores_.size();
    if (count == 0) continue;
    rankings_.push_back({run, document_of_.size(), count});
    const bool sorted = in_order();
    const auto order =
        sorted ? std::span<const std::uint32_t>() : by_score_.sort(row_scores_, row_documents_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = sorted ? i : order[i];
      const std::string_view document = row_documents_[row];
      const auto is_equal = [&](std::size_t at) { return same_text(documents_[at], document); };
      std::size_t found = table_.insert(hash_of(document), documents_.size(), is_equal);
      if (found == PlaceTable::kNowhere) {
        found = documents_.size();
        documents_.push_back(document);
        last_run_.push_back(static_cast<std::uint32_t>(run));
      } else if (last_run_[found] == run) {
        return run;
      }
      last_run_[found] = static_cast<std::uint32_t>(run);
      document_of_.push_back(static_cast<std::uint32_t>(found));
      score_of_.push_back(row_scores_[row]);
    }
  }
  return std::nullopt;
}

// Scores begin with the highest.
void QueryFusion::normalize(std::span<const double> scores, const FusionRecipe& recipe) {
  const std::size_t count = scores.size();
  const auto size = static_cast<double>(count);
  const double highest = scores.front();
  const double lowest = scores.back();
  switch (recipe.norm) {
    case FusionNorm::none:
      std::ranges::copy(scores, points_.begin());
      break;
    case FusionNorm::rank:
      for (std::size_t i = 0; i < count; ++i) points_[i] = 1 - static_cast<double>(i) / size;
      break;
    case FusionNorm::borda: {
      const auto candidates = static_cast<double>(documents_.size());
      for (std::size_t i = 0; i < count; ++i) points_[i] = 1 - static_cast<double>(i) / candidates;
      break;
    }
    case FusionNorm::max: {
      double peak = std::max(highest, recipe.least);
      if (recipe.least == 0) peak = highest == 0 ? 1.0 : std::abs(highest);
      for (std::size_t i = 0; i < count; ++i) points_[i] = scores[i] / peak;
      break;
    }
    case FusionNorm::sum: {
      double total = 0.0;
      for (const double score : scores) total += score - lowest;
      total = std::max(total, recipe.least);
      for (std::size_t i = 0; i < count; ++i) {
        points_[i] = total == 0 ? 1 / size : (scores[i] - lowest) / total;
      }
      break;
    }
    case FusionNorm::zmuv: {
      double mean = 0.0;
      for (const double score : scores) mean += score;
      mean /= size;
      double spread = 0.0;
      for (const double score : scores) spread += (score - mean) * (score - mean);
      spread = std::sqrt(spread / size);
      const bool flat = recipe.least == 0 && (highest == lowest || spread == 0);
      spread = std::max(spread, recipe.least);
      for (std::size_t i = 0; i < count; ++i) points_[i] = flat ? 0.0 : (scores[i] - mean) / spread;
      break;
    }
    case FusionNorm::min_max: {
      const double range = std::max(highest - lowest, recipe.least);
      for (std::size_t i = 0; i < count; ++i) {
        points_[i] = range == 0 ? 1.0 : (scores[i] - lowest) / range;
      }
      break;
    }
  }
}

// Writes points_ and missing_.
void QueryFusion::give_points(const Ranking& ranking, const FusionRecipe& recipe,
                              WindowPoints& window) {
  const std::size_t count = ranking.count;
  const std::size_t candidates = documents_.size();
  const std::span<const double> scores(score_of_.data() + ranking.begin, count);
  const auto table = recipe.tables.empty() ? std::span<const double>() : recipe.tables[ranking.run];
  points_.resize(count);
  missing_ = recipe.missing;
  switch (recipe.points) {
    case FusionPoints::score:
      normalize(scores, recipe);
      if (recipe.norm == FusionNorm::borda) {
        missing_ = 0.5 - static_cast<double>(count - 1) / static_cast<double>(2 * candidates);
      }
      break;
    case FusionPoints::rank:
      std::copy_n(table.begin(), count, points_.begin());
      break;
    case FusionPoints::segment: {
      const std::size_t size = (count + table.size() - 1) / table.size();
      for (std::size_t i = 0; i < count; ++i) points_[i] = table[i / size];
      break;
    }
    case FusionPoints::window:
      if (window.length != count) {
        window.length = count;
        window.points.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t first = i < recipe.window ? 0 : i - recipe.window;
          const std::size_t last = std::min(i + recipe.window, count - 1);
          double total = 0.0;
          for (std::size_t at = first; at <= last; ++at) total += table[at];
          window.points[i] = total / static_cast<double>(last - first + 1);
        }
      }
      std::ranges::copy(window.points, points_.begin());
      break;
    case FusionPoints::borda:
      for (std::size_t i = 0; i < count; ++i) points_[i] = static_cast<double>(candidates - i);
      missing_ = borda_missing(candidates, count);
      break;
    case FusionPoints::boosted:
      normalize(scores, recipe);
      for (std::size_t i = 0; i < count; ++i) points_[i] = table[i] * (points_[i] + 1);
      break;
  }
  const double scale = recipe.scales[ranking.run];
  for (double& points : points_) points = scale * points;
  missing_ = scale * missing_;
}

void QueryFusion::add(const Ranking& ranking, const FusionRecipe& recipe) {
  const std::uint32_t* const document = document_of_.data() + ranking.begin;
  const double vote = recipe.votes[ranking.run];
  if (std::isnan(missing_)) {
    for (std::size_t i = 0; i < ranking.count; ++i) {
      scores_[document[i]] += points_[i];
      votes_[document[i]] += vote;
      ++counts_[document[i]];
    }
    return;
  }
  column_.assign(documents_.size(), missing_);
  for (std::size_t i = 0; i < ranking.count; ++i) column_[document[i]] = points_[i];
  for (std::size_t i = 0; i < column_.size(); ++i) {
    scores_[i] += column_[i];
    votes_[i] += vote;
    ++counts_[i];
  }
}

void QueryFusion::collect(const Ranking& ranking) {
  const std::uint32_t* const document = document_of_.data() + ranking.begin;
  const std::size_t width = rankings_.size();
  const auto append = [&](std::size_t to, double points) {
    lists_[to * width + counts_[to]++] = points;
  };
  if (std::isnan(missing_)) {
    for (std::size_t i = 0; i < ranking.count; ++i) append(document[i], points_[i]);
    return;
  }
  column_.assign(documents_.size(), missing_);
  for (std::size_t i = 0; i < ranking.count; ++i) column_[document[i]] = points_[i];
  for (std::size_t i = 0; i < column_.size(); ++i) append(i, column_[i]);
}

void QueryFusion::finish_sums(const FusionRecipe& recipe) {
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (recipe.combine == FusionCombine::mean) {
      scores_[i] /= static_cast<double>(counts_[i]);
    } else if (recipe.combine == FusionCombine::votes) {
      scores_[i] *= votes_[i];
    } else {
      scores_[i] *= recipe.factors[counts_[i]];
    }
  }
}

void QueryFusion::finish_lists(FusionCombine combine) {
  const std::size_t width = rankings_.size();
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    const std::span list(lists_.data() + i * width, counts_[i]);
    double best = list[0];
    if (combine == FusionCombine::median) {
      for (std::size_t k = 1; k < list.size(); ++k) {  // a stable sort of a few numbers
        const double item = list[k];
        std::size_t at = k;
        for (; at > 0 && item < list[at - 1]; --at) list[at] = list[at - 1];
        list[at] = item;
      }
      const std::size_t middle = list.size() / 2;
      best = list.size() % 2 == 1 ? list[middle] : (list[middle - 1] + list[middle]) / 2;
    } else {
      for (const double points : list.subspan(1)) {
        if (combine == FusionCombine::max ? points > best : points < best) best = points;
      }
    }
    scores_[i] = best;
  }
}

bool QueryFusion::beats(std::uint32_t one, std::uint32_t other) const {
  const std::size_t width = rankings_.size();
  double ahead = 0.0;
  double behind = 0.0;
  for (std::size_t i = 0; i < width; ++i) {
    const std::uint32_t first = ranks_[one * width + i];
    const std::uint32_t second = ranks_[other * width + i];
    if (first < second) ahead += ranking_votes_[i];
    if (second < first) behind += ranking_votes_[i];
  }
  return ahead > behind;
}

// Merge-sorts by majority; pairs without a majority keep their order by Borda count.
void QueryFusion::sort_by_majority(const FusionRecipe& recipe) {
  const std::size_t count = documents_.size();
  const std::size_t width = rankings_.size();
  ranks_.assign(count * width, kUnranked);
  ranking_votes_.clear();
  for (std::size_t i = 0; i < width; ++i) {
    const Ranking& ranking = rankings_[i];
    ranking_votes_.push_back(recipe.votes[ranking.run]);
    column_.assign(count, borda_missing(count, ranking.count));
    for (std::size_t k = 0; k < ranking.count; ++k) {
      const std::uint32_t document = document_of_[ranking.begin + k];
      ranks_[document * width + i] = static_cast<std::uint32_t>(k);
      column_[document] = static_cast<double>(count - k);
    }
    for (std::size_t k = 0; k < count; ++k) scores_[k] += ranking_votes_[i] * column_[k];
  }
  const auto start = by_score_.sort(scores_, documents_);
  sorted_.assign(start.begin(), start.end());
  for (std::size_t size = 1; size < count; size *= 2) {
    merged_.clear();
    for (std::size_t begin = 0; begin < count; begin += 2 * size) {
      std::size_t left = begin;
      const std::size_t middle = std::min(begin + size, count);
      const std::size_t end = std::min(begin + 2 * size, count);
      for (std::size_t right = middle; right < end; ++right) {
        while (left < middle && !beats(sorted_[right], sorted_[left])) {
          merged_.push_back(sorted_[left++]);
        }
        merged_.push_back(sorted_[right]);
      }
      while (left < middle) merged_.push_back(sorted_[left++]);
    }
    sorted_.swap(merged_);
  }
  for (std::size_t i = 0; i < count; ++i) scores_[sorted_[i]] = static_cast<double>(count - i);
}

void QueryFusion::combine(const FusionRecipe& recipe, std::span<WindowPoints> windows) {
  const std::size_t count = documents_.size();
  scores_.assign(count, 0.0);
  if (recipe.combine == FusionCombine::condorcet) {
    sort_by_majority(recipe);
    return;
  }
  const bool lists = recipe.combine == FusionCombine::max || recipe.combine == FusionCombine::min ||
                     recipe.combine == FusionCombine::median;
  counts_.assign(count, 0);
  votes_.assign(count, 0.0);
  if (lists) lists_.resize(count * rankings_.size());
  for (const Ranking& ranking : rankings_) {
    give_points(ranking, recipe, windows[ranking.run]);
    if (lists) {
      collect(ranking);
    } else {
      add(ranking, recipe);
    }
  }
  if (lists) {
    finish_lists(recipe.combine);
  } else {
    finish_sums(recipe);
  }
}

}  // namespace berryeval
