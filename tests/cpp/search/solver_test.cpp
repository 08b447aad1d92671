#include "carc/search/solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../random_tiles.hpp"
#include "endgames.hpp"

namespace carc {
namespace {

using namespace test;

constexpr std::int64_t kMany = 100'000'000;

std::vector<float> margins(const ExactPoints& points, int players) {
  std::vector<float> out;
  for (int p = 0; p < players; ++p) {
    out.push_back(static_cast<float>(static_cast<double>(margin(points, players, p)) / (kParts * (players - 1))));
  }
  return out;
}

std::vector<float> by_player(const Values& values, int players) { return {values.begin(), values.begin() + players}; }

testing::Matcher<std::vector<float>> are(const std::vector<float>& expected) {
  return testing::Pointwise(testing::FloatNear(1e-4F), expected);
}

// Compares all that the solver says with the plain recursion; false if that would take more than `nodes` positions.
bool agrees(const GameState& state, std::int64_t nodes) {
  std::vector<std::vector<float>> expected;
  ActionList actions;
  state.legal_actions(actions);
  std::int64_t best_margin = 0;
  int best = -1;
  for (int i = 0; i < actions.size(); ++i) {
    GameState next = state;
    next.apply(actions[i]);
    const auto value = try_plain_value(next, nodes / actions.size());
    if (!value) return false;
    expected.push_back(margins(*value, state.players()));
    const std::int64_t m = margin(*value, state.players(), state.turn_player());
    if (!state.is_chance_node() && (best < 0 || m > best_margin)) best = i, best_margin = m;
  }
  const Solution solution = solve(state, {kMany});
  EXPECT_TRUE(solution.complete);
  EXPECT_EQ(solution.best, best);
  EXPECT_THAT(solution.actions, testing::ElementsAreArray(actions.begin(), actions.end()));
  EXPECT_EQ(solution.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_THAT(by_player(solution.values[i], state.players()), are(expected[i]));
  }
  if (best >= 0) {
    EXPECT_EQ(solution.value, solution.values[static_cast<std::size_t>(best)]);
  } else {
    EXPECT_THAT(by_player(solution.value, state.players()),
                are(margins(*try_plain_value(state, kMany), state.players())));
  }
  return true;
}

TEST(Solver, AgreesWithPlainRecursionInSmallGames) {
  Rng rng(1);
  std::array<int, 5> of_tiles{};  // positions by tiles to lay
  std::array<int, 6> of_players{};
  int rivers = 0;
  for (int i = 0; i < 250; ++i) {
    Rules rules = random_rules(rng);
    if (i % 5 == 0) rules.tiles = random_tile_set(rules, rng);
    const auto game = Game::create(rules);
    GameState state = small_game(*game, 3 + static_cast<int>(rng.below(4)), rng);
    play_until(state, static_cast<int>(rng.below(4)), rng);
    while (!state.is_terminal()) {
      const int tiles = state.tiles_left() + (state.drawn_tile() >= 0);
      if (agrees(state, 40'000)) {
        ++of_tiles[static_cast<std::size_t>(tiles)];
        ++of_players[static_cast<std::size_t>(state.players())];
        rivers += rules.river != River::kOff;
      }
      ASSERT_FALSE(HasFailure()) << i << " " << rules.to_json().dump();
      state.apply(random_action(state, rng));
    }
  }
  EXPECT_THAT(of_tiles, testing::ElementsAre(0, testing::Gt(200), testing::Gt(100), testing::Gt(30), testing::Gt(5)));
  EXPECT_THAT(of_players,
              testing::ElementsAre(0, 0, testing::Gt(50), testing::Gt(50), testing::Gt(50), testing::Gt(50)));
  EXPECT_GT(rivers, 100);
  for (std::size_t n = 1; n < 5; ++n) RecordProperty("positions_" + std::to_string(n), of_tiles[n]);
}

// Boards of a whole game, where figures and open cells are many.
TEST(Solver, AgreesWithPlainRecursionAtTheEndOfWholeGames) {
  Rng rng(2);
  int positions = 0;
  for (int i = 0; i < 60; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_until(state, i % 3 == 0, rng);
    while (!state.is_terminal()) {
      positions += agrees(state, 200'000);
      ASSERT_FALSE(HasFailure()) << i;
      state.apply(random_action(state, rng));
    }
  }
  EXPECT_GT(positions, 100);
}

TEST(Solver, FindsTheWinThatOneMoveMakes) {
  Play game(rules_of({{"players", 3}}), {"E"});
  game.state.apply(Action::draw(game.type("E")));
  const Solution placement = solve(game.state);
  ASSERT_TRUE(placement.complete);
  EXPECT_THAT(by_player(placement.value, 3), are({4, -2, -2}));
  EXPECT_EQ(placement.actions[static_cast<std::size_t>(placement.best)], string_to_action(game.state, "E@0,-1r2"));
  game.state.apply(placement.actions[static_cast<std::size_t>(placement.best)]);
  const Solution figure = solve(game.state);
  EXPECT_EQ(figure.actions[static_cast<std::size_t>(figure.best)], string_to_action(game.state, "city:N"));
}

TEST(Solver, SwappedSeatsSwapTheValues) {
  const std::vector<std::string> tiles = {"E", "U", "B", "V"};
  Play a(Rules(), tiles, 0), b(Rules(), tiles, 1);
  for (Play* game : {&a, &b}) {
    game->turn("U@1,0r1 road:N");
    game->turn("B@0,1r0 monastery");
  }
  const Solution first = solve(a.state), second = solve(b.state);
  ASSERT_TRUE(first.complete && second.complete);
  EXPECT_THAT(by_player(first.value, 2), testing::ElementsAre(second.value[1], second.value[0]));
  EXPECT_NE(first.value[0], first.value[1]);
}

TEST(Solver, DrawIsWorthTheMeanOfItsTiles) {
  const Play game(Rules(), {"E", "B", "B"});
  const Solution solution = solve(game.state);
  ASSERT_TRUE(solution.complete);
  EXPECT_EQ(solution.best, -1);
  ASSERT_EQ(solution.actions.size(), 2u);
  const std::size_t b = solution.actions[0] == Action::draw(game.type("B")) ? 0 : 1;
  EXPECT_NEAR(solution.value[0], (2 * solution.values[b][0] + solution.values[1 - b][0]) / 3, 1e-5);
}

TEST(Solver, FinishedGameIsWorthItsPoints) {
  const Play game = play(rules_of({{"players", 3}}), {"E@0,-1r2 city:N"});
  const Solution solution = solve(game.state);
  EXPECT_TRUE(solution.complete);
  EXPECT_TRUE(solution.actions.empty());
  EXPECT_THAT(by_player(solution.value, 3), are({4, -2, -2}));
}

// A meadow, on which only E fits at first, and then C at the city of E.
TEST(Solver, TilesThatFitNowhereLeaveTheGame) {
  Rules rules;
  rules.tiles = standard_and({tile("p", 1, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})});
  for (const std::vector<std::string>& tiles : {std::vector<std::string>{"C", "C", "p"}, {"C", "X", "E"}, {"C", "X"}}) {
    const Play game(rules, tiles, "p", Cell{0, 0}, 0);
    EXPECT_TRUE(agrees(game.state, 100'000));
  }
}

TEST(Solver, SaysSoWhenTheBudgetDoesNotSuffice) {
  Play game(Rules(), {"E", "U", "B"});
  game.state.apply(Action::draw(game.type("E")));
  const Solution whole = solve(game.state, {kMany});
  ASSERT_TRUE(whole.complete);
  EXPECT_TRUE(solve(game.state, {whole.nodes}).complete);
  for (const std::int64_t budget : {std::int64_t{0}, std::int64_t{1}, whole.nodes / 2, whole.nodes - 1}) {
    const Solution part = solve(game.state, {budget});
    EXPECT_FALSE(part.complete);
    EXPECT_EQ(part.nodes, budget);
    EXPECT_EQ(part.best, -1);
    EXPECT_TRUE(part.actions.empty() && part.values.empty());
  }
}

TEST(Solver, LeavesTheMiddleOfAGameAlone) {
  const auto game = Game::create(Rules());
  const Solution solution = solve(GameState(*game));
  EXPECT_FALSE(solution.complete);
  EXPECT_EQ(solution.nodes, 0);
}

TEST(Solver, SamePositionHasTheSameSolution) {
  Rng rng(3);
  const auto game = Game::create(rules_of({{"players", 4}}));
  GameState state = small_game(*game, 4, rng);
  play_until(state, 2, rng);
  const Solution a = solve(state, {kMany}), b = solve(state, {kMany});
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.best, b.best);
}

}  // namespace
}  // namespace carc
