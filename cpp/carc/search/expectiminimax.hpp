// Expectiminimax some turns deep, with an evaluator at the leaves; for two players with Ballard's *-Minimax pruning.
//
// A turn is a placement and a figure. Decisions maximise the utility of the player who decides, chance nodes weigh the
// tiles by their copies in the bag, leaves are evaluated before a draw, finished games by their points.
//
// Two players. Utilities lie in [-1, 1] and add up to zero, so a chance node of unsearched outcomes is bounded, and a
// window (alpha, beta) on it gives each outcome a window of its own:
//   star1   outcomes not searched yet count as 1 (against alpha) or -1 (against beta)
//   star2   first the best-ordered placement of every outcome is searched: a lower bound in place of -1
//   star25  first the `probing_factor` best-ordered placements of every outcome
// All give the value of the search without pruning. A probe is never searched twice: an outcome's search goes on where
// its probe ended. Placements and figures are ordered by the evaluator's `after`, if it gives it; with an order as good
// as the hand-made evaluation's, one probe prunes more than several.
// More players. max^n; nothing is pruned, whatever the option says; the first of equal actions is taken.
//
// Sources: Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21
// (1983); Hauk, Buro and Schaeffer, "Rediscovering *-minimax search" and "*-Minimax performance in backgammon", CG
// 2004; Luckhardt and Irani, AAAI 1986 (max^n); Ameneyro, Galvan and Kuri Morales, "Playing Carcassonne with Monte
// Carlo tree search", IEEE SSCI 2020 (Star2.5 in Carcassonne).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "carc/core/options.hpp"
#include "carc/search/evaluator.hpp"
#include "carc/search/utility.hpp"

namespace carc {

enum class Pruning : std::uint8_t { kNone, kStar1, kStar2, kStar25 };
inline const std::array<const char*, 4>& enum_names(Pruning*) {
  static constexpr std::array<const char*, 4> kNames = {"none", "star1", "star2", "star25"};
  return kNames;
}

struct ExpectiminimaxOptions {
  int depth = 2;  // turns, the present one included
  Pruning pruning = Pruning::kStar25;
  int probing_factor = 5;  // placements of an outcome searched before any outcome is searched to its end (star25)
  // With a limit the search deepens turn by turn; the first turn is always searched to its end.
  int time_ms = 0;              // 0 = no limit; with one, the same position may get another answer
  std::int64_t node_limit = 0;  // positions visited, 0 = no limit
  Utility utility = {};

  template <class V>
  void each_option(V& v) {
    v("depth", depth, {1, 84}, "turns to search, the present one included");
    v("pruning", pruning, {}, "of two-player trees: none or an algorithm of the *-Minimax family");
    v("probing_factor", probing_factor, {1, 680}, "placements of each outcome that star25 searches first");
    v("time_ms", time_ms, {0, 1e9}, "milliseconds a decision, deepening turn by turn; 0 = no limit");
    v("node_limit", node_limit, {0, 1e12}, "positions a decision, deepening turn by turn; 0 = no limit");
    utility.each_option(v);
  }
};

struct RootAction {
  Action action;
  Values value;  // utility by player
  bool exact;    // false: an upper bound for the player who decides, or the value of the depth before
};

struct ExpectiminimaxResult {
  Action best = Action::no_figure();  // the first of those whose value is exact and within kTie of the greatest
  Values value{};                     // utility by player
  std::vector<RootAction> actions;    // legal actions in their order
  std::int64_t nodes = 0;             // positions visited, all depths together; those judged only for their order not
  int depth = 0;                      // turns that were searched to the end; less than asked for at the end of a game
};

class Expectiminimax {
 public:
  static constexpr float kTie = 1e-6F;  // of utility: values this close count as equal

  Expectiminimax(const ExpectiminimaxOptions& options, std::shared_ptr<Evaluator> evaluator)
      : options_(options), evaluator_(std::move(evaluator)) {}

  // Phase Place or Figure. `rng` is for the evaluator.
  ExpectiminimaxResult search(const GameState& state, Rng& rng);

 private:
  ExpectiminimaxOptions options_;
  std::shared_ptr<Evaluator> evaluator_;
};

}  // namespace carc
