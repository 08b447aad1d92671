// Speed of what a search does many times: copying, listing, applying, counting and comparing positions, and whole
// games. Every position is the middle of one random game of the base tiles with a fixed seed (BM_RiverGame: of five
// players).
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "carc/core/deck.hpp"
#include "carc/core/perft.hpp"
#include "carc/core/record.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state_json.hpp"
#include "carc/play/batch.hpp"
#include "carc/play/greedy_agent.hpp"

namespace {

using namespace carc;

constexpr std::uint64_t kSeed = 20260101;
constexpr int kLaid = 36;  // tiles on the board in the middle of a game

// A base game between two players on its way: `record` in phase Place, `next` the deck's next tile. Moves are random,
// but only every third figure decision may set one, so that both players still have meeples.
struct Middle {
  std::shared_ptr<const Game> game = Game::create(Rules{});
  Deck deck{*game, split(kSeed, 0)};
  GameRecord record{game, GameState(*game)};
  std::size_t next = 0;

  Middle() {
    Rng rng(split(kSeed, 1));
    const GameState& state = record.state();
    while (state.laid_tiles() < kLaid || state.phase() != Phase::kPlace) {
      if (state.is_chance_node()) {
        record.apply(Action::draw(deck.order()[next++]));
      } else if (state.phase() == Phase::kFigure && rng.below(3) > 0) {
        record.apply(Action::no_figure());
      } else {
        const auto n = static_cast<std::uint32_t>(state.num_legal_actions());
        record.apply(state.legal_action(static_cast<int>(rng.below(n))));
      }
    }
  }
};

const Middle& middle() {
  static const Middle kMiddle;
  return kMiddle;
}

const GameState& position() { return middle().record.state(); }

// The position after the placement that leaves most figure decisions.
GameState placed_position() {
  GameState best = position();
  int most = 0;
  position().placements().for_each([&](Action placement) {
    GameState state = position();
    state.apply(placement);
    if (state.num_legal_actions() > most) best = state, most = state.num_legal_actions();
  });
  return best;
}

// --- One position -------------------------------------------------------------------------------------------------

void BM_Clone(benchmark::State& bench) {
  GameState copy = position();
  for (auto _ : bench) {
    copy = position();
    benchmark::DoNotOptimize(copy);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Clone);

void BM_Placements(benchmark::State& bench) {
  const GameState state = position();
  for (auto _ : bench) {
    PlacementSet placements = state.placements();
    benchmark::DoNotOptimize(placements);
    benchmark::ClobberMemory();
  }
  bench.counters["placements"] = state.placements().count();
}
BENCHMARK(BM_Placements);

// Includes the copy that every placement is applied to: subtract BM_Clone for the placement alone.
void BM_CloneAndPlace(benchmark::State& bench) {
  const GameState state = position();
  const PlacementSet placements = state.placements();
  const int n = placements.count();
  int i = 0;
  GameState copy = state;
  for (auto _ : bench) {
    copy = state;
    copy.apply(placements[i]);
    if (++i == n) i = 0;
    benchmark::DoNotOptimize(copy);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_CloneAndPlace);

// Includes the copy, like BM_CloneAndPlace; the decisions (none and every feature) in turn.
void BM_CloneAndFigure(benchmark::State& bench) {
  const GameState state = placed_position();
  const int n = state.num_legal_actions();
  int i = 0;
  GameState copy = state;
  for (auto _ : bench) {
    copy = state;
    copy.apply(copy.legal_action(i));
    if (++i == n) i = 0;
    benchmark::DoNotOptimize(copy);
    benchmark::ClobberMemory();
  }
  bench.counters["decisions"] = n;
}
BENCHMARK(BM_CloneAndFigure);

void BM_Projected(benchmark::State& bench) {
  const GameState state = position();
  for (auto _ : bench) {
    Points points = state.projected();
    benchmark::DoNotOptimize(points);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Projected);

void BM_Hash(benchmark::State& bench) {
  GameState state = position();
  for (auto _ : bench) {
    benchmark::DoNotOptimize(state);
    benchmark::DoNotOptimize(state.hash());
  }
}
BENCHMARK(BM_Hash);

void BM_Equality(benchmark::State& bench) {
  GameState one = position(), other = position();
  for (auto _ : bench) {
    benchmark::DoNotOptimize(other);
    benchmark::DoNotOptimize(one == other);
  }
}
BENCHMARK(BM_Equality);

void BM_GreedyDecision(benchmark::State& bench) {
  const GameState state = position();
  GreedyAgent agent;
  Rng rng(kSeed);
  for (auto _ : bench) benchmark::DoNotOptimize(agent.choose(state, rng));
}
BENCHMARK(BM_GreedyDecision)->Unit(benchmark::kMicrosecond);

void BM_Perft3(benchmark::State& bench) {
  const Middle& m = middle();
  std::uint64_t sequences = 0;
  for (auto _ : bench) sequences = perft(m.record.state(), m.deck, 3, m.next);
  bench.counters["sequences"] = static_cast<double>(sequences);
  bench.counters["sequences/s"] =
      benchmark::Counter(static_cast<double>(sequences), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Perft3)->Unit(benchmark::kMillisecond);

// --- Whole games --------------------------------------------------------------------------------------------------

// Other games in every iteration: one game alone would teach the branch predictor its moves.
void random_games_of(benchmark::State& bench, const Rules& rules) {
  const auto game = Game::create(rules);
  std::uint64_t i = 0;
  for (auto _ : bench) {
    std::int32_t placements = 0, figures = 0;
    GameState end = random_game(*game, split(kSeed, i++ % 1024), placements, figures);
    benchmark::DoNotOptimize(end);
  }
  bench.SetItemsProcessed(bench.iterations());
}

void BM_RandomGame(benchmark::State& bench) { random_games_of(bench, Rules{}); }
BENCHMARK(BM_RandomGame)->Unit(benchmark::kMicrosecond);

void BM_RiverGame(benchmark::State& bench) {
  Rules rules = Rules::preset("current_river_abbot");
  rules.players = kMaxPlayers;
  random_games_of(bench, rules);
}
BENCHMARK(BM_RiverGame)->Unit(benchmark::kMicrosecond);

// --- Text ---------------------------------------------------------------------------------------------------------

void BM_StateToJson(benchmark::State& bench) {
  for (auto _ : bench) benchmark::DoNotOptimize(state_to_json(position()));
}
BENCHMARK(BM_StateToJson)->Unit(benchmark::kMicrosecond);

void BM_StateFromJson(benchmark::State& bench) {
  const std::string text = state_to_json(position());
  for (auto _ : bench) benchmark::DoNotOptimize(state_from_json(text));
}
BENCHMARK(BM_StateFromJson)->Unit(benchmark::kMicrosecond);

void BM_RecordToJson(benchmark::State& bench) {
  for (auto _ : bench) benchmark::DoNotOptimize(middle().record.to_json());
}
BENCHMARK(BM_RecordToJson)->Unit(benchmark::kMicrosecond);

void BM_RecordFromJson(benchmark::State& bench) {
  const std::string text = middle().record.to_json();
  for (auto _ : bench) benchmark::DoNotOptimize(GameRecord::from_json(text));
}
BENCHMARK(BM_RecordFromJson)->Unit(benchmark::kMicrosecond);

}  // namespace
