// The hand-made evaluation: points on the track, points if the game ended now, figures in hand, hope of closing.
//
// For player p
//   U(p) = score + final + min(hope_cap, hope) + hand[meeples in hand] + abbot * (abbot in hand)
// final: what would be paid if the game ended now; what the tile just laid closed counts closed.
// hope: with P(k) = hope[k - 1], k = number of distinct empty cells at the feature's open edges (of a monastery:
// missing neighbours), P = 0 from k = 4,
//   + hope_city * P * (tiles + shields) of every unfinished city with a knight of p
//   + hope_monastery * P * missing neighbours of every monastery or garden of p
//   + hope_field * P of every unfinished city at a field with a farmer of p, once a city.
// The defaults are the weights of the strongest documented evaluation (`champion`).
//
// All actions of a position are judged together: each is applied to a copy, and only the terms of the features that it
// touched are computed again.
#pragma once

#include <array>

#include "carc/core/options.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

struct HeuristicWeights {
  // Points for 0 to 7 meeples in hand, more is better; the first figures are worth most.
  std::array<float, kMeeples + 1> hand = {-10, -5, -1.25F, 0, 2.5F, 3.75F, 5, 6.25F};
  float abbot = 1;  // points for the abbot in hand, more = kept back longer
  // Probability of closing by the number of cells that are missing, more = more daring.
  std::array<float, 3> hope = {0.5F, 0.2F, 0.05F};
  float hope_cap = 8;        // points, most that hope can add
  float hope_city = 1;       // a tile or shield of a city
  float hope_monastery = 1;  // a missing neighbour
  float hope_field = 3;      // points for a city at a field with an own farmer
  // Hope times the chance that each missing cell is filled, 1 - (1 - 1 / players)^m with m undrawn tiles that fit.
  bool bag_aware = false;
  // Points: priors are softmax(change of the mover's U less the mean of the others' / prior_scale), more = flatter.
  float prior_scale = 5;

  template <class V>
  void each_option(V& v) {
    v("hand", hand, {-1000, 1000}, "points for 0 to 7 meeples in hand");
    v("abbot", abbot, {-1000, 1000}, "points for the abbot in hand");
    v("hope", hope, {0, 1}, "probability of closing a feature with 1, 2, 3 empty cells to fill");
    v("hope_cap", hope_cap, {0, 1000}, "points, most that hope can add to a player");
    v("hope_city", hope_city, {-100, 100}, "points a tile or shield of an unfinished city, times the probability");
    v("hope_monastery", hope_monastery, {-100, 100},
      "points a missing neighbour of a monastery, times the probability");
    v("hope_field", hope_field, {-100, 100},
      "points for an unfinished city at an own farmer's field, times the probability");
    v("bag_aware", bag_aware, {}, "multiply hope by the chance that undrawn tiles fill the cells");
    v("prior_scale", prior_scale, {0.01, 1e6}, "points of change that make an action e times as likely a priori");
  }
};

class HeuristicEvaluator final : public Evaluator {
 public:
  explicit HeuristicEvaluator(const HeuristicWeights& weights = {}) : weights_(weights) {}

  void evaluate(std::span<const Evaluation> batch, Rng& rng) override;
  using Evaluator::evaluate;
  bool judges_actions() const override { return true; }
  bool has_priors() const override { return true; }

  // U of every player.
  Values value(const GameState& state) const;
  // U of every player after each of the state's legal actions.
  void values_after(const GameState& state, const ActionList& actions, Values* after) const;

  const HeuristicWeights& weights() const { return weights_; }

 private:
  void values_after_placements(const GameState& state, const ActionList& actions, Values* after) const;

  HeuristicWeights weights_;
};

// softmax(values / scale) over n entries.
void softmax(const float* values, int n, float scale, float* out);

}  // namespace carc
