// A player. An agent sees a state, never a deck, so it cannot know which tile comes next.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "carc/core/options.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"
#include "carc/search/search_result.hpp"

namespace carc {

class Agent {
 public:
  virtual ~Agent() = default;

  // A legal action for the player whose decision it is; phase Place or Figure. All randomness comes from `rng`: the
  // same state and the same numbers give the same action.
  virtual Action choose(const GameState& state, Rng& rng) = 0;

  // What the agent thinks of every action, where it searches; `choose` plays the best of it.
  virtual std::optional<SearchResult> analyse(const GameState&, Rng&) { return std::nullopt; }
  // From now on decisions may end early, with what was found until then, once `stop` is true (null: never). Returns
  // whether the agent heeds it; one that does not is quick.
  virtual bool watch(const std::atomic<bool>*) { return false; }
  // Simulations (or positions) searched so far.
  virtual std::int64_t simulations() const { return 0; }
};

using AgentFactory = std::function<std::unique_ptr<Agent>()>;

// A way of playing with its parameters.
struct AgentKind {
  std::string name;
  std::string summary;  // one line: how it decides
  std::vector<OptionInfo> options;
  std::function<AgentFactory(const Json& options)> configure;  // throws OptionError
};

// To add a kind, add a line to its definition in agents.cpp.
const std::vector<AgentKind>& agent_kinds();

// `options`: an object of option names and values. Throws OptionError with the nearest kind or option.
AgentFactory configure_agent(const std::string& kind, const Json& options = Json::object());

}  // namespace carc
