// Independent pieces of work on a pool of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace carc {

// Calls work(worker, i) for every i below n, each once, on `threads` threads; `worker` < threads tells which one. Asks
// `interrupted` about ten times a second on the calling thread; once it says true, no more pieces are begun and the
// result is false. The first error of a piece is thrown here, when all threads have ended.
inline bool for_each_in_parallel(std::size_t n, int threads, const std::function<bool()>& interrupted,
                                 const std::function<void(int, std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::atomic<int> running{threads};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](int worker) {
    try {
      for (std::size_t i; !stop && (i = next++) < n;) work(worker, i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
    --running;
  };
  std::vector<std::thread> pool;
  try {
    for (int t = 0; t < threads; ++t) pool.emplace_back(run, t);
  } catch (...) {  // the system gives no more threads
    stop = true;
    for (std::thread& thread : pool) thread.join();
    throw;
  }
  bool was_interrupted = false;
  const auto look = [&] {
    if (interrupted && !was_interrupted && interrupted()) was_interrupted = stop = true;
  };
  auto asked = std::chrono::steady_clock::now();
  while (running > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (std::chrono::steady_clock::now() - asked < std::chrono::milliseconds(100)) continue;
    asked = std::chrono::steady_clock::now();
    try {
      look();
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      was_interrupted = stop = true;
    }
  }
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
  return !was_interrupted;
}

}  // namespace carc
