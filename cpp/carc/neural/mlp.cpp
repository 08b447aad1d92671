#include "carc/neural/mlp.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace carc {
namespace {

MlpKernel best_kernel() {
#if defined(CARC_HAS_AVX512_KERNEL)
  if (__builtin_cpu_supports("avx512f")) return mlp_kernel_avx512;
#endif
  return mlp_kernel;
}

}  // namespace

Mlp::Mlp(const Weights& weights, const std::string& name, const std::vector<float>& scale, int outputs) {
  assert(scale.size() <= 64 && outputs <= kMlpPadding);
  const auto shape_of = [&](int layer) -> const std::vector<std::int64_t>& {
    const std::string tensor = name + "." + std::to_string(layer) + ".weight";
    const auto found = weights.tensors.find(tensor);
    if (found == weights.tensors.end()) throw WeightsError("tensor '" + tensor + "' is missing");
    return found->second.shape;
  };
  const auto& first = shape_of(0);
  const std::int64_t hidden = first.empty() ? 0 : first[0];
  if (hidden < 1 || hidden > kMlpMostWidth) {
    throw WeightsError("tensor '" + name + ".0.weight': found " + std::to_string(hidden) +
                       " hidden units, expected 1 to " + std::to_string(kMlpMostWidth));
  }
  const std::array<std::int64_t, 4> sizes = {static_cast<std::int64_t>(scale.size()), hidden, hidden, outputs};
  for (int k = 0; k < 3; ++k) {
    const auto in = sizes[static_cast<std::size_t>(k)], out = sizes[static_cast<std::size_t>(k) + 1];
    const std::string base = name + "." + std::to_string(k);
    const Tensor& weight = weights.tensor(base + ".weight", {out, in});
    const Tensor& bias = weights.tensor(base + ".bias", {out});
    Layer& l = layers_[k];
    l.inputs = static_cast<int>(in), l.outputs = static_cast<int>(out);
    const auto padded = static_cast<std::size_t>(l.padded());
    l.weight.assign(static_cast<std::size_t>(in) * padded, 0);
    l.bias.assign(padded, 0);
    for (std::size_t o = 0; o < static_cast<std::size_t>(out); ++o) {
      l.bias[o] = bias.values[o];
      for (std::size_t i = 0; i < static_cast<std::size_t>(in); ++i) {
        const float factor = k == 0 ? scale[i] : 1;
        l.weight[i * padded + o] = weight.values[o * static_cast<std::size_t>(in) + i] * factor;
      }
    }
  }
}

void Mlp::combine(const std::vector<std::vector<float>>& combinations) {
  const Layer old = layers_[2];
  Layer& l = layers_[2];
  l.outputs = static_cast<int>(combinations.size());
  const auto old_padded = static_cast<std::size_t>(old.padded()), padded = static_cast<std::size_t>(l.padded());
  l.weight.assign(static_cast<std::size_t>(l.inputs) * padded, 0);
  l.bias.assign(padded, 0);
  for (std::size_t o = 0; o < combinations.size(); ++o) {
    for (std::size_t from = 0; from < combinations[o].size(); ++from) {
      l.bias[o] += combinations[o][from] * old.bias[from];
      for (std::size_t i = 0; i < static_cast<std::size_t>(l.inputs); ++i) {
        l.weight[i * padded + o] += combinations[o][from] * old.weight[i * old_padded + from];
      }
    }
  }
}

void Mlp::forward(const float* in, int stride, int n, float* out) const {
  static const MlpKernel kKernel = best_kernel();
  std::array<MlpLayer, 3> views;
  for (std::size_t k = 0; k < 3; ++k) {
    const Layer& l = layers_[k];
    views[k] = {l.weight.data(), l.bias.data(), l.inputs, l.outputs, l.padded()};
  }
  kKernel(views.data(), in, stride, n, out);
}

void Mlp::forward(const std::uint8_t* in, int stride, int n, float* out) const {
  constexpr int kRows = 48, kMost = 64;  // rows that are converted at once, and their inputs
  std::array<float, kRows * kMost> floats;
  const int width = inputs();
  for (int first = 0; first < n; first += kRows) {
    const int rows = std::min(kRows, n - first);
    for (int r = 0; r < rows; ++r) {
      const std::uint8_t* from = in + static_cast<std::ptrdiff_t>(first + r) * stride;
      for (int i = 0; i < width; ++i) floats[static_cast<std::size_t>(r * width + i)] = static_cast<float>(from[i]);
    }
    forward(floats.data(), width, rows, out + static_cast<std::ptrdiff_t>(first) * outputs());
  }
}

}  // namespace carc
