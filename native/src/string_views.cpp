#include "berryeval/string_views.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "berryeval/parallel.hpp"

namespace berryeval {
namespace {

// Below this many strings another thread costs more than it saves.
constexpr std::size_t kStringsPerThread = std::size_t{1} << 16;

// Copies the few bytes of an id without calling memcpy: two copies that may overlap.
void copy_bytes(char* to, std::string_view text) {
  const std::size_t size = text.size();
  const char* const from = text.data();
  if (size >= 8 && size <= 16) {
    const auto first = load<std::uint64_t>(from), last = load<std::uint64_t>(from + size - 8);
    std::memcpy(to, &first, 8);
    std::memcpy(to + size - 8, &last, 8);
  } else if (size >= 4 && size < 8) {
    const auto first = static_cast<std::uint32_t>(load<std::uint32_t>(from));
    const auto last = static_cast<std::uint32_t>(load<std::uint32_t>(from + size - 4));
    std::memcpy(to, &first, 4);
    std::memcpy(to + size - 4, &last, 4);
  } else {
    std::copy_n(from, size, to);
  }
}

[[noreturn]] void reject_changed() {
  throw std::invalid_argument("the strings were changed while they were copied");
}

}  // namespace

OwnedStrings copy_of(const StringViews& views, std::size_t threads) {
  const std::size_t parts =
      std::clamp<std::size_t>(threads, 1, 1 + views.count / kStringsPerThread);
  std::vector<std::size_t> starts(parts + 1, 0);  // offset of each part in the data
  for_each_part(views.count, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::size_t size = 0;
    for (std::size_t i = begin; i < end; ++i) size += views[i].size();
    starts[part + 1] = size;
  });
  for (std::size_t part = 0; part < parts; ++part) starts[part + 1] += starts[part];

  OwnedStrings copy;
  copy.count = views.count;
  copy.size = starts[parts];
  copy.data = std::make_unique_for_overwrite<char[]>(copy.size);
  copy.offsets = std::make_unique_for_overwrite<std::int64_t[]>(copy.count + 1);
  copy.offsets[0] = 0;
  for_each_part(views.count, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::size_t at = starts[part];
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view text = views[i];
      if (text.size() > starts[part + 1] - at) reject_changed();
      copy_bytes(copy.data.get() + at, text);
      at += text.size();
      copy.offsets[i + 1] = static_cast<std::int64_t>(at);
    }
    if (at != starts[part + 1]) reject_changed();
  });
  return copy;
}

}  // namespace berryeval
