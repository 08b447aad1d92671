#include "carc/search/turn_tree.hpp"

#include <algorithm>

namespace carc {
namespace {

constexpr double kWorst = -1, kBest = 1;  // bounds of utility

MaxN::Utilities widened(const Values& values) {
  MaxN::Utilities out;
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

// The window of an outcome of probability p in the window (a, b) of its chance node, where all others together add from
// `low` to `high`.
struct Window {
  double alpha, beta;
  Window(double a, double b, double p, double low, double high) : alpha((a - high) / p), beta((b - low) / p) {}
};

}  // namespace

// --- What is common -------------------------------------------------------------------------------------------------

void TurnTree::visit(int positions) {
  nodes_ += positions;
  if (nodes_ > node_limit_) throw Stopped();
  if (nodes_ < next_look_) return;
  constexpr int kLook = 256;  // positions between two looks at the clock
  next_look_ = nodes_ + kLook;
  if (deadline_ != Clock::time_point::max() && Clock::now() > deadline_) throw Stopped();
}

GameState TurnTree::next_state(const GameState& state, Action action) {
  visit();
  GameState next = state;
  next.apply(action);
  return next;
}

Values TurnTree::leaf_utility(const GameState& state) {
  Values points{};
  evaluator_.evaluate({&state, nullptr, &points, nullptr, nullptr, nullptr}, rng_);
  return utility(points, state);
}

std::vector<Values> TurnTree::judged_leaves(const GameState& state) {
  ActionList actions;
  state.legal_actions(actions);
  visit(actions.size());
  std::vector<Values> after(static_cast<std::size_t>(actions.size()));
  evaluator_.evaluate({&state, &actions, nullptr, nullptr, after.data(), nullptr}, rng_);
  for (Values& points : after) points = utility(points, state);
  return after;
}

std::vector<Action> TurnTree::ordered_actions(const GameState& state) {
  ActionList actions;
  state.legal_actions(actions);
  std::vector<Action> out(actions.begin(), actions.end());
  if (!evaluator_.judges_actions() || out.size() == 1) return out;
  std::vector<Values> after(out.size());
  evaluator_.evaluate({&state, &actions, nullptr, nullptr, after.data(), nullptr}, rng_);
  std::vector<std::pair<float, Action>> judged;
  const auto mover = static_cast<std::size_t>(state.turn_player());
  for (std::size_t i = 0; i < out.size(); ++i) judged.emplace_back(after[i][mover] - after[i][1 - mover], out[i]);
  std::stable_sort(judged.begin(), judged.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::transform(judged.begin(), judged.end(), out.begin(), [](const auto& entry) { return entry.second; });
  return out;
}

// --- max^n ----------------------------------------------------------------------------------------------------------

MaxN::Utilities MaxN::after(const GameState& state, Action action, int turns) {
  return value(next_state(state, action), turns - (state.phase() == Phase::kFigure));
}

MaxN::Utilities MaxN::value(const GameState& state, int turns) {
  switch (state.phase()) {
    case Phase::kOver:
      return widened(final_utility(state));
    case Phase::kDraw:
      return turns ? mean(state, turns) : widened(leaf_utility(state));
    default:
      return best(state, turns);
  }
}

MaxN::Utilities MaxN::mean(const GameState& state, int turns) {
  Utilities sum{};
  for (const ChanceOutcome& outcome : state.chance_outcomes()) {
    const Utilities u = after(state, Action::draw(outcome.tile), turns);
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += outcome.probability * u[p];
  }
  return sum;
}

// The first of equals: with more than two players another choice may change the others' values. Two players have no
// such freedom, and exact comparison gives the value that pruning finds.
MaxN::Utilities MaxN::best(const GameState& state, int turns) {
  const auto mover = static_cast<std::size_t>(state.turn_player());
  const double tie = state.players() > 2 ? static_cast<double>(Expectiminimax::kTie) : 0;
  Utilities best{};
  best[mover] = -2;
  const auto offer = [&](const Utilities& u) {
    if (u[mover] > best[mover] + tie) best = u;
  };
  if (state.phase() == Phase::kFigure && has_judged_leaves(state, turns)) {
    for (const Values& u : judged_leaves(state)) offer(widened(u));
    return best;
  }
  ActionList actions;
  state.legal_actions(actions);
  for (const Action action : actions) offer(after(state, action, turns));
  return best;
}

// --- *-Minimax ------------------------------------------------------------------------------------------------------

// A tile that can come. Its placements are searched in order, maybe in two goes.
struct Star::Outcome {
  GameState state;
  double probability;
  double lower = kWorst;  // bound on the value
  std::vector<Action> actions = {};
  std::size_t searched = 0;  // of the actions
  double best = -2;          // of those searched
};

double Star::after(const GameState& state, Action action, int turns, double alpha, double beta) {
  const GameState next = next_state(state, action);
  return state.phase() == Phase::kFigure ? -value(next, turns - 1, -beta, -alpha) : value(next, turns, alpha, beta);
}

double Star::value(const GameState& state, int turns, double alpha, double beta) {
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

double Star::figure(const GameState& state, int turns, double alpha, double beta) {
  double best = -2;
  if (has_judged_leaves(state, turns)) {
    const auto mover = static_cast<std::size_t>(state.turn_player());
    for (const Values& u : judged_leaves(state)) best = std::max(best, static_cast<double>(u[mover]));
    return best;
  }
  for (const Action action : ordered_actions(state)) {
    best = std::max(best, after(state, action, turns, std::max(alpha, best), beta));
    if (best >= beta) break;
  }
  return best;
}

// The most probable first.
std::vector<Star::Outcome> Star::outcomes(const GameState& state) {
  std::vector<ChanceOutcome> tiles = state.chance_outcomes();
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  std::vector<Outcome> out;
  out.reserve(tiles.size());
  for (const ChanceOutcome& tile : tiles) {
    out.push_back({next_state(state, Action::draw(tile.tile)), tile.probability});
  }
  return out;
}

// Searches an outcome until `count` of its placements are searched.
double Star::search(Outcome& o, int turns, std::size_t count, double alpha, double beta) {
  if (o.state.phase() != Phase::kPlace) return value(o.state, turns, alpha, beta);  // the tile fits nowhere
  if (o.actions.empty()) o.actions = ordered_actions(o.state);
  for (; o.searched < std::min(count, o.actions.size()) && o.best < beta; ++o.searched) {
    o.best = std::max(o.best, after(o.state, o.actions[o.searched], turns, std::max(alpha, o.best), beta));
  }
  return o.best;
}

// Raises lower bounds; returns sum of p * lower bound, which may reach beta before all are probed.
double Star::probe(std::vector<Outcome>& all, int turns, double alpha, double beta) {
  const auto count = static_cast<std::size_t>(options_.pruning == Pruning::kStar2 ? 1 : options_.probing_factor);
  double lower = kWorst;
  for (Outcome& o : all) {
    if (o.state.phase() != Phase::kPlace) continue;
    const double p = o.probability;
    const Window window(alpha, beta, p, lower - p * kWorst, (1 - p) * kBest);
    const double low = std::max(window.alpha, kWorst);
    const double found = search(o, turns, count, low, std::min(window.beta, kBest));
    if (found <= low) continue;  // an upper bound of the placements probed, which says nothing about the others
    o.lower = found;
    lower += p * (found - kWorst);
    if (lower >= beta) break;
  }
  return lower;
}

double Star::chance(const GameState& state, int turns, double alpha, double beta) {
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
    // Windows only shrink: what a probe found stays a value or a bound on the same side.
    const double found =
        search(o, turns, ActionList::kCapacity, std::max(window.alpha, kWorst), std::min(window.beta, kBest));
    if (found >= window.beta) return done + p * found + lower;
    if (found <= window.alpha) return done + p * found + rest * kBest;
    done += p * found;
  }
  return done;
}

}  // namespace carc
