// What complete turns are worth: by games played on from them, and by the hand-made evaluation.
//
// The playouts of a position are paired: playout k of every turn has the same order of the undrawn tiles and the same
// random numbers, draw by draw, so that what the turns share cancels in the difference of two of them (common random
// numbers). Orders are sampled from the bag; nothing knows a hidden deck.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "carc/play/agent.hpp"
#include "carc/search/heuristic.hpp"

namespace carc {

// A placement with what is done with a figure. In phase Figure there is nothing to place: both are the figure action.
struct CompleteTurn {
  Action placement, figure;
  bool operator==(const CompleteTurn&) const = default;
};

// Of one position, turns in the order of for_each_turn.
struct TurnPlayouts {
  std::vector<CompleteTurn> turns;
  int playouts = 0;
  std::vector<float> margins;  // [turn][playout] final points of the mover minus the mean of the others'
};

struct PlayoutOptions {
  int playouts = 200;      // of each turn
  std::uint64_t seed = 0;  // position i has split(seed, i), its playout k split(split(seed, i), k)
  int threads = 1;         // the results do not depend on it
  // Asked on the calling thread now and then; true stops the run, whose results are then incomplete.
  std::function<bool()> interrupted;
};

// Every turn of every state (phase Place or Figure) is played on to the end `playouts` times with an agent of `make`
// in all seats; each thread makes its own. The first k playouts do not depend on how many follow. Throws IllegalAction
// for a state of another phase; an error of an agent is thrown here.
std::vector<TurnPlayouts> playout_turn_values(std::span<const GameState> states, const AgentFactory& make,
                                              const PlayoutOptions& options);

struct JudgedTurns {
  std::vector<CompleteTurn> turns;
  std::vector<Values> values;  // [turn] expected final points by player
};

// Every turn of a state (phase Place or Figure) by the value of the position after it; at the end of the game by the
// points. Throws IllegalAction for a state of another phase.
JudgedTurns heuristic_turn_values(const GameState& state, const HeuristicEvaluator& evaluator);

}  // namespace carc
