// A small perceptron for many rows at once: inputs -> hidden -> hidden -> outputs, ReLU between.
//
// Weights lie transposed and padded to whole vectors, so that the inner loop multiplies one input with a row of
// weights; every output sums its inputs in their order, whatever the width of the machine's vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "carc/neural/weights.hpp"

namespace carc {

class Mlp {
 public:
  static constexpr int kLanes = 16;  // outputs of a layer are computed in blocks of so many

  // One layer: out[o] = bias[o] + sum over i of weight[o][i] * in[i]; row-major, as PyTorch stores it.
  struct Layer {
    int inputs = 0, outputs = 0;
    std::vector<float> weight;  // [inputs][padded outputs]
    std::vector<float> bias;    // [padded outputs]
    int padded() const { return (outputs + kLanes - 1) / kLanes * kLanes; }
  };

  Mlp() = default;
  // Layers `name`.0, .1, .2 of a file, inputs times `scale`. Throws WeightsError for missing tensors and wrong shapes.
  Mlp(const Weights& weights, const std::string& name, const std::vector<float>& scale, int outputs);

  int inputs() const { return layers_[0].inputs; }
  int hidden() const { return layers_[0].outputs; }
  int outputs() const { return layers_[2].outputs; }
  // Row `to` of the last layer becomes a sum of rows: for heads that are always used together.
  void combine(const std::vector<std::vector<float>>& rows);

  // in: [n][stride] of uint8 or float; out: [n][outputs()].
  void forward(const std::uint8_t* in, int stride, int n, float* out) const;
  void forward(const float* in, int stride, int n, float* out) const;

 private:
  template <class T>
  void run(const T* in, int stride, int n, float* out) const;

  Layer layers_[3];
};

}  // namespace carc
