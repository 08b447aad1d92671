#include "carc/core/error.hpp"
#include "carc/play/agent.hpp"
#include "carc/play/greedy_agent.hpp"
#include "carc/play/random_agent.hpp"

namespace carc {
namespace {

template <class A>
AgentEntry entry(std::string name, std::string summary) {
  return {std::move(name), std::move(summary), [] { return std::make_unique<A>(); }};
}

}  // namespace

const std::vector<AgentEntry>& agent_table() {
  static const std::vector<AgentEntry> kAgents = {
      entry<RandomAgent>("random", "uniform placement; a figure with probability 0.5"),
      entry<GreedyAgent>("greedy", "best points after its turn, if the game ended then"),
  };
  return kAgents;
}

const AgentEntry& find_agent(const std::string& name) {
  std::vector<std::string> names;
  for (const AgentEntry& agent : agent_table()) {
    if (agent.name == name) return agent;
    names.push_back(agent.name);
  }
  throw Error("unknown agent " + quote(name) + ", did you mean '" + nearest(name, names) + "'?");
}

}  // namespace carc
