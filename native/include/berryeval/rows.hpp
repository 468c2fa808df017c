// Two-dimensional arrays that somebody else owns, one row per query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berryeval {

// Marks an unused place in a row of ids, anywhere in the row; never a document.
inline constexpr std::int32_t kPadding = -1;

template <class T>
struct Rows {
  const T* data = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;

  std::span<const T> operator[](std::size_t row) const { return {data + row * width, width}; }
};

}  // namespace berryeval
