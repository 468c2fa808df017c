// Random words that are addressed by index instead of drawn: word 17 is the same on every thread,
// so results do not depend on the number of threads.
#pragma once

#include <cstdint>

namespace berryeval {

class RandomWords {
 public:
  // Streams of different purposes are independent, whatever their seeds.
  RandomWords(std::uint64_t seed, std::uint64_t purpose) : key_(mixed(mixed(seed) ^ purpose)) {}

  // The sequence of words is that of SplitMix64 (Steele, Lea and Flood 2014) started at the key.
  std::uint64_t operator()(std::uint64_t index) const {
    return mixed(key_ + (index + 1) * 0x9E3779B97F4A7C15U);
  }

  static constexpr std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31);
  }

 private:
  std::uint64_t key_;
};

}  // namespace berryeval
