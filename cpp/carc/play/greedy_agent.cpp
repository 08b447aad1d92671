#include "carc/play/greedy_agent.hpp"

#include <limits>

namespace carc {
namespace {

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

template <class Offer>
void for_each_figure(const GameState& placed, Offer offer) {
  const int player = placed.turn_player();
  const int choices = placed.num_legal_actions();
  for (int i = 0; i < choices; ++i) {
    const Action figure = placed.legal_action(i);
    GameState after = placed;
    after.apply(figure);
    offer(figure, turn_value(after, figure, player));
  }
}

}  // namespace

Action GreedyAgent::choose(const GameState& state, Rng& rng) {
  Best best(rng);
  if (state.phase() == Phase::kFigure) {
    for_each_figure(state, [&](Action figure, int value) { best.offer(figure, value); });
    return best.action();
  }
  state.placements().for_each([&](Action placement) {
    GameState placed = state;
    placed.apply(placement);
    for_each_figure(placed, [&](Action, int value) { best.offer(placement, value); });
  });
  return best.action();
}

}  // namespace carc
