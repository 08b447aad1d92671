// `greedy`: the complete turn with the best immediate result.
//
// A turn (placement, then figure) is worth own points minus the mean of the others' points after it, points = score +
// what would be paid if the game ended now; a figure that is set and not sent home in the same turn costs 0.5. Equally
// good turns are equally likely. With `noise` a decision is random now and then: a family of players of graded
// strength.
#pragma once

#include "carc/core/options.hpp"
#include "carc/play/agent.hpp"

namespace carc {

struct GreedyOptions {
  float noise = 0;  // probability that a decision (placement or figure) is any legal one

  template <class V>
  void each_option(V& v) {
    v("noise", noise, {0, 1}, "probability that a decision is random, each legal action equally likely");
  }
};

class GreedyAgent : public Agent {
 public:
  explicit GreedyAgent(const GreedyOptions& options = {}) : options_(options) {}

  Action choose(const GameState& state, Rng& rng) override;

 private:
  GreedyOptions options_;
};

}  // namespace carc
