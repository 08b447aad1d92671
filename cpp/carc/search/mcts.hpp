// Monte Carlo tree search for any number of players and an unknown deck.
//
// Every simulation goes down the tree by a selection rule, adds one action to it, gets the value of the position there
// from an evaluator, and backs it up as a vector: each node reads the entry of the player who decides there (max^n).
//
// Selection:  uct         mean + c sqrt(ln N / n)                          (Kocsis and Szepesvari 2006)
//             ucb1_tuned  mean + c sqrt(ln N / n min(1, V)), V = variance + sqrt(2 ln N / n), values in [-1, 1]
//                                                                          (Auer, Cesa-Bianchi and Fischer 2002)
//             uniform     the least visited: with max_depth 1 flat Monte Carlo
//             puct        mean + c P sqrt(max(1, N)) / (1 + n)             (Rosin 2011; Silver et al. 2017)
// with first-play urgency for unvisited actions, progressive bias and widening (Chaslot et al. 2008), RAVE (Gelly and
// Silver 2011, hand-selected schedule), Gumbel sequential halving at the root (Danihelka et al. 2022), root noise.
//
// The deck is unknown; three ways to search on it:
//   decks      each tree has one sampled order of the bag (playouts draw afresh); the roots' statistics are pooled
//   nodes      explicit chance nodes, outcomes sampled by their probability
//   open_loop  nodes stand for sequences of actions only, whatever is drawn (Lecarpentier et al. 2018)
// Trees are independent and are shared out over threads: the result does not depend on the number of threads.
//
// A tree makes at most 2^31 - 2 simulations.
// When a tree has used up its memory it stops growing and the search goes on: simulations that leave it are evaluated
// and backed up as before.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "carc/core/options.hpp"
#include "carc/search/evaluator.hpp"
#include "carc/search/search_result.hpp"
#include "carc/search/tree.hpp"
#include "carc/search/utility.hpp"

namespace carc {

enum class Selection : std::uint8_t { kUct, kUcb1Tuned, kPuct, kUniform };
inline const std::array<const char*, 4>& enum_names(Selection*) {
  static constexpr std::array<const char*, 4> kNames = {"uct", "ucb1_tuned", "puct", "uniform"};
  return kNames;
}

enum class FirstPlay : std::uint8_t { kZero, kParent, kOptimistic, kJudged };
inline const std::array<const char*, 4>& enum_names(FirstPlay*) {
  static constexpr std::array<const char*, 4> kNames = {"zero", "parent", "optimistic", "judged"};
  return kNames;
}

enum class UnknownDeck : std::uint8_t { kDecks, kNodes, kOpenLoop };
inline const std::array<const char*, 3>& enum_names(UnknownDeck*) {
  static constexpr std::array<const char*, 3> kNames = {"decks", "nodes", "open_loop"};
  return kNames;
}

enum class FinalChoice : std::uint8_t { kMean, kVisits };
inline const std::array<const char*, 2>& enum_names(FinalChoice*) {
  static constexpr std::array<const char*, 2> kNames = {"mean", "visits"};
  return kNames;
}

struct MctsOptions {
  Selection selection = Selection::kPuct;
  float exploration = 1.5F;
  FirstPlay first_play = FirstPlay::kZero;
  float first_play_reduction = 0.2F;
  float progressive_bias = 0;
  float widening_factor = 0;
  float widening_exponent = 0.5F;
  float rave = 0;
  UnknownDeck unknown_deck = UnknownDeck::kDecks;
  int trees = 8;
  std::int64_t simulations = 11008;
  float time_ms = 0;
  float memory_mb = 256;
  Utility utility;
  FinalChoice choice = FinalChoice::kMean;
  int min_visits = 2;
  float temperature = 0;
  float root_noise = 0;
  float root_noise_alpha = 0.3F;
  int gumbel_actions = 0;
  int max_depth = 0;
  int threads = 1;

  template <class V>
  void each_option(V& v) {
    v("selection", selection, {}, "rule that picks the action of a node");
    v("exploration", exploration, {0, 1000}, "weight c of what is little known, in utility");
    v("first_play", first_play, {},
      "value of an unvisited action: zero, the parent's mean less a reduction, optimistic (each once before any twice, "
      "but with RAVE only where nothing is known of it), or what the evaluator judged it to be, less a reduction");
    v("first_play_reduction", first_play_reduction, {-2, 2}, "utility that first_play = parent or judged takes off");
    v("progressive_bias", progressive_bias, {0, 1000}, "utility times prior / (1 + n) that is added to an action");
    v("widening_factor", widening_factor, {0, 1000},
      "only the best factor * N^exponent actions by prior are open; 0 = all");
    v("widening_exponent", widening_exponent, {0, 1}, "see widening_factor");
    v("rave", rave, {0, 1e9}, "visits at which AMAF and own mean weigh the same; 0 = no RAVE");
    v("unknown_deck", unknown_deck, {}, "sampled decks, one a tree; chance nodes; or open loop");
    v("trees", trees, {1, 4096}, "independent trees whose root statistics are pooled");
    v("simulations", simulations, {1, 1e12}, "over all trees; the most if time_ms is given");
    v("time_ms", time_ms, {0, 1e7}, "time a decision; 0 = none. Timed searches are not reproducible");
    v("memory_mb", memory_mb, {0.1, 1e6},
      "MB of 10^6 bytes for all trees, though a tree has room for a root; full trees stop growing");
    utility.each_option(v);
    v("choice", choice, {}, "play the action with the best mean or with most visits");
    v("min_visits", min_visits, {1, 1e9}, "visits that an action needs to be chosen by mean");
    v("temperature", temperature, {0, 100}, "choose at random by visits^(1 / temperature); 0 = the best");
    v("root_noise", root_noise, {0, 1}, "part of the root's priors that is Dirichlet noise");
    v("root_noise_alpha", root_noise_alpha, {0.001, 100}, "concentration of that noise");
    v("gumbel_actions", gumbel_actions, {0, 680}, "root actions sampled by Gumbel noise and halved; 0 = off");
    v("max_depth", max_depth, {0, 400}, "decisions in the tree below which it does not grow; 0 = no limit");
    v("threads", threads, {1, 256}, "threads, at most one a tree");
  }
  // Throws OptionError for options that contradict each other.
  void validate() const;
};

using EvaluatorFactory = std::function<std::unique_ptr<Evaluator>()>;

class Mcts {
 public:
  // `make_evaluator` is called once for each thread. Throws OptionError.
  Mcts(const MctsOptions& options, EvaluatorFactory make_evaluator);
  ~Mcts();
  Mcts(Mcts&&) noexcept;
  Mcts& operator=(Mcts&&) noexcept;

  // Phases Place and Figure. The same state and seed give the same result, but for timed searches.
  SearchResult search(const GameState& state, std::uint64_t seed);

  // From now on searches end early, with what they have, once this is true; null: never. Must outlive the searches.
  void watch(const std::atomic<bool>* stop) { stop_ = stop; }

  const MctsOptions& options() const { return options_; }

 private:
  struct Worker;
  int choose(const SearchResult& result, Rng rng) const;

  MctsOptions options_;
  EvaluatorFactory make_evaluator_;
  const std::atomic<bool>* stop_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// One order of the bag in which tiles may come: entry `order[i]` is drawn when i + 1 tiles are left, so the last entry
// comes first. Every order that the rules allow is equally likely.
std::array<TypeId, kMaxTiles> sample_deck(const GameState& state, Rng& rng);

}  // namespace carc
