#include "carc/play/feature_net_agent.hpp"

#include <array>

#include "carc/search/utility.hpp"

namespace carc {

std::shared_ptr<const FeatureNet> read_agents_net(const std::string& network) {
  if (network.empty()) throw OptionError("network: found none, expected the file of a feature net");
  return FeatureNet::read(network);
}

FeatureNetAgent::FeatureNetAgent(const FeatureNetOptions& options) : evaluator_(read_agents_net(options.network)) {}

Action FeatureNetAgent::choose(const GameState& state, Rng&) {
  if (state.num_legal_actions() == 1) return state.legal_action(0);
  const FeatureEvaluator::Turns judged = evaluator_.judge_turns(state);
  const int mover = state.turn_player(), n = state.players();
  std::size_t best = 0;
  for (std::size_t t = 1; t < judged.turns.size(); ++t) {
    if (lead(judged.values[t], mover, n) > lead(judged.values[best], mover, n)) best = t;
  }
  return judged.turns[best].placement;
}

std::optional<SearchResult> FeatureNetAgent::analyse(const GameState& state, Rng& rng) {
  ActionList actions;
  state.legal_actions(actions);
  std::array<Values, ActionList::kCapacity> after;
  std::array<float, ActionList::kCapacity> priors;
  evaluator_.evaluate({&state, &actions, nullptr, priors.data(), after.data(), nullptr}, rng);
  const Utility utility;
  const auto mover = static_cast<std::size_t>(state.turn_player());
  SearchResult out;
  out.players = state.players();
  for (int i = 0; i < actions.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    ActionReport report;
    report.action = actions[i];
    report.players = state.players();
    report.visits = 1;
    report.prior = static_cast<double>(priors[at]);
    report.points = after[at];
    report.utility = utility(after[at], state.players());
    report.value = static_cast<double>(report.utility[mover]);
    out.actions.push_back(report);
    const auto best = static_cast<std::size_t>(out.best);
    if (lead(after[at], state.turn_player(), state.players()) > lead(after[best], state.turn_player(), state.players()))
      out.best = i;
  }
  const ActionReport& best = out.actions[static_cast<std::size_t>(out.best)];
  out.line = {best.action};
  out.value = best.utility;
  out.points = best.points;
  out.simulations = actions.size();
  return out;
}

}  // namespace carc
