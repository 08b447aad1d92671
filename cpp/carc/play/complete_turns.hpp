// Every complete turn of a position: a placement and what is done with a figure, as agents that look one turn ahead
// compare them.
#pragma once

#include "carc/core/state.hpp"

namespace carc {

// Goes through the turns in the order of legal actions, placement before figure; in phase Figure only the figure is
// still to be chosen. Calls on_placed(placed) once for each placement, before its turns: the state with the tile laid.
// Calls on_turn(decision, figure, after) for each turn: the next action of the turn, its figure action, and the state
// when it is over (phase Draw or Over).
template <class OnPlaced, class OnTurn>
void for_each_turn(const GameState& state, OnPlaced on_placed, OnTurn on_turn) {
  const auto finish = [&](const GameState& placed, const Action* placement) {
    on_placed(placed);
    const int choices = placed.num_legal_actions();
    for (int i = 0; i < choices; ++i) {
      const Action figure = placed.legal_action(i);
      GameState after = placed;
      after.apply(figure);
      on_turn(placement ? *placement : figure, figure, after);
    }
  };
  if (state.phase() == Phase::kFigure) return finish(state, nullptr);
  state.placements().for_each([&](Action placement) {
    GameState placed = state;
    placed.apply(placement);
    finish(placed, &placement);
  });
}

}  // namespace carc
