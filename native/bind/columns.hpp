// Columns of NumPy arrays, read in place or handed over to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "berryeval/string_views.hpp"
#include "berryeval/strings.hpp"

template <class T>
using Column = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Matrix = nanobind::ndarray<T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Text = std::pair<Column<const std::uint8_t>, Column<const std::int64_t>>;

inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// The numbers of an array. Vector instructions may require alignment.
template <class T, class... Rest>
std::span<T> span_of(const nanobind::ndarray<T, Rest...>& array) {
  require(reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) == 0,
          "an array must be aligned in memory");
  return {array.data(), array.size()};
}

// A copy, for numbers that are checked before they are used: another thread may change an array.
template <class T>
std::vector<T> copy_of(const Column<const T>& array) {
  const std::span<const T> given = span_of(array);
  return {given.begin(), given.end()};
}

// Offsets must ascend from 0 to `size`, because strings are read between two of them.
inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t size,
                          const char* what) {
  require(!offsets.empty() && offsets.front() == 0, what);
  bool rising = true;  // checked once, so that the loop can be vectorized
  for (std::size_t i = 1; i < offsets.size(); ++i) rising &= offsets[i] >= offsets[i - 1];
  require(rising, what);
  require(static_cast<std::size_t>(offsets.back()) == size, what);
}

inline berryeval::Strings strings_of(const Text& text) {
  const std::span<const std::int64_t> offsets = span_of(text.second);
  check_offsets(offsets, text.first.size(), "the offsets of a string column do not fit its data");
  return {reinterpret_cast<const char*>(text.first.data()), text.first.size(), offsets.data(),
          offsets.size() - 1};
}

// Arrow's views and the buffers they point into.
using Views = std::pair<Column<const std::uint8_t>, std::vector<Column<const std::uint8_t>>>;

inline std::vector<std::string_view> buffers_of(const Views& views) {
  std::vector<std::string_view> buffers;
  for (const auto& buffer : views.second) {
    buffers.emplace_back(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  }
  return buffers;
}

// `buffers` must outlive the result.
inline berryeval::StringViews views_of(const Views& views,
                                       std::span<const std::string_view> buffers) {
  constexpr std::size_t kSize = berryeval::StringViews::kSize;
  require(views.first.size() % kSize == 0, "a view has sixteen bytes");
  return {reinterpret_cast<const char*>(views.first.data()), views.first.size() / kSize, buffers};
}

// Transfers a vector to NumPy as a read-only array of `As` without a copy.
template <class As, class T>
auto hand_over(std::vector<T>&& items) {
  static_assert(sizeof(As) == sizeof(T));
  using Array = nanobind::ndarray<nanobind::numpy, const As, nanobind::ndim<1>>;
  auto* const owned = new std::vector<T>(std::move(items));
  nanobind::capsule owner(owned,
                          [](void* at) noexcept { delete static_cast<std::vector<T>*>(at); });
  return Array(owned->data(), {owned->size()}, owner);
}

template <class As, class T>
auto hand_over(std::unique_ptr<T[]>&& items, std::size_t size) {
  static_assert(sizeof(As) == sizeof(T));
  using Array = nanobind::ndarray<nanobind::numpy, const As, nanobind::ndim<1>>;
  T* const owned = items.release();
  nanobind::capsule owner(owned, [](void* at) noexcept { delete[] static_cast<T*>(at); });
  return Array(owned, {size}, owner);
}

inline nanobind::tuple text_of(berryeval::OwnedStrings&& strings) {
  return nanobind::make_tuple(
      hand_over<std::uint8_t>(std::move(strings.data), strings.size),
      hand_over<std::int64_t>(std::move(strings.offsets), strings.count + 1));
}

inline nanobind::tuple text_of(berryeval::StringBuilder&& builder) {
  return nanobind::make_tuple(hand_over<std::uint8_t>(std::move(builder.data)),
                              hand_over<std::int64_t>(std::move(builder.offsets)));
}
