// Agents, games between them, random games in bulk, measures.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/core/error.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/perft.hpp"
#include "carc/play/batch.hpp"
#include "carc/play/game_play.hpp"
#include "carc/play/measure.hpp"

namespace carc::python {
namespace {

// Base of agents written in Python.
struct PyAgent {
  virtual ~PyAgent() = default;
};

// A C++ agent that Python may ask.
struct NamedAgent : PyAgent {
  explicit NamedAgent(const std::string& agent_name) : name(agent_name), agent(find_agent(agent_name).make()) {}
  std::string name;
  std::unique_ptr<Agent> agent;
};

// An agent written in Python as the games see it; the interpreter is locked for each decision.
class AgentInPython : public Agent {
 public:
  AgentInPython(py::object object, std::shared_ptr<const Game> game)
      : object_(std::move(object)), game_(std::move(game)) {}
  ~AgentInPython() override {
    const py::gil_scoped_acquire lock;
    object_ = py::object();
  }

  Action choose(const GameState& state, Rng& rng) override {
    const py::gil_scoped_acquire lock;
    const py::object random = py::cast(rng);
    const py::object action = object_.attr("choose")(PyState{game_, state}, random);
    rng = random.cast<Rng&>();
    return to_action(state, action);
  }

 private:
  py::object object_;
  std::shared_ptr<const Game> game_;
};

using AgentLike = py::typing::Union<py::str, PyAgent>;
using AgentList = py::typing::List<AgentLike>;
using SeatsList = std::vector<std::pair<std::uint64_t, std::vector<int>>>;

AgentFactory make_factory(const py::object& agent, const std::shared_ptr<const Game>& game) {
  if (py::isinstance<py::str>(agent)) return find_agent(py::cast<std::string>(agent)).make;
  if (py::isinstance<NamedAgent>(agent)) return find_agent(agent.cast<NamedAgent&>().name).make;
  if (!py::hasattr(agent, "choose"))
    throw Error("agent: found " + found(agent) + ", expected the name of an agent or an object with a method choose");
  // Copied and dropped on worker threads: the reference is counted under the lock only.
  const auto shared = std::shared_ptr<py::object>(new py::object(agent), [](py::object* p) {
    const py::gil_scoped_acquire lock;
    delete p;
  });
  return [shared, game]() -> std::unique_ptr<Agent> {
    const py::gil_scoped_acquire lock;
    return std::make_unique<AgentInPython>(*shared, game);
  };
}

std::string agent_name(const py::object& agent) {
  if (py::isinstance<py::str>(agent)) return py::cast<std::string>(agent);
  if (py::isinstance<NamedAgent>(agent)) return agent.cast<NamedAgent&>().name;
  return py::cast<std::string>(py::str(py::getattr(agent, "name", py::type::handle_of(agent).attr("__name__"))));
}

std::size_t play(const PyRules& rules, const AgentList& agents, const SeatsList& games, int threads, bool records,
                 const std::optional<std::function<py::object(std::size_t, const GameResult&)>>& on_result) {
  std::vector<AgentFactory> factories;
  std::vector<std::string> names;
  for (const auto& agent : agents) {
    factories.push_back(make_factory(py::reinterpret_borrow<py::object>(agent), rules.game));
    names.push_back(agent_name(py::reinterpret_borrow<py::object>(agent)));
  }
  std::vector<GameSpec> specs;
  for (const auto& [seed, seats] : games) specs.push_back({seed, seats});
  PlayOptions options;
  options.threads = threads;
  options.records = records;
  if (on_result) {
    options.on_result = [&](std::size_t i, const GameResult& result) {
      const py::gil_scoped_acquire lock;
      const py::object answer = (*on_result)(i, result);
      if (!answer.is_none() && !py::isinstance<py::bool_>(answer)) {
        throw Error("on_result: found the answer " + found(answer) + ", expected True, False or None");
      }
      return answer.is_none() || answer.cast<bool>();
    };
  }
  options.interrupted = [] {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return false;
  };
  const py::gil_scoped_release release;
  return play_games(rules.game, specs, factories, names, options);
}

GameResult play_one(const PyRules& rules, const AgentList& agents, std::uint64_t seed) {
  std::vector<int> seats;
  for (std::size_t i = 0; i < agents.size(); ++i) seats.push_back(static_cast<int>(i));
  std::optional<GameResult> out;
  play(rules, agents, {{seed, seats}}, 1, true, [&](std::size_t, const GameResult& result) -> py::object {
    out = result;
    return py::none();
  });
  return *out;
}

RandomGames random_batch(std::size_t n, const std::optional<PyRules>& rules, std::uint64_t seed, int threads) {
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
      .def_readonly("record", &GameResult::record, "The game as GameRecord.to_json() writes it.");
  py::class_<RandomGames>(m, "RandomGames", "Results of random games as arrays with one row a game.")
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
      .def("__len__", [](const RandomGames& g) { return g.turns.size(); });
}

}  // namespace

void bind_play(py::module_& m) {
  py::class_<Rng>(m, "Rng", "Portable random numbers: the same seed gives the same numbers everywhere.")
      .def(py::init<std::uint64_t>(), py::arg("seed"))
      .def("next", &Rng::next, "64 random bits.")
      .def(
          "below",
          [](Rng& self, std::uint32_t bound) {
            if (bound == 0) throw Error("below: found bound 0, expected at least 1");
            return self.below(bound);
          },
          py::arg("bound"), "A uniform integer from 0 to bound - 1.")
      .def("uniform", &Rng::uniform, "A uniform number in [0, 1).");
  m.def("split_seed", &split, py::arg("seed"), py::arg("index"), "The seed of part `index` of a run with this seed.");

  py::class_<PyAgent>(m, "Agent", "Base of agents written in Python: override choose.")
      .def(py::init<>())
      .def(
          "choose",
          [](const PyAgent&, const PyState&, Rng&) -> Action {
            PyErr_SetString(PyExc_NotImplementedError, "an agent must define choose(state, rng)");
            throw py::error_already_set();
          },
          py::arg("state"), py::arg("rng"),
          "Return a legal Action for state.current_player(); all randomness comes from rng.");
  py::class_<NamedAgent, PyAgent>(m, "NamedAgent", "An agent of the agent table, made by make_agent.")
      .def_readonly("name", &NamedAgent::name)
      .def(
          "choose",
          [](NamedAgent& self, const PyState& state, Rng& rng) {
            if (state.state.phase() != Phase::kPlace && state.state.phase() != Phase::kFigure) {
              throw IllegalAction("choose: found phase " +
                                  std::string(kPhaseNames[static_cast<std::size_t>(state.state.phase())]) +
                                  ", expected place or figure");
            }
            const py::gil_scoped_release release;
            return self.agent->choose(state.state, rng);
          },
          py::arg("state"), py::arg("rng"));
  m.def(
      "make_agent", [](const std::string& name) { return NamedAgent(name); }, py::arg("name"),
      "An agent of the table by its name.");
  m.def(
      "agent_table",
      [] {
        py::typing::List<py::typing::Tuple<py::str, py::str>> out;
        for (const AgentEntry& a : agent_table()) out.append(py::make_tuple(a.name, a.summary));
        return out;
      },
      "Every agent that can be named: (name, how it decides).");

  bind_results(m);
  m.def("play_game", &play_one, py::arg("rules"), py::arg("agents"), py::arg("seed") = 0,
        "Play one game between the agents (names or Agent objects), one a seat.");
  m.def("play_games", &play, py::arg("rules"), py::arg("agents"), py::arg("games"), py::kw_only(),
        py::arg("threads") = 1, py::arg("records") = true, py::arg("on_result") = std::nullopt,
        "Play many games on threads. `games` lists (seed of the deck, agent index by seat); on_result(index, result) "
        "is called for each as it ends and "
        "may return False to stop. Returns the number of games finished. Results do not depend on `threads`.");
  m.def("random_games", &random_batch, py::arg("n"), py::kw_only(), py::arg("rules") = std::nullopt,
        py::arg("seed") = 0, py::arg("threads") = 1,
        "n complete games in which every legal action is equally likely, in C++ without the interpreter lock. The "
        "results do not depend on `threads`.");
  m.def(
      "perft",
      [](const PyState& state, const std::vector<std::string>& tiles, int turns) {
        const Deck deck = Deck::from_ids(*state.game, tiles);
        const py::gil_scoped_release release;
        return perft(state.state, deck, turns);
      },
      py::arg("state"), py::arg("tiles"), py::arg("turns"),
      "Number of sequences of decisions over the next turns when these tiles come in this order.");
  m.def(
      "measure_clone_ns", [](const PyState& state, std::int64_t n) { return clone_ns(state.state, n); },
      py::arg("state"), py::arg("n") = 1000000, "Mean nanoseconds to copy the state in C++.");
  m.attr("STATE_BYTES") = sizeof(GameState);
}

}  // namespace carc::python
