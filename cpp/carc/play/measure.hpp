// Measures that need a loop in C++ (`carc bench`).
#pragma once

#include <cstdint>

#include "carc/core/state.hpp"

namespace carc {

// Mean nanoseconds to copy a state onto another, `n` times in a row.
double clone_ns(const GameState& state, std::int64_t n);

}  // namespace carc
