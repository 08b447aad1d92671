// Self-play of the network `resnet`, and its games as examples.
#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/neural/plane_examples.hpp"
#include "carc/play/resnet_self_play.hpp"
#include "plane_arrays.hpp"

namespace carc::python {

// Games rebuilt as examples.
struct PyPlaneExamples {
  std::shared_ptr<const PlaneExamples> examples;
};

namespace {

using ArrayDict = py::typing::Dict<py::str, py::array>;

template <class T>
py::array_t<T> array_of(const std::vector<T>& values, const std::vector<py::ssize_t>& shape) {
  return py::array_t<T>(shape, values.data());
}

template <class T>
py::array_t<T> flat(const std::vector<T>& values) {
  return array_of(values, {static_cast<py::ssize_t>(values.size())});
}

ArrayDict self_play(const PyRules& rules, const py::typing::Dict<py::str, py::object>& options,
                    Whole<std::uint64_t, "seed"> seed, Whole<std::uint64_t, "first_game"> first_game,
                    Whole<int, "games", 1, 1'000'000> games, Whole<int, "threads", 1, 256> threads) {
  const Json given = to_json_value(options);
  ResnetSelfPlay played;
  bool was_interrupted = false;
  const auto interrupted = [&] {
    const py::gil_scoped_acquire lock;
    return was_interrupted = PyErr_CheckSignals() != 0;
  };
  try {
    const py::gil_scoped_release release;
    played = resnet_self_play(rules.game, given, seed, first_game, games, threads, interrupted);
  } catch (const BatchStopped&) {
    if (was_interrupted) throw py::error_already_set();
    throw;
  }
  const GameArrays& g = played.games;
  const auto rows = static_cast<py::ssize_t>(g.game_turns.size()), turns = static_cast<py::ssize_t>(g.tile.size());
  const py::ssize_t players = rules.rules().players;
  ArrayDict out;
  out["game_turns"] = flat(g.game_turns);
  out["final"] = array_of(g.final_scores, {rows, players});
  out["tile"] = flat(g.tile);
  out["placement"] = flat(g.placement);
  out["figure"] = flat(g.figure);
  out["explored"] = flat(g.explored);
  out["value"] = array_of(g.value, {turns, players});
  out["policy_size"] = flat(g.policy_size);
  out["policy_action"] = flat(g.policy_action);
  out["policy_share"] = flat(g.policy_share);
  return out;
}

template <class T>
std::vector<T> column(const ArrayDict& arrays, const char* name, bool is_needed = true) {
  if (!arrays.contains(name)) {
    if (!is_needed) return {};
    throw RecordError("games: found no array '" + std::string(name) + "', expected one");
  }
  const py::object found = arrays[name];
  if (!py::isinstance<py::array_t<T>>(found)) {
    refuse<RecordError>("games: " + std::string(name), found,
                        "an array of " + py::dtype::of<T>().attr("name").template cast<std::string>());
  }
  const auto array = py::array_t<T, py::array::c_style>::ensure(found);
  return {array.data(), array.data() + array.size()};
}

PyPlaneExamples read_examples(const PyRules& rules, const ArrayDict& arrays) {
  GameArrays games;
  games.players = rules.rules().players;
  games.game_turns = column<std::uint16_t>(arrays, "game_turns");
  games.final_scores = column<std::int16_t>(arrays, "final");
  games.tile = column<std::uint8_t>(arrays, "tile");
  games.placement = column<std::uint32_t>(arrays, "placement");
  games.figure = column<std::uint32_t>(arrays, "figure");
  games.value = column<float>(arrays, "value", false);
  games.policy_size = column<std::uint16_t>(arrays, "policy_size", false);
  games.policy_action = column<std::uint32_t>(arrays, "policy_action", false);
  games.policy_share = column<float>(arrays, "policy_share", false);
  const py::gil_scoped_release release;
  return {std::make_shared<PlaneExamples>(rules.game, std::move(games))};
}

py::array_t<std::int32_t> positions(const PyPlaneExamples& self) {
  const auto& examples = self.examples->examples();
  py::array_t<std::int32_t> out({static_cast<py::ssize_t>(examples.size()), py::ssize_t{4}});
  auto rows = out.mutable_unchecked<2>();
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto at = static_cast<py::ssize_t>(i);
    rows(at, 0) = static_cast<std::int32_t>(examples[i].game);
    rows(at, 1) = examples[i].turn;
    rows(at, 2) = static_cast<std::int32_t>(examples[i].phase);
    rows(at, 3) = examples[i].has_policy;
  }
  return out;
}

ArrayDict batch(const PyPlaneExamples& self, const Many<Whole<std::int64_t, "indices">, "indices">& indices) {
  if (indices.items.empty()) throw Error("indices: found none, expected one at least");
  const std::vector<std::int64_t> rows(indices.items.begin(), indices.items.end());
  PlaneTargets t;
  {
    const py::gil_scoped_release release;
    t = self.examples->batch(rows);
  }
  const auto n = static_cast<py::ssize_t>(rows.size());
  const py::ssize_t height = t.batch.height, width = t.batch.width;
  ArrayDict out;
  out["planes"] = planes_array(t.batch);
  out["mask"] = array_of(t.batch.mask, {n, 1, height, width});
  out["globals"] = array_of(t.batch.globals, {n, kPlaneGlobals});
  out["base"] = array_of(t.base, {n, kMaxPlayers});
  out["final"] = array_of(t.final, {n, kMaxPlayers});
  out["searched"] = array_of(t.searched, {n, kMaxPlayers});
  out["lead"] = flat(t.lead);
  out["cells"] = array_of(t.cells, {n, kMaxPlayers, height, width});
  out["policy_row"] = flat(t.policy_row);
  out["policy_index"] = flat(t.policy_index);
  out["policy_share"] = flat(t.policy_share);
  return out;
}

}  // namespace

void bind_resnet_training(py::module_& m) {
  m.def("resnet_self_play", &self_play, py::arg("rules"), py::arg("options"), py::arg("seed"), py::arg("first_game"),
        py::arg("games"), py::kw_only(), py::arg("threads") = 1,
        "Games of a network on board planes (options: network, a path; empty: of the hand-made evaluation) against "
        "itself, in C++ without the interpreter lock, as arrays: uint16 game_turns [G], int16 final [G, players]; over "
        "all turns uint8 tile, uint32 placement and figure (Action bits; 0xFFFFFFFF: the tile was discarded), uint8 "
        "explored, float32 value [T, players] (points foreseen; NaN: not searched); of the searches uint16 policy_size "
        "[2 T] (placement, figure), uint32 policy_action, float32 policy_share. Options: simulations, "
        "fast_simulations, full_rate, root_noise, root_noise_alpha, temperature, lanes (games at the same time, which "
        "share batches), search (a dict of options of the kind mcts). Game i has the seed split_seed(seed, i); the "
        "same lanes, threads and calls give the same games.");
  py::class_<PyPlaneExamples>(m, "PlaneExamples",
                              "Self-play games as examples of the network on board planes, rebuilt by replay. Raises "
                              "RecordError for games that the rules do not allow.")
      .def(py::init(&read_examples), py::arg("rules"), py::arg("arrays"))
      .def("__len__", [](const PyPlaneExamples& self) { return self.examples->examples().size(); })
      .def_property_readonly("positions", &positions,
                             "int32 [N, 4] of every example: game, turn, what comes next (0 draw, 1 placement, 2 "
                             "figure), whether a policy is known.")
      .def("batch", &batch, py::arg("indices"),
           "Inputs and targets of some examples, players from the one who decides: planes, mask, globals and base as "
           "encode_planes gives them; final and searched [N, 5] (points at the end, and foreseen by the search; NaN: "
           "not known), lead [N] (final, in points), cells [N, 5, H, W] (points paid from now on by the tile they came "
           "from); policies as entries policy_row (of the batch), policy_index (in a row of all logits: planes, then "
           "no figure), policy_share.");
}

}  // namespace carc::python
