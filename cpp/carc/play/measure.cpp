#include "carc/play/measure.hpp"

#include <chrono>

namespace carc {

double clone_ns(const GameState& state, std::int64_t n) {
  GameState copy = state;
  const auto began = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < n; ++i) {
    copy = state;
    asm volatile("" : : "r"(&copy) : "memory");  // the copy is really made
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
  return took.count() / static_cast<double>(n);
}

}  // namespace carc
