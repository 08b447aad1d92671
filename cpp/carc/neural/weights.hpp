// Weights of networks as safetensors files: eight bytes with the length of a JSON header, the header, the data part.
//
// What carc adds to that format: all tensors are float32, and the metadata holds "format" (the kind of network),
// "encoder" (the version of the inputs that it was trained on) and "checksum": FNV-1a over the header without that
// entry (as JSON with sorted keys and no spaces), then over the data part, in 16 hexadecimal digits. Any other entry is
// text for people. Everything in a file is checked before it is used; a file that is refused is refused by name of what
// is wrong. https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "carc/core/error.hpp"

namespace carc {

// Weights that are damaged, or of another network than expected.
class WeightsError : public Error {
  using Error::Error;
};

struct Tensor {
  std::vector<std::int64_t> shape;  // no dimensions: one number
  std::vector<float> values;        // row-major, all finite

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct Weights {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;

  // The tensor of this name; throws WeightsError if there is none or its shape is another one. A negative size in
  // `shape` stands for any.
  const Tensor& tensor(const std::string& name, const std::vector<std::int64_t>& shape) const;
  // Throws WeightsError naming the first tensor that is missing or that is not among `names`.
  void expect_tensors(const std::vector<std::string>& names) const;
  // An entry of the metadata; throws WeightsError if there is none.
  const std::string& text(const std::string& key) const;
  // The same as a whole number from `low` to `high`.
  int whole(const std::string& key, int low, int high = std::numeric_limits<int>::max()) const;

  friend bool operator==(const Weights&, const Weights&) = default;
};

// --- Files ----------------------------------------------------------------------------------------------------------

// Reads a file of any kind of network; throws WeightsError, whose message begins with the path.
Weights read_weights(const std::string& path);
// The same for a network of this format and this version of its inputs only.
Weights read_weights(const std::string& path, const std::string& format, int encoder);

// Writes a file under a temporary name, syncs it and gives it its own. Sets "checksum", whatever it was, and returns
// it. Throws WeightsError for weights that could not be read again, and if the file cannot be written.
std::string write_weights(const std::string& path, Weights weights);

// --- Their bytes ----------------------------------------------------------------------------------------------------

// The content of a file; messages begin with `name`.
Weights weights_from_bytes(std::span<const std::byte> bytes, const std::string& name);
// Sets "checksum" in `weights`.
std::string weights_to_bytes(Weights& weights, const std::string& name);

inline constexpr std::uint64_t kChecksumStart = 0xCBF29CE484222325u;
// FNV-1a of 64 bits, continued from `start`.
std::uint64_t checksum64(std::span<const std::byte> bytes, std::uint64_t start = kChecksumStart);

}  // namespace carc
