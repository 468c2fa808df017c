// Strings in the layout of Arrow's views, read in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "berryeval/strings.hpp"

namespace berryeval {

// Sixteen bytes per string: its size, and the string itself if it is short, or its buffer and
// offset.
struct StringViews {
  static constexpr std::size_t kSize = 16;
  static constexpr std::size_t kLongestInside = 12;

  const char* views = nullptr;
  std::size_t count = 0;
  std::span<const std::string_view> buffers;

  const char* view(std::size_t index) const { return views + kSize * index; }
  std::size_t size_of(std::size_t index) const { return load<std::uint32_t>(view(index)); }

  // Throws std::invalid_argument if the string exceeds its buffer.
  std::string_view operator[](std::size_t index) const {
    const char* const at = view(index);
    const std::size_t size = size_of(index);
    if (size <= kLongestInside) return {at + 4, size};
    const std::size_t buffer = load<std::uint32_t>(at + 8);
    const std::size_t begin = load<std::uint32_t>(at + 12);
    if (buffer >= buffers.size() || begin > buffers[buffer].size() ||
        size > buffers[buffer].size() - begin) {
      throw std::invalid_argument("a string lies beyond its buffer");
    }
    return buffers[buffer].substr(begin, size);
  }
};

// A column that owns its strings.
struct OwnedStrings {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  std::unique_ptr<std::int64_t[]> offsets;  // one more than strings
  std::size_t count = 0;
};

// Copies the strings end to end.
OwnedStrings copy_of(const StringViews& views, std::size_t threads);

}  // namespace berryeval
