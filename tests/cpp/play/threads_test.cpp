// What runs on several threads at once, small enough for ThreadSanitizer.
#include <gtest/gtest.h>

#include "../neural/fake_model.hpp"
#include "../support.hpp"
#include "carc/play/batch.hpp"
#include "carc/play/game_play.hpp"
#include "carc/play/resnet_self_play.hpp"
#include "carc/play/turn_values.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/mcts.hpp"
#include "carc/search/rollout.hpp"

namespace carc::test {
namespace {

TEST(Threads, TreesOfOneSearch) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 1, 30);
  for (const bool rollouts : {false, true}) {
    MctsOptions options;
    options.simulations = 800;
    options.threads = 4;
    options.memory_mb = 8;
    const auto make = [rollouts]() -> std::unique_ptr<Evaluator> {
      if (!rollouts) return std::make_unique<HeuristicEvaluator>();
      return std::make_unique<RolloutEvaluator>(RolloutOptions{}, std::make_shared<HeuristicEvaluator>());
    };
    Mcts on_threads(options, make);
    options.threads = 1;
    Mcts alone(options, make);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const SearchResult a = on_threads.search(state, seed), b = alone.search(state, seed);
      EXPECT_EQ(a.best, b.best);
      EXPECT_EQ(a.value, b.value);
    }
  }
}

TEST(Threads, GamesOfSearchingAgents) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const Json few = {{"simulations", 16}, {"threads", 2}, {"memory_mb", 8}};
  const std::vector<AgentFactory> agents = {configure_agent("mcts", few), configure_agent("jcz"),
                                            configure_agent("expectiminimax", {{"depth", 1}})};
  std::vector<GameSpec> specs;
  for (std::uint64_t i = 0; i < 6; ++i) specs.push_back({i, {0, 1, 2}});
  const auto scores = [&](int threads) {
    std::vector<std::vector<int>> out(specs.size());
    PlayOptions options;
    options.threads = threads;
    options.on_result = [&](std::size_t i, const GameResult& result) {
      out[i] = result.scores;
      return true;
    };
    play_games(game, specs, agents, {"mcts", "jcz", "expectiminimax"}, options);
    return out;
  };
  EXPECT_EQ(scores(3), scores(1));
}

TEST(Threads, PlayoutsOfTurns) {
  const auto game = Game::create(Rules());
  const std::vector<GameState> states = {placement_with(*game, 1, 2), placement_with(*game, 2, 1)};
  const auto margins = [&](int threads) {
    PlayoutOptions options;
    options.playouts = 4;
    options.threads = threads;
    std::vector<std::vector<float>> out;
    for (const TurnPlayouts& p : playout_turn_values(states, configure_agent("greedy"), options))
      out.push_back(p.margins);
    return out;
  };
  EXPECT_EQ(margins(4), margins(1));
}

TEST(Threads, SelfPlayOfANetwork) {
  struct Loader final : BatchModelLoader {
    std::shared_ptr<const BatchModel> load(const std::string&) const override { return std::make_shared<FakeModel>(); }
  } const loader;
  register_batch_model_loader([&] { return &loader; });
  const auto game = Game::create(Rules());
  const Json options = {{"network", "fake"}, {"simulations", 4}, {"fast_simulations", 2}, {"lanes", 4}};
  const auto played = [&](int threads) { return resnet_self_play(game, options, 3, 0, 5, threads).games.placement; };
  EXPECT_EQ(played(2), played(1));
  register_batch_model_loader(nullptr);
}

TEST(Threads, RandomGames) {
  const auto game = Game::create(Rules());
  EXPECT_EQ(random_games(*game, 200, 5, 4).scores, random_games(*game, 200, 5, 1).scores);
}

}  // namespace
}  // namespace carc::test
