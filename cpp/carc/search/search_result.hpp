// What a search found out about a position.
#pragma once

#include <cstdint>
#include <vector>

#include "carc/search/evaluator.hpp"

namespace carc {

// What the search says of one action.
struct ActionReport {
  Action action;
  int players = 0;  // entries of the vectors below that count
  std::int64_t visits = 0;
  double prior = 0;
  double value = 0;  // mean utility of the player who decides
  Values utility{};  // mean utility of each player
  Values points{};   // mean of the points that the simulations foresaw, by player
  Values spread{};   // their standard deviation
};

struct SearchResult {
  int players = 0;                    // of the game
  std::vector<ActionReport> actions;  // in the order of legal_actions
  int best = 0;                       // index of the action to play
  std::vector<Action> line;           // principal variation: best, then most visited, draws included
  Values value{};                     // mean utility of each player at the root
  Values points{};                    // mean points foreseen, by player
  std::int64_t simulations = 0;
  std::int64_t nodes = 0;
  std::size_t bytes = 0;  // of the nodes
  double seconds = 0;
  bool exact = false;  // solved to the end: `value` holds points of difference, visits are 0

  double simulations_per_second() const { return seconds > 0 ? static_cast<double>(simulations) / seconds : 0; }
};

}  // namespace carc
