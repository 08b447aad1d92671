// Agents as Python holds them.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "carc/core/json.hpp"
#include "carc/play/agent.hpp"

namespace carc::python {

// Base of agents written in Python.
struct PyAgent {
  virtual ~PyAgent() = default;
};

// A C++ agent that Python may ask, one question at a time.
struct NamedAgent : PyAgent {
  NamedAgent(std::string agent_name, std::string agent_kind, Json agent_options)
      : name(std::move(agent_name)),
        kind(std::move(agent_kind)),
        options(std::move(agent_options)),
        make(configure_agent(kind, options)),
        agent(make()) {}
  std::string name, kind;
  Json options;
  AgentFactory make;
  std::unique_ptr<Agent> agent;
  std::mutex asked;
};

}  // namespace carc::python
