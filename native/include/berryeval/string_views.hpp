// Strings in the layout of Arrow's views, read in place.
#pragma once

#include <atomic>
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

  // Throws std::invalid_argument if the string exceeds its buffer. Another thread may write to the
  // views meanwhile, so each number is read once: the fence forbids reading it again.
  std::string_view operator[](std::size_t index) const {
    const char* const at = view(index);
    const std::size_t size = load<std::uint32_t>(at);
    const std::size_t buffer = load<std::uint32_t>(at + 8);
    const std::size_t begin = load<std::uint32_t>(at + 12);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (size <= kLongestInside) return {at + 4, size};
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
