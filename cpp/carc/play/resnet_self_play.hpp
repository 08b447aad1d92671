// Games of a network on board planes against itself, many at a time, in the manner of AlphaZero (Silver et al., 2018):
// every decision is searched, its visits are the policy to learn, with noise at the root and choices at random by
// visits; most turns are searched only a little (playout-cap randomisation: Wu, "Accelerating self-play learning in
// Go", 2020) and teach no policy.
//
// Each game has a lane, a thread that mostly sleeps: the positions of all lanes are judged together, in step, so that
// which of them share a batch depends on no clock. Lane l plays the games l, l + lanes, l + 2 lanes, ...
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "carc/core/options.hpp"
#include "carc/neural/batching.hpp"
#include "carc/neural/plane_examples.hpp"
#include "carc/search/mcts.hpp"

namespace carc {

struct ResnetSelfPlayOptions {
  std::string network;
  int simulations = 64;
  int fast_simulations = 16;
  float full_rate = 0.25F;
  float root_noise = 0.25F;
  float root_noise_alpha = 0.3F;
  float temperature = 0.5F;
  int lanes = 32;

  template <class V>
  void each_option(V& v) {
    v("network", network, {}, "file of the network's weights; empty: the hand-made evaluation");
    v("simulations", simulations, {1, 1e6}, "of a decision whose policy teaches");
    v("fast_simulations", fast_simulations, {1, 1e6}, "of the other decisions");
    v("full_rate", full_rate, {0, 1}, "share of turns with all simulations");
    v("root_noise", root_noise, {0, 1}, "part of the root's priors that is Dirichlet noise, in those turns");
    v("root_noise_alpha", root_noise_alpha, {0.001, 100}, "concentration of that noise");
    v("temperature", temperature, {0, 100}, "actions are drawn by visits^(1 / temperature); 0 = the most visited");
    v("lanes", lanes, {1, 256}, "games played at the same time, which share batches");
  }
};

struct ResnetSelfPlay {
  GameArrays games;
  BatchCounts batches;
  int batch = 0;  // positions that fit one
};

// `options`: the fields above and under "search" options of the search (MctsOptions; those above come first).
// Game i of a run has the seed split(seed, i). Threads have batches and lanes of their own; with the hand-made
// evaluation the games depend on nothing else, with a network that is so but for rounding, and exactly so with the same
// lanes, threads and division into calls. `interrupted` is asked about ten times a second on the calling thread; true
// ends the games, with BatchStopped. Throws OptionError, WeightsError, and what a search throws.
ResnetSelfPlay resnet_self_play(const std::shared_ptr<const Game>& game, const Json& options, std::uint64_t seed,
                                std::uint64_t first_game, int games, int threads,
                                const std::function<bool()>& interrupted = nullptr);

}  // namespace carc
