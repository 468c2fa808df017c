// Distribution of work over threads; the result does not depend on their number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace berryeval {

// Calls work(part, begin, end) for `parts` contiguous parts of [0, count), one thread each. An
// exception in any part is rethrown here after all threads have ended.
template <class Work>
void for_each_part(std::size_t count, std::size_t parts, const Work& work) {
  std::vector<std::exception_ptr> failures(parts);
  const auto run = [&](std::size_t part) noexcept {
    try {
      work(part, count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      failures[part] = std::current_exception();
    }
  };

  std::vector<std::thread> workers;
  workers.reserve(parts - 1);
  try {
    while (workers.size() + 1 < parts) workers.emplace_back(run, workers.size() + 1);
  } catch (...) {
    // No more threads or memory are available: run the remaining parts here.
  }
  run(0);
  for (std::size_t part = workers.size() + 1; part < parts; ++part) run(part);
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// Calls work(item) for each of `count` items; the next free thread takes the next item.
template <class Work>
void for_each_item(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const std::size_t used = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, count));
  for_each_part(used, used, [&](std::size_t, std::size_t, std::size_t) {
    for (std::size_t item = next++; item < count; item = next++) work(item);
  });
}

}  // namespace berryeval
