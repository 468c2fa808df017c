#include "berryeval/usual_lines.hpp"

#include <bit>
#include <cstring>

namespace berryeval {

void UsualLines::add_block(std::uint64_t gaps, std::size_t place) {
  adjacent_ |= gaps & (gaps << 1 | carry_);
  carry_ = gaps >> 63;
  const std::size_t count = count_bits(gaps);
  // Four at a time, needed or not: the branch is then predictable.
  constexpr std::size_t kTogether = 4;
  constexpr std::uint64_t kNever = std::uint64_t{1} << 63;  // 0 has no lowest bit
  for (std::size_t done = 0; done < count; done += kTogether) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      ends_[size_ + done + i] = static_cast<std::uint32_t>(place) +
                                static_cast<std::uint32_t>(std::countr_zero(gaps | kNever));
      gaps &= gaps - 1;
    }
  }
  size_ += count;
}

void UsualLines::find_gaps(std::string_view text, Gaps& gaps) {
  size_ = 0;
  adjacent_ = 0;
  carry_ = 1;
  std::size_t at = 0;
  for (; at + kBlock <= text.size(); at += kBlock) {
    add_block(gaps.find_in(text.data() + at), at);
    if (gaps.others()) return;
  }
  if (at == text.size()) return;
  char rest[kBlock];
  std::memset(rest, 'x', kBlock);
  std::memcpy(rest, text.data() + at, text.size() - at);
  add_block(gaps.find_in(rest), at);
}

bool UsualLines::find_in(std::string_view text) {
  text = text.substr(0, kStretch);
  text = text.substr(0, text.rfind('\n') + 1);
  if (text.empty()) return false;
  Gaps gaps;
  find_gaps(text, gaps);
  lines_ = gaps.lines();
  return !gaps.others() && adjacent_ == 0 && size_ == kColumns * lines_ &&
         all_have_six_columns(text.data());
}

// The number of line ends equals that of lines, so if every sixth gap is one, no other is.
bool UsualLines::all_have_six_columns(const char* text) const {
  bool all = true;
  bool comments = false;
  std::size_t begin = 0;
  for (std::size_t line = 0; line < lines_; ++line) {
    const std::size_t end = ends_of(line)[kColumns - 1];
    all &= text[end] == '\n';
    comments |= text[begin] == '#';
    begin = end + 1;
  }
  return all && !comments;
}

}  // namespace berryeval
