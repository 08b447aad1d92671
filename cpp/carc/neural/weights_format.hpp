// Reading the bytes of weights from wherever they come, piece by piece.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "carc/neural/weights.hpp"

namespace carc {

inline constexpr std::uint64_t kLargestWeights = std::uint64_t{1} << 30;  // bytes of a file

// Fills a buffer with the bytes that come next.
using ReadBytes = std::function<void(std::span<std::byte>)>;

// Reads weights of `size` bytes. Holds the tensors and the header in memory, no second copy.
Weights weights_from(std::uint64_t size, const ReadBytes& read, const std::string& name);

}  // namespace carc
