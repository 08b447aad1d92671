#include "carc/search/heuristic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/search/rollout.hpp"
#include "carc/search/utility.hpp"

namespace carc::test {
namespace {

// --- Values ---------------------------------------------------------------------------------------------------------

TEST(Heuristic, CountsHandsWhereNothingElseIs) {
  const auto game = Game::create(Rules());
  const Values u = HeuristicEvaluator().value(GameState(*game));
  EXPECT_FLOAT_EQ(u[0], 6.25F);
  EXPECT_FLOAT_EQ(u[1], 6.25F);
}

// A city of one tile with one open edge: 1 point now, half a chance of another, six meeples in hand.
TEST(Heuristic, HopesToCloseACity) {
  Play game = play(Rules(), {"E@0,1r2 city:N"}, {"V", "V"});
  const Values u = HeuristicEvaluator().value(game.state);
  EXPECT_FLOAT_EQ(u[0], 1 + 0.5F * 1 + 5);
  EXPECT_FLOAT_EQ(u[1], 6.25F);
}

TEST(Heuristic, EveryWeightIsFelt) {
  Rng rng(4);
  const auto game = Game::create(rules_of({{"abbot", true}}));
  std::vector<GameState> states;
  while (states.size() < 400) {
    GameState state(*game);
    while (!state.is_terminal()) {
      state.apply(random_action(state, rng));
      if (state.phase() == Phase::kFigure) states.push_back(state);
    }
  }
  const auto differs = [&](const auto& change) {
    HeuristicWeights weights;
    change(weights);
    const HeuristicEvaluator usual, other(weights);
    return std::any_of(states.begin(), states.end(),
                       [&](const GameState& s) { return usual.value(s) != other.value(s); });
  };
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(differs([&](auto& w) { w.hand[i] += 1; })) << i;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(differs([&](auto& w) { w.hope[i] += 0.1F; })) << i;
  EXPECT_TRUE(differs([](auto& w) { w.abbot += 1; }));
  EXPECT_TRUE(differs([](auto& w) { w.hope_cap = 1; }));
  EXPECT_TRUE(differs([](auto& w) { w.hope_city = 0; }));
  EXPECT_TRUE(differs([](auto& w) { w.hope_monastery = 0; }));
  EXPECT_TRUE(differs([](auto& w) { w.hope_field = 0; }));
  EXPECT_TRUE(differs([](auto& w) { w.bag_aware = true; }));
}

// --- All actions together -------------------------------------------------------------------------------------------

TEST(Heuristic, ActionsJudgedTogetherHaveTheValuesOfTheirPositions) {
  Rng rng(11);
  std::array<Values, ActionList::kCapacity> after;
  for (int i = 0; i < 40; ++i) {
    HeuristicWeights weights;
    weights.bag_aware = i % 2;
    HeuristicEvaluator heuristic(weights);
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    while (!state.is_terminal()) {
      ActionList actions;
      state.legal_actions(actions);
      heuristic.values_after(state, actions, after.data());
      int best = 0;
      for (int a = 0; a < actions.size(); ++a) {
        GameState next = state;
        next.apply(actions[a]);
        const Values expected = heuristic.value(next);
        const Values& found = after[static_cast<std::size_t>(a)];
        for (std::size_t p = 0; p < kMaxPlayers; ++p) ASSERT_NEAR(found[p], expected[p], 1e-3) << i << " " << p;
        const auto player = static_cast<std::size_t>(state.turn_player());
        if (found[player] > after[static_cast<std::size_t>(best)][player]) best = a;
      }
      // Half of the play makes sense, so that features grow and close.
      state.apply(state.is_chance_node() || rng.below(2) ? random_action(state, rng) : actions[best]);
    }
  }
}

TEST(Heuristic, PriorsAreADistributionThatFavoursTheBest) {
  Rng rng(3);
  const auto game = Game::create(Rules());
  GameState state(*game);
  for (int i = 0; i < 30; ++i) state.apply(random_action(state, rng));
  while (state.phase() != Phase::kPlace) state.apply(random_action(state, rng));
  ActionList actions;
  state.legal_actions(actions);
  std::vector<float> priors(static_cast<std::size_t>(actions.size()));
  std::vector<Values> after(priors.size());
  HeuristicEvaluator().evaluate({&state, &actions, nullptr, priors.data(), after.data(), nullptr}, rng);
  float sum = 0;
  for (const float p : priors) sum += p;
  EXPECT_NEAR(sum, 1, 1e-5);
  const auto me = static_cast<std::size_t>(state.turn_player());
  const auto gain = [&](std::size_t i) { return after[i][me] - after[i][1 - me]; };
  std::size_t best = 0;
  for (std::size_t i = 0; i < after.size(); ++i) best = gain(i) > gain(best) ? i : best;
  EXPECT_EQ(*std::max_element(priors.begin(), priors.end()), priors[best]);
}

TEST(Heuristic, FinishedGamesAreWorthTheirPoints) {
  Rng rng(8);
  for (int i = 0; i < 10; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    while (!state.is_terminal()) state.apply(random_action(state, rng));
    EXPECT_EQ(HeuristicEvaluator().value(state), final_points(state));
  }
}

// --- Playouts -------------------------------------------------------------------------------------------------------

TEST(Rollout, IsTheMeanOfRandomGames) {
  const auto game = Game::create(Rules());
  Rng rng(5);
  RolloutOptions options;
  options.figure_probability = 0.5F;
  RolloutEvaluator rollout(options, std::make_shared<HeuristicEvaluator>());
  GameState state(*game);
  double sum = 0;
  constexpr int kGames = 2000;
  for (int i = 0; i < kGames; ++i) {
    Values value{};
    rollout.evaluate({&state, nullptr, &value, nullptr, nullptr, nullptr}, rng);
    sum += static_cast<double>(value[0] + value[1]) / 2;
  }
  // Random games end near 19.5 points (known); standard error about 0.15: fails by chance once in 10^9.
  EXPECT_NEAR(sum / kGames, 19.5, 1.0);
}

TEST(Rollout, RiverAndAbbotWithAllPlayers) {
  Rng rng(6);
  for (int players = 2; players <= 5; ++players) {
    const auto game = Game::create(rules_of({{"players", players}, {"river", "2021"}, {"abbot", true}}));
    GameState state(*game);
    for (const float epsilon : {1.0F, 0.8F}) {
      for (const int turns : {0, 3}) {
        RolloutOptions options;
        options.epsilon = epsilon;
        options.turns = turns;
        RolloutEvaluator rollout(options, std::make_shared<HeuristicEvaluator>());
        Values value{};
        std::vector<Move> moves;
        rollout.evaluate({&state, nullptr, &value, nullptr, nullptr, &moves}, rng);
        EXPECT_GE(moves.size(), turns ? 3u : 60u);
        if (turns) {
          EXPECT_LE(moves.size(), 2u * 3u);
        }
      }
    }
  }
}

// Sampled tiles follow the bag: chi-squared with 23 degrees of freedom, fails by chance once in 10^5.
TEST(Rollout, DrawsEveryCopyEquallyOften) {
  const auto game = Game::create(Rules());
  const GameState state(*game);
  Rng rng(12);
  std::array<int, kMaxTypes> seen{};
  constexpr int kDraws = 71'000;
  for (int i = 0; i < kDraws; ++i) ++seen[sample_tile(state, rng)];
  double chi = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(game->types()); ++t) {
    const double expected = kDraws / 71.0 * state.tiles_left(static_cast<TypeId>(t));
    if (expected > 0) chi += (seen[t] - expected) * (seen[t] - expected) / expected;
    if (expected == 0) {
      EXPECT_EQ(seen[t], 0);
    }
  }
  EXPECT_LT(chi, 65);
}

// --- Utility --------------------------------------------------------------------------------------------------------

TEST(Utility, KindsAgreeOnWhoIsAhead) {
  const Values points = {30, 20, 10, 0, 0};
  for (const auto kind : {UtilityKind::kTanh, UtilityKind::kLinear, UtilityKind::kShare, UtilityKind::kWin}) {
    const Values u = Utility{kind, 15}(points, 3);
    EXPECT_GE(u[0], u[1]);
    EXPECT_GE(u[1], u[2]);
    EXPECT_GT(u[0], u[2]);
    for (const float x : u) EXPECT_LE(std::abs(x), 1);
  }
  EXPECT_FLOAT_EQ((Utility{UtilityKind::kTanh, 15}(points, 2)[0]), std::tanh(10 / 15.0F));
  EXPECT_FLOAT_EQ((Utility{UtilityKind::kLinear, 20}(points, 2)[1]), -0.5F);
  EXPECT_FLOAT_EQ((Utility{UtilityKind::kShare, 1}(points, 2)[0]), 0.2F);
  EXPECT_FLOAT_EQ((Utility{UtilityKind::kWin, 1}({5, 5, 1}, 3)[0]), 0);
  EXPECT_FLOAT_EQ((Utility{UtilityKind::kWin, 1}({5, 5, 1}, 3)[2]), -1);
  EXPECT_FLOAT_EQ((Utility{UtilityKind::kShare, 1}({0, 0}, 2)[0]), 0);
}

}  // namespace
}  // namespace carc::test
