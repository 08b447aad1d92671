// What searches found out; the solver.
#include "bindings.hpp"
#include "carc/search/search_result.hpp"
#include "carc/search/solver.hpp"

namespace carc::python {
namespace {

using FloatList = std::vector<float>;

FloatList list_of(const Values& values, int players) { return {values.begin(), values.begin() + players}; }

Solution solve_state(const PyState& state, Whole<std::int64_t, "nodes", 1> nodes) {
  const PyState copy = state;
  const py::gil_scoped_release release;
  return solve(copy.state, SolverOptions{nodes});
}

}  // namespace

void bind_search(py::module_& m) {
  py::class_<ActionReport>(m, "ActionReport", "What a search says of one action; lists are by player.")
      .def_readonly("action", &ActionReport::action)
      .def_readonly("visits", &ActionReport::visits, "Simulations that began with it.")
      .def_readonly("prior", &ActionReport::prior, "Probability before the search.")
      .def_readonly("value", &ActionReport::value,
                    "Mean utility, -1 to 1, of the player who decides; of an exact search points of difference.")
      .def_property_readonly(
          "utility", [](const ActionReport& r) { return list_of(r.utility, r.players); }, "Mean utility.")
      .def_property_readonly(
          "points", [](const ActionReport& r) { return list_of(r.points, r.players); },
          "Mean of the points that the simulations foresaw.")
      .def_property_readonly(
          "spread", [](const ActionReport& r) { return list_of(r.spread, r.players); },
          "Standard deviation of those points between simulations.");
  py::class_<SearchResult>(m, "SearchResult", "What a search found out about a position.")
      .def_readonly("actions", &SearchResult::actions, "An ActionReport for each legal action, in their order.")
      .def_property_readonly(
          "best",
          [](const SearchResult& r) {
            if (r.actions.empty()) throw Error("best: found a search without actions, expected one at least");
            return r.actions[static_cast<std::size_t>(r.best)].action;
          },
          "The Action to play.")
      .def_readonly("best_index", &SearchResult::best, "Its place in `actions`.")
      .def_readonly("line", &SearchResult::line, "Principal variation: the best action, then the most visited ones.")
      .def_property_readonly(
          "value", [](const SearchResult& r) { return list_of(r.value, r.players); }, "Mean utility of each player.")
      .def_property_readonly(
          "points", [](const SearchResult& r) { return list_of(r.points, r.players); },
          "Mean points foreseen for each player.")
      .def_readonly("simulations", &SearchResult::simulations)
      .def_readonly("nodes", &SearchResult::nodes)
      .def_readonly("bytes", &SearchResult::bytes, "Memory of the nodes.")
      .def_readonly("seconds", &SearchResult::seconds)
      .def_property_readonly("simulations_per_second", &SearchResult::simulations_per_second)
      .def_readonly("exact", &SearchResult::exact,
                    "Solved to the end of the game: values are points of difference, nothing was simulated.");
  py::class_<Solution>(m, "Solution", "The exact value of a position near the end of the game.")
      .def_readonly("complete", &Solution::complete,
                    "False: there were more positions than allowed; nothing else holds.")
      .def_property_readonly(
          "value", [](const Solution& s) { return list_of(s.value, s.players); },
          "Expected points of difference to the mean of the others, by player.")
      .def_property_readonly("best",
                             [](const Solution& s) {
                               if (!s.complete)
                                 throw Error("best: found an incomplete solution, expected a complete one");
                               if (s.best < 0) throw Error("best: found a position where nobody decides");
                               return s.actions[static_cast<std::size_t>(s.best)];
                             })
      .def_property_readonly(
          "values",
          [](const Solution& s) {
            std::vector<std::pair<Action, FloatList>> out;
            for (std::size_t i = 0; s.complete && i < s.actions.size(); ++i)
              out.emplace_back(s.actions[i], list_of(s.values[i], s.players));
            return out;
          },
          "(action, value by player) for each legal action.")
      .def_readonly("nodes", &Solution::nodes, "Positions visited.");
  m.def("solve", &solve_state, py::arg("state"), py::kw_only(), py::arg("nodes") = 300'000,
        "Solve a position by expectiminimax over all draws; every player maximises his own expected difference.");
}

}  // namespace carc::python
