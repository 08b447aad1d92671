// The network on board planes as an evaluator of a search.
//
// Every thread of a search has one, all over one queue: with as many trees and threads as fit a batch (MctsOptions:
// threads = trees), each tree has one position in every batch, which so is full but for simulations that end in a
// finished game or in what the evaluator remembers. Threads sleep while they wait, so that many of them do no harm.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "carc/neural/batching.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

class ResnetEvaluator final : public Evaluator {
 public:
  // It has a seat while it searches.
  explicit ResnetEvaluator(std::shared_ptr<BatchQueue> queue) : queue_(std::move(queue)) {}
  // The seat is the caller's, who keeps it between searches, too: whoever searches again at once shall be waited for.
  ResnetEvaluator(std::shared_ptr<BatchQueue> queue, int seat)
      : queue_(std::move(queue)), seat_(seat), keeps_seat_(true) {}
  ResnetEvaluator(const ResnetEvaluator&) = delete;
  ~ResnetEvaluator() override { search_ends(); }

  // Values and priors come from the network, which has no randomness. Throws what the network throws, and BatchStopped.
  void evaluate(std::span<const Evaluation> batch, Rng& rng) override;
  using Evaluator::evaluate;
  bool has_priors() const override { return true; }

  void search_begins() override;
  void search_ends() override;

 private:
  // What the network said of a position: a search asks first for its value, later for its priors.
  struct Judgement {
    Values value{};
    std::vector<float> priors;
  };
  struct Pending {
    std::uint64_t hash;
    PlaneInput input;
    std::vector<PolicyPlace> places;
    Judgement judgement;
  };

  const Judgement& find(const GameState& state) const { return known_.at(state.hash()); }

  static constexpr std::size_t kMostKnown = 1 << 16;

  std::shared_ptr<BatchQueue> queue_;
  std::optional<int> seat_;
  bool keeps_seat_ = false;
  std::unordered_map<std::uint64_t, Judgement> known_;  // by hash of the position; of one search
  ActionList actions_;
};

}  // namespace carc
