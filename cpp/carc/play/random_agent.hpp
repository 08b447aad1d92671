// `random`: a uniform legal placement; with probability 0.5 a uniform one of the legal things to do with a figure.
#pragma once

#include "carc/play/agent.hpp"

namespace carc {

class RandomAgent : public Agent {
 public:
  Action choose(const GameState& state, Rng& rng) override;
};

}  // namespace carc
