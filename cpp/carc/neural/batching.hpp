// Positions of many searches in one batch.
//
// Every search holds a seat. It asks about some positions and sleeps until they are answered; whoever finds a batch
// ready computes it for all. A batch goes as soon as no search that holds a seat is still thinking: then nobody is left
// who could add to it, so nothing ever waits for a batch that cannot fill. Who has a seat and asks nothing for long
// keeps the others waiting, so seats are given up between searches.
//
// In step (the default) that is the only rule: all searches are answered together, and which positions share a batch
// depends on no clock and on no number of threads. Otherwise a full batch goes at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "carc/neural/batch_model.hpp"
#include "carc/neural/planes.hpp"

namespace carc {

// What a network is asked about one position; null or empty: not wanted.
struct Question {
  const PlaneInput* input = nullptr;
  Values* value = nullptr;              // out: expected final points of each player
  std::span<const PolicyPlace> places;  // of the actions
  float* priors = nullptr;              // out: [place], a distribution
  float* lead = nullptr;                // out: [kLeadBins], a distribution of relative player 0's final lead
};

// Memory that is used again from batch to batch.
struct BatchMemory {
  PlaneBatch batch;
  std::vector<float> value, lead, policy, no_figure;
};

// Answers the questions in one forward pass.
void answer(const BatchModel& model, std::span<const Question> questions, BatchMemory& memory);

struct BatchCounts {
  std::int64_t positions = 0;
  std::int64_t batches = 0;
  // Mean positions a batch, as a part of the most.
  double fill(int most) const {
    return batches ? static_cast<double>(positions) / (static_cast<double>(batches) * most) : 0;
  }
};

class BatchStopped : public Error {
 public:
  BatchStopped() : Error("the batching of positions was stopped") {}
};

class BatchQueue {
 public:
  // `most`: positions of a batch. If there are more, they go in batches of nearly equal sizes.
  BatchQueue(std::shared_ptr<const BatchModel> model, int most, bool in_step = true);
  BatchQueue(const BatchQueue&) = delete;

  // A search begins: from now on batches wait for it while it thinks. Gives the least free number.
  int take_seat();
  void leave_seat(int seat);

  // Answers the questions of a search; returns when all are. A batch holds its questions by seat, then in their order.
  // What a forward pass throws is thrown to all searches of the batch. Throws BatchStopped.
  void ask(int seat, std::span<const Question> questions);

  // Lets nobody wait any longer: who waits or asks gets BatchStopped, a batch that is being computed is finished.
  void stop();

  BatchCounts counts() const;
  int most() const { return most_; }

 private:
  struct Waiting {
    int seat;
    std::span<const Question> questions;
    bool is_taken = false, is_done = false;
    std::exception_ptr error;
  };

  bool is_ready() const;
  void compute(std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<const BatchModel> model_;
  const int most_;
  const bool in_step_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> seats_;        // taken
  int thinking_ = 0;               // seats whose search asks nothing now
  std::vector<Waiting*> waiting_;  // not yet taken into a batch
  std::size_t queued_ = 0;         // their questions
  bool is_computing_ = false;
  bool is_stopped_ = false;
  BatchCounts counts_;
  BatchMemory memory_;  // of who computes
};

}  // namespace carc
