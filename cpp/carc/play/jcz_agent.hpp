// `jcz`: the complete turn that ranks highest, one turn deep (see jcz_ranking.hpp).
//
// Turns are taken in the order of legal actions, placement before figure; of equal ones the first is played, so nothing
// is random. In phase Figure only the figure is still to be chosen.
#pragma once

#include "carc/play/agent.hpp"
#include "carc/search/jcz_ranking.hpp"

namespace carc {

class JczAgent final : public Agent {
 public:
  explicit JczAgent(const JczWeights& weights = {}) : weights_(weights) {}

  Action choose(const GameState& state, Rng& rng) override;

 private:
  JczWeights weights_;
};

}  // namespace carc
