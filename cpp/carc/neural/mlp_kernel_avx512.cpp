// Compiled for AVX-512 whatever the rest is compiled for; called only where the processor has it.
#include "carc/neural/mlp_kernel.hpp"

#if defined(CARC_HAS_AVX512_KERNEL)
namespace carc {
namespace {
struct Avx512 {};
}  // namespace

void mlp_kernel_avx512(const MlpLayer* layers, const float* in, int stride, int n, float* out) {
  mlp_detail::Kernel<16, Avx512>::run(layers, in, stride, n, out);
}

}  // namespace carc
#endif
