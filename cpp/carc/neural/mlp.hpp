// A small perceptron for many rows at once: inputs -> hidden -> hidden -> outputs, ReLU between.
//
// Weights lie transposed and padded to whole vectors, so that the inner loop multiplies one input with a row of
// weights; every output sums its inputs in their order, whatever the width of the machine's vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "carc/neural/mlp_kernel.hpp"
#include "carc/neural/weights.hpp"

namespace carc {

class Mlp {
 public:
  Mlp() = default;
  // Layers `name`.0, .1, .2 of a file, inputs times `scale`. Throws WeightsError for missing tensors and wrong shapes.
  Mlp(const Weights& weights, const std::string& name, const std::vector<float>& scale, int outputs);

  int inputs() const { return layers_[0].inputs; }
  int hidden() const { return layers_[0].outputs; }
  int outputs() const { return layers_[2].outputs; }
  // The outputs become these combinations of them: for heads that are always used together.
  void combine(const std::vector<std::vector<float>>& combinations);

  // in: [n][stride] of uint8 or float; out: [n][outputs()].
  void forward(const std::uint8_t* in, int stride, int n, float* out) const;
  void forward(const float* in, int stride, int n, float* out) const;

 private:
  struct Layer {
    int inputs = 0, outputs = 0;
    std::vector<float> weight;  // [inputs][padded]
    std::vector<float> bias;    // [padded]
    int padded() const { return (outputs + kMlpPadding - 1) / kMlpPadding * kMlpPadding; }
  };

  Layer layers_[3];
};

}  // namespace carc
