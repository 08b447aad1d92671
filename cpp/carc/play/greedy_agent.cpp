#include "carc/play/greedy_agent.hpp"

#include <limits>

#include "carc/play/complete_turns.hpp"

namespace carc {
namespace {

constexpr std::uint64_t kNoise = 1;

// Keeps a uniform choice among the best candidates seen so far (reservoir of one).
class Best {
 public:
  explicit Best(Rng& rng) : rng_(rng) {}
  void offer(Action action, int value) {
    if (value > value_) value_ = value, ties_ = 0;
    if (value == value_ && rng_.below(++ties_) == 0) action_ = action;
  }
  Action action() const { return action_; }

 private:
  Rng& rng_;
  Action action_ = Action::no_figure();
  int value_ = std::numeric_limits<int>::min();
  std::uint32_t ties_ = 0;
};

bool stands_on_last_tile(const GameState& state) {
  for (int i = 0; i < state.figures_on_board(); ++i) {
    if (state.figure(i).tile == state.laid_tiles() - 1) return true;
  }
  return false;
}

// Half points times (players - 1), so that values are exact integers.
int turn_value(const GameState& after, Action figure, int player) {
  const Points extra = after.projected();
  int value = 0;
  for (int p = 0; p < after.players(); ++p) {
    const int points = 2 * (after.score(p) + extra.total(p));
    value += p == player ? (after.players() - 1) * points : -points;
  }
  const bool is_set = figure.figure() == Action::Figure::kMeeple || figure.figure() == Action::Figure::kAbbot;
  return value - (is_set && stands_on_last_tile(after) ? after.players() - 1 : 0);
}

}  // namespace

Action GreedyAgent::choose(const GameState& state, Rng& rng) {
  if (options_.noise > 0) {
    // Noise has its own numbers: with the same `rng`, agents of different noise decide alike where neither is random,
    // and the less noisy one is random only where the other is too.
    Rng noise(split(Rng(rng).next(), kNoise));
    if (noise.uniform() < static_cast<double>(options_.noise))
      return state.legal_action(static_cast<int>(noise.below(static_cast<std::uint32_t>(state.num_legal_actions()))));
  }
  Best best(rng);
  const int player = state.turn_player();
  for_each_turn(
      state, [](const GameState&) {},
      [&](Action decision, Action figure, const GameState& after) {
        best.offer(decision, turn_value(after, figure, player));
      });
  return best.action();
}

}  // namespace carc
