#include "carc/search/expectiminimax.hpp"

#include <algorithm>
#include <numeric>

#include "carc/search/turn_tree.hpp"

namespace carc {
namespace {

// The root: deepening, limits, and values of all actions.
class Root {
 public:
  Root(const GameState& state, const ExpectiminimaxOptions& options, Evaluator& evaluator, Rng& rng)
      : state_(state),
        options_(options),
        prunes_(state.players() == 2 && options.pruning != Pruning::kNone),
        max_n_(options, evaluator, rng),
        star_(options, evaluator, rng) {
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
    const auto deadline = options_.time_ms ? TurnTree::Clock::now() + std::chrono::milliseconds(options_.time_ms)
                                           : TurnTree::Clock::time_point::max();
    const std::int64_t nodes = options_.node_limit ? options_.node_limit : std::numeric_limits<std::int64_t>::max();
    const bool has_limit = options_.time_ms || options_.node_limit;
    const int depth = std::min(options_.depth, state_.tiles_left() + 1);
    try {
      for (int turns = has_limit ? 1 : depth; turns <= depth; ++turns) {
        if (has_limit && turns > 1) max_n_.set_limits(nodes, deadline), star_.set_limits(nodes, deadline);
        search_turns(turns);
        result_.depth = turns;
      }
    } catch (const TurnTree::Stopped&) {
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
        const MaxN::Utilities u = max_n_.after(state_, root.action, turns);
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
