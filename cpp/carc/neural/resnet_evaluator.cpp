#include "carc/neural/resnet_evaluator.hpp"

#include <algorithm>
#include <cassert>

namespace carc {

void ResnetEvaluator::search_begins() {
  known_.clear();
  if (!seat_) seat_ = queue_->take_seat();
}

void ResnetEvaluator::search_ends() {
  if (keeps_seat_) return;
  if (seat_) queue_->leave_seat(*seat_);
  seat_.reset();
}

void ResnetEvaluator::evaluate(std::span<const Evaluation> batch, Rng&) {
  if (known_.size() + batch.size() > kMostKnown) known_.clear();
  std::vector<Pending> pending;
  pending.reserve(batch.size());
  for (const Evaluation& one : batch) {
    const std::uint64_t hash = one.state->hash();
    const auto is_same = [&](const Pending& p) { return p.hash == hash; };
    if (known_.contains(hash) || std::any_of(pending.begin(), pending.end(), is_same)) continue;
    Pending& next = pending.emplace_back();
    next.hash = hash;
    encode_planes(*one.state, next.input);
    if (one.state->is_chance_node()) continue;
    one.state->legal_actions(actions_);
    for (const Action a : actions_) next.places.push_back(policy_place(*one.state, next.input, a));
    next.judgement.priors.resize(next.places.size());
  }

  std::vector<Question> questions;
  for (Pending& p : pending)
    questions.push_back({&p.input, &p.judgement.value, p.places, p.judgement.priors.data(), nullptr});
  if (seat_) {
    queue_->ask(*seat_, questions);
  } else if (!questions.empty()) {  // outside of a search
    const int seat = queue_->take_seat();
    struct Leave {
      ~Leave() { queue.leave_seat(seat); }
      BatchQueue& queue;
      int seat;
    } const leave{*queue_, seat};
    queue_->ask(seat, questions);
  }
  for (Pending& p : pending) known_.emplace(p.hash, std::move(p.judgement));

  for (const Evaluation& one : batch) {
    const Judgement& known = find(*one.state);
    if (one.value) *one.value = known.value;
    if (one.priors) {
      assert(static_cast<int>(known.priors.size()) == one.actions->size());
      std::copy(known.priors.begin(), known.priors.end(), one.priors);
    }
  }
}

}  // namespace carc
