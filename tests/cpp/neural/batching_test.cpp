#include "carc/neural/batching.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "../support.hpp"
#include "fake_model.hpp"

namespace carc {
namespace {

using namespace test;

PlaneInput encoded(const GameState& state) {
  PlaneInput out;
  encode_planes(state, out);
  return out;
}

TEST(Batching, AnswersAreByPlayerAndAlignedWithTheActions) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const GameState state = placement_with(*game, 7, 30);
  const PlaneInput input = encoded(state);
  ActionList actions;
  state.legal_actions(actions);
  std::vector<PolicyPlace> places;
  for (const Action a : actions) places.push_back(policy_place(state, input, a));
  Values value;
  std::vector<float> priors(places.size()), lead(kLeadBins);
  const Question question{&input, &value, places, priors.data(), lead.data()};
  BatchMemory memory;
  answer(FakeModel(), std::span(&question, 1), memory);
  const float left = static_cast<float>(state.tiles_left()) / kMaxTiles;
  for (int p = 0; p < 3; ++p) {
    const auto r = static_cast<std::size_t>(input.relative(p));
    EXPECT_FLOAT_EQ(value[static_cast<std::size_t>(p)], input.base[r] + 10 * (static_cast<float>(r) + left));
  }
  EXPECT_EQ(value[3], 0);
  EXPECT_NEAR(std::accumulate(priors.begin(), priors.end(), 0.0F), 1, 1e-5F);
  EXPECT_NEAR(lead[0], 1.0F / kLeadBins, 1e-6F);
  const auto logit = [&](std::size_t a) { return FakeModel::logit(places[a].plane, places[a].y, places[a].x); };
  ASSERT_GT(places.size(), 1u);
  EXPECT_NEAR(std::log(priors[0] / priors[1]), logit(0) - logit(1), 1e-5F);
}

TEST(Batching, MoreThanFitGoInNearlyEqualParts) {
  const auto game = Game::create(Rules());
  const PlaneInput input = encoded(GameState(*game));
  const auto model = std::make_shared<FakeModel>();
  BatchQueue queue(model, 8);
  const int seat = queue.take_seat();
  std::vector<Values> values(10);
  std::vector<Question> questions;
  for (Values& v : values) questions.push_back({&input, &v, {}, nullptr, nullptr});
  queue.ask(seat, questions);
  EXPECT_EQ(model->batches, 2);
  EXPECT_EQ(model->largest, 5);
  EXPECT_EQ(queue.counts().positions, 10);
  EXPECT_DOUBLE_EQ(queue.counts().fill(queue.most()), 10.0 / 16);
  queue.leave_seat(seat);
}

TEST(Batching, SeatsGivenUpAreTakenAgain) {
  BatchQueue queue(std::make_shared<FakeModel>(), 4);
  EXPECT_EQ(queue.take_seat(), 0);
  EXPECT_EQ(queue.take_seat(), 1);
  queue.leave_seat(0);
  EXPECT_EQ(queue.take_seat(), 0);
}

TEST(Batching, ErrorOfTheNetworkReachesWhoAsks) {
  const auto game = Game::create(Rules());
  const PlaneInput input = encoded(GameState(*game));
  const auto model = std::make_shared<FakeModel>();
  model->before = [](const BatchInput&) { throw Error("out of order"); };
  BatchQueue queue(model, 4);
  const int seat = queue.take_seat();
  Values value;
  const Question question{&input, &value, {}, nullptr, nullptr};
  EXPECT_EQ(message_of<Error>([&] { queue.ask(seat, std::span(&question, 1)); }), "out of order");
  model->before = nullptr;
  EXPECT_NO_THROW(queue.ask(seat, std::span(&question, 1)));
}

TEST(Batching, NothingIsAnsweredOnceStopped) {
  const auto game = Game::create(Rules());
  const PlaneInput input = encoded(GameState(*game));
  BatchQueue queue(std::make_shared<FakeModel>(), 4);
  const int seat = queue.take_seat();
  queue.stop();
  Values value;
  const Question question{&input, &value, {}, nullptr, nullptr};
  EXPECT_THROW(queue.ask(seat, std::span(&question, 1)), BatchStopped);
}

TEST(BatchModel, WithoutLoaderOneErrorSaysWhatIsMissing) {
  register_batch_model_loader(nullptr);
  const std::string message = message_of<Error>([] { load_batch_model("net.safetensors"); });
  EXPECT_NE(message.find("found no carc._torch"), std::string::npos) << message;
}

}  // namespace
}  // namespace carc
