#include "carc/play/mcts_agent.hpp"

#include <algorithm>
#include <cmath>

#include "carc/neural/resnet_evaluator.hpp"
#include "carc/play/feature_net_agent.hpp"
#include "carc/play/greedy_agent.hpp"
#include "carc/search/solver.hpp"

namespace carc {
namespace {

constexpr std::uint64_t kSearch = 0, kTies = 1;  // streams of a decision's seed
constexpr float kAlike = 1e-4F;                  // points

std::shared_ptr<BatchQueue> make_queue(const MctsAgentOptions& options) {
  if (options.evaluator != EvaluatorKind::kResnet) return nullptr;
  if (options.network.empty())
    throw OptionError("network: found none with evaluator resnet, expected a file of weights");
  return std::make_shared<BatchQueue>(load_batch_model(options.network),
                                      std::min(options.mcts.threads, options.mcts.trees));
}

EvaluatorFactory evaluator_factory(const MctsAgentOptions& options, const std::shared_ptr<BatchQueue>& queue) {
  if (queue) return [queue] { return std::make_unique<ResnetEvaluator>(queue); };
  if (options.evaluator == EvaluatorKind::kHeuristic) {
    return [weights = options.weights] { return std::make_unique<HeuristicEvaluator>(weights); };
  }
  if (options.evaluator == EvaluatorKind::kFeatureNet) {
    return [net = read_agents_net(options.network), scale = options.weights.prior_scale] {
      return std::make_unique<FeatureEvaluator>(net, scale);
    };
  }
  return [rollout = options.rollout, weights = options.weights] {
    return std::make_unique<RolloutEvaluator>(rollout, std::make_shared<HeuristicEvaluator>(weights));
  };
}

// The mover's points minus the mean of the others' at the end of a game that greedy plays on along the deck.
double greedy_margin(GameState state, std::size_t mover, const std::array<TypeId, kMaxTiles>& deck, Rng rng) {
  GreedyAgent greedy;
  while (!state.is_terminal()) {
    state.apply(state.is_chance_node() ? Action::draw(deck[static_cast<std::size_t>(state.tiles_left() - 1)])
                                       : greedy.choose(state, rng));
  }
  return state.returns()[mover];
}

}  // namespace

MctsAgent::MctsAgent(const MctsAgentOptions& options)
    : options_(options), queue_(make_queue(options)), mcts_(options.mcts, evaluator_factory(options, queue_)) {}

std::optional<double> MctsAgent::batch_fill() const {
  if (!queue_ || queue_->counts().batches == 0) return std::nullopt;
  return queue_->counts().fill(queue_->most());
}

std::optional<SearchResult> MctsAgent::solved(const GameState& state) const {
  if (state.tiles_left() + 1 > options_.solve_tiles) return std::nullopt;
  const Solution solution = solve(state, SolverOptions{options_.solver_nodes});
  if (!solution.complete) return std::nullopt;
  SearchResult out;
  out.players = state.players();
  out.exact = true;
  out.best = solution.best;
  out.value = solution.value;
  out.nodes = solution.nodes;
  for (std::size_t i = 0; i < solution.actions.size(); ++i) {
    ActionReport report;
    report.action = solution.actions[i];
    report.players = state.players();
    report.utility = solution.values[i];
    report.value = static_cast<double>(report.utility[static_cast<std::size_t>(state.turn_player())]);
    out.actions.push_back(report);
  }
  out.line = {out.actions[static_cast<std::size_t>(out.best)].action};
  return out;
}

// The evaluation cannot tell many placements apart; games played on to the end can.
int MctsAgent::part_ties(const GameState& state, const SearchResult& result, std::uint64_t seed) const {
  ActionList actions;
  state.legal_actions(actions);
  std::vector<Values> after(static_cast<std::size_t>(actions.size()));
  HeuristicEvaluator(options_.weights).values_after(state, actions, after.data());
  const auto mover = static_cast<std::size_t>(state.turn_player());
  const auto advantage = [&](int i) {
    return lead(after[static_cast<std::size_t>(i)], state.turn_player(), state.players());
  };
  std::vector<int> tied;
  for (int i = 0; i < actions.size(); ++i) {
    const bool is_known = result.actions[static_cast<std::size_t>(i)].visits >= options_.mcts.min_visits;
    if (i == result.best || (is_known && std::abs(advantage(i) - advantage(result.best)) < kAlike)) tied.push_back(i);
  }
  if (tied.size() < 2) return result.best;
  std::stable_sort(tied.begin(), tied.end(), [&](int a, int b) {
    return result.actions[static_cast<std::size_t>(a)].value > result.actions[static_cast<std::size_t>(b)].value;
  });
  tied.resize(std::min(tied.size(), static_cast<std::size_t>(options_.tie_actions)));
  std::vector<double> sums(tied.size());
  for (int d = 0; d < options_.tie_decks; ++d) {
    Rng rng(split(seed, static_cast<std::uint64_t>(d)));
    const auto deck = sample_deck(state, rng);
    for (std::size_t t = 0; t < tied.size(); ++t) {
      GameState next = state;
      next.apply(actions[tied[t]]);
      sums[t] += greedy_margin(next, mover, deck, rng);
    }
  }
  return tied[static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())];
}

std::optional<SearchResult> MctsAgent::analyse(const GameState& state, Rng& rng) {
  const std::uint64_t seed = rng.next();
  if (auto exact = solved(state)) return exact;
  SearchResult result = mcts_.search(state, split(seed, kSearch));
  simulations_ += result.simulations;
  if (options_.tie_decks > 0 && state.phase() == Phase::kPlace) {
    const int best = part_ties(state, result, split(seed, kTies));
    if (best != result.best) result.best = best, result.line = {result.actions[static_cast<std::size_t>(best)].action};
  }
  return result;
}

Action MctsAgent::choose(const GameState& state, Rng& rng) {
  if (state.num_legal_actions() == 1) return state.legal_action(0);
  const SearchResult result = *analyse(state, rng);
  return result.actions[static_cast<std::size_t>(result.best)].action;
}

}  // namespace carc
