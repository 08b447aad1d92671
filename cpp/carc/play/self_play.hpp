// Games of one way of playing against itself, with exploration, as data for training.
//
// Without simulations a turn is the best complete turn by an evaluation of the position after it: the feature net's, or
// the hand-made one's while there is no network. With simulations every decision is searched.
//
// Exploration: a share `uniform_rate` of the turns is any legal one, a share `softmax_rate` is drawn with probabilities
// softmax(expected advantage / softmax_points). With simulations, playout caps are randomised (Wu, "Accelerating
// Self-Play Learning in Go", 2019, section 3.1): a share `full_rate` of the turns is searched with all simulations and
// gives a policy target, the others with `fast_simulations`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "carc/core/game.hpp"
#include "carc/core/options.hpp"
#include "carc/neural/feature_net.hpp"
#include "carc/neural/game_arrays.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/mcts.hpp"

namespace carc {

struct SelfPlayOptions {
  std::string network;  // file; empty: the hand-made evaluation
  float softmax_rate = 0.12F;
  float softmax_points = 2.5F;
  float uniform_rate = 0.04F;
  int simulations = 0;
  int fast_simulations = 0;
  float full_rate = 1;
  // How decisions are searched; the simulations above replace its own. Seats share nothing: threads = 1.
  MctsOptions search = default_search();

  static MctsOptions default_search() {
    MctsOptions out;
    out.exploration = 1;
    out.first_play = FirstPlay::kParent;
    out.unknown_deck = UnknownDeck::kNodes;
    out.trees = 1;
    return out;
  }

  template <class V>
  void each_option(V& v) {
    v("network", network, {}, "file of a feature net; empty = the hand-made evaluation");
    v("softmax_rate", softmax_rate, {0, 1}, "share of turns drawn by their expected points");
    v("softmax_points", softmax_points, {0.01, 1000}, "points that make such a turn e times as likely");
    v("uniform_rate", uniform_rate, {0, 1}, "share of turns that are any legal one");
    v("simulations", simulations, {0, 1e9}, "simulations a decision; 0 = one complete turn ahead, no search");
    v("fast_simulations", fast_simulations, {0, 1e9}, "simulations of the decisions that are not searched in full");
    v("full_rate", full_rate, {0, 1}, "share of turns that are searched in full");
  }
};

// Plays the games `first_game` to `first_game` + n - 1 of a run: game i has the seed split(seed, i), its deck
// split(that, 0) and its choices split(that, 1), so games do not depend on threads or on how a run is cut. Throws
// WeightsError for a bad network. `interrupted` is asked about ten times a second; if it says true, nothing is
// returned.
GameArrays self_play(const std::shared_ptr<const Game>& game, const SelfPlayOptions& options, std::uint64_t seed,
                     std::uint64_t first_game, std::size_t n, int threads,
                     const std::function<bool()>& interrupted = {});

}  // namespace carc
