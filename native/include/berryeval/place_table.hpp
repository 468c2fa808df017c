// The hash table behind every lookup of documents: of integer ids, of judgments, of repeated rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "berryeval/strings.hpp"

namespace berryeval {

// Maps hashes to the places of items that the caller keeps. Open addressing: a slot holds a place
// plus one (0 is free) and half of the hash. Clearing costs time only for the slots in use.
class PlaceTable {
 public:
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  // Removes all items and makes room for `count` of them, the most that may be inserted. More
  // slots per item cost memory and end a search for an absent item earlier.
  void reset(std::size_t count, std::size_t slots_per_item) {
    clear();
    if (count > kMostItems) throw std::length_error("a query has too many documents");
    const std::size_t size = std::bit_ceil(std::max(kFewestSlots, count * slots_per_item));
    if (slots_.size() < size) slots_.resize(size);
    if (used_.size() < count) used_.resize(count);
    mask_ = size - 1;
    shift_ = 64 - std::countr_zero(size);
  }

  // Removes all items and keeps the room.
  void clear() {
    for (std::size_t i = 0; i < count_; ++i) slots_[used_[i]] = Slot{};
    count_ = 0;
  }

  // Whether the first slot of this hash is in use; if not, no item has this hash.
  bool may_hold(std::uint64_t hash) const { return slots_[hash >> shift_].place != 0; }

  // The place of the item with this hash for which is_equal(place) holds, or kNowhere.
  template <class IsEqual>
  std::size_t find(std::uint64_t hash, const IsEqual& is_equal) const {
    const Slot& slot = slots_[slot_of(hash, is_equal)];
    return slot.place == 0 ? kNowhere : slot.place - 1;
  }

  // Inserts `place` and returns kNowhere, or returns the place of an equal item.
  template <class IsEqual>
  std::size_t insert(std::uint64_t hash, std::size_t place, const IsEqual& is_equal) {
    const std::size_t at = slot_of(hash, is_equal);
    if (slots_[at].place != 0) return slots_[at].place - 1;
    slots_[at] = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(place + 1)};
    used_[count_++] = static_cast<std::uint32_t>(at);
    return kNowhere;
  }

 private:
  static constexpr std::size_t kFewestSlots = 128;
  static constexpr std::size_t kMostItems = std::size_t{1} << 28;  // a slot has 32 bits
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t place = 0;
  };

  // The slot of the equal item, or the free slot where it would go.
  template <class IsEqual>
  std::size_t slot_of(std::uint64_t hash, const IsEqual& is_equal) const {
    const auto tag = static_cast<std::uint32_t>(hash);
    std::size_t at = hash >> shift_;
    while (slots_[at].place != 0 && !(slots_[at].tag == tag && is_equal(slots_[at].place - 1))) {
      at = (at + 1) & mask_;
    }
    return at;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> used_;  // the first count_ are the slots in use
  std::size_t count_ = 0;
  std::size_t mask_ = 0;
  int shift_ = 0;
};

// The documents of one query seen so far, to find repeated ones.
class DocumentSet {
 public:
  // Removes all documents and makes room for `count`, the most that may be inserted.
  void reset(std::size_t count) {
    table_.reset(count, 3);
    documents_.clear();
  }

  // Returns false if the document was inserted before.
  bool insert(std::string_view document) {
    const auto is_equal = [&](std::size_t place) { return documents_[place] == document; };
    const auto found = table_.insert(hash_of(document), documents_.size(), is_equal);
    if (found != PlaceTable::kNowhere) return false;
    documents_.push_back(document);
    return true;
  }

 private:
  PlaceTable table_;
  std::vector<std::string_view> documents_;
};

}  // namespace berryeval
