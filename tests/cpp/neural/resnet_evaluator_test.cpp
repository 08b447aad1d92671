#include "carc/neural/resnet_evaluator.hpp"

#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/search/mcts.hpp"
#include "fake_model.hpp"

namespace carc {
namespace {

using namespace test;

TEST(ResnetEvaluator, RemembersWhatTheNetworkSaidInASearch) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 2, 40);
  const auto model = std::make_shared<FakeModel>();
  ResnetEvaluator evaluator(std::make_shared<BatchQueue>(model, 4));
  Rng rng(1);
  evaluator.search_begins();
  Values value{}, again{};
  evaluator.evaluate({&state, nullptr, &value, nullptr, nullptr, nullptr}, rng);
  ActionList actions;
  state.legal_actions(actions);
  std::vector<float> priors(static_cast<std::size_t>(actions.size()), -1);
  evaluator.evaluate({&state, &actions, &again, priors.data(), nullptr, nullptr}, rng);
  EXPECT_EQ(model->batches, 1);
  EXPECT_EQ(value, again);
  float sum = 0;
  for (const float p : priors) sum += p;
  EXPECT_NEAR(sum, 1, 1e-5F);
  evaluator.search_ends();
  evaluator.search_begins();
  evaluator.evaluate({&state, nullptr, &value, nullptr, nullptr, nullptr}, rng);
  EXPECT_EQ(model->batches, 2);
}

TEST(ResnetEvaluator, AsksForEqualPositionsOnce) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 2, 40), other = placement_with(*game, 3, 40);
  const auto model = std::make_shared<FakeModel>();
  const auto queue = std::make_shared<BatchQueue>(model, 4);
  ResnetEvaluator evaluator(queue);
  std::vector<Values> values(3);
  const std::vector<Evaluation> batch = {{.state = &state, .value = &values[0]},
                                         {.state = &other, .value = &values[1]},
                                         {.state = &state, .value = &values[2]}};
  Rng rng(1);
  evaluator.evaluate(batch, rng);
  EXPECT_EQ(queue->counts().positions, 2);
  EXPECT_EQ(values[0], values[2]);
  EXPECT_NE(values[0], values[1]);
}

// One position of each tree in every batch: what is left out are simulations that end in a position already judged.
TEST(ResnetEvaluator, BatchesOfASearchAreFull) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 2, 40);
  const auto queue = std::make_shared<BatchQueue>(std::make_shared<FakeModel>(), 16);
  MctsOptions options;
  options.trees = options.threads = 16;
  options.simulations = 640;
  options.memory_mb = 16;
  Mcts mcts(options, [&] { return std::make_unique<ResnetEvaluator>(queue); });
  const SearchResult result = mcts.search(state, 1);
  EXPECT_EQ(result.simulations, 640);
  EXPECT_GE(queue->counts().fill(16), 0.8);
}

// Trees are independent: which of them share a batch changes nothing.
TEST(ResnetEvaluator, SearchOnThreadsIsTheSearchOnOne) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const GameState state = placement_with(*game, 4, 30);
  const auto found = [&](int threads) {
    const auto queue = std::make_shared<BatchQueue>(std::make_shared<FakeModel>(), threads);
    MctsOptions options;
    options.trees = 8;
    options.threads = threads;
    options.simulations = 160;
    options.memory_mb = 8;
    Mcts mcts(options, [&] { return std::make_unique<ResnetEvaluator>(queue); });
    return mcts.search(state, 3);
  };
  const SearchResult one = found(1), many = found(8);
  EXPECT_EQ(one.best, many.best);
  EXPECT_EQ(one.value, many.value);
}

}  // namespace
}  // namespace carc
