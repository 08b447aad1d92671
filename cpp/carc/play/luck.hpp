// The luck of the draws of a game, in points of margin, so that it can be taken out of a result, as programs for
// backgammon do with dice.
//
// A draw from the state s: let P be the types that can come next and can be laid, n_y the copies left of type y, and N
// their sum over P. V(s, y) are the points that each player may expect once y has been drawn and laid in the best way.
// If the tile x that comes is in P, its luck is
//   l(s, x) = V(s, x) - sum over y in P of n_y / N * V(s, y),
// a vector over players; for a tile that fits nowhere l = 0 (another one is drawn, which is a draw from the next
// state). L is the sum over all draws of a game, and the luck of player p is L_p minus the mean of the others' L.
//
// L has expectation zero, whatever the agents do and however good V is. Let H be everything that happened before a
// draw: it determines s, so also P, n and every V(s, y). A deck is shuffled uniformly (river tiles and others apart)
// and nobody knows its order, so given H every copy that can come next is equally likely. Given H and that the tile is
// in P, it is y with probability n_y / N, hence
//   E[l | H] = Pr(P | H) * (sum n_y / N * V(s, y) - sum n_y / N * V(s, y)) + Pr(not P | H) * 0 = 0.
// The partial sums are therefore a martingale of at most 83 steps; its mean is zero also where a game is broken off for
// a reason that lies in the past (a forfeit). With M the margin of a player, own points minus the mean of the others',
//   M' = M - c * luck
// has the mean of M for every c that does not depend on the game: fixed in advance, or fitted on other decks. V only
// decides how much of the variance goes. It must be a function of (s, y) alone: no order of undrawn tiles, no state
// that is carried from draw to draw, no fresh random numbers. (Zinkevich, Bowling, Bard, Kan and Billings, "Optimal
// unbiased estimators for evaluating agent performance", AAAI 2006, call M' an advantage sum.)
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "carc/core/record.hpp"
#include "carc/search/heuristic.hpp"

namespace carc {

using Luck = std::array<double, kMaxPlayers>;  // points of margin by seat; with two players l and -l

class LuckMeter {
 public:
  // V: a turn is the one of best lead for its player by the hand-made evaluation, among those that lay the tile in one
  // of the most promising places; the position after it is judged by `values`, or by the hand-made evaluation without
  // one.
  explicit LuckMeter(std::shared_ptr<Evaluator> values = nullptr) : values_(std::move(values)) {}

  // Luck of drawing `tile` in `state` (phase Draw, where it can come next).
  Luck of_draw(const GameState& state, TypeId tile);

 private:
  struct Turn {
    GameState after;
    Values values;  // by the hand-made evaluation
  };
  Turn best_turn(const GameState& drawn);

  HeuristicEvaluator heuristic_;
  std::shared_ptr<Evaluator> values_;
};

// The luck of one draw of a game.
struct DrawLuck {
  TypeId tile = 0;
  int player = 0;  // who drew it
  Luck luck{};     // zero for a tile that fitted nowhere
};

// Every draw of the game, in the order of the record's "turns", which has an entry for each draw.
std::vector<DrawLuck> luck_of(const GameRecord& record, LuckMeter& meter);

}  // namespace carc
