#include "carc/search/rollout.hpp"

#include <limits>

#include "carc/search/utility.hpp"

namespace carc {
namespace {

// Probability as a bound on 32 random bits.
std::uint32_t threshold(float probability) {
  return static_cast<std::uint32_t>(static_cast<double>(probability) * 4294967295.0);
}

}  // namespace

TypeId sample_tile(const GameState& state, Rng& rng) {
  return tile_at(state, static_cast<double>(rng.next() >> 11) * 0x1.0p-53);
}

TypeId tile_at(const GameState& state, double share) {
  const int types = state.game().types();
  int copies = state.tiles_left();
  if (state.game().lake()) {
    copies = 0;
    for (int t = 0; t < types; ++t) {
      if (state.can_draw(static_cast<TypeId>(t))) copies += state.tiles_left(static_cast<TypeId>(t));
    }
  }
  int n = std::min(copies - 1, static_cast<int>(share * copies));
  for (TypeId t = 0;; ++t) {
    if (state.game().lake() && !state.can_draw(t)) continue;
    n -= state.tiles_left(t);
    if (n < 0) return t;
  }
}

Action RolloutEvaluator::best_action(const GameState& state, Rng& rng) {
  ActionList actions;
  state.legal_actions(actions);
  std::array<Values, ActionList::kCapacity> after;
  judge_->evaluate({&state, &actions, nullptr, nullptr, after.data(), nullptr}, rng);
  int best = 0;
  float most = -std::numeric_limits<float>::infinity();
  std::uint32_t ties = 0;
  for (int i = 0; i < actions.size(); ++i) {
    const float u = lead(after[static_cast<std::size_t>(i)], state.turn_player(), state.players());
    if (u > most) most = u, ties = 0;
    if (u == most && rng.below(++ties) == 0) best = i;
  }
  return actions[best];
}

Values RolloutEvaluator::play_out(GameState state, Rng& rng, std::vector<Move>* moves) {
  const std::uint32_t set_figure = threshold(options_.figure_probability), at_random = threshold(options_.epsilon);
  const int stop = options_.turns ? state.laid_tiles() + options_.turns : kMaxTiles + 1;
  while (!state.is_terminal()) {
    if (state.phase() == Phase::kDraw) {
      if (state.laid_tiles() >= stop) {
        Values value{};
        judge_->evaluate({&state, nullptr, &value, nullptr, nullptr, nullptr}, rng);
        return value;
      }
      state.apply(Action::draw(sample_tile(state, rng)));
      continue;
    }
    Action action = Action::no_figure();
    const bool random = options_.epsilon >= 1 || static_cast<std::uint32_t>(rng.next() >> 32) <= at_random;
    if (!random) {
      action = best_action(state, rng);
    } else if (state.phase() == Phase::kPlace) {
      const PlacementSet placements = state.placements();
      action = placements[static_cast<int>(rng.below(static_cast<std::uint32_t>(placements.count())))];
    } else if (static_cast<std::uint32_t>(rng.next() >> 32) <= set_figure) {
      const int choices = state.num_legal_actions();
      if (choices > 1)
        action = state.legal_action(1 + static_cast<int>(rng.below(static_cast<std::uint32_t>(choices - 1))));
    }
    if (moves && action != Action::no_figure()) {
      moves->push_back(
          {static_cast<std::int8_t>(state.turn_player()), static_cast<std::int8_t>(state.drawn_tile()), action});
    }
    state.apply(action);
  }
  return final_points(state);
}

void RolloutEvaluator::evaluate(std::span<const Evaluation> batch, Rng& rng) {
  for (const Evaluation& e : batch) {
    if (e.priors) std::fill_n(e.priors, e.actions->size(), 1 / static_cast<float>(e.actions->size()));
    if (e.value) *e.value = play_out(*e.state, rng, e.moves);
  }
}

}  // namespace carc
