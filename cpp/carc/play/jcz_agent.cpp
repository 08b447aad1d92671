#include "carc/play/jcz_agent.hpp"

#include <limits>

#include "carc/play/complete_turns.hpp"

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

}  // namespace

Action JczAgent::choose(const GameState& state, Rng&) {
  JczRanking ranking(weights_, state);
  First best;
  const int player = state.turn_player();
  for_each_turn(
      state, [&](const GameState& placed) { ranking.set_board(placed); },
      [&](Action decision, Action, const GameState& after) {
        best.offer(decision, ranking.terms(after, player).sum());
      });
  return best.action();
}

}  // namespace carc
