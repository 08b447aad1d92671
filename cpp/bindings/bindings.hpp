// What the parts of carc._core share. Bindings translate types; they hold no rules, search or match logic.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "carc/core/json.hpp"
#include "carc/core/state.hpp"

namespace carc {
class Agent;
}

namespace carc::python {

// Rules as Python sees them: validated, compiled once, immutable.
struct PyRules {
  std::shared_ptr<const Game> game;
  const Rules& rules() const { return game->rules(); }
};

// A state with the game that it refers to.
struct PyState {
  std::shared_ptr<const Game> game;
  GameState state;
};

using ActionLike = py::typing::Union<Action, py::str>;
using IntList = py::typing::List<int>;
using PointsDict = py::typing::Dict<py::str, IntList>;

using PickledText = Pickled<Text<"pickle">>;

// Python values as JSON and back; throws carc::Error for values that JSON cannot hold.
Json to_json_value(const py::handle& value);
py::object from_json_value(const Json& value);

PointsDict points_dict(const Points& points, int players);

// An action from an Action or its text; throws IllegalAction for anything else.
Action to_action(const GameState& state, const py::object& action);

// Makes agents of C++, from a name or what make_agent returned; throws Error for agents written in Python and for other
// programs.
std::function<std::unique_ptr<Agent>()> engine_agent(const py::object& agent);

void bind_errors(py::module_& m);
void bind_actions(py::module_& m);
void bind_rules(py::module_& m);
void bind_state(py::module_& m);
void bind_record(py::module_& m);
void bind_search(py::module_& m);
void bind_play(py::module_& m);
void bind_guests(py::module_& m);
void bind_neural(py::module_& m);
void bind_learning(py::module_& m);
void bind_turn_values(py::module_& m);
void bind_resnet(py::module_& m);
void bind_resnet_training(py::module_& m);

}  // namespace carc::python
