#include "carc/play/jcz_agent.hpp"

#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/play/game_play.hpp"
#include "carc/play/greedy_agent.hpp"

namespace carc {
namespace {

using namespace test;

// The first of the complete turns with the highest sum of terms.
std::vector<Action> best_turn(const GameState& drawn, const JczWeights& weights) {
  JczRanking ranking(weights, drawn);
  double best = -1e9;
  std::vector<Action> turn;
  for (int i = 0; i < drawn.num_legal_actions(); ++i) {
    GameState placed = drawn;
    placed.apply(drawn.legal_action(i));
    for (int j = 0; j < placed.num_legal_actions(); ++j) {
      GameState after = placed;
      after.apply(placed.legal_action(j));
      ranking.set_board(after);  // as the board is the same after the figure
      const double value = ranking.terms(after, drawn.turn_player()).sum();
      if (value > best + 1e-9) best = value, turn = {drawn.legal_action(i), placed.legal_action(j)};
    }
  }
  return turn;
}

AgentFactory jcz() {
  return [] { return std::make_unique<JczAgent>(); };
}

TEST(Jcz, PlaysTheFirstOfTheBestTurns) {
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    for (auto n = rng.below(120); n > 0 && !state.is_terminal(); --n) state.apply(random_action(state, rng));
    while (!state.is_terminal() && state.phase() != Phase::kPlace) state.apply(random_action(state, rng));
    if (state.is_terminal()) continue;
    JczWeights weights;
    if (i % 2) weights.open_fields.fill(0);
    const auto turn = best_turn(state, weights);
    JczAgent agent(weights);
    for (const Action expected : turn) {
      const Action action = agent.choose(state, rng);
      EXPECT_EQ(action, expected) << i;
      state.apply(action);
    }
  }
}

TEST(Jcz, FinishesItsCityAndLeavesNoFarmer) {
  Play game(Rules(), {"F", "B", "E", "B"});
  game.turns({"F@0,-1r1 city:E", "B@0,1r0"});
  game.state.apply(Action::draw(game.type("E")));
  JczAgent agent;
  Rng rng(0);
  for (const char* expected : {"E@0,-2r2", "-"}) {
    const Action action = agent.choose(game.state, rng);
    EXPECT_EQ(action_to_string(game.state, action), expected);
    game.state.apply(action);
  }
}

TEST(Jcz, EveryChoiceIsLegalUnderAllRules) {
  Rng rng(2);
  for (int i = 0; i < 12; ++i) {
    Rules rules = random_rules(rng);
    rules.players = 2 + i % 4;
    rules.river = i % 3 ? River::k2021 : River::kOff;
    rules.abbot = i % 2;
    JczAgent agent;
    std::vector<int> seats(static_cast<std::size_t>(rules.players), 0);
    const GameResult result = play_game(Game::create(rules), {rng.next(), seats}, {&agent}, {"jcz"});
    EXPECT_EQ(result.scores.size(), seats.size());
  }
}

TEST(Jcz, NothingIsLeftToChance) {
  Rng rng(3);
  const auto game = Game::create(Rules());
  GameState state(*game);
  for (int i = 0; i < 100; ++i) state.apply(random_action(state, rng));
  while (state.phase() != Phase::kPlace) state.apply(random_action(state, rng));
  JczAgent agent;
  Rng one(1), other(2);
  const Action action = agent.choose(state, one);
  EXPECT_EQ(agent.choose(state, other), action);
  EXPECT_EQ(JczAgent().choose(state, one), action);
}

TEST(Jcz, LeavesTheStateAsItIs) {
  Play game(Rules(), {"V", "B"});
  game.state.apply(Action::draw(game.type("V")));
  const std::string before = position_key(game.state);
  Rng rng(1);
  JczAgent().choose(game.state, rng);
  EXPECT_EQ(position_key(game.state), before);
}

// 10 decks, each with both seatings. An agent that wins 85 of 100 games would fail to win 13 of 20 with probability
// 0.006, and the seed is fixed.
TEST(Jcz, BeatsGreedy) {
  std::vector<GameSpec> specs;
  for (std::uint64_t d = 0; d < 10; ++d) {
    specs.push_back({split(21, d), {0, 1}});
    specs.push_back({split(21, d), {1, 0}});
  }
  int wins = 0;
  PlayOptions options;
  options.records = false;
  options.on_result = [&](std::size_t i, const GameResult& result) {
    const std::size_t seat = specs[i].seats[0] == 0 ? 0 : 1;
    wins += result.scores[seat] > result.scores[1 - seat];
    return true;
  };
  play_games(Game::create(Rules()), specs, {jcz(), configure_agent("greedy")}, {"jcz", "greedy"}, options);
  EXPECT_GE(wins, 13);
}

}  // namespace
}  // namespace carc
