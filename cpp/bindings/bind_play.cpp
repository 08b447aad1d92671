// Agents, games between them, random games in bulk, measures.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <future>
#include <mutex>

#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/core/error.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/perft.hpp"
#include "carc/play/batch.hpp"
#include "carc/play/game_play.hpp"
#include "carc/play/luck.hpp"
#include "carc/play/measure.hpp"
#include "named_agent.hpp"

// A game to play: (seed of the deck, agent index by seat), and maybe the seed of the decisions.
template <>
class pybind11::detail::type_caster<carc::GameSpec> {
 public:
  PYBIND11_TYPE_CASTER(carc::GameSpec,
                       const_name("tuple[typing.SupportsIndex, collections.abc.Sequence[typing.SupportsIndex]] | "
                                  "tuple[typing.SupportsIndex, collections.abc.Sequence[typing.SupportsIndex], "
                                  "typing.SupportsIndex]"));
  bool load(handle source, bool) {
    if (!(PyTuple_Check(source.ptr()) || PyList_Check(source.ptr())) || (len(source) != 2 && len(source) != 3)) {
      carc::python::refuse<carc::Error>("games", source,
                                        "(seed of the deck, agent index by seat[, seed of the decisions])");
    }
    const tuple parts(reinterpret_borrow<object>(source));
    value.seed = parts[0].cast<carc::python::Whole<std::uint64_t, "seed">>();
    const auto seats = parts[1].cast<carc::python::Many<carc::python::Whole<int, "seats">, "seats">>();
    value.seats.assign(seats.items.begin(), seats.items.end());
    value.decisions.reset();
    if (parts.size() == 3)
      value.decisions = parts[2].cast<carc::python::Whole<std::uint64_t, "seed of the decisions">>();
    return true;
  }
};

namespace carc::python {
namespace {

constexpr int kMostThreads = 1024;
constexpr std::size_t kMostGames = 100'000'000;  // of random_games: about two gigabytes of results
constexpr std::int64_t kMostCopies = 1'000'000'000;

using Seed = Whole<std::uint64_t, "seed">;
using Threads = Whole<int, "threads", 1, kMostThreads>;
using Agents = Many<py::typing::Union<py::str, PyAgent>, "agents">;

// An agent written in Python as the games see it; the interpreter is locked for each decision.
class AgentInPython : public Agent {
 public:
  AgentInPython(py::object object, std::string name, std::shared_ptr<const Game> game)
      : object_(std::move(object)), name_(std::move(name)), game_(std::move(game)) {}
  ~AgentInPython() override {
    const py::gil_scoped_acquire lock;
    object_ = py::object();
  }

  Action choose(const GameState& state, Rng& rng) override {
    const py::gil_scoped_acquire lock;
    const py::object random = py::cast(rng);
    const py::object answer = object_.attr("choose")(PyState{game_, state}, random);
    rng = random.cast<Rng&>();
    try {
      return to_action(state, answer);
    } catch (const NotationError& error) {
      throw NotationError(blamed(error));
    } catch (const IllegalAction& error) {
      throw IllegalAction(blamed(error));
    } catch (const Error& error) {
      throw Error(blamed(error));
    }
  }

 private:
  std::string blamed(const Error& error) const { return "agent " + quote(name_) + ": " + error.what(); }

  py::object object_;
  std::string name_;
  std::shared_ptr<const Game> game_;
};

std::string agent_name(const py::object& agent) {
  if (const auto kind = as_text(agent)) return *kind;
  if (py::isinstance<NamedAgent>(agent)) return agent.cast<NamedAgent&>().name;
  if (!py::hasattr(agent, "choose") || PyType_Check(agent.ptr()))
    refuse<Error>("agent", agent, "the name of an agent or an object with a method choose");
  const py::object name = py::getattr(agent, "name", py::type::handle_of(agent).attr("__name__"));
  return py::str(name).cast<Text<"name of an agent">>();
}

AgentFactory make_factory(const py::object& agent, const std::string& name, const std::shared_ptr<const Game>& game) {
  if (py::isinstance<py::str>(agent)) return configure_agent(name, Json::object());
  if (py::isinstance<NamedAgent>(agent)) return agent.cast<NamedAgent&>().make;
  // Copied and dropped on worker threads: the reference is counted under the lock only.
  const auto shared = std::shared_ptr<py::object>(new py::object(agent), [](py::object* p) {
    const py::gil_scoped_acquire lock;
    delete p;
  });
  return [shared, name, game]() -> std::unique_ptr<Agent> {
    const py::gil_scoped_acquire lock;
    return std::make_unique<AgentInPython>(*shared, name, game);
  };
}

using OptionsDict = py::typing::Dict<py::str, py::object>;
using OnResult = py::typing::Optional<py::typing::Callable<py::object(std::size_t, GameResult)>>;
using Stopped = py::typing::Optional<py::typing::Callable<bool()>>;

std::size_t play(const PyRules& rules, const Agents& agents, const std::vector<GameSpec>& games,
                 const PlayOptions& options) {
  std::vector<AgentFactory> factories;
  std::vector<std::string> names;
  for (const auto& agent : agents.items) {
    names.push_back(agent_name(agent));
    factories.push_back(make_factory(agent, names.back(), rules.game));
  }
  PlayOptions all = options;
  all.interrupted = [&] {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return options.interrupted && options.interrupted();
  };
  const py::gil_scoped_release release;
  return play_games(rules.game, games, factories, names, all);
}

std::size_t play_many(const PyRules& rules, const Agents& agents, const Many<GameSpec, "games">& games, Threads threads,
                      Flag<"records"> records, Flag<"luck"> luck, const OnResult& on_result, const Stopped& stopped) {
  PlayOptions options;
  options.threads = threads;
  options.records = records.value;
  options.luck = luck.value;
  if (!on_result.is_none()) {
    if (!PyCallable_Check(on_result.ptr())) refuse<Error>("on_result", on_result, "a function or None");
    options.on_result = [&](std::size_t i, const GameResult& result) {
      const py::gil_scoped_acquire lock;
      const py::object answer = on_result(i, result);
      const auto go_on = as_flag(answer);
      if (!go_on && !answer.is_none())
        throw Error("on_result: found the answer " + found(answer) + ", expected True, False or None");
      return go_on.value_or(true);
    };
  }
  if (!stopped.is_none()) {
    if (!PyCallable_Check(stopped.ptr())) refuse<Error>("stopped", stopped, "a function or None");
    options.interrupted = [&] {  // called under the interpreter lock
      const py::object answer = stopped();
      const auto stop = as_flag(answer);
      if (!stop) throw Error("stopped: found the answer " + found(answer) + ", expected True or False");
      return *stop;
    };
  }
  return play(rules, agents, games.items, options);
}

GameResult play_one(const PyRules& rules, const Agents& agents, Seed seed) {
  GameSpec game{seed, {}, {}};
  for (std::size_t i = 0; i < agents.items.size(); ++i) game.seats.push_back(static_cast<int>(i));
  GameResult out;
  PlayOptions options;
  options.on_result = [&](std::size_t, const GameResult& result) {
    out = result;
    return true;
  };
  play(rules, agents, {game}, options);
  return out;
}

using LuckOfDraw = py::typing::Tuple<int, py::str, std::vector<double>>;

std::vector<LuckOfDraw> luck_of_record(const GameRecord& record) {
  const GameRecord copy = record;
  const auto players = static_cast<std::ptrdiff_t>(copy.state().players());
  std::vector<DrawLuck> draws;
  {
    const py::gil_scoped_release release;
    LuckMeter meter;
    draws = luck_of(copy, meter);
  }
  std::vector<LuckOfDraw> out;
  for (const DrawLuck& draw : draws) {
    out.push_back(py::make_tuple(draw.player, copy.game()->tile(draw.tile).id,
                                 std::vector<double>(draw.luck.begin(), draw.luck.begin() + players)));
  }
  return out;
}

void require_decision(const PyState& state, const std::string& what) {
  const Phase phase = state.state.phase();
  if (phase == Phase::kPlace || phase == Phase::kFigure) return;
  throw IllegalAction(what + ": found phase " + std::string(kPhaseNames[static_cast<std::size_t>(phase)]) +
                      ", expected place or figure");
}

// Asks the agent without the interpreter lock. One whose decisions may take long decides on a thread of its own, so
// that Ctrl-C stops it.
template <class Ask>
auto interruptible(NamedAgent& agent, Ask ask) {
  const py::gil_scoped_release release;
  const std::lock_guard lock(agent.asked);
  std::atomic<bool> stop{false};
  if (!agent.agent->watch(&stop)) return ask();
  auto answer = std::async(std::launch::async, ask);
  bool interrupted = false;
  while (answer.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const py::gil_scoped_acquire acquire;
    if (!interrupted && PyErr_CheckSignals() != 0) stop = interrupted = true;
  }
  agent.agent->watch(nullptr);
  if (interrupted) {
    const py::gil_scoped_acquire acquire;
    throw py::error_already_set();
  }
  return answer.get();
}

std::optional<SearchResult> analyse(NamedAgent& agent, const PyState& state, Rng& rng) {
  require_decision(state, "analyse");
  const PyState asked = state;
  Rng random = rng;
  auto result = interruptible(agent, [&] { return agent.agent->analyse(asked.state, random); });
  rng = random;
  return result;
}

Action ask(NamedAgent& agent, const PyState& state, Rng& rng) {
  require_decision(state, "choose");
  // Other threads of Python may change what the arguments refer to, so copies are read.
  const PyState asked = state;
  Rng random = rng;
  const Action action = interruptible(agent, [&] { return agent.agent->choose(asked.state, random); });
  rng = random;
  return action;
}

std::uint64_t count_sequences(const PyState& state, const Many<Text<"tiles", DeckError>, "tiles", DeckError>& tiles,
                              Whole<int, "turns", 0, kMaxTiles> turns) {
  const PyState copy = state;
  const Deck deck = Deck::from_ids(*copy.game, tiles.texts());
  const py::gil_scoped_release release;
  return perft(copy.state, deck, turns);
}

// An Rng as a pickle holds it: its four words.
using RngWords = Many<Whole<std::uint64_t, "pickle">, "pickle">;

Pickled<RngWords> pickle_rng(const Rng& rng) {
  Pickled<RngWords> out;
  for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, 4>>(rng)) out.item.items.push_back({word});
  return out;
}

Rng unpickle_rng(const Pickled<RngWords>& pickled) {
  std::array<std::uint64_t, 4> words{};
  const auto& items = pickled.item.items;
  if (items.size() == words.size()) std::copy(items.begin(), items.end(), words.begin());
  if (words == std::array<std::uint64_t, 4>{}) throw Error("pickle: found no state of an Rng, expected four words");
  return std::bit_cast<Rng>(words);
}

RandomGames random_batch(Whole<std::size_t, "n", 0, kMostGames> n, const std::optional<PyRules>& rules, Seed seed,
                         Threads threads) {
  const std::shared_ptr<const Game> game = rules ? rules->game : Game::create(Rules());
  bool was_interrupted = false;
  RandomGames games;
  {
    const py::gil_scoped_release release;
    games = random_games(*game, n, seed, threads, [&] {
      const py::gil_scoped_acquire lock;
      return was_interrupted = PyErr_CheckSignals() != 0;
    });
  }
  if (was_interrupted) throw py::error_already_set();
  return games;
}

template <class T>
py::array_t<T> column(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// (players, scores, turns, discards, placements, figures), the last five as arrays without their shape.
Pickled<py::object> pickle_games(const RandomGames& games) {
  return {py::make_tuple(games.players, column(games.scores), column(games.turns), column(games.discards),
                         column(games.placements), column(games.figures))};
}

template <class T>
std::vector<T> read_column(const py::handle& values, std::optional<std::size_t> rows = std::nullopt) {
  const auto array = py::array_t<T, py::array::c_style>::ensure(values);
  const bool fits = array && array.ndim() == 1;
  const std::size_t size = fits ? static_cast<std::size_t>(array.size()) : 0;
  if (!fits || (rows && size != *rows)) refuse<Error>("pickle", values, "an array with a row for each game");
  return {array.data(), array.data() + size};
}

RandomGames unpickle_games(const Pickled<py::object>& pickled) {
  if (!PyTuple_Check(pickled.item.ptr()) || py::len(pickled.item) != 6)
    refuse<Error>("pickle", pickled.item, "the results of random games");
  const py::tuple parts(pickled.item);
  RandomGames games;
  games.players = parts[0].cast<Whole<int, "players", kMinPlayers, kMaxPlayers>>();
  games.turns = read_column<std::int16_t>(parts[2]);
  const std::size_t n = games.turns.size();
  games.scores = read_column<std::int16_t>(parts[1], n * static_cast<std::size_t>(games.players));
  games.discards = read_column<std::int16_t>(parts[3], n);
  games.placements = read_column<std::int32_t>(parts[4], n);
  games.figures = read_column<std::int32_t>(parts[5], n);
  return games;
}

void bind_results(py::module_& m) {
  py::class_<GameResult>(m, "GameResult", "The outcome of one game; lists are by seat.")
      .def_readonly("scores", &GameResult::scores)
      .def_property_readonly(
          "points", [](const GameResult& r) { return points_dict(r.points, static_cast<int>(r.scores.size())); },
          "Points by feature kind and seat.")
      .def_property_readonly(
          "final_count",
          [](const GameResult& r) { return points_dict(r.final_count, static_cast<int>(r.scores.size())); },
          "The part of `points` paid after the last turn.")
      .def_readonly("turns", &GameResult::turns, "Tiles laid.")
      .def_readonly("discarded", &GameResult::discarded, "Ids of the tiles that fitted nowhere.")
      .def_property_readonly("figures_set",
                             [](const GameResult& r) {
                               return std::vector<int>(
                                   r.figures_set.begin(),
                                   r.figures_set.begin() + static_cast<std::ptrdiff_t>(r.scores.size()));
                             })
      .def_property_readonly(
          "think_seconds",
          [](const GameResult& r) {
            std::vector<double> out;
            for (std::size_t s = 0; s < r.scores.size(); ++s) out.push_back(static_cast<double>(r.think_ns[s]) * 1e-9);
            return out;
          },
          "Time spent deciding.")
      .def_property_readonly(
          "simulations",
          [](const GameResult& r) {
            return std::vector<std::int64_t>(r.simulations.begin(),
                                             r.simulations.begin() + static_cast<std::ptrdiff_t>(r.scores.size()));
          },
          "Simulations searched.")
      .def_property_readonly(
          "luck",
          [](const GameResult& r) {
            return r.luck.empty() ? std::nullopt : std::optional<std::vector<double>>(r.luck);
          },
          "Luck of the draws in points of margin, expectation zero (play_games(luck=True)); None if not measured.")
      .def_readonly("record", &GameResult::record, "The game as GameRecord.to_json() writes it.")
      .def_property_readonly(
          "forfeit",
          [](const GameResult& r) {
            using Reason = py::typing::Tuple<int, py::str, py::str>;
            return r.forfeit ? py::typing::Optional<Reason>(
                                   py::make_tuple(r.forfeit->seat, r.forfeit->reason, r.forfeit->detail))
                             : py::typing::Optional<Reason>(py::none());
          },
          "None, or (seat, reason in one word, detail) of who lost by not going on; the points are then those that "
          "there would be if the game had ended there.");
  py::class_<RandomGames> games(m, "RandomGames", "Results of random games as arrays with one row a game.");
  bind_copies(games);
  games
      .def_property_readonly(
          "scores",
          [](const RandomGames& g) {
            return py::array_t<std::int16_t>(
                {static_cast<py::ssize_t>(g.turns.size()), static_cast<py::ssize_t>(g.players)}, g.scores.data());
          },
          "Shape [games, players], int16.")
      .def_property_readonly(
          "turns", [](const RandomGames& g) { return column(g.turns); }, "Tiles laid, int16.")
      .def_property_readonly(
          "discards", [](const RandomGames& g) { return column(g.discards); }, "Tiles that fitted nowhere, int16.")
      .def_property_readonly(
          "placements", [](const RandomGames& g) { return column(g.placements); },
          "Legal placements summed over the turns, int32.")
      .def_property_readonly(
          "figures", [](const RandomGames& g) { return column(g.figures); }, "Figures set by all players, int32.")
      .def("__len__", [](const RandomGames& g) { return g.turns.size(); })
      .def(py::pickle(&pickle_games, &unpickle_games));
}

}  // namespace

std::function<std::unique_ptr<Agent>()> engine_agent(const py::object& agent) {
  const bool is_named = py::isinstance<NamedAgent>(agent);
  const auto name = as_text(agent);
  if (!is_named && !name) refuse<Error>("agent", agent, "the name of an agent or what make_agent returned");
  if ((is_named ? agent.cast<NamedAgent&>().kind : *name) == "guest")
    refuse<Error>("agent", agent, "an agent that is part of carc");
  return is_named ? agent.cast<NamedAgent&>().make : configure_agent(*name, Json::object());
}

void bind_play(py::module_& m) {
  py::class_<Rng> rng(m, "Rng", "Portable random numbers: the same seed gives the same numbers everywhere.");
  bind_copies(rng);
  rng.def(py::init([](Seed seed) { return Rng(seed); }), py::arg("seed"))
      .def("next", &Rng::next, "64 random bits.")
      .def(
          "below", [](Rng& self, Whole<std::uint32_t, "bound", 1> bound) { return self.below(bound); },
          py::arg("bound"), "A uniform integer from 0 to bound - 1.")
      .def("uniform", &Rng::uniform, "A uniform number in [0, 1).")
      .def(py::pickle(&pickle_rng, &unpickle_rng));
  m.def(
      "split_seed", [](Seed seed, Whole<std::uint64_t, "index"> index) { return split(seed, index); }, py::arg("seed"),
      py::arg("index"), "The seed of part `index` of a run with this seed.");

  py::class_<PyAgent>(m, "Agent",
                      "Base of agents written in Python: override choose. All threads of play_games call the same "
                      "object, interleaved under the interpreter lock; what it remembers must not depend on the "
                      "order of the calls.")
      .def(py::init<>())
      .def(
          "choose",
          [](const PyAgent&, const PyState&, Rng&) -> Action {
            PyErr_SetString(PyExc_NotImplementedError, "an agent must define choose(state, rng)");
            throw py::error_already_set();
          },
          py::arg("state"), py::arg("rng"),
          "Return a legal Action for state.current_player(); all randomness comes from rng.");
  py::class_<NamedAgent, PyAgent>(m, "NamedAgent", "An agent in C++, made by make_agent.")
      .def_readonly("name", &NamedAgent::name)
      .def_readonly("kind", &NamedAgent::kind)
      .def_property_readonly(
          "options", [](const NamedAgent& a) -> OptionsDict { return from_json_value(a.options).cast<py::dict>(); },
          "The options that were given.")
      .def("choose", &ask, py::arg("state"), py::arg("rng"))
      .def("analyse", &analyse, py::arg("state"), py::arg("rng"),
           "Search the position and return a SearchResult; None for an agent that does not search.")
      .def_property_readonly(
          "batch_fill",
          [](NamedAgent& a) {
            const py::gil_scoped_release release;
            const std::lock_guard lock(a.asked);
            return a.agent->batch_fill();
          },
          "Mean part of a batch that its searches have filled so far, 0 to 1; None for an agent without batches.")
      .def("__repr__", [](const NamedAgent& a) { return "<carc agent " + a.name + ">"; });
  m.def(
      "make_agent",
      [](const Text<"kind">& kind, const OptionsDict& options, const std::optional<Text<"name">>& name) {
        return std::make_unique<NamedAgent>(name ? name->value : kind.value, kind.value, to_json_value(options));
      },
      py::arg("kind"), py::arg("options") = OptionsDict(), py::arg("name") = std::nullopt,
      "An agent of this kind with these options, called `name` in results.");
  m.def(
      "agent_kinds",
      [] {
        using Option = py::typing::Tuple<py::str, py::str, py::str, py::str>;
        py::typing::List<py::typing::Tuple<py::str, py::str, py::typing::List<Option>>> out;
        for (const AgentKind& kind : agent_kinds()) {
          py::list options;
          for (const OptionInfo& o : kind.options)
            options.append(py::make_tuple(o.name, o.value, o.expected, o.meaning));
          out.append(py::make_tuple(kind.name, kind.summary, options));
        }
        return out;
      },
      "Every kind of agent: (name, how it decides, options); an option is (name, default as JSON, what is accepted, "
      "meaning).");

  bind_results(m);
  m.def("play_game", &play_one, py::arg("rules"), py::arg("agents"), py::arg("seed") = 0,
        "Play one game between the agents (names or Agent objects), one a seat.");
  m.def("play_games", &play_many, py::arg("rules"), py::arg("agents"), py::arg("games"), py::kw_only(),
        py::arg("threads") = 1, py::arg("records") = true, py::arg("luck") = false, py::arg("on_result") = std::nullopt,
        py::arg("stopped") = std::nullopt,
        "Play many games on threads. `games` lists (seed of the deck, agent index by seat) or (seed of the deck, agent "
        "index by seat, seed of the agents' random numbers); without the latter all games of a deck have the same "
        "random numbers turn by turn. `luck` measures GameResult.luck. on_result(index, result) is called for each as "
        "it ends and may return False to stop; stopped(), asked about ten times a second, may return True to stop. "
        "Games that have begun are finished. Returns the number of games finished. Results do not depend on `threads` "
        "(1 to 1024). All threads call the same Python object for an agent, interleaved under the interpreter lock. An "
        "interruption or an exception of on_result or stopped waits only for the decisions that are being made.");
  m.def("luck_of_record", &luck_of_record, py::arg("record"),
        "Luck of every draw of a game, in the order of its record's turns: (player, tile, luck by seat in points of "
        "margin). A tile that fitted nowhere has none. The sum is what play_games measures.");
  m.def("random_games", &random_batch, py::arg("n"), py::kw_only(), py::arg("rules") = std::nullopt,
        py::arg("seed") = 0, py::arg("threads") = 1,
        "n complete games in which every legal action is equally likely, in C++ without the interpreter lock. The "
        "results do not depend on `threads` (1 to 1024); n is at most 100,000,000.");
  m.def("perft", &count_sequences, py::arg("state"), py::arg("tiles"), py::arg("turns"),
        "Number of sequences of decisions over the next turns when these tiles come in this order.");
  m.def(
      "measure_clone_ns",
      [](const PyState& state, Whole<std::int64_t, "n", 1, kMostCopies> n) { return clone_ns(state.state, n); },
      py::arg("state"), py::arg("n") = 1000000, "Mean nanoseconds to copy the state in C++.");
  m.attr("STATE_BYTES") = sizeof(GameState);
}

}  // namespace carc::python
