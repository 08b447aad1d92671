#include "carc/play/expectiminimax_agent.hpp"

#include <chrono>

namespace carc {

std::optional<SearchResult> ExpectiminimaxAgent::analyse(const GameState& state, Rng& rng) {
  const auto began = std::chrono::steady_clock::now();
  const ExpectiminimaxResult found = search_.search(state, rng);
  nodes_ += found.nodes;
  SearchResult out;
  out.players = state.players();
  const auto mover = static_cast<std::size_t>(state.turn_player());
  std::uint32_t ties = 0;
  for (const RootAction& root : found.actions) {
    ActionReport report;
    report.action = root.action;
    report.players = state.players();
    report.visits = root.exact;
    report.utility = root.value;
    report.value = static_cast<double>(root.value[mover]);
    const bool is_best = root.exact && root.value[mover] >= found.value[mover] - Expectiminimax::kTie;
    if (is_best && rng.below(++ties) == 0) out.best = static_cast<int>(out.actions.size());
    out.actions.push_back(report);
  }
  out.line = {out.actions[static_cast<std::size_t>(out.best)].action};
  out.value = found.value;
  out.simulations = out.nodes = found.nodes;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

Action ExpectiminimaxAgent::choose(const GameState& state, Rng& rng) {
  if (state.num_legal_actions() == 1) return state.legal_action(0);
  const SearchResult result = *analyse(state, rng);
  return result.actions[static_cast<std::size_t>(result.best)].action;
}

}  // namespace carc
