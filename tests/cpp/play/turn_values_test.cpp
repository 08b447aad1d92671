#include "carc/play/turn_values.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../search/endgames.hpp"
#include "../support.hpp"
#include "carc/play/greedy_agent.hpp"
#include "carc/search/solver.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

using namespace test;

std::unique_ptr<Agent> greedy() { return std::make_unique<GreedyAgent>(); }

PlayoutOptions playouts(int n, std::uint64_t seed = 0, int threads = 1) { return {n, seed, threads, {}}; }

// A position of a game of random play in which somebody has to place a tile, or has placed it.
GameState position(const Game& game, std::uint64_t seed, int left, Phase phase = Phase::kPlace) {
  GameState state = placement_with(game, seed, left);
  Rng rng(seed);
  while (state.phase() != phase) state.apply(random_action(state, rng));
  return state;
}

std::shared_ptr<const Game> game_of(int players) {
  return Game::create(rules_of({{"players", players}, {"abbot", players > 2}, {"river", players > 3 ? "2021" : "off"}}));
}

// --- Playouts -------------------------------------------------------------------------------------------------------

class TurnValuesOfPlayers : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Players, TurnValuesOfPlayers, ::testing::Range(2, 6));

TEST_P(TurnValuesOfPlayers, AreExactForTheLastTile) {
  const auto game = game_of(GetParam());
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const GameState state = position(*game, seed, 0);
    const Solution solution = solve(state);
    ASSERT_TRUE(solution.complete);
    const std::vector<TurnPlayouts> found = playout_turn_values(std::span(&state, 1), greedy, playouts(2));
    std::map<std::uint32_t, float> best;  // by placement: whoever places chooses the figure
    for (std::size_t t = 0; t < found[0].turns.size(); ++t) {
      EXPECT_EQ(found[0].margins[2 * t], found[0].margins[2 * t + 1]);
      const auto [place, is_new] = best.try_emplace(found[0].turns[t].placement.bits(), found[0].margins[2 * t]);
      if (!is_new) place->second = std::max(place->second, found[0].margins[2 * t]);
    }
    ASSERT_EQ(best.size(), solution.actions.size());
    const auto mover = static_cast<std::size_t>(state.turn_player());
    for (std::size_t a = 0; a < solution.actions.size(); ++a)
      EXPECT_FLOAT_EQ(best.at(solution.actions[a].bits()), solution.values[a][mover]) << "seed " << seed;
  }
}

TEST_P(TurnValuesOfPlayers, DoNotDependOnThreads) {
  const auto game = game_of(GetParam());
  const std::vector<GameState> states = {position(*game, 1, 6), position(*game, 2, 4, Phase::kFigure)};
  const auto alone = playout_turn_values(states, greedy, playouts(4, 5));
  const auto together = playout_turn_values(states, greedy, playouts(4, 5, 3));
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(alone[i].turns, together[i].turns);
    EXPECT_EQ(alone[i].margins, together[i].margins);
  }
}

TEST(TurnValues, AreThoseOfEveryCompleteTurn) {
  const auto game = game_of(3);
  for (const Phase phase : {Phase::kPlace, Phase::kFigure}) {
    const GameState state = position(*game, 4, 10, phase);
    const TurnPlayouts found = playout_turn_values(std::span(&state, 1), greedy, playouts(1))[0];
    ASSERT_FALSE(found.turns.empty());
    for (const CompleteTurn& turn : found.turns) {
      GameState after = state;
      after.apply_checked(turn.placement);
      if (phase == Phase::kPlace) after.apply_checked(turn.figure);
      else EXPECT_EQ(turn.placement, turn.figure);
      EXPECT_THAT(after.phase(), ::testing::AnyOf(Phase::kDraw, Phase::kOver));
    }
    EXPECT_EQ(found.margins.size(), found.turns.size());
  }
}

TEST(TurnValues, FirstPlayoutsDoNotDependOnHowManyFollow) {
  const auto game = game_of(2);
  const GameState state = position(*game, 7, 15);
  const TurnPlayouts few = playout_turn_values(std::span(&state, 1), greedy, playouts(3, 9))[0];
  const TurnPlayouts many = playout_turn_values(std::span(&state, 1), greedy, playouts(8, 9))[0];
  for (std::size_t t = 0; t < few.turns.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(few.margins[3 * t + k], many.margins[8 * t + k]);
  }
}

TEST(TurnValues, OtherSeedsGiveOtherPlayouts) {
  const auto game = game_of(2);
  const GameState state = position(*game, 7, 30);
  EXPECT_NE(playout_turn_values(std::span(&state, 1), greedy, playouts(2, 1))[0].margins,
            playout_turn_values(std::span(&state, 1), greedy, playouts(2, 2))[0].margins);
}

// Remembers what every game drew, and plays the first legal action.
class Witness : public Agent {
 public:
  explicit Witness(std::vector<std::pair<int, std::uint64_t>>* seen) : seen_(seen) {}
  Action choose(const GameState& state, Rng& rng) override {
    if (state.phase() == Phase::kPlace) seen_->emplace_back(state.drawn_tile(), rng.next());
    return state.legal_action(0);
  }

 private:
  std::vector<std::pair<int, std::uint64_t>>* seen_;
};

TEST(TurnValues, TurnsShareTheDeckAndTheRandomNumbersOfAPlayout) {
  const auto game = game_of(2);
  const GameState state = position(*game, 3, 6);
  std::vector<std::pair<int, std::uint64_t>> seen;
  const auto found =
      playout_turn_values(std::span(&state, 1), [&] { return std::make_unique<Witness>(&seen); }, playouts(1));
  ASSERT_EQ(state.tiles_left(), 6);
  ASSERT_EQ(seen.size(), 6 * found[0].turns.size()) << "a tile fitted nowhere: choose another position";
  for (std::size_t i = 6; i < seen.size(); ++i) EXPECT_EQ(seen[i], seen[i % 6]);
}

TEST(TurnValues, ErrorsOfAnAgentComeThrough) {
  class Broken : public Agent {
    Action choose(const GameState&, Rng&) override { throw std::runtime_error("broken"); }
  };
  class Cheat : public Agent {
    Action choose(const GameState&, Rng&) override { return Action::no_figure(); }
  };
  const auto game = game_of(2);
  const GameState state = position(*game, 3, 6);
  const auto with = [&](const AgentFactory& make) { playout_turn_values(std::span(&state, 1), make, playouts(4, 0, 2)); };
  EXPECT_THROW(with([] { return std::make_unique<Broken>(); }), std::runtime_error);
  EXPECT_THROW(with([] { return std::make_unique<Cheat>(); }), IllegalAction);
}

TEST(TurnValues, NeedADecision) {
  const auto game = game_of(2);
  const GameState state(*game);
  const std::string expected = "turns: found phase draw, expected place or figure";
  EXPECT_EQ(message_of<IllegalAction>([&] { playout_turn_values(std::span(&state, 1), greedy, playouts(1)); }), expected);
  EXPECT_EQ(message_of<IllegalAction>([&] { heuristic_turn_values(state, HeuristicEvaluator()); }), expected);
}

TEST(TurnValues, StopWhenAskedTo) {
  const auto game = game_of(2);
  const GameState state = position(*game, 3, 40);
  PlayoutOptions options = playouts(1'000'000, 0, 2);
  int asked = 0;
  options.interrupted = [&] { return ++asked == 3; };
  playout_turn_values(std::span(&state, 1), [] { return configure_agent("random")(); }, options);
  EXPECT_EQ(asked, 3);
}

// --- The hand-made evaluation ---------------------------------------------------------------------------------------

TEST(HeuristicTurnValues, JudgeThePositionAfterEachTurn) {
  const auto game = game_of(3);
  const HeuristicEvaluator evaluator;
  for (const int left : {20, 0}) {
    const GameState state = position(*game, 5, left);
    const JudgedTurns found = heuristic_turn_values(state, evaluator);
    ASSERT_EQ(found.values.size(), found.turns.size());
    for (std::size_t t = 0; t < found.turns.size(); ++t) {
      GameState after = state;
      after.apply_checked(found.turns[t].placement);
      after.apply_checked(found.turns[t].figure);
      EXPECT_EQ(after.is_terminal(), left == 0);
      EXPECT_EQ(found.values[t], left == 0 ? final_points(after) : evaluator.value(after));
    }
  }
}

}  // namespace
}  // namespace carc
