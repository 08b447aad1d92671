#include "carc/play/self_play.hpp"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../neural/nets.hpp"
#include "../support.hpp"
#include "carc/play/feature_net_agent.hpp"
#include "carc/search/utility.hpp"

namespace carc::test {
namespace {

SelfPlayOptions with_net() {
  SelfPlayOptions options;
  options.network = random_feature_net_file(1);
  return options;
}

TEST(SelfPlay, GamesDependOnTheirNumberAlone) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  for (const SelfPlayOptions& options : {SelfPlayOptions(), with_net()}) {
    const GameArrays all = self_play(game, options, 7, 10, 9, 1), threads = self_play(game, options, 7, 10, 9, 3);
    GameArrays parts = self_play(game, options, 7, 10, 4, 1);
    parts.append(self_play(game, options, 7, 14, 5, 2));
    for (const GameArrays& other : {threads, parts}) {
      EXPECT_EQ(other.placement, all.placement);
      EXPECT_EQ(other.figure, all.figure);
      EXPECT_EQ(other.final_scores, all.final_scores);
      EXPECT_EQ(other.game_turns, all.game_turns);
    }
    EXPECT_NE(self_play(game, options, 8, 10, 9, 1).placement, all.placement);
  }
}

TEST(SelfPlay, ValuesAreThoseOfTheBestTurn) {
  const auto game = Game::create(Rules());
  const SelfPlayOptions options = with_net();
  const GameArrays games = self_play(game, options, 1, 0, 2, 1);
  FeatureEvaluator evaluator(FeatureNet::read(options.network));
  GameState state(*game);
  for (std::size_t t = 0; t < games.game_turns[0]; ++t) {
    state.apply(Action::draw(games.tile[t]));
    if (games.placement[t] == kDiscarded) continue;
    EXPECT_EQ(games.value[2 * t], evaluator.value(state)[0]);
    state.apply(Action::from_bits(games.placement[t]));
    state.apply(Action::from_bits(games.figure[t]));
  }
  EXPECT_TRUE(state.is_terminal());
  EXPECT_EQ(state.score(0), games.final_scores[0]);
}

TEST(SelfPlay, WithoutExplorationEveryTurnIsTheBest) {
  const auto game = Game::create(Rules());
  SelfPlayOptions options = with_net();
  options.softmax_rate = options.uniform_rate = 0;
  const GameArrays games = self_play(game, options, 2, 0, 3, 1);
  EXPECT_THAT(games.explored, testing::Each(0));
  FeatureEvaluator evaluator(FeatureNet::read(options.network));
  FeatureNetAgent agent({options.network});
  Rng rng(1);
  GameState state(*game);
  for (std::size_t t = 0; t < games.game_turns[0]; ++t) {
    state.apply(Action::draw(games.tile[t]));
    if (games.placement[t] == kDiscarded) continue;
    const Action chosen = agent.choose(state, rng);
    const Turn played{Action::from_bits(games.placement[t]), Action::from_bits(games.figure[t])};
    const int mover = state.turn_player();
    const auto judged = evaluator.judge_turns(state);
    float most = -1e6F, own = 0, agents = -1e6F;
    for (std::size_t i = 0; i < judged.turns.size(); ++i) {
      most = std::max(most, lead(judged.values[i], mover, 2));
      if (judged.turns[i].placement == played.placement && judged.turns[i].figure == played.figure)
        own = lead(judged.values[i], mover, 2);
      if (judged.turns[i].placement == chosen) agents = std::max(agents, lead(judged.values[i], mover, 2));
    }
    EXPECT_EQ(own, most);
    EXPECT_EQ(agents, most);  // of equal ones the agent takes the first
    state.apply(played.placement);
    state.apply(played.figure);
  }
}

TEST(SelfPlay, ExploresAsOftenAsAsked) {
  const auto game = Game::create(Rules());
  SelfPlayOptions options = with_net();
  options.softmax_rate = 0;
  options.uniform_rate = 0.5F;
  const GameArrays games = self_play(game, options, 3, 0, 20, 2);
  double explored = 0;
  for (const std::uint8_t e : games.explored) explored += e;
  // About half, less the turns of which the best was drawn; 5 standard deviations of 1,400 turns are 0.07.
  EXPECT_NEAR(explored / static_cast<double>(games.turns()), 0.48, 0.07);
}

TEST(SelfPlay, SearchesGivePoliciesOfFullTurnsOnly) {
  const auto game = Game::create(Rules());
  SelfPlayOptions options = with_net();
  options.simulations = 24;
  options.fast_simulations = 4;
  options.full_rate = 0.5F;
  const GameArrays games = self_play(game, options, 4, 0, 2, 2);
  ASSERT_EQ(games.policy_size.size(), 2 * games.turns());
  std::size_t at = 0, full = 0;
  for (std::size_t d = 0; d < games.policy_size.size(); ++d) {
    float sum = 0;
    for (std::size_t i = 0; i < games.policy_size[d]; ++i) sum += games.policy_share[at++];
    if (games.policy_size[d]) {
      EXPECT_NEAR(sum, 1, 1e-4);
    }
    full += d % 2 == 0 && games.policy_size[d] > 0;
  }
  EXPECT_EQ(at, games.policy_share.size());
  EXPECT_GT(full, games.turns() / 4);
  EXPECT_LT(full, games.turns() * 3 / 4);
  EXPECT_FALSE(std::isnan(games.value[0]));
}

TEST(SelfPlay, StopsWhenAsked) {
  SelfPlayOptions options = with_net();
  options.simulations = 20;
  EXPECT_EQ(self_play(Game::create(Rules()), options, 1, 0, 100'000, 2, [] { return true; }).games(), 0U);
}

TEST(SelfPlay, BadNetworksAreRefused) {
  SelfPlayOptions options;
  options.network = testing::TempDir() + "none.safetensors";
  EXPECT_THROW(self_play(Game::create(Rules()), options, 1, 0, 1, 1), WeightsError);
}

}  // namespace
}  // namespace carc::test
