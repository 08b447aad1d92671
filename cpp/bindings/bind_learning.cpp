// The feature net, and games of self-play as arrays.
#include <optional>

#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/neural/examples.hpp"
#include "carc/neural/feature_net.hpp"
#include "carc/play/self_play.hpp"
#include "carc/search/utility.hpp"

namespace carc::python {

// A network with an evaluator of its own.
struct PyFeatureNet {
  std::shared_ptr<const FeatureNet> net;
};

namespace {

constexpr std::size_t kMostGames = 10'000'000;
using Seed = Whole<std::uint64_t, "seed">;
using FirstGame = Whole<std::uint64_t, "first_game">;
using Threads = Whole<int, "threads", 1, 1024>;
using ArrayDict = py::typing::Dict<py::str, py::array>;
using NetworkPath = Path<"network", WeightsError>;

// An array that owns the memory of a vector.
template <class T>
py::array array_of(std::vector<T>&& values, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<py::ssize_t>(values.size())};
  auto* owned = new std::vector<T>(std::move(values));
  const py::capsule owner(owned, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), owned->data(), owner);
}
template <class T>
py::array matrix_of(std::vector<T>&& values, std::size_t columns) {
  const auto rows = static_cast<py::ssize_t>(values.size() / columns);
  return array_of(std::move(values), {rows, static_cast<py::ssize_t>(columns)});
}

// Runs `work` without the interpreter lock and lets Ctrl-C end it; `work` gets the question whether it was pressed.
template <class Work>
auto interruptible(Work work) {
  bool was_interrupted = false;
  const auto interrupted = [&] {
    const py::gil_scoped_acquire lock;
    return was_interrupted = PyErr_CheckSignals() != 0;
  };
  auto result = [&] {
    const py::gil_scoped_release release;
    return work(interrupted);
  }();
  if (was_interrupted) throw py::error_already_set();
  return result;
}

ArrayDict play_self(const PyRules& rules, const py::dict& options, Seed seed, FirstGame first_game,
                    Whole<std::size_t, "games", 0, kMostGames> games, Threads threads) {
  Json left = to_json_value(options);
  SelfPlayOptions given;
  if (left.contains("search")) {
    Json search = require_object<OptionError>(left["search"], "search");
    left.erase("search");
    take_options(search, given.search);
    std::vector<OptionInfo> infos;
    list_options(MctsOptions{}, infos);
    require_none_left(search, infos);
    given.search.validate();
  }
  take_options(left, given);
  std::vector<OptionInfo> infos;
  list_options(SelfPlayOptions{}, infos);
  require_none_left(left, infos);
  GameArrays out = interruptible([&](const auto& interrupted) {
    return self_play(rules.game, given, seed, first_game, games, threads, interrupted);
  });
  const auto players = static_cast<std::size_t>(out.players);
  ArrayDict arrays;
  arrays["game_turns"] = array_of(std::move(out.game_turns));
  arrays["final"] = matrix_of(std::move(out.final_scores), players);
  arrays["tile"] = array_of(std::move(out.tile));
  arrays["placement"] = array_of(std::move(out.placement));
  arrays["figure"] = array_of(std::move(out.figure));
  arrays["explored"] = array_of(std::move(out.explored));
  arrays["value"] = matrix_of(std::move(out.value), players);
  arrays["policy_size"] = array_of(std::move(out.policy_size));
  arrays["policy_action"] = array_of(std::move(out.policy_action));
  arrays["policy_share"] = array_of(std::move(out.policy_share));
  return arrays;
}

template <class T>
std::vector<T> column(const py::dict& arrays, const char* name, std::optional<std::size_t> size = std::nullopt) {
  if (!arrays.contains(name)) throw Error("arrays: found no '" + std::string(name) + "'");
  const py::object value = arrays[name];
  const auto array = py::array_t<T, py::array::c_style>::ensure(value);
  if (!array || !py::isinstance<py::array_t<T>>(value)) {
    PyErr_Clear();
    refuse<Error>("arrays: " + std::string(name), value,
                  "an array of " + py::dtype::of<T>().attr("name").template cast<std::string>());
  }
  if (size && static_cast<std::size_t>(array.size()) != *size)
    throw Error("arrays: " + std::string(name) + ": found " + std::to_string(array.size()) + " entries, expected " +
                std::to_string(*size));
  return {array.data(), array.data() + array.size()};
}

GameArrays arrays_of(const py::dict& arrays, int players) {
  GameArrays games;
  games.players = players;
  games.game_turns = column<std::uint16_t>(arrays, "game_turns");
  std::size_t turns = 0;
  for (const std::uint16_t n : games.game_turns) turns += n;
  const auto n = static_cast<std::size_t>(players);
  games.final_scores = column<std::int16_t>(arrays, "final", games.games() * n);
  games.tile = column<std::uint8_t>(arrays, "tile", turns);
  games.placement = column<std::uint32_t>(arrays, "placement", turns);
  games.figure = column<std::uint32_t>(arrays, "figure", turns);
  games.explored = column<std::uint8_t>(arrays, "explored", turns);
  games.value = column<float>(arrays, "value", turns * n);
  return games;
}

std::shared_ptr<const FeatureNet> read_net(const NetworkPath& path) {
  const py::gil_scoped_release release;
  return FeatureNet::read(path.value);
}

ArrayDict dict_of(Examples&& e) {
  ArrayDict out;
  out["game"] = array_of(std::move(e.game));
  out["turn"] = array_of(std::move(e.turn));
  out["players"] = array_of(std::move(e.players));
  out["next"] = array_of(std::move(e.next));
  out["tiles_left"] = array_of(std::move(e.tiles_left));
  out["score"] = matrix_of(std::move(e.score), kMaxPlayers);
  out["final"] = matrix_of(std::move(e.final_scores), kMaxPlayers);
  out["target"] = matrix_of(std::move(e.target), kMaxPlayers);
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    Examples::Rows& rows = e.rows[k];
    const std::string kind = kRowKindNames[k];
    const auto name = [&](const char* part) { return py::str(kind + part); };
    out[name("_inputs")] = matrix_of(std::move(rows.inputs), row_inputs(static_cast<RowKind>(k)).size());
    out[name("_position")] = array_of(std::move(rows.position));
    out[name("_main")] = array_of(std::move(rows.main));
    out[name("_rival")] = array_of(std::move(rows.rival));
    out[name("_figures")] = matrix_of(std::move(rows.figures), 2);
    out[name("_targets")] = matrix_of(std::move(rows.targets), 5);
  }
  out["global_inputs"] = matrix_of(std::move(e.player_inputs), kPlayerInputs);
  out["global_position"] = array_of(std::move(e.player_position));
  out["global_player"] = array_of(std::move(e.player));
  out["global_targets"] = array_of(std::move(e.player_targets));
  return out;
}

ArrayDict rebuild(const PyRules& rules, const py::dict& arrays, double keep, double keep_explored, Seed seed,
                  FirstGame first_game, Threads threads, double lambda, const std::optional<NetworkPath>& network,
                  Flag<"bag_average"> bag_average) {
  const auto require_share = [](const char* name, double value) {
    if (!(value >= 0 && value <= 1))
      throw Error(std::string(name) + ": found " + detail::number_text(value) + ", expected a number from 0 to 1");
  };
  require_share("keep", keep), require_share("keep_explored", keep_explored), require_share("td_lambda", lambda);
  ExampleOptions options;
  options.keep = keep, options.keep_explored = keep_explored, options.lambda = lambda, options.seed = seed;
  const bool has_network = network && !network->value.empty();
  if (bag_average.value && !has_network)
    throw Error("bag_average: found no network, expected one to average over the bag");
  if (bag_average.value) options.bag_average = read_net(*network);
  const GameArrays games = arrays_of(arrays, rules.rules().players);
  return dict_of(interruptible([&](const auto& interrupted) {
    return read_examples(rules.game, games, first_game, options, threads, interrupted);
  }));
}

void require_between_turns(const GameState& state) {
  if (state.phase() != Phase::kDraw)
    throw Error("state: found phase " + std::string(kPhaseNames[static_cast<std::size_t>(state.phase())]) +
                ", expected draw: a position after a complete turn");
}

ArrayDict feature_rows(const PyState& state) {
  const GameState& s = state.state;
  require_between_turns(s);
  FeatureReader reader(*state.game);
  std::vector<Row> rows;
  std::vector<Inputs> players;
  reader.read_all(s, rows, players);
  Examples e;
  e.players.push_back(static_cast<std::uint8_t>(s.players()));
  e.next.push_back(static_cast<std::uint8_t>(s.turn_player()));
  e.tiles_left.push_back(static_cast<std::uint8_t>(s.tiles_left()));
  for (int p = 0; p < kMaxPlayers; ++p) e.score.push_back(static_cast<std::int16_t>(p < s.players() ? s.score(p) : 0));
  for (const Row& row : rows) {
    Examples::Rows& to = e.rows[static_cast<std::size_t>(row.kind)];
    to.inputs.insert(to.inputs.end(), row.inputs.begin(),
                     row.inputs.begin() + static_cast<std::ptrdiff_t>(row_inputs(row.kind).size()));
    to.position.push_back(0);
    to.main.push_back(row.main), to.rival.push_back(row.rival);
    to.figures.push_back(row.figures_main), to.figures.push_back(row.figures_rival);
  }
  for (std::size_t p = 0; p < players.size(); ++p) {
    e.player_inputs.insert(e.player_inputs.end(), players[p].begin(), players[p].begin() + kPlayerInputs);
    e.player_position.push_back(0);
    e.player.push_back(static_cast<std::uint8_t>(p));
  }
  ArrayDict all = dict_of(std::move(e));
  for (const char* outcome : {"game", "turn", "final", "target", "global_targets", "city_targets", "road_targets",
                              "monastery_targets", "field_targets"})
    PyDict_DelItemString(all.ptr(), outcome);
  return all;
}

py::dict encoder() {
  const auto list_of = [](std::span<const InputInfo> inputs) {
    py::list out;
    for (const InputInfo& input : inputs) out.append(py::make_tuple(input.name, input.scale));
    return out;
  };
  py::dict kinds, out;
  for (std::size_t k = 0; k < kRowKinds; ++k) kinds[kRowKindNames[k]] = list_of(row_inputs(static_cast<RowKind>(k)));
  out["version"] = kFeatureEncoder;
  out["kinds"] = kinds;
  out["global"] = list_of(player_inputs());
  out["returns"] = kReturnsScale;
  return out;
}

py::array_t<float> net_values(const PyFeatureNet& net, const Many<PyState, "states">& states) {
  py::array_t<float> out({static_cast<py::ssize_t>(states.items.size()), static_cast<py::ssize_t>(kMaxPlayers)});
  float* to = out.mutable_data();
  const py::gil_scoped_release release;
  FeatureEvaluator evaluator(net.net);
  for (const PyState& state : states.items) {
    const Values u = evaluator.value(state.state);
    for (std::size_t p = 0; p < u.size(); ++p) *to++ = static_cast<int>(p) < state.state.players() ? u[p] : 0;
  }
  return out;
}

using TurnList = py::typing::List<py::typing::Tuple<Action, Action>>;

py::typing::Tuple<TurnList, py::array_t<float>> net_turns(const PyFeatureNet& net, const PyState& state) {
  if (state.state.phase() != Phase::kPlace && state.state.phase() != Phase::kFigure)
    throw Error("state: found phase " + std::string(kPhaseNames[static_cast<std::size_t>(state.state.phase())]) +
                ", expected place or figure");
  FeatureEvaluator evaluator(net.net);
  const FeatureEvaluator::Turns judged = evaluator.judge_turns(state.state);
  const int players = state.state.players();
  TurnList turns;
  for (const Turn& turn : judged.turns) turns.append(py::make_tuple(turn.placement, turn.figure));
  py::array_t<float> values({static_cast<py::ssize_t>(judged.turns.size()), static_cast<py::ssize_t>(players)});
  float* to = values.mutable_data();
  for (const Values& u : judged.values) {
    for (int p = 0; p < players; ++p) *to++ = u[static_cast<std::size_t>(p)];
  }
  return py::make_tuple(std::move(turns), std::move(values));
}

void measure_turns(const PyFeatureNet& net, const Many<PyState, "states">& states,
                   Whole<int, "repeats", 0, 1'000'000'000> repeats) {
  for (const PyState& state : states.items) {
    if (state.state.phase() != Phase::kPlace && state.state.phase() != Phase::kFigure)
      throw Error("states: found one in phase " +
                  std::string(kPhaseNames[static_cast<std::size_t>(state.state.phase())]) +
                  ", expected place or figure");
  }
  const py::gil_scoped_release release;
  FeatureEvaluator evaluator(net.net);
  for (int i = 0; i < repeats; ++i) {
    for (const PyState& state : states.items) evaluator.judge_turns(state.state);
  }
}

}  // namespace

void bind_learning(py::module_& m) {
  py::class_<PyFeatureNet>(m, "FeatureNet", "The additive feature network, read from a file of weights.")
      .def(py::init([](const NetworkPath& path) { return PyFeatureNet{read_net(path)}; }), py::arg("path"),
           "Raises WeightsError for what is no such network, or one of another encoder.")
      .def_property_readonly(
          "metadata",
          [](const PyFeatureNet& net) {
            py::typing::Dict<py::str, py::str> out;
            for (const auto& [key, value] : net.net->metadata()) out[py::str(key)] = py::str(value);
            return out;
          },
          "What the file says of itself, as texts.")
      .def("values", &net_values, py::arg("states"),
           "Expected final points: float32 [N, 5], 0 for seats that are not there. In phases place and figure those of "
           "the best complete turn.")
      .def("turn_values", &net_turns, py::arg("state"),
           "Every complete turn of a position in phase place or figure, in the order of legal actions: a list of "
           "(placement, figure), in phase figure (figure, figure), and float32 [M, players], the final points expected "
           "after each.")
      .def("measure_turns", &measure_turns, py::arg("states"), py::arg("repeats") = 1,
           "Judge all turns of every state, so often, for `carc bench neural`.");
  m.def(
      "feature_encoder", &encoder,
      "Inputs of the feature network: {\"version\": int, \"kinds\": {kind: [(name, scale), ...]}, \"global\": [(name, "
      "scale), ...], \"returns\": scale of the last, computed input of a player}.");
  m.def("feature_rows", &feature_rows, py::arg("state"),
        "Inputs of the feature network for a position in phase draw, as `rebuild` gives them, without targets.");
  m.def(
      "self_play", &play_self, py::arg("rules"), py::arg("options"), py::arg("seed"), py::arg("first_game"),
      py::arg("games"), py::arg("threads") = 1,
      "Games `first_game` to `first_game` + `games` - 1 of a run, in C++ without the interpreter lock; game i depends "
      "on `seed` and i alone. `options`: see `carc selfplay --help`. Returns arrays: game_turns uint16 [G], final "
      "int16 [G, n]; over all turns T: tile uint8, placement uint32 (bits of the action; 2^32 - 1: the tile was "
      "discarded), figure uint32, explored uint8, value float32 [T, n] (points expected before the choice; NaN: not "
      "known), policy_size uint16 [2 T], and policy_action uint32, policy_share float32 for each action of these.");
  m.def(
      "rebuild", &rebuild, py::arg("rules"), py::arg("arrays"), py::kw_only(), py::arg("keep") = 0.3,
      py::arg("keep_explored") = 0.7, py::arg("seed") = 0, py::arg("first_game") = 0, py::arg("threads") = 1,
      py::arg("td_lambda") = 1.0, py::arg("network") = std::nullopt, py::arg("bag_average") = false,
      "Replay games as `self_play` gives them and label positions (shares `keep` and, after explored turns, "
      "`keep_explored` of them). By position [P]: game, turn, players, next, tiles_left, score and final int16 [P, 5], "
      "target float32 [P, 5]. For each kind of feature: KIND_inputs uint8 [R, I], KIND_position, KIND_main, KIND_rival "
      "(255: nobody), KIND_figures [R, 2], KIND_targets float32 [R, 5] (points of main, rival (NaN: nobody) and all "
      "others; share of the remaining tiles for which main's figures are bound; 1 if completed). By player: "
      "global_inputs, global_position, global_player, global_targets (points from features not claimed then). "
      "`td_lambda` below 1: TD(lambda) over `value`; `bag_average`: the mean of `network`'s values over the next "
      "draws. "
      "Raises RecordError naming the game and turn of what is illegal.");
}

}  // namespace carc::python
