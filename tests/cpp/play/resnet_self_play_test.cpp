#include "carc/play/resnet_self_play.hpp"

#include <gtest/gtest.h>

#include "../neural/fake_model.hpp"
#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

class FakeLoader final : public BatchModelLoader {
 public:
  std::shared_ptr<const BatchModel> load(const std::string&) const override { return model; }
  std::shared_ptr<FakeModel> model = std::make_shared<FakeModel>();
};

class ResnetSelfPlayTest : public testing::Test {
 protected:
  ResnetSelfPlayTest() : game_(Game::create(rules_of({{"players", 3}, {"abbot", true}}))) {
    register_batch_model_loader([this] { return &loader_; });
  }
  ~ResnetSelfPlayTest() override { register_batch_model_loader(nullptr); }

  ResnetSelfPlay play(std::uint64_t first, int games, int threads, Json options = Json::object()) {
    options.update(
        {{"network", "fake"}, {"simulations", 12}, {"fast_simulations", 4}, {"lanes", 4}, {"full_rate", 0.5}});
    return resnet_self_play(game_, options, 7, first, games, threads);
  }
  static bool equal(const GameArrays& a, const GameArrays& b) {
    return a.game_turns == b.game_turns && a.final_scores == b.final_scores && a.tile == b.tile &&
           a.placement == b.placement && a.figure == b.figure && a.explored == b.explored &&
           a.policy_size == b.policy_size && a.policy_action == b.policy_action && a.policy_share == b.policy_share;
  }

  std::shared_ptr<const Game> game_;
  FakeLoader loader_;
};

TEST_F(ResnetSelfPlayTest, GamesAreExamplesWithPoliciesAndValues) {
  const ResnetSelfPlay played = play(0, 6, 1);
  EXPECT_EQ(played.games.game_turns.size(), 6u);
  const PlaneExamples examples(game_, played.games);  // throws for games that the rules do not allow
  std::size_t with_policy = 0;
  for (const PlaneExample& e : examples.examples()) with_policy += e.has_policy;
  EXPECT_GT(with_policy, examples.examples().size() / 10);
  EXPECT_LT(with_policy, examples.examples().size() / 2);
}

TEST_F(ResnetSelfPlayTest, BatchesAreFullWhileAllLanesPlay) {
  const ResnetSelfPlay played = play(0, 8, 1);
  EXPECT_EQ(played.batch, 4);
  EXPECT_GE(played.batches.fill(played.batch), 0.8);
}

// The fake network's answers do not depend on the batch at all, so the games must not either.
TEST_F(ResnetSelfPlayTest, GamesDependOnNeitherThreadsNorCalls) {
  const GameArrays all = play(0, 5, 1).games;
  EXPECT_TRUE(equal(all, play(0, 5, 2).games));
  GameArrays parts = play(0, 2, 1).games;
  parts.append(play(2, 3, 1).games);
  EXPECT_TRUE(equal(all, parts));
}

TEST_F(ResnetSelfPlayTest, WithoutNetworkTheHandMadeEvaluationPlays) {
  const Json options = {{"simulations", 12}, {"fast_simulations", 4}};
  const ResnetSelfPlay played = resnet_self_play(game_, options, 7, 0, 3, 2);
  EXPECT_EQ(played.batches.batches, 0);
  EXPECT_NO_THROW(PlaneExamples(game_, played.games));
  EXPECT_EQ(loader_.model->batches, 0);
}

TEST_F(ResnetSelfPlayTest, ErrorOfTheNetworkEndsTheRun) {
  loader_.model->before = [&](const BatchInput&) {
    if (loader_.model->batches == 30) throw Error("out of order");
  };
  EXPECT_EQ(message_of<Error>([&] { play(0, 6, 2); }), "out of order");
}

TEST_F(ResnetSelfPlayTest, InterruptionEndsTheRun) {
  EXPECT_THROW(
      resnet_self_play(game_, {{"network", "fake"}, {"simulations", 2000}}, 7, 0, 1000, 2, [] { return true; }),
      BatchStopped);
}

TEST_F(ResnetSelfPlayTest, UnknownOptionsAreRefused) {
  EXPECT_NE(message_of<OptionError>([&] {
              resnet_self_play(game_, {{"simulation", 2}}, 7, 0, 1, 1);
            }).find("did you mean 'simulations'"),
            std::string::npos);
  EXPECT_NE(message_of<OptionError>([&] {
              resnet_self_play(game_, {{"search", {{"explore", 2}}}}, 7, 0, 1, 1);
            }).find("did you mean"),
            std::string::npos);
}

}  // namespace
}  // namespace carc
