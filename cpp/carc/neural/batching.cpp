#include "carc/neural/batching.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace carc {
namespace {

// softmax of `n` logits that stand in `out` already.
void normalise(float* out, std::size_t n) {
  if (n == 0) return;
  const float most = *std::max_element(out, out + n);
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += out[i] = std::exp(out[i] - most);
  for (std::size_t i = 0; i < n; ++i) out[i] /= sum;
}

}  // namespace

void answer(const BatchModel& model, std::span<const Question> questions, BatchMemory& memory) {
  if (questions.empty()) return;
  std::vector<const PlaneInput*> inputs;
  bool with_policy = false, with_lead = false;
  for (const Question& q : questions) {
    inputs.push_back(q.input);
    with_policy |= q.priors != nullptr;
    with_lead |= q.lead != nullptr;
  }
  PlaneBatch& batch = memory.batch;
  batch.assign(inputs);
  const std::size_t n = questions.size();
  const std::size_t logits = static_cast<std::size_t>(kPolicyPlanes * batch.height * batch.width);
  memory.value.resize(n * kMaxPlayers);
  memory.lead.resize(with_lead ? n * kLeadBins : 0);
  memory.policy.resize(with_policy ? n * logits : 0);
  memory.no_figure.resize(n);
  model.forward({batch.size, batch.height, batch.width, batch.planes.data(), batch.mask.data(), batch.globals.data()},
                {memory.value.data(), with_lead ? memory.lead.data() : nullptr, nullptr,
                 with_policy ? memory.policy.data() : nullptr, memory.no_figure.data()});

  for (std::size_t i = 0; i < n; ++i) {
    const Question& q = questions[i];
    if (q.value) {
      q.value->fill(0);
      for (int r = 0; r < q.input->players; ++r) {
        const auto at = static_cast<std::size_t>(r);
        (*q.value)[static_cast<std::size_t>(q.input->seat(r))] =
            q.input->base[at] + kPointsUnit * memory.value[i * kMaxPlayers + at];
      }
    }
    if (q.priors) {
      for (std::size_t a = 0; a < q.places.size(); ++a) {
        q.priors[a] = q.places[a].plane < 0 ? memory.no_figure[i]
                                            : memory.policy[i * logits + q.places[a].index(batch.height, batch.width)];
      }
      normalise(q.priors, q.places.size());
    }
    if (q.lead) {
      std::copy_n(memory.lead.data() + i * kLeadBins, kLeadBins, q.lead);
      normalise(q.lead, kLeadBins);
    }
  }
}

BatchQueue::BatchQueue(std::shared_ptr<const BatchModel> model, int most, bool in_step)
    : model_(std::move(model)), most_(std::max(1, most)), in_step_(in_step) {}

int BatchQueue::take_seat() {
  const std::lock_guard lock(mutex_);
  const auto free = std::find(seats_.begin(), seats_.end(), false);
  const auto seat = free - seats_.begin();
  if (free == seats_.end()) seats_.push_back(false);
  seats_[static_cast<std::size_t>(seat)] = true;
  ++thinking_;
  return static_cast<int>(seat);
}

void BatchQueue::leave_seat(int seat) {
  {
    const std::lock_guard lock(mutex_);
    assert(seats_[static_cast<std::size_t>(seat)]);
    seats_[static_cast<std::size_t>(seat)] = false;
    --thinking_;
  }
  changed_.notify_all();
}

bool BatchQueue::is_ready() const {
  if (is_computing_ || waiting_.empty()) return false;
  return thinking_ == 0 || (!in_step_ && queued_ >= static_cast<std::size_t>(most_));
}

void BatchQueue::ask(int seat, std::span<const Question> questions) {
  if (questions.empty()) return;
  Waiting own{seat, questions, false, false, nullptr};
  std::unique_lock lock(mutex_);
  if (is_stopped_) throw BatchStopped();
  assert(seats_[static_cast<std::size_t>(seat)]);
  --thinking_;
  waiting_.push_back(&own);
  queued_ += questions.size();
  while (!own.is_done && !(is_stopped_ && !own.is_taken)) {
    if (is_ready())
      compute(lock);
    else
      changed_.wait(lock);
  }
  if (own.is_done) {
    if (own.error) std::rethrow_exception(own.error);
    return;
  }
  std::erase(waiting_, &own);
  queued_ -= questions.size();
  ++thinking_;
  lock.unlock();
  changed_.notify_all();
  throw BatchStopped();
}

// Takes all that wait, answers it without the lock, and wakes everybody.
void BatchQueue::compute(std::unique_lock<std::mutex>& lock) {
  is_computing_ = true;
  std::vector<Waiting*> taken = std::move(waiting_);
  waiting_.clear();
  queued_ = 0;
  for (Waiting* w : taken) w->is_taken = true;
  lock.unlock();

  std::sort(taken.begin(), taken.end(), [](const Waiting* a, const Waiting* b) { return a->seat < b->seat; });
  std::int64_t positions = 0, batches = 0;
  std::exception_ptr error;
  try {
    std::vector<Question> all;
    for (const Waiting* w : taken) all.insert(all.end(), w->questions.begin(), w->questions.end());
    const std::size_t parts = (all.size() + static_cast<std::size_t>(most_) - 1) / static_cast<std::size_t>(most_);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t from = all.size() * part / parts, to = all.size() * (part + 1) / parts;
      answer(*model_, std::span(all).subspan(from, to - from), memory_);
      positions += static_cast<std::int64_t>(to - from);
      ++batches;
    }
  } catch (...) {
    error = std::current_exception();
  }

  lock.lock();
  for (Waiting* w : taken) w->error = error, w->is_done = true;
  thinking_ += static_cast<int>(taken.size());
  counts_.positions += positions;
  counts_.batches += batches;
  is_computing_ = false;
  changed_.notify_all();
}

void BatchQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
}

BatchCounts BatchQueue::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace carc
