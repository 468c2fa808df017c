// Views of two-dimensional arrays with one row per query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berryeval {

// The id of an empty place, anywhere in a row; never a document.
inline constexpr std::int32_t kPadding = -1;

template <class T>
struct Rows {
  const T* data = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;

  std::span<const T> operator[](std::size_t row) const { return {data + row * width, width}; }
};

}  // namespace berryeval
