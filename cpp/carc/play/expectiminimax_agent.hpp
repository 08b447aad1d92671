// Chooses by a search some turns deep; equally good actions are equally likely.
#pragma once

#include "carc/play/agent.hpp"
#include "carc/search/expectiminimax.hpp"

namespace carc {

// Placement and figure are searched one after the other. With `time_ms` the choices are not reproducible.
class ExpectiminimaxAgent : public Agent {
 public:
  ExpectiminimaxAgent(const ExpectiminimaxOptions& options, std::shared_ptr<Evaluator> evaluator)
      : search_(options, std::move(evaluator)) {}

  Action choose(const GameState& state, Rng& rng) override;

 private:
  Expectiminimax search_;
};

}  // namespace carc
