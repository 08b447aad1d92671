// `greedy`: the complete turn with the best immediate result.
//
// A turn (placement, then figure) is worth own points minus the mean of the others' points after it, points = score +
// what would be paid if the game ended now; a figure that is set and not sent home in the same turn costs 0.5. Equally
// good turns are equally likely.
#pragma once

#include "carc/play/agent.hpp"

namespace carc {

class GreedyAgent : public Agent {
 public:
  Action choose(const GameState& state, Rng& rng) override;
};

}  // namespace carc
