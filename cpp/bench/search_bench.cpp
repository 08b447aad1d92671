// Speed of the pieces of a search: evaluations, expansions, playouts, and whole decisions, from the opening and from
// the middle of a random base game for two (fixed seed).
#include <memory>

#include <benchmark/benchmark.h>

#include "carc/core/rng.hpp"
#include "carc/play/agent.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/mcts.hpp"
#include "carc/search/rollout.hpp"
#include "carc/search/solver.hpp"

namespace {

using namespace carc;

// A position to place a tile with `laid` tiles on the board; both players set few figures.
GameState position(int laid) {
  static const auto kGame = Game::create(Rules{});
  Rng rng(20260101);
  GameState state(*kGame);
  while (state.laid_tiles() < laid || state.phase() != Phase::kPlace) {
    if (state.is_chance_node()) {
      state.apply(Action::draw(sample_tile(state, rng)));
    } else if (state.phase() == Phase::kFigure && rng.below(3) > 0) {
      state.apply(Action::no_figure());
    } else {
      const auto n = static_cast<std::uint32_t>(state.num_legal_actions());
      state.apply(state.legal_action(static_cast<int>(rng.below(n))));
    }
  }
  return state;
}

void BM_HeuristicValue(benchmark::State& bench) {
  const GameState state = position(static_cast<int>(bench.range(0)));
  const HeuristicEvaluator heuristic;
  for (auto _ : bench) benchmark::DoNotOptimize(heuristic.value(state));
}
BENCHMARK(BM_HeuristicValue)->Arg(1)->Arg(36)->Arg(65);

void BM_HeuristicAllActions(benchmark::State& bench) {
  const GameState state = position(static_cast<int>(bench.range(0)));
  const HeuristicEvaluator heuristic;
  ActionList actions;
  state.legal_actions(actions);
  std::array<Values, ActionList::kCapacity> after;
  for (auto _ : bench) {
    heuristic.values_after(state, actions, after.data());
    benchmark::DoNotOptimize(after);
  }
  bench.counters["actions"] = actions.size();
}
BENCHMARK(BM_HeuristicAllActions)->Arg(1)->Arg(36)->Arg(65);

void BM_Rollout(benchmark::State& bench) {
  const GameState state = position(static_cast<int>(bench.range(0)));
  RolloutEvaluator rollout(RolloutOptions{}, std::make_shared<HeuristicEvaluator>());
  Rng rng(1);
  for (auto _ : bench) {
    Values value{};
    rollout.evaluate({&state, nullptr, &value, nullptr, nullptr, nullptr}, rng);
    benchmark::DoNotOptimize(value);
  }
  bench.SetItemsProcessed(bench.iterations());
}
BENCHMARK(BM_Rollout)->Arg(1)->Arg(36)->Arg(65);

void BM_Search(benchmark::State& bench) {
  const GameState state = position(static_cast<int>(bench.range(0)));
  MctsOptions options;
  options.threads = static_cast<int>(bench.range(1));
  Mcts mcts(options, [] { return std::make_unique<HeuristicEvaluator>(); });
  std::uint64_t seed = 0;
  for (auto _ : bench) benchmark::DoNotOptimize(mcts.search(state, seed++));
  bench.SetItemsProcessed(bench.iterations() * options.simulations);
}
BENCHMARK(BM_Search)->ArgsProduct({{1, 36, 65}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_SolveTheLastTwoTiles(benchmark::State& bench) {
  const GameState state = position(71);
  for (auto _ : bench) benchmark::DoNotOptimize(solve(state));
}
BENCHMARK(BM_SolveTheLastTwoTiles)->Unit(benchmark::kMillisecond);

}  // namespace
