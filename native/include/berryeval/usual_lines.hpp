// Lines as nearly every run has them: six columns of ASCII, one blank or tab between two, nothing
// else.
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
  // How many bytes are looked at in one go: what is found about them stays in the first cache.
  static constexpr std::size_t kStretch = std::size_t{1} << 13;

  // Looks at the lines that end in the first stretch of `text`. False if one of them is not usual,
  // or if there is none.
  bool find_in(std::string_view text);

  std::size_t count() const { return lines_; }
  // Where the columns of a line end, counted from the beginning of the text.
  const std::uint32_t* ends_of(std::size_t line) const { return &ends_[line * kColumns]; }

 private:
  void find_gaps(std::string_view text, Gaps& gaps);
  void add_block(std::uint64_t gaps, std::size_t place);
  bool all_have_six_columns(const char* text) const;

  // Written a few at a time, the last of them beyond what counts.
  std::array<std::uint32_t, kStretch + kBlock> ends_;
  std::size_t size_ = 0;
  std::uint64_t adjacent_ = 0;  // gaps right after others, with nothing between
  std::uint64_t carry_ = 0;     // whether the block before ended with a gap
  std::size_t lines_ = 0;
};

}  // namespace berryeval
