// GameRecord, verification, perft.
#include "bindings.hpp"
#include "carc/core/deck.hpp"
#include "carc/core/perft.hpp"
#include "carc/core/record.hpp"
#include "carc/core/replay.hpp"

namespace carc::python {
namespace {

void set_agents(GameRecord& record, const Many<Text<"agents">, "agents">& names) {
  const auto players = static_cast<std::size_t>(record.game()->rules().players);
  if (!names.items.empty() && names.items.size() != players) {
    throw Error("agents: found " + std::to_string(names.items.size()) + " names, expected " + std::to_string(players) +
                " or none");
  }
  record.agents = names.texts();
}

}  // namespace

void bind_record(py::module_& m) {
  py::class_<GameRecord> record(m, "GameRecord",
                                "One game as data: rules, start and actions. It may stop before the end.");
  bind_copies(record);
  record
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
          "replay", [](const GameRecord& self, Whole<int, "n"> n) { return PyState{self.game(), self.replay(n)}; },
          py::arg("n") = -1, "The position after the first n actions; all of them if n < 0.")
      .def_property_readonly("rules", [](const GameRecord& self) { return PyRules{self.game()}; })
      .def_property_readonly("actions", [](const GameRecord& self) { return self.actions(); })
      .def_property(
          "agents", [](const GameRecord& self) { return self.agents; }, &set_agents, "Names by seat; may be empty.")
      .def_property(
          "seed", [](const GameRecord& self) { return self.seed; },
          [](GameRecord& self, std::optional<Whole<std::uint64_t, "seed">> seed) { self.seed = seed; },
          "Seed of the deck, or None.")
      .def(
          "to_json", [](const GameRecord& self, Flag<"details"> details) { return self.to_json(details.value); },
          py::arg("details") = false, "One JSON object on one line; `details` adds what could have been done.")
      .def_static(
          "from_json", [](const Text<"text", RecordError>& text) { return GameRecord::from_json(text.value); },
          py::arg("text"),
          "Read a record or golden game; raises RecordError for damage, illegal moves and wrong values.")
      .def("to_text", &GameRecord::to_text, "A turn a line: \"D@0,-1r2 city:N\".")
      .def_static(
          "from_text",
          [](const Text<"text", RecordError>& text, const PyRules& rules) {
            return GameRecord::from_text(text.value, rules.game);
          },
          py::arg("text"), py::arg("rules"))
      .def(
          "__eq__", [](const GameRecord& a, const GameRecord& b) { return a.to_json() == b.to_json(); },
          py::is_operator())
      .def(
          "__eq__", [](const GameRecord&, const py::object&) { return false; }, py::is_operator())
      .def("__repr__",
           [](const GameRecord& self) {
             return "<GameRecord of " + std::to_string(self.actions().size()) + " actions>";
           })
      .def(py::pickle([](const GameRecord& self) { return PickledText{{self.to_json()}}; },
                      [](const PickledText& pickled) { return GameRecord::from_json(pickled.item.value); }))
      .attr("__hash__") = py::none();

  py::class_<Findings>(m, "Findings", "What a comparison of a file with the engine found.")
      .def_readonly("games", &Findings::games)
      .def_readonly("turns", &Findings::turns)
      .def_readonly("values", &Findings::values, "Values compared.")
      .def_readonly("differences", &Findings::differences);
  m.def(
      "verify_document", [](const Text<"text">& text) { return verify_document(text.value); }, py::arg("text"),
      py::call_guard<py::gil_scoped_release>(),
      "Replay one golden game, record or case (JSON) and compare every value that it states with the engine's.");
}

}  // namespace carc::python
