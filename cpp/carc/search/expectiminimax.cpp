#include "carc/search/expectiminimax.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

namespace carc {
namespace {

using Clock = std::chrono::steady_clock;
using Utilities = std::array<double, kMaxPlayers>;  // by player

constexpr double kWorst = -1, kBest = 1;  // bounds of utility

struct Stopped {};  // a limit was reached

// What both kinds of tree share: leaves, order, limits.
class Tree {
 public:
  Tree(const ExpectiminimaxOptions& options, Evaluator& evaluator, Rng& rng)
      : options_(options), evaluator_(evaluator), rng_(rng) {}

  void set_limits(std::int64_t nodes, Clock::time_point deadline) { node_limit_ = nodes, deadline_ = deadline; }
  std::int64_t nodes() const { return nodes_; }

 protected:
  void visit(int positions = 1) {
    nodes_ += positions;
    if (nodes_ > node_limit_) throw Stopped();
    if (nodes_ < next_look_) return;
    constexpr int kLook = 256;  // positions between two looks at the clock
    next_look_ = nodes_ + kLook;
    if (deadline_ != Clock::time_point::max() && Clock::now() > deadline_) throw Stopped();
  }

  GameState next_state(const GameState& state, Action action) {
    visit();
    GameState next = state;
    next.apply(action);
    return next;
  }

  Values utility(const Values& points, const GameState& state) const { return options_.utility(points, state.players()); }
  Values final_utility(const GameState& state) const { return utility(final_points(state), state); }

  Values leaf_utility(const GameState& state) {
    Values points{};
    evaluator_.evaluate({&state, nullptr, &points, nullptr, nullptr, nullptr}, rng_);
    return utility(points, state);
  }

  // Whether the figure decision leads to leaves that are evaluated all at once.
  bool has_judged_leaves(const GameState& state, int turns) const {
    return turns == 1 && state.tiles_left() > 0 && evaluator_.judges_actions();
  }

  // The utilities after each action.
  template <class Visit>
  void judge(const GameState& state, Visit visit_utility) {
    ActionList actions;
    state.legal_actions(actions);
    visit(actions.size());
    std::array<Values, ActionList::kCapacity> after;
    evaluator_.evaluate({&state, &actions, nullptr, nullptr, after.data(), nullptr}, rng_);
    for (int i = 0; i < actions.size(); ++i) visit_utility(utility(after[static_cast<std::size_t>(i)], state));
  }

  // Legal actions of a two-player game, the most promising first.
  std::vector<Action> ordered_actions(const GameState& state) {
    ActionList actions;
    state.legal_actions(actions);
    std::vector<Action> out(actions.begin(), actions.end());
    if (!evaluator_.judges_actions() || out.size() == 1) return out;
    std::array<Values, ActionList::kCapacity> after;
    evaluator_.evaluate({&state, &actions, nullptr, nullptr, after.data(), nullptr}, rng_);
    std::vector<std::pair<float, Action>> judged;
    const auto mover = static_cast<std::size_t>(state.turn_player());
    for (std::size_t i = 0; i < out.size(); ++i) judged.emplace_back(after[i][mover] - after[i][1 - mover], out[i]);
    std::stable_sort(judged.begin(), judged.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::transform(judged.begin(), judged.end(), out.begin(), [](const auto& entry) { return entry.second; });
    return out;
  }

  const ExpectiminimaxOptions& options_;

 private:
  Evaluator& evaluator_;
  Rng& rng_;
  std::int64_t nodes_ = 0, next_look_ = 0;
  std::int64_t node_limit_ = std::numeric_limits<std::int64_t>::max();
  Clock::time_point deadline_ = Clock::time_point::max();
};

// `turns`: to play below the position, the present one included.
class MaxN : public Tree {
 public:
  using Tree::Tree;

  Utilities after(const GameState& state, Action action, int turns) {
    return value(next_state(state, action), turns - (state.phase() == Phase::kFigure));
  }

 private:
  Utilities value(const GameState& state, int turns) {
    switch (state.phase()) {
      case Phase::kOver:
        return widened(final_utility(state));
      case Phase::kDraw:
        return turns ? mean(state, turns) : widened(leaf_utility(state));
      default:
        return best(state, turns);
    }
  }

  static Utilities widened(const Values& values) {
    Utilities out;
    std::copy(values.begin(), values.end(), out.begin());
    return out;
  }

  Utilities mean(const GameState& state, int turns) {
    Utilities sum{};
    for (const ChanceOutcome& outcome : state.chance_outcomes()) {
      const Utilities u = after(state, Action::draw(outcome.tile), turns);
      for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += outcome.probability * u[p];
    }
    return sum;
  }

  // The first of equals: with more than two players another choice may change the others' values. Two players have no
  // such freedom, and exact comparison gives the value that pruning finds.
  Utilities best(const GameState& state, int turns) {
    const auto mover = static_cast<std::size_t>(state.turn_player());
    const double tie = state.players() > 2 ? static_cast<double>(Expectiminimax::kTie) : 0;
    Utilities best{};
    best[mover] = -2;
    const auto offer = [&](const Utilities& u) {
      if (u[mover] > best[mover] + tie) best = u;
    };
    if (state.phase() == Phase::kFigure && has_judged_leaves(state, turns)) {
      judge(state, [&](const Values& u) { offer(widened(u)); });
      return best;
    }
    ActionList actions;
    state.legal_actions(actions);
    for (const Action action : actions) offer(after(state, action, turns));
    return best;
  }
};

// Values are those of the player whose turn it is. Fail-soft: a value at or below alpha is an upper bound, one at or
// above beta a lower bound.
class Star : public Tree {
 public:
  using Tree::Tree;
  using Tree::ordered_actions;

  double after(const GameState& state, Action action, int turns, double alpha, double beta) {
    const GameState next = next_state(state, action);
    return state.phase() == Phase::kFigure ? -value(next, turns - 1, -beta, -alpha) : value(next, turns, alpha, beta);
  }

 private:
  // A tile that can come. Its placements are searched in order, maybe in two goes.
  struct Outcome {
    GameState state;
    double probability;
    double lower = kWorst;  // bound on the value
    std::vector<Action> actions;
    std::size_t searched = 0;  // of the actions
    double best = -2;          // of those searched
  };

  double value(const GameState& state, int turns, double alpha, double beta) {
    const auto mover = static_cast<std::size_t>(state.turn_player());
    switch (state.phase()) {
      case Phase::kOver:
        return final_utility(state)[mover];
      case Phase::kDraw:
        return turns ? chance(state, turns, alpha, beta) : leaf_utility(state)[mover];
      default:
        return figure(state, turns, alpha, beta);
    }
  }

  double figure(const GameState& state, int turns, double alpha, double beta) {
    double best = -2;
    if (has_judged_leaves(state, turns)) {
      const auto mover = static_cast<std::size_t>(state.turn_player());
      judge(state, [&](const Values& u) { best = std::max(best, static_cast<double>(u[mover])); });
      return best;
    }
    for (const Action action : ordered_actions(state)) {
      best = std::max(best, after(state, action, turns, std::max(alpha, best), beta));
      if (best >= beta) break;
    }
    return best;
  }

  std::vector<Outcome> outcomes(const GameState& state) {
    std::vector<ChanceOutcome> tiles = state.chance_outcomes();
    std::stable_sort(tiles.begin(), tiles.end(), [](const auto& a, const auto& b) { return a.probability > b.probability; });
    std::vector<Outcome> out;
    out.reserve(tiles.size());
    for (const ChanceOutcome& tile : tiles) {
      out.push_back({next_state(state, Action::draw(tile.tile)), tile.probability, kWorst, {}, 0, -2});
    }
    return out;
  }

  // Searches an outcome until `count` of its placements are searched.
  double search(Outcome& o, int turns, std::size_t count, double alpha, double beta) {
    if (o.state.phase() != Phase::kPlace) return value(o.state, turns, alpha, beta);
    if (o.actions.empty()) o.actions = ordered_actions(o.state);
    for (; o.searched < std::min(count, o.actions.size()) && o.best < beta; ++o.searched) {
      o.best = std::max(o.best, after(o.state, o.actions[o.searched], turns, std::max(alpha, o.best), beta));
    }
    return o.best;
  }

  // The window of an outcome from what all others can add: `low` <= sum of the others' p * value <= `high`.
  struct Window {
    double alpha, beta;
    Window(double a, double b, double p, double low, double high) : alpha((a - high) / p), beta((b - low) / p) {}
  };

  // Raises lower bounds; returns sum of p * lower bound, which may reach beta before all are probed.
  double probe(std::vector<Outcome>& all, int turns, double alpha, double beta) {
    const auto count = static_cast<std::size_t>(options_.pruning == Pruning::kStar2 ? 1 : options_.probing_factor);
    double lower = kWorst;
    for (Outcome& o : all) {
      if (o.state.phase() != Phase::kPlace) continue;
      const double p = o.probability;
      const Window window(alpha, beta, p, lower - p * kWorst, (1 - p) * kBest);
      const double low = std::max(window.alpha, kWorst);
      const double found = search(o, turns, count, low, std::min(window.beta, kBest));
      if (found <= low) continue;  // an upper bound of the placements probed
      o.lower = found;
      lower += p * (found - kWorst);
      if (lower >= beta) break;
    }
    return lower;
  }

  double chance(const GameState& state, int turns, double alpha, double beta) {
    std::vector<Outcome> all = outcomes(state);
    double lower = kWorst;  // sum of p * lower bound of the outcomes not searched yet
    if (options_.pruning >= Pruning::kStar2) lower = probe(all, turns, alpha, beta);
    double done = 0, rest = 1;  // sum of p * value of those searched; probability of the others
    for (Outcome& o : all) {
      if (done + lower >= beta) return done + lower;
      if (done + rest * kBest <= alpha) return done + rest * kBest;
      const double p = o.probability;
      lower -= p * o.lower;
      rest -= p;
      const Window window(alpha, beta, p, done + lower, done + rest * kBest);
      const double found =
          search(o, turns, ActionList::kCapacity, std::max(window.alpha, kWorst), std::min(window.beta, kBest));
      if (found >= window.beta) return done + p * found + lower;
      if (found <= window.alpha) return done + p * found + rest * kBest;
      done += p * found;
    }
    return done;
  }
};

// The root: deepening, limits, and values of all actions.
class Root {
 public:
  Root(const GameState& state, const ExpectiminimaxOptions& options, Evaluator& evaluator, Rng& rng)
      : state_(state), options_(options), prunes_(state.players() == 2 && options.pruning != Pruning::kNone),
        max_n_(options, evaluator, rng), star_(options, evaluator, rng) {
    ActionList actions;
    state.legal_actions(actions);
    for (const Action action : actions) result_.actions.push_back({action, {}, false});
    order_.resize(result_.actions.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!prunes_) return;
    const std::vector<Action> promising = star_.ordered_actions(state);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      order_[i] = static_cast<std::size_t>(std::find(actions.begin(), actions.end(), promising[i]) - actions.begin());
    }
  }

  ExpectiminimaxResult search() {
    const auto deadline = options_.time_ms ? Clock::now() + std::chrono::milliseconds(options_.time_ms)
                                           : Clock::time_point::max();
    const std::int64_t nodes = options_.node_limit ? options_.node_limit : std::numeric_limits<std::int64_t>::max();
    const bool has_limit = options_.time_ms || options_.node_limit;
    const int depth = std::min(options_.depth, state_.tiles_left() + 1);
    try {
      for (int turns = has_limit ? 1 : depth; turns <= depth; ++turns) {
        if (has_limit && turns > 1) max_n_.set_limits(nodes, deadline), star_.set_limits(nodes, deadline);
        search_turns(turns);
        result_.depth = turns;
      }
    } catch (const Stopped&) {
    }
    result_.nodes = max_n_.nodes() + star_.nodes();
    choose();
    return std::move(result_);
  }

 private:
  // The first action is searched with the full window; with it, what was known of the others becomes inexact.
  void search_turns(int turns) {
    constexpr double kTie = Expectiminimax::kTie;
    const auto mover = static_cast<std::size_t>(state_.turn_player());
    double best = -2;
    bool is_first = true;
    for (const std::size_t i : order_) {
      RootAction& root = result_.actions[i];
      const double alpha = best - 2 * kTie;  // equally good ones get their exact values, too
      Values value{};
      if (prunes_) {
        value[mover] = static_cast<float>(star_.after(state_, root.action, turns, alpha, 2));
        value[1 - mover] = -value[mover];
      } else {
        const Utilities u = max_n_.after(state_, root.action, turns);
        std::transform(u.begin(), u.end(), value.begin(), [](double x) { return static_cast<float>(x); });
      }
      if (is_first) {
        for (RootAction& other : result_.actions) other.exact = false;
      }
      is_first = false;
      root.value = value;
      root.exact = !prunes_ || static_cast<double>(value[mover]) > alpha;
      best = std::max(best, static_cast<double>(value[mover]));
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return result_.actions[a].value[mover] > result_.actions[b].value[mover];
    });
  }

  void choose() {
    const auto mover = static_cast<std::size_t>(state_.turn_player());
    float most = -2;
    for (const RootAction& root : result_.actions) {
      if (root.exact) most = std::max(most, root.value[mover]);
    }
    for (const RootAction& root : result_.actions) {
      if (!root.exact || root.value[mover] < most - Expectiminimax::kTie) continue;
      result_.best = root.action;
      result_.value = root.value;
      return;
    }
  }

  const GameState& state_;
  const ExpectiminimaxOptions& options_;
  bool prunes_;
  MaxN max_n_;
  Star star_;
  ExpectiminimaxResult result_;
  std::vector<std::size_t> order_;  // indices of actions, the most promising first
};

}  // namespace

ExpectiminimaxResult Expectiminimax::search(const GameState& state, Rng& rng) {
  return Root(state, options_, *evaluator_, rng).search();
}

}  // namespace carc
