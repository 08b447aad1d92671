// A player. An agent sees a state, never a deck, so it cannot know which tile comes next.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"

namespace carc {

class Agent {
 public:
  virtual ~Agent() = default;

  // A legal action for the player whose decision it is; phase Place or Figure. All randomness comes from `rng`: the
  // same state and the same numbers give the same action.
  virtual Action choose(const GameState& state, Rng& rng) = 0;
};

using AgentFactory = std::function<std::unique_ptr<Agent>()>;

struct AgentEntry {
  std::string name;
  std::string summary;  // one line: how it decides
  AgentFactory make;
};

// Every agent that can be named, weakest first. To add one, add a line to its definition in agents.cpp.
const std::vector<AgentEntry>& agent_table();

// Throws Error with the nearest name.
const AgentEntry& find_agent(const std::string& name);

}  // namespace carc
