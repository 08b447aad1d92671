#include "carc/core/error.hpp"
#include "carc/play/agent.hpp"
#include "carc/play/expectiminimax_agent.hpp"
#include "carc/play/feature_net_agent.hpp"
#include "carc/play/greedy_agent.hpp"
#include "carc/play/guest_agent.hpp"
#include "carc/play/jcz_agent.hpp"
#include "carc/play/mcts_agent.hpp"
#include "carc/play/random_agent.hpp"

namespace carc {
namespace {

template <class Options>
std::vector<OptionInfo> options_of() {
  std::vector<OptionInfo> out;
  list_options(Options{}, out);
  return out;
}

// An agent made from a struct of options.
template <class A, class Options>
AgentKind kind(std::string name, std::string summary) {
  return {std::move(name), std::move(summary), options_of<Options>(), [](const Json& json) -> AgentFactory {
            Options options;
            Json left = json;
            take_options(left, options);
            require_none_left(left, options_of<Options>());
            A check(options);  // options that contradict each other
            return [options] { return std::make_unique<A>(options); };
          }};
}

template <class A>
AgentKind kind(std::string name, std::string summary) {
  return {std::move(name), std::move(summary), {}, [](const Json& json) -> AgentFactory {
            require_none_left(json, {});
            return [] { return std::make_unique<A>(); };
          }};
}

}  // namespace

const std::vector<AgentKind>& agent_kinds() {
  static const std::vector<AgentKind> kKinds = {
      kind<RandomAgent>("random", "uniform placement; a figure with probability 0.5"),
      kind<GreedyAgent, GreedyOptions>("greedy", "best points after its turn, if the game ended then"),
      kind<JczAgent, JczWeights>("jcz", "ranks complete turns by points, chances of closing, stuck figures, merges"),
      kind<ExpectiminimaxAgent, ExpectiminimaxAgentOptions>("expectiminimax",
                                                            "depth-limited search over draws with Star pruning"),
      kind<MctsAgent, MctsAgentOptions>("mcts",
                                        "Monte Carlo tree search over sampled decks, chance nodes or open loop"),
      kind<FeatureNetAgent, FeatureNetOptions>("feature_net", "best turn by the additive feature network"),
      kind<GuestAgent, GuestOptions>("guest", "another program, asked over its standard input and output"),
  };
  return kKinds;
}

AgentFactory configure_agent(const std::string& name, const Json& options) {
  std::vector<std::string> names;
  for (const AgentKind& kind : agent_kinds()) {
    if (kind.name == name) return kind.configure(require_object<OptionError>(options, "agent options"));
    names.push_back(kind.name);
  }
  throw OptionError("unknown kind of agent " + quote(name) + ", did you mean '" + nearest(name, names) + "'?");
}

}  // namespace carc
