// Chooses by a search some turns deep; equally good actions are equally likely.
#pragma once

#include "carc/play/agent.hpp"
#include "carc/search/expectiminimax.hpp"
#include "carc/search/heuristic.hpp"

namespace carc {

struct ExpectiminimaxAgentOptions {
  ExpectiminimaxOptions search;
  HeuristicWeights weights;  // of the leaves

  template <class V>
  void each_option(V& v) {
    search.each_option(v);
    weights.each_option(v);
  }
};

// Placement and figure are searched one after the other. With `time_ms` the choices are not reproducible.
class ExpectiminimaxAgent final : public Agent {
 public:
  explicit ExpectiminimaxAgent(const ExpectiminimaxAgentOptions& options)
      : search_(options.search, std::make_shared<HeuristicEvaluator>(options.weights)) {}

  Action choose(const GameState& state, Rng& rng) override;
  // Reports of actions have the utility that was found, or a bound on it; visits are 1 where it is exact, else 0.
  std::optional<SearchResult> analyse(const GameState& state, Rng& rng) override;
  std::int64_t simulations() const override { return nodes_; }

 private:
  Expectiminimax search_;
  std::int64_t nodes_ = 0;
};

}  // namespace carc
