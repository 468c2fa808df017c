// The documents of one query seen so far, to notice one that comes again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "berryeval/strings.hpp"

namespace berryeval {

class DocumentSet {
 public:
  // Forgets everything; makes room for `count` documents, which is the most that may come.
  void reset(std::size_t count) {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(4, 3 * count));
    if (slots_.size() < size) {
      slots_.assign(size, Slot{});
    } else {
      std::fill_n(slots_.begin(), size, Slot{});
    }
    mask_ = size - 1;
    if (documents_.size() < count) documents_.resize(count);
    count_ = 0;
  }

  // Takes a document; false if it is there already.
  bool insert(std::string_view document) {
    const std::uint64_t hash = hash_of(document);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t slot = hash & mask_;
    for (; slots_[slot].place != 0; slot = (slot + 1) & mask_) {
      if (slots_[slot].tag == tag && documents_[slots_[slot].place - 1] == document) return false;
    }
    documents_[count_++] = document;
    slots_[slot] = {tag, static_cast<std::uint32_t>(count_)};
    return true;
  }

 private:
  // Open addressing: the place of a document plus one, 0 for a free slot; half its hash beside it.
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t place = 0;
  };
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::vector<std::string_view> documents_;  // as many as count_, and room for more
  std::size_t count_ = 0;
};

}  // namespace berryeval
