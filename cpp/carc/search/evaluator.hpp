// The seam between search and judgement: positions with their legal actions in, value vectors and priors out.
//
// Random playouts, the hand-made evaluation and networks are evaluators; one search serves them all. Values are vectors
// over players, so that nothing in a search depends on who moves at which depth.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "carc/core/action.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"

namespace carc {

using Values = std::array<float, kMaxPlayers>;  // by player

// A decision that was made on the way: the tile type in hand tells apart equal placements of different tiles.
struct Move {
  std::int8_t player;
  std::int8_t tile;
  Action action;
  bool operator==(const Move&) const = default;
};

// One position to judge. What is asked for is what is not null; a position at the end of the game is never asked.
struct Evaluation {
  const GameState* state = nullptr;
  const ActionList* actions = nullptr;  // the state's legal actions, where priors or after are wanted
  Values* value = nullptr;              // out: expected final points of each player
  float* priors = nullptr;              // out: [action], a distribution
  Values* after = nullptr;              // out: [action] expected final points after the action (see judges_actions)
  std::vector<Move>* moves = nullptr;   // out: appended, the decisions of a playout, for AMAF statistics
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Fills in what is asked for. Reads nothing but the states; all randomness comes from `rng`.
  virtual void evaluate(std::span<const Evaluation> batch, Rng& rng) = 0;

  // Whether `after` is filled in: then a search need not ask for a position's value when it is first visited.
  virtual bool judges_actions() const { return false; }
  // Whether priors are better than uniform.
  virtual bool has_priors() const { return false; }

  // A search is about to ask, and asks nothing more for now: one that gathers the positions of several searches into
  // batches waits only for those between the two.
  virtual void search_begins() {}
  virtual void search_ends() {}

  void evaluate(const Evaluation& one, Rng& rng) { evaluate(std::span(&one, 1), rng); }
};

}  // namespace carc
