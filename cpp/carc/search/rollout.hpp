// Playouts: the value of a position is the result of one game played on from it, to the end or for some turns.
#pragma once

#include <memory>

#include "carc/core/options.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

struct RolloutOptions {
  float figure_probability = 0.3F;  // of setting a figure where one can be set
  // Probability of a random decision; else the best immediate one by the heuristic. 1 = uniform playouts, the cheapest.
  float epsilon = 1;
  int turns = 0;  // tiles laid before the position is evaluated instead of played on; 0 = to the end of the game

  template <class V>
  void each_option(V& v) {
    v("figure_probability", figure_probability, {0, 1}, "probability of setting a figure in a random decision");
    v("epsilon", epsilon, {0, 1}, "probability of a random decision, else the heuristic's best");
    v("rollout_turns", turns, {0, 84}, "tiles laid before the heuristic judges instead; 0 = to the end");
  }
};

// `judge` decides where decisions are not random, and gives the value where playouts are cut.
class RolloutEvaluator final : public Evaluator {
 public:
  RolloutEvaluator(const RolloutOptions& options, std::shared_ptr<Evaluator> judge)
      : options_(options), judge_(std::move(judge)) {}

  void evaluate(std::span<const Evaluation> batch, Rng& rng) override;
  using Evaluator::evaluate;

 private:
  Values play_out(GameState state, Rng& rng, std::vector<Move>* moves);
  Action best_action(const GameState& state, Rng& rng);

  RolloutOptions options_;
  std::shared_ptr<Evaluator> judge_;
};

// Draws one of the tiles that can come next, each copy equally likely. Phase Draw.
TypeId sample_tile(const GameState& state, Rng& rng);
// The tile at `share` (in [0, 1)) of all copies that can come next, types in order.
TypeId tile_at(const GameState& state, double share);

}  // namespace carc
