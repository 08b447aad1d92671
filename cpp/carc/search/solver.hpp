// The exact value of the last tiles of a game: every draw, placement and figure to the end, under the true rules.
//
// Expectiminimax (Michie, "Game-playing and game-learning automata", 1966), for more than two players max^n (Luckhardt
// and Irani, "An algorithmic solution of n-person games", AAAI 1986): whoever decides maximises the expected difference
// of own points and the mean of the others' points; among equal actions the first legal one is taken. Chance nodes
// weigh the tiles by their copies in the bag; a tile that fits nowhere leaves the game and the same player draws again.
//
// - Values are whole numbers: all positions with t tiles in the bag have the same common denominator, at most t!. So
//   ties are ties, and nothing depends on the order of sums.
// - Differences of points add up along a game, so the points to come do not depend on the points made so far. Positions
//   before a draw are therefore kept by what they will bring, under 128 bits of hash of the board (two halves mixed
//   apart; two of n boards share them with probability n^2 / 2^129).
// - The last turn is not played out: a figure that is set then only adds the present points of its feature.
// - With two players the last turn but one is pruned as in alpha-beta (Knuth and Moore, "An analysis of alpha-beta
//   pruning", 1975), which leaves the values of all actions of the root exact.
#pragma once

#include <cstdint>
#include <vector>

#include "carc/core/options.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

struct SolverOptions {
  std::int64_t nodes = 300'000;  // positions to visit before giving up; about 3 a microsecond
};

struct Solution {
  int players = 0;        // entries of the vectors below that count
  bool complete = false;  // false: the budget did not suffice, or more than 15 tiles are left; nothing else counts
  Values value{};         // by player: expected own points minus the mean of the others' points
  std::vector<Action> actions;  // legal actions of the state, in their order
  std::vector<Values> values;   // [action] as `value`
  int best = -1;                // index of the first best action; -1 where nobody decides (Draw, Over)
  std::int64_t nodes = 0;       // positions visited
};

// Solves a state in any phase. The same state and options give the same solution.
Solution solve(const GameState& state, const SolverOptions& options = {});

}  // namespace carc
