// The batching of positions on threads, small enough for ThreadSanitizer.
#include <chrono>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/neural/batching.hpp"
#include "carc/neural/resnet_evaluator.hpp"
#include "carc/search/mcts.hpp"
#include "fake_model.hpp"

namespace carc::test {
namespace {

class BatchingThreads : public testing::Test {
 protected:
  BatchingThreads() : game_(Game::create(Rules())) {
    GameState state(*game_);
    encode_planes(state, input_);
  }

  // Asks `times` times on a seat that is held until then.
  void ask_often(BatchQueue& queue, int seat, int times) {
    Values value;
    const Question question{&input_, &value, {}, nullptr, nullptr};
    try {
      for (int i = 0; i < times; ++i) queue.ask(seat, std::span(&question, 1));
    } catch (...) {
      queue.leave_seat(seat);
      throw;
    }
    queue.leave_seat(seat);
  }

  std::shared_ptr<const Game> game_;
  PlaneInput input_;
};

// Searches of different lengths: the batches shrink with them and nobody is left waiting.
TEST_F(BatchingThreads, BatchHoldsAllThatStillSearch) {
  std::multiset<std::int64_t> sizes;
  const auto model = std::make_shared<FakeModel>();
  model->before = [&](const BatchInput& in) { sizes.insert(in.size); };  // one batch at a time
  BatchQueue queue(model, 8);
  std::vector<int> seats;
  for (int i = 0; i < 4; ++i) seats.push_back(queue.take_seat());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] { ask_often(queue, seats[static_cast<std::size_t>(i)], 5 * (i + 1)); });
    }
  }
  EXPECT_EQ(sizes, (std::multiset<std::int64_t>{4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1}));
}

// Who holds a seat and thinks keeps the others waiting; a full batch goes all the same unless in step.
TEST_F(BatchingThreads, FullBatchGoesAtOnceWhereNotInStep) {
  const auto model = std::make_shared<FakeModel>();
  BatchQueue queue(model, 2, false);
  const int thinking = queue.take_seat();
  const int a = queue.take_seat(), b = queue.take_seat();
  {
    const std::jthread first([&] { ask_often(queue, a, 3); }), second([&] { ask_often(queue, b, 3); });
  }
  EXPECT_EQ(model->batches, 3);
  queue.leave_seat(thinking);
}

TEST_F(BatchingThreads, WhoLeavesLetsTheOthersGo) {
  const auto model = std::make_shared<FakeModel>();
  BatchQueue queue(model, 8);
  const int thinking = queue.take_seat(), asking = queue.take_seat();
  std::jthread other([&] { ask_often(queue, asking, 1); });
  queue.leave_seat(thinking);
  other.join();
  EXPECT_EQ(model->batches, 1);
}

TEST_F(BatchingThreads, ErrorReachesAllOfTheBatch) {
  const auto model = std::make_shared<FakeModel>();
  model->before = [](const BatchInput&) { throw Error("out of order"); };
  BatchQueue queue(model, 4);
  std::vector<std::future<void>> asked;
  std::vector<int> seats = {queue.take_seat(), queue.take_seat(), queue.take_seat()};
  for (const int seat : seats)
    asked.push_back(std::async(std::launch::async, [&, seat] { ask_often(queue, seat, 10); }));
  for (auto& one : asked) EXPECT_EQ(message_of<Error>([&] { one.get(); }), "out of order");
}

// A search that thinks for ever: the others would wait for it.
TEST_F(BatchingThreads, StopWakesWhoWaits) {
  BatchQueue queue(std::make_shared<FakeModel>(), 4);
  const int thinking = queue.take_seat();
  std::vector<std::future<void>> waiting;
  for (int i = 0; i < 3; ++i) {
    const int seat = queue.take_seat();
    waiting.push_back(std::async(std::launch::async, [&, seat] { ask_often(queue, seat, 1000); }));
  }
  queue.stop();
  for (auto& one : waiting) {
    ASSERT_EQ(one.wait_for(std::chrono::seconds(5)), std::future_status::ready);
    EXPECT_THROW(one.get(), BatchStopped);
  }
  queue.leave_seat(thinking);
}

TEST_F(BatchingThreads, TreesOfOneSearchShareBatches) {
  const GameState state = placement_with(*game_, 1, 30);
  const auto searched = [&](int threads) {
    const auto queue = std::make_shared<BatchQueue>(std::make_shared<FakeModel>(), threads);
    MctsOptions options;
    options.trees = 8;
    options.threads = threads;
    options.simulations = 160;
    options.memory_mb = 8;
    Mcts mcts(options, [&] { return std::make_unique<ResnetEvaluator>(queue); });
    mcts.search(state, 1);
    return mcts.search(state, 2).value;
  };
  EXPECT_EQ(searched(8), searched(1));
}

TEST_F(BatchingThreads, SearchEndsWithTheErrorOfTheNetwork) {
  const GameState state = placement_with(*game_, 1, 30);
  const auto model = std::make_shared<FakeModel>();
  model->before = [&](const BatchInput&) {
    if (model->batches == 5) throw Error("out of order");
  };
  const auto queue = std::make_shared<BatchQueue>(model, 4);
  MctsOptions options;
  options.trees = options.threads = 4;
  options.memory_mb = 8;
  Mcts mcts(options, [&] { return std::make_unique<ResnetEvaluator>(queue); });
  EXPECT_EQ(message_of<Error>([&] { mcts.search(state, 1); }), "out of order");
  options.simulations = 40;
  EXPECT_NO_THROW(Mcts(options, [&] { return std::make_unique<ResnetEvaluator>(queue); }).search(state, 1));
}

}  // namespace
}  // namespace carc::test
