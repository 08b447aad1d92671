#include "carc/play/random_agent.hpp"

namespace carc {

Action RandomAgent::choose(const GameState& state, Rng& rng) {
  const auto choices = static_cast<std::uint32_t>(state.num_legal_actions());
  if (state.phase() == Phase::kPlace) return state.legal_action(static_cast<int>(rng.below(choices)));
  const bool keep = rng.below(2) == 0 || choices == 1;  // the first action is to do nothing
  return state.legal_action(keep ? 0 : 1 + static_cast<int>(rng.below(choices - 1)));
}

}  // namespace carc
