#include "carc/neural/mlp.hpp"

#include <algorithm>
#include <array>

namespace carc {
namespace {

constexpr int kMostHidden = 256;

constexpr int kWidth = 8, kVectors = Mlp::kLanes / kWidth;
using Vec = float __attribute__((vector_size(sizeof(float) * kWidth), aligned(4)));

// One layer for `Rows` rows at once, which share every load of weights.
template <int Rows, class T>
[[gnu::always_inline]] inline void layer(const Mlp::Layer& l, const T* in, int in_stride, float* out, int out_stride,
                                         bool relu) {
  const int padded = l.padded();
  for (int o = 0; o < padded; o += Mlp::kLanes) {
    Vec sums[Rows][kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const Vec bias = *reinterpret_cast<const Vec*>(l.bias.data() + o + v * kWidth);
      for (int r = 0; r < Rows; ++r) sums[r][v] = bias;
    }
    const float* weight = l.weight.data() + o;
    for (int i = 0; i < l.inputs; ++i, weight += padded) {
      Vec w[kVectors];
      for (int v = 0; v < kVectors; ++v) w[v] = *reinterpret_cast<const Vec*>(weight + v * kWidth);
      for (int r = 0; r < Rows; ++r) {
        const auto x = static_cast<float>(in[r * in_stride + i]);
        for (int v = 0; v < kVectors; ++v) sums[r][v] += x * w[v];
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        if (relu) sums[r][v] = sums[r][v] > 0 ? sums[r][v] : Vec{};
        *reinterpret_cast<Vec*>(out + r * out_stride + o + v * kWidth) = sums[r][v];
      }
    }
  }
}

template <int Rows, class T>
[[gnu::always_inline]] inline void rows(const Mlp::Layer* layers, const T* in, int stride, float* out) {
  std::array<float, Rows * kMostHidden> first, second;
  std::array<float, Rows * Mlp::kLanes> last;
  layer<Rows>(layers[0], in, stride, first.data(), kMostHidden, true);
  layer<Rows>(layers[1], first.data(), kMostHidden, second.data(), kMostHidden, true);
  layer<Rows>(layers[2], second.data(), kMostHidden, last.data(), Mlp::kLanes, false);
  for (int r = 0; r < Rows; ++r) {
    std::copy_n(last.data() + r * Mlp::kLanes, layers[2].outputs, out + r * layers[2].outputs);
  }
}

}  // namespace

Mlp::Mlp(const Weights& weights, const std::string& name, const std::vector<float>& scale, int outputs) {
  const auto shape_of = [&](int layer) -> const std::vector<std::int64_t>& {
    const std::string tensor = name + "." + std::to_string(layer) + ".weight";
    const auto found = weights.tensors.find(tensor);
    if (found == weights.tensors.end()) throw WeightsError("tensor '" + tensor + "' is missing");
    return found->second.shape;
  };
  const auto& first = shape_of(0);
  const std::int64_t hidden = first.empty() ? 0 : first[0];
  if (hidden < 1 || hidden > kMostHidden) {
    throw WeightsError("tensor '" + name + ".0.weight': found " + std::to_string(hidden) +
                       " hidden units, expected 1 to " + std::to_string(kMostHidden));
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

template <class T>
void Mlp::run(const T* in, int stride, int n, float* out) const {
  constexpr int kRows = 6;
  int r = 0;
  for (; r + kRows <= n; r += kRows) rows<kRows>(layers_, in + r * stride, stride, out + r * outputs());
  for (; r + 2 <= n; r += 2) rows<2>(layers_, in + r * stride, stride, out + r * outputs());
  for (; r < n; ++r) rows<1>(layers_, in + r * stride, stride, out + r * outputs());
}

void Mlp::forward(const std::uint8_t* in, int stride, int n, float* out) const { run(in, stride, n, out); }
void Mlp::forward(const float* in, int stride, int n, float* out) const { run(in, stride, n, out); }

}  // namespace carc
