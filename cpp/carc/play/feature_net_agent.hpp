// `feature-net`: the complete turn after which the feature net expects most points for the mover, less the mean of the
// others'. One turn deep; the first of equal turns.
#pragma once

#include <memory>
#include <string>

#include "carc/core/options.hpp"
#include "carc/neural/feature_net.hpp"
#include "carc/play/agent.hpp"

namespace carc {

struct FeatureNetOptions {
  std::string network;

  template <class V>
  void each_option(V& v) {
    v("network", network, {}, "name of a network that comes with carc, or a safetensors file");
  }
};

class FeatureNetAgent : public Agent {
 public:
  // Throws WeightsError if the network cannot be read.
  explicit FeatureNetAgent(const FeatureNetOptions& options);

  Action choose(const GameState& state, Rng& rng) override;
  // Every action with the best turn that it allows, one visit each.
  std::optional<SearchResult> analyse(const GameState& state, Rng& rng) override;

 private:
  FeatureEvaluator evaluator_;
};

// Reads the network of an agent; throws OptionError if none is given, WeightsError for a bad one.
std::shared_ptr<const FeatureNet> read_agents_net(const std::string& network);

}  // namespace carc
