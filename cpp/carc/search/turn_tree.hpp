// The trees that Expectiminimax searches: what is common to both kinds, max^n, and *-Minimax of two players.
#pragma once

#include <chrono>
#include <limits>
#include <vector>

#include "carc/search/expectiminimax.hpp"

namespace carc {

// Leaves, order, limits. `turns` is everywhere what is left to play below a position, the present turn included.
class TurnTree {
 public:
  using Clock = std::chrono::steady_clock;
  struct Stopped {};  // thrown when a limit is reached

  TurnTree(const ExpectiminimaxOptions& options, Evaluator& evaluator, Rng& rng)
      : options_(options), evaluator_(evaluator), rng_(rng) {}

  void set_limits(std::int64_t nodes, Clock::time_point deadline) { node_limit_ = nodes, deadline_ = deadline; }
  std::int64_t nodes() const { return nodes_; }

 protected:
  void visit(int positions = 1);
  GameState next_state(const GameState& state, Action action);

  Values utility(const Values& points, const GameState& state) const {
    return options_.utility(points, state.players());
  }
  Values final_utility(const GameState& state) const { return utility(final_points(state), state); }
  Values leaf_utility(const GameState& state);

  // Whether the figure decision leads to leaves that are evaluated all at once.
  bool has_judged_leaves(const GameState& state, int turns) const {
    return turns == 1 && state.tiles_left() > 0 && evaluator_.judges_actions();
  }
  // Their utilities, by action.
  std::vector<Values> judged_leaves(const GameState& state);

  // Legal actions of a two-player game, the most promising first.
  std::vector<Action> ordered_actions(const GameState& state);

  const ExpectiminimaxOptions& options_;

 private:
  Evaluator& evaluator_;
  Rng& rng_;
  std::int64_t nodes_ = 0, next_look_ = 0;
  std::int64_t node_limit_ = std::numeric_limits<std::int64_t>::max();
  Clock::time_point deadline_ = Clock::time_point::max();
};

// Any number of players, nothing is pruned.
class MaxN : public TurnTree {
 public:
  using TurnTree::TurnTree;
  using Utilities = std::array<double, kMaxPlayers>;  // by player

  Utilities after(const GameState& state, Action action, int turns);

 private:
  Utilities value(const GameState& state, int turns);
  Utilities mean(const GameState& state, int turns);
  Utilities best(const GameState& state, int turns);
};

// Two players. Values are those of the player whose turn it is. Fail-soft: a value at or below alpha is an upper bound,
// one at or above beta a lower bound.
class Star : public TurnTree {
 public:
  using TurnTree::ordered_actions;
  using TurnTree::TurnTree;

  // The value for the player who takes the action.
  double after(const GameState& state, Action action, int turns, double alpha, double beta);

 private:
  struct Outcome;

  double value(const GameState& state, int turns, double alpha, double beta);
  double figure(const GameState& state, int turns, double alpha, double beta);
  double chance(const GameState& state, int turns, double alpha, double beta);
  double probe(std::vector<Outcome>& all, int turns, double alpha, double beta);
  double search(Outcome& outcome, int turns, std::size_t count, double alpha, double beta);
  std::vector<Outcome> outcomes(const GameState& state);
};

}  // namespace carc
