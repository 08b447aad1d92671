// GameRecord, verification, perft.
#include "bindings.hpp"
#include "carc/core/deck.hpp"
#include "carc/core/perft.hpp"
#include "carc/core/record.hpp"
#include "carc/core/replay.hpp"

namespace carc::python {

void bind_record(py::module_& m) {
  py::class_<GameRecord>(m, "GameRecord", "One game as data: rules, start and actions. It may stop before the end.")
      .def(py::init([](const PyState& initial) { return GameRecord(initial.game, initial.state); }), py::arg("initial"),
           "An empty record that begins at this state.")
      .def(
          "apply", [](GameRecord& self, const ActionLike& a) { self.apply(to_action(self.state(), a)); },
          py::arg("action"),
          "Add an action (or its text); raises IllegalAction and changes nothing if it is not legal after the others.")
      .def_property_readonly(
          "state", [](const GameRecord& self) { return PyState{self.game(), self.state()}; },
          "A copy of the position after all actions.")
      .def(
          "replay", [](const GameRecord& self, int n) { return PyState{self.game(), self.replay(n)}; },
          py::arg("n") = -1, "The position after the first n actions; all of them if n < 0.")
      .def_property_readonly("rules", [](const GameRecord& self) { return PyRules{self.game()}; })
      .def_property_readonly("actions", [](const GameRecord& self) { return self.actions(); })
      .def_readwrite("agents", &GameRecord::agents, "Names by seat.")
      .def_readwrite("seed", &GameRecord::seed, "Seed of the deck, or None.")
      .def("to_json", &GameRecord::to_json, py::arg("details") = false,
           "One JSON object on one line; `details` adds what could have been done.")
      .def_static(
          "from_json", [](const std::string& text) { return GameRecord::from_json(text); }, py::arg("text"),
          "Read a record or golden game; raises RecordError for damage, illegal moves and wrong values.")
      .def("to_text", &GameRecord::to_text, "A turn a line: \"D@0,-1r2 city:N\".")
      .def_static(
          "from_text",
          [](const std::string& text, const PyRules& rules) { return GameRecord::from_text(text, rules.game); },
          py::arg("text"), py::arg("rules"))
      .def("__copy__", [](const GameRecord& self) { return self; })
      .def(
          "__deepcopy__", [](const GameRecord& self, const py::dict&) { return self; }, py::arg("memo"))
      .def(
          "__eq__", [](const GameRecord& a, const GameRecord& b) { return a.to_json() == b.to_json(); },
          py::is_operator())
      .def(
          "__eq__", [](const GameRecord&, const py::object&) { return false; }, py::is_operator())
      .def("__repr__",
           [](const GameRecord& self) {
             return "<GameRecord of " + std::to_string(self.actions().size()) + " actions>";
           })
      .def(py::pickle([](const GameRecord& self) { return py::make_tuple(self.to_json()); },
                      [](const py::tuple& t) { return GameRecord::from_json(t[0].cast<std::string>()); }))
      .attr("__hash__") = py::none();

  py::class_<Findings>(m, "Findings", "What a comparison of a file with the engine found.")
      .def_readonly("games", &Findings::games)
      .def_readonly("turns", &Findings::turns)
      .def_readonly("values", &Findings::values, "Values compared.")
      .def_readonly("differences", &Findings::differences);
  m.def(
      "verify_document", [](const std::string& text) { return verify_document(text); }, py::arg("text"),
      py::call_guard<py::gil_scoped_release>(),
      "Replay one golden game, record or case (JSON) and compare every value that it states with the engine's.");
}

}  // namespace carc::python
