// The ranking of complete turns by the best-known free program (version 4): the position after a turn as a sum of terms
// from the view of the player whose turn it was.
//
// With "balance" = own minus the sum of all opponents', and "owners" = the players of a feature's majority:
//   score       balance of the scores
//   features    balance, to each owner of every unfinished road, city, monastery and garden: what it would pay now
//               + 0.8 P (paid when finished - now), monasteries and gardens 0.5; P above 0.85 counts as 1
//   stuck       while more than 7 tiles are in the bag: for each figure in such a feature a penalty by P
//   fields      0.99 of the balance of what the fields would pay now
//   open        penalties by the number of unfinished roads, unfinished cities, and fields that a player owns alone:
//               own ones are taken off, opponents' added
//   hand        balance of 0.15 for each figure in hand, -4 for an empty hand
//   neighbours  0.0001 for each tile on the eight cells round the one laid last
//   merges      an open cell of fill chance p >= 0.55 may join what leads to two adjacent sides of it: where these are
//               two features of one kind (road, city or field), at least one of them owned, 0.5 p times the balance of
//               what the players would lose and gain of their present values with the majority recomputed
// P, the chance that a feature is finished, is the product of p over its distinct open cells; of a monastery, over
// those of its empty neighbours that are open cells. p = 1 - (1 - 1 / players)^m, m = undrawn tiles that fit the cell.
//
// The program's description leaves open, and here is taken to be: with more than two players, opponents are summed in
// every term, as in the score; "7 turns remain" is 7 tiles in the bag; gardens are monasteries; abbots are figures in
// hand like meeples, but never stuck, as they can be taken back; tied owners are paid as the rules say; cities that
// must not be joined never merge; the river's end is filled by what is left of the river; at the end of the game only
// score and neighbours count; sides are adjacent if they meet in a corner; a merging field has the value of its
// completed cities, each at the full price of one.
#pragma once

#include <array>

#include "carc/core/options.hpp"
#include "carc/core/state.hpp"
#include "carc/search/fitting_tiles.hpp"

namespace carc {

struct JczWeights {
  double completion = 0.8;            // share of what finishing would add, hoped for times P; more = more daring
  double monastery_completion = 0.5;  // the same for monasteries and gardens
  double certain = 0.85;              // P above this counts as 1
  // A figure is stuck where P is below 0.0001, 0.2, 0.55: points taken off for each own one, added for each opponent's.
  std::array<double, 3> stuck_chance = {0.0001, 0.2, 0.55};
  std::array<double, 3> stuck_own = {12, 3, 1.2};
  std::array<double, 3> stuck_other = {3, 0.75, 0.3};
  int stuck_tiles = 7;   // only while more tiles than this are in the bag
  double fields = 0.99;  // share of the points that fields would pay now; more = more farmers
  // Points taken off for 0 to 8 things owned alone; more = fewer are begun.
  std::array<double, 9> open_roads = {0, 1, 2.5, 4.5, 7.5, 10.5, 14.5, 19, 29};
  std::array<double, 9> open_cities = {0, 0.5, 1.5, 3, 5, 8, 12, 17, 27};
  std::array<double, 9> open_fields = {0, 5, 10, 19, 28, 37, 47, 57, 67};
  double figure_in_hand = 0.15;  // points for each
  double empty_hand = 4;         // points taken off when there is none
  double neighbour = 0.0001;     // points for each neighbour of the tile laid last; breaks ties
  double merge_chance = 0.55;    // least fill chance of a cell that may merge features
  double merge = 0.5;            // share of the values that a merge would move, times p

  template <class V>
  void each_option(V& v) {
    v("completion", completion, {-100, 100}, "share of what finishing a road or city would add, times its probability");
    v("monastery_completion", monastery_completion, {-100, 100}, "the same for monasteries and gardens");
    v("certain", certain, {0, 1}, "probability of finishing above which it counts as 1");
    v("stuck_chance", stuck_chance, {0, 1}, "probabilities of finishing below which a figure is stuck, rising");
    v("stuck_own", stuck_own, {-1000, 1000}, "points taken off for each own figure below these probabilities");
    v("stuck_other", stuck_other, {-1000, 1000}, "points added for each opponent's figure below these probabilities");
    v("stuck_tiles", stuck_tiles, {0, kMaxTiles}, "figures are stuck only while more tiles than this are in the bag");
    v("fields", fields, {-100, 100}, "share of the points that fields would pay now");
    v("open_roads", open_roads, {-1000, 1000}, "points taken off for 0 to 8 unfinished roads owned alone");
    v("open_cities", open_cities, {-1000, 1000}, "points taken off for 0 to 8 unfinished cities owned alone");
    v("open_fields", open_fields, {-1000, 1000}, "points taken off for 0 to 8 fields owned alone");
    v("figure_in_hand", figure_in_hand, {-1000, 1000}, "points for each figure in hand");
    v("empty_hand", empty_hand, {-1000, 1000}, "points taken off when no figure is in hand");
    v("neighbour", neighbour, {-1000, 1000}, "points for each neighbour of the tile laid last");
    v("merge_chance", merge_chance, {0, 1}, "least probability that a cell is filled for it to merge features");
    v("merge", merge, {-100, 100}, "share of the values that a merge would move, times its probability");
  }
};

struct JczTerms {
  double score = 0, features = 0, stuck = 0, fields = 0, open = 0, hand = 0, neighbours = 0, merges = 0;

  double sum() const { return score + features + stuck + fields + open + hand + neighbours + merges; }
};

// Ranks the turns with one drawn tile. What the figures do not change is found once for each placement.
class JczRanking {
 public:
  // `state`: any with the bag of the positions to rank; it and `weights` must outlive the ranking.
  JczRanking(const JczWeights& weights, const GameState& state);

  // `placed`: a state in which the tile has just been laid, its figure still to be decided or not.
  void set_board(const GameState& placed);
  // `after`: a state with the tiles of `set_board` when `player`'s turn is over (phase Draw or Over).
  JczTerms terms(const GameState& after, int player) const;
  // p of an open cell with this code.
  double fill_chance(unsigned code) { return fitting_.fill_chance(code); }

 private:
  double finish_chance(const GameState& after, const Figure& figure) const;
  double lines(const GameState& after, int player) const;
  double buildings(const GameState& after, int player) const;
  double stuck(const GameState& after, int player) const;
  double fields(const GameState& after, int player) const;
  double open(const GameState& after, int player) const;
  double hand(const GameState& after, int player) const;
  double merges(const GameState& after, int player) const;
  double hoped(double now, double finished, double chance, double share) const;

  const JczWeights& weights_;
  FittingTiles fitting_;
  std::array<double, kMaxOpenCells> cell_chance_;  // [open cell] p
  std::array<double, kNone + 1> line_chance_;      // [line] P
  int neighbours_ = 0;                             // of the tile laid last, 0..8
};

}  // namespace carc
