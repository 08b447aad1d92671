#include "carc/play/jcz_agent.hpp"

#include <limits>

namespace carc {
namespace {

// Sums that differ by less come from rounding, which compilers do differently; the smallest weight is far above.
constexpr double kTie = 1e-9;

class First {
 public:
  void offer(Action action, double value) {
    if (value > value_ + kTie) value_ = value, action_ = action;
  }
  Action action() const { return action_; }

 private:
  double value_ = -std::numeric_limits<double>::infinity();
  Action action_ = Action::no_figure();
};

template <class Offer>
void for_each_figure(JczRanking& ranking, const GameState& placed, Offer offer) {
  ranking.set_board(placed);
  const int player = placed.turn_player();
  const int choices = placed.num_legal_actions();
  for (int i = 0; i < choices; ++i) {
    const Action figure = placed.legal_action(i);
    GameState after = placed;
    after.apply(figure);
    offer(figure, ranking.terms(after, player).sum());
  }
}

}  // namespace

Action JczAgent::choose(const GameState& state, Rng&) {
  JczRanking ranking(weights_, state);
  First best;
  if (state.phase() == Phase::kFigure) {
    for_each_figure(ranking, state, [&](Action figure, double value) { best.offer(figure, value); });
    return best.action();
  }
  state.placements().for_each([&](Action placement) {
    GameState placed = state;
    placed.apply(placement);
    for_each_figure(ranking, placed, [&](Action, double value) { best.offer(placement, value); });
  });
  return best.action();
}

}  // namespace carc
