#include "carc/play/expectiminimax_agent.hpp"

namespace carc {

Action ExpectiminimaxAgent::choose(const GameState& state, Rng& rng) {
  if (state.num_legal_actions() == 1) return state.legal_action(0);
  const ExpectiminimaxResult result = search_.search(state, rng);
  const auto mover = static_cast<std::size_t>(state.turn_player());
  Action choice = result.best;
  std::uint32_t ties = 0;
  for (const RootAction& root : result.actions) {
    if (!root.exact || root.value[mover] < result.value[mover] - Expectiminimax::kTie) continue;
    if (rng.below(++ties) == 0) choice = root.action;
  }
  return choice;
}

}  // namespace carc
