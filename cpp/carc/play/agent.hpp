// A player. An agent sees a state, never a deck, so it cannot know which tile comes next.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "carc/core/error.hpp"
#include "carc/core/options.hpp"
#include "carc/core/record.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"
#include "carc/search/search_result.hpp"

namespace carc {

// Thrown by an agent that loses the game at this point, for a reason in one word: only agents that run outside of this
// program do. An error of another kind ends the whole run.
class Forfeit : public Error {
 public:
  Forfeit(std::string reason, const std::string& what) : Error(what), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

class Agent {
 public:
  virtual ~Agent() = default;

  // A game begins in which the agent has a seat or several; `game` grows with it and stays until `end`. Both may throw
  // Forfeit, and `end` is always called.
  virtual void begin(const GameRecord&) {}
  virtual void end() {}

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
  // Mean part of a batch that its searches have filled so far, where a network judges positions in batches.
  virtual std::optional<double> batch_fill() const { return std::nullopt; }
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
