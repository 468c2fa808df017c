// Fast reader for the lines of nearly every run: six ASCII columns, each separated by one blank or
// tab.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berryeval/gaps.hpp"

namespace berryeval {

class UsualLines {
 public:
  static constexpr std::size_t kColumns = 6;
  // Bytes per step, few enough that their gaps stay in the L1 cache.
  static constexpr std::size_t kStretch = std::size_t{1} << 13;

  // Finds the lines that end in the first stretch of `text`. Returns false if there are none, or if
  // one of them has another form.
  bool find_in(std::string_view text);

  std::size_t count() const { return lines_; }
  // The ends of the columns of a line, as offsets in the text.
  const std::uint32_t* ends_of(std::size_t line) const { return &ends_[line * kColumns]; }

 private:
  void find_gaps(std::string_view text, Gaps& gaps);
  void add_block(std::uint64_t gaps, std::size_t place);
  bool all_have_six_columns(const char* text) const;

  // Written a few at a time, so the last entries may be unused.
  std::array<std::uint32_t, kStretch + kBlock> ends_;
  std::size_t size_ = 0;
  std::uint64_t adjacent_ = 0;  // gaps directly after other gaps
  std::uint64_t carry_ = 0;     // whether the previous block ended with a gap
  std::size_t lines_ = 0;
};

}  // namespace berryeval
