// An agent that searches: MCTS over one of the evaluators, exact for the last tiles.
#pragma once

#include <memory>
#include <string>

#include "carc/neural/batching.hpp"
#include "carc/play/agent.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/mcts.hpp"
#include "carc/search/rollout.hpp"

namespace carc {

enum class EvaluatorKind : std::uint8_t { kHeuristic, kRollout, kFeatureNet, kResnet };
inline const std::array<const char*, 4>& enum_names(EvaluatorKind*) {
  static constexpr std::array<const char*, 4> kNames = {"heuristic", "rollout", "feature_net", "resnet"};
  return kNames;
}

struct MctsAgentOptions {
  MctsOptions mcts;
  EvaluatorKind evaluator = EvaluatorKind::kHeuristic;
  std::string network;
  HeuristicWeights weights;
  RolloutOptions rollout;
  int solve_tiles = 2;
  std::int64_t solver_nodes = 300'000;
  int tie_decks = 0;
  int tie_actions = 4;

  template <class V>
  void each_option(V& v) {
    v("evaluator", evaluator, {},
      "what judges positions: the heuristic, rollouts or a network; resnet judges batches of `threads` positions, one a "
      "tree");
    v("network", network, {}, "name of a network that comes with carc, or a safetensors file");
    mcts.each_option(v);
    weights.each_option(v);
    rollout.each_option(v);
    v("solve_tiles", solve_tiles, {0, 84},
      "solve exactly when so many tiles are left, the drawn one included; 0 = never");
    v("solver_nodes", solver_nodes, {1, 1e12}, "positions that the solver may visit before the search takes over");
    v("tie_decks", tie_decks, {0, 100000},
      "decks played to the end by greedy to part placements that the heuristic values alike");
    v("tie_actions", tie_actions, {2, 680}, "most placements that are parted so");
  }
};

class MctsAgent final : public Agent {
 public:
  explicit MctsAgent(const MctsAgentOptions& options);

  Action choose(const GameState& state, Rng& rng) override;
  std::optional<SearchResult> analyse(const GameState& state, Rng& rng) override;
  bool watch(const std::atomic<bool>* stop) override {
    mcts_.watch(stop);
    return true;
  }
  std::int64_t simulations() const override { return simulations_; }
  std::optional<double> batch_fill() const override;

 private:
  std::optional<SearchResult> solved(const GameState& state) const;
  int part_ties(const GameState& state, const SearchResult& result, std::uint64_t seed) const;

  MctsAgentOptions options_;
  std::shared_ptr<BatchQueue> queue_;  // of a network on board planes
  Mcts mcts_;
  std::int64_t simulations_ = 0;
};

}  // namespace carc
