// Choosing among root actions with few simulations: sample actions by Gumbel noise, halve them by value.
//
// Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022), algorithm 2: the m
// actions with the highest g(a) + ln P(a) start; the budget is shared equally over ceil(log2 m) rounds and within a
// round over the actions that are left; after a round the better half by g(a) + ln P(a) + sigma(q(a)) stays, with
// sigma(q) = (50 + most visits) * q and q in [0, 1].
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "carc/search/mcts.hpp"
#include "carc/search/tree.hpp"

namespace carc {

class SequentialHalving {
 public:
  SequentialHalving(Tree::Node& root, int actions, std::int64_t budget, std::uint64_t noise_seed);

  // The root action of the next simulation, or nothing when the budget is used.
  std::optional<int> next(Tree::Node& root);

 private:
  void halve(Tree::Node& root);

  std::vector<float> base_;  // g + ln P, by root action
  std::vector<int> left_;    // actions still in the race
  std::int64_t budget_;
  std::int64_t rounds_;
  std::int64_t per_action_ = 0;  // simulations of each in this round
  std::int64_t done_ = 0, done_in_round_ = 0;
};

// Among the most visited actions the one with the best g + ln P + sigma(q).
int best_by_gumbel(const SearchResult& result, std::uint64_t noise_seed);

}  // namespace carc
