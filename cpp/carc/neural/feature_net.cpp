#include "carc/neural/feature_net.hpp"

namespace carc {
namespace {

std::vector<float> scales(std::span<const InputInfo> inputs) {
  std::vector<float> out;
  for (const InputInfo& input : inputs) out.push_back(input.scale);
  return out;
}

}  // namespace

FeatureNet::FeatureNet(const Weights& weights) : metadata_(weights.metadata) {
  std::vector<std::string> names;
  for (const char* net : {"city", "road", "monastery", "field", "global"}) {
    for (const char* part : {".0.weight", ".0.bias", ".1.weight", ".1.bias", ".2.weight", ".2.bias"})
      names.push_back(std::string(net) + part);
  }
  weights.expect_tensors(names);
  for (int k = 0; k < kRowKinds; ++k) {
    const auto kind = static_cast<RowKind>(k);
    Mlp& mlp = rows_[static_cast<std::size_t>(k)];
    mlp = Mlp(weights, kRowKindNames[static_cast<std::size_t>(k)], scales(row_inputs(kind)), kHeads);
    mlp.combine({{kUnit, 0, 0, kUnit, 0, 0},  // main, correction included
                 {0, kUnit, 0, 0, 0, 0},
                 {0, 0, kUnit, 0, 0, 0},
                 {0, 0, 0, kUnit, 0, 0},
                 {0, 0, 0, 0, 1, 0}});
  }
  std::vector<float> player = scales(player_inputs());
  player.push_back(kReturnsScale);
  players_ = Mlp(weights, "global", player, kPlayerHeads);
  players_.combine({{kUnit, kUnit}});
}

std::shared_ptr<const FeatureNet> FeatureNet::read(const std::string& path) {
  return std::make_shared<const FeatureNet>(read_weights(path, kFormat, kFeatureEncoder));
}

void FeatureNet::judge(RowKind kind, const Inputs* inputs, int n, Heads* out) const {
  static_assert(sizeof(Heads) == 5 * sizeof(float));
  rows_[static_cast<std::size_t>(kind)].forward(inputs->data(), kMostInputs, n, &out->main);
}

}  // namespace carc
