// A network for tests that computes nothing: what it says can be told from the inputs.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "carc/neural/batch_model.hpp"
#include "carc/neural/planes.hpp"

namespace carc::test {

class FakeModel final : public BatchModel {
 public:
  // The same in every window.
  static float logit(std::int64_t plane, std::int64_t y, std::int64_t x) {
    return -static_cast<float>((31 * plane + 7 * y + 3 * x) % 89) / 100;
  }

  // Value of relative player r: r + the share of tiles left; no figure: 0.
  void forward(const BatchInput& in, const BatchOutput& out) const override {
    ++batches;
    largest = std::max(largest.load(), static_cast<int>(in.size));
    if (before) before(in);
    const std::int64_t logits = kPolicyPlanes * in.height * in.width;
    for (std::int64_t i = 0; i < in.size; ++i) {
      const float left = in.globals[i * kPlaneGlobals + kTilesLeftGlobal];
      for (int r = 0; r < kMaxPlayers; ++r) out.value[i * kMaxPlayers + r] = static_cast<float>(r) + left;
      for (std::int64_t l = 0; out.policy && l < logits; ++l) {
        const std::int64_t plane = l / (in.height * in.width), cell = l % (in.height * in.width);
        out.policy[i * logits + l] = logit(plane, cell / in.width, cell % in.width);
      }
      for (std::int64_t b = 0; out.lead && b < kLeadBins; ++b) out.lead[i * kLeadBins + b] = 0;
      out.no_figure[i] = 0;
    }
  }

  std::function<void(const BatchInput&)> before;  // may throw
  mutable std::atomic<int> batches{0}, largest{0};
};

}  // namespace carc::test
