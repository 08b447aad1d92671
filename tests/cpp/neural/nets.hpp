// Networks for tests.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "carc/core/rng.hpp"
#include "carc/neural/feature_net.hpp"

namespace carc::test {

// Weights that were never trained: every input matters.
inline Weights random_feature_weights(std::uint64_t seed, int hidden = 16, int hidden_global = 8) {
  Weights weights;
  weights.metadata = {{"format", FeatureNet::kFormat}, {"encoder", std::to_string(kFeatureEncoder)}};
  Rng rng(seed);
  const auto put = [&](const std::string& name, int outputs, int inputs) {
    Tensor weight{{outputs, inputs}, {}}, bias{{outputs}, {}};
    const double bound = 1 / std::sqrt(inputs);
    for (int i = 0; i < outputs * inputs; ++i)
      weight.values.push_back(static_cast<float>((2 * rng.uniform() - 1) * bound));
    for (int i = 0; i < outputs; ++i) bias.values.push_back(static_cast<float>((2 * rng.uniform() - 1) * bound));
    weights.tensors[name + ".weight"] = weight;
    weights.tensors[name + ".bias"] = bias;
  };
  const auto put_net = [&](const std::string& name, int inputs, int width, int outputs) {
    put(name + ".0", width, inputs);
    put(name + ".1", width, width);
    put(name + ".2", outputs, width);
  };
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    put_net(kRowKindNames[k], static_cast<int>(row_inputs(static_cast<RowKind>(k)).size()), hidden, FeatureNet::kHeads);
  }
  put_net("global", kPlayerInputs + 1, hidden_global, FeatureNet::kPlayerHeads);
  return weights;
}

inline std::shared_ptr<const FeatureNet> random_feature_net(std::uint64_t seed, int hidden = 16) {
  return std::make_shared<const FeatureNet>(random_feature_weights(seed, hidden));
}

// The same as a file.
inline std::string random_feature_net_file(std::uint64_t seed) {
  std::string path = testing::TempDir() + "net-" + std::to_string(seed) + ".safetensors";
  write_weights(path, random_feature_weights(seed));
  return path;
}

}  // namespace carc::test
