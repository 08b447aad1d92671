// The inner loops of Mlp, compiled once for the processor that the build is for and, on x86-64, once more for AVX-512.
//
// Every output is a sum over the inputs in their order, each product added with one rounding: both give the same bits.
// No function of the standard library may be used here: the linker could take its AVX-512 version for all.
#pragma once

namespace carc {

// out[o] = bias[o] + sum over i of weight[i][o] * in[i].
struct MlpLayer {
  const float* weight;  // [inputs][padded]
  const float* bias;    // [padded]
  int inputs, outputs;
  int padded;  // outputs up to a multiple of kMlpPadding
};

inline constexpr int kMlpPadding = 16;
inline constexpr int kMlpMostWidth = 256;

// Three layers with ReLU between them. in: [n][stride]; out: [n][outputs of the last layer, at most kMlpPadding].
using MlpKernel = void (*)(const MlpLayer* layers, const float* in, int stride, int n, float* out);
void mlp_kernel(const MlpLayer* layers, const float* in, int stride, int n, float* out);
#if defined(CARC_HAS_AVX512_KERNEL)
void mlp_kernel_avx512(const MlpLayer* layers, const float* in, int stride, int n, float* out);
#endif

namespace mlp_detail {

// Plain aliases: GCC forgets the attribute where its argument depends on a template's.
using Vec8 = float __attribute__((vector_size(32), aligned(4), may_alias));
using Vec16 = float __attribute__((vector_size(64), aligned(4), may_alias));
template <int Lanes>
struct VecOf;
template <>
struct VecOf<8> {
  using Type = Vec8;
};
template <>
struct VecOf<16> {
  using Type = Vec16;
};

// `Lanes` floats a vector; `Tag` keeps the functions of different builds apart.
template <int Lanes, class Tag>
struct Kernel {
  using Vec = typename VecOf<Lanes>::Type;

  // `Vectors` neighbouring vectors of outputs for `Rows` rows at once, which share every load of weights.
  template <int Rows, int Vectors>
  [[gnu::always_inline]] static inline void block(const MlpLayer& l, int o, const float* in, int in_stride, float* out,
                                                  int out_stride, bool relu) {
    Vec sums[Rows][Vectors];
    for (int v = 0; v < Vectors; ++v) {
      const Vec bias = *reinterpret_cast<const Vec*>(l.bias + o + v * Lanes);
      for (int r = 0; r < Rows; ++r) sums[r][v] = bias;
    }
    const float* weight = l.weight + o;
    for (int i = 0; i < l.inputs; ++i, weight += l.padded) {
      Vec w[Vectors];
      for (int v = 0; v < Vectors; ++v) w[v] = *reinterpret_cast<const Vec*>(weight + v * Lanes);
      for (int r = 0; r < Rows; ++r) {
        const float x = in[r * in_stride + i];
        for (int v = 0; v < Vectors; ++v) sums[r][v] += x * w[v];
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int v = 0; v < Vectors; ++v) {
        if (relu) sums[r][v] = sums[r][v] > 0 ? sums[r][v] : Vec{};
        *reinterpret_cast<Vec*>(out + r * out_stride + o + v * Lanes) = sums[r][v];
      }
    }
  }

  template <int Rows>
  [[gnu::always_inline]] static inline void layer(const MlpLayer& l, const float* in, int in_stride, float* out,
                                                  int out_stride, bool relu) {
    int o = 0;
    for (; o + 2 * Lanes <= l.padded; o += 2 * Lanes) block<Rows, 2>(l, o, in, in_stride, out, out_stride, relu);
    for (; o < l.padded; o += Lanes) block<Rows, 1>(l, o, in, in_stride, out, out_stride, relu);
  }

  template <int Rows>
  static void rows(const MlpLayer* layers, const float* in, int stride, float* out) {
    float first[Rows * kMlpMostWidth], second[Rows * kMlpMostWidth], last[Rows * kMlpPadding];
    layer<Rows>(layers[0], in, stride, first, kMlpMostWidth, true);
    layer<Rows>(layers[1], first, kMlpMostWidth, second, kMlpMostWidth, true);
    block<Rows, kMlpPadding / Lanes>(layers[2], 0, second, kMlpMostWidth, last, kMlpPadding, false);
    const int outputs = layers[2].outputs;
    for (int r = 0; r < Rows; ++r) {
      for (int o = 0; o < outputs; ++o) out[r * outputs + o] = last[r * kMlpPadding + o];
    }
  }

  static void run(const MlpLayer* layers, const float* in, int stride, int n, float* out) {
    constexpr int kRows = 6;
    const int outputs = layers[2].outputs;
    int r = 0;
    for (; r + kRows <= n; r += kRows) rows<kRows>(layers, in + r * stride, stride, out + r * outputs);
    for (; r < n; ++r) rows<1>(layers, in + r * stride, stride, out + r * outputs);
  }
};

}  // namespace mlp_detail
}  // namespace carc
