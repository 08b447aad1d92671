#include "carc/neural/mlp_kernel.hpp"

namespace carc {
namespace {
struct Base {};
}  // namespace

void mlp_kernel(const MlpLayer* layers, const float* in, int stride, int n, float* out) {
  mlp_detail::Kernel<8, Base>::run(layers, in, stride, n, out);
}

}  // namespace carc
