// What complete turns are worth: playouts, the hand-made evaluation.
#include <cstring>

#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/core/options.hpp"
#include "carc/play/turn_values.hpp"
#include "named_agent.hpp"

namespace carc::python {
namespace {

using OptionsDict = py::typing::Dict<py::str, py::object>;
using States = Many<py::typing::Union<PyState>, "states">;
using Turns = std::vector<std::pair<Action, Action>>;
using TurnTable = py::typing::Tuple<Turns, py::array_t<float>>;

Turns pairs(const std::vector<CompleteTurn>& turns) {
  Turns out;
  for (const CompleteTurn& turn : turns) out.emplace_back(turn.placement, turn.figure);
  return out;
}

std::vector<TurnTable> playouts(const States& states, const py::typing::Union<py::str, NamedAgent>& agent,
                                Whole<int, "playouts", 1, 1'000'000> playouts, Whole<std::uint64_t, "seed"> seed,
                                Whole<int, "threads", 1, 1024> threads) {
  const AgentFactory make = engine_agent(agent);
  std::vector<GameState> copies;
  std::vector<std::shared_ptr<const Game>> games;  // which the copies refer to
  for (const py::object& state : states.items) {
    if (!py::isinstance<PyState>(state)) refuse<Error>("states", state, "a GameState");
    const auto& held = state.cast<const PyState&>();
    copies.push_back(held.state);
    games.push_back(held.game);
  }
  bool was_interrupted = false;
  PlayoutOptions options;
  options.playouts = playouts;
  options.seed = seed;
  options.threads = threads;
  options.interrupted = [&] {
    const py::gil_scoped_acquire lock;
    return was_interrupted = PyErr_CheckSignals() != 0;
  };
  std::vector<TurnPlayouts> results;
  {
    const py::gil_scoped_release release;
    results = playout_turn_values(copies, make, options);
  }
  if (was_interrupted) throw py::error_already_set();
  std::vector<TurnTable> out;
  for (const TurnPlayouts& result : results) {
    const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(result.turns.size()), result.playouts};
    out.push_back(py::make_tuple(pairs(result.turns), py::array_t<float>(shape, result.margins.data())));
  }
  return out;
}

TurnTable heuristic(const PyState& state, const OptionsDict& options) {
  HeuristicWeights weights;
  std::vector<OptionInfo> known;
  list_options(weights, known);
  Json given = to_json_value(options);
  take_options(given, weights);
  require_none_left(given, known);
  const PyState copy = state;
  const JudgedTurns judged = heuristic_turn_values(copy.state, HeuristicEvaluator(weights));
  const auto players = static_cast<std::size_t>(copy.state.players());
  py::array_t<float> values({judged.turns.size(), players});
  for (std::size_t turn = 0; turn < judged.turns.size(); ++turn)
    std::memcpy(values.mutable_data(static_cast<py::ssize_t>(turn), 0), judged.values[turn].data(),
                players * sizeof(float));
  return py::make_tuple(pairs(judged.turns), std::move(values));
}

}  // namespace

void bind_turn_values(py::module_& m) {
  m.def(
      "playout_turn_values", &playouts, py::arg("states"), py::arg("agent"), py::arg("playouts"), py::kw_only(),
      py::arg("seed") = 0, py::arg("threads") = 1,
      "Play every complete turn of each state (phase place or figure) on to the end `playouts` times, with an agent of "
      "C++ in all seats. Returns for each state (turns, margins): a turn is (placement, figure), in phase figure the "
      "figure twice; margins, float32 [turn, playout], are the mover's final points minus the mean of the others'. "
      "Playout k of all turns of a state has the same order of the undrawn tiles and the same random numbers, so that "
      "differences of turns have little noise. The results do not depend on `threads` (1 to 1024), nor the first "
      "playouts on how many follow.");
  m.def(
      "heuristic_turn_values", &heuristic, py::arg("state"), py::kw_only(), py::arg("options") = OptionsDict(),
      "Judge the position after every complete turn of a state (phase place or figure) by the hand-made evaluation, "
      "whose weights are `options`. Returns (turns, values): a turn is (placement, figure), values are expected final "
      "points, float32 [turn, player].");
}

}  // namespace carc::python
