#include "carc/search/gumbel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace carc {
namespace {

std::vector<float> noisy_priors(const std::vector<float>& priors, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> out;
  for (const float prior : priors) {
    const double gumbel = -std::log(-std::log((static_cast<double>(rng.next() >> 11) + 0.5) * 0x1.0p-53));
    out.push_back(static_cast<float>(gumbel + std::log(std::max(1e-30, static_cast<double>(prior)))));
  }
  return out;
}

float sigma(float value, double most_visits) { return static_cast<float>(50 + most_visits) * (value + 1) / 2; }

}  // namespace

SequentialHalving::SequentialHalving(Tree::Node& root, int actions, std::int64_t budget, std::uint64_t noise_seed)
    : base_(noisy_priors({root.priors(), root.priors() + root.size}, noise_seed)),
      left_(static_cast<std::size_t>(root.size)),
      budget_(budget) {
  std::iota(left_.begin(), left_.end(), 0);
  std::stable_sort(left_.begin(), left_.end(), [&](int a, int b) {
    return base_[static_cast<std::size_t>(a)] > base_[static_cast<std::size_t>(b)];
  });
  left_.resize(std::min(left_.size(), static_cast<std::size_t>(actions)));
  rounds_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::bit_width(left_.size() - 1)));
  per_action_ = std::max<std::int64_t>(1, budget_ / (rounds_ * static_cast<std::int64_t>(left_.size())));
}

void SequentialHalving::halve(Tree::Node& root) {
  const double most = *std::max_element(root.counts(), root.counts() + root.size);
  const auto score = [&](int a) {
    return base_[static_cast<std::size_t>(a)] + sigma(root.means(root.player)[a], most);
  };
  std::stable_sort(left_.begin(), left_.end(), [&](int a, int b) { return score(a) > score(b); });
  left_.resize((left_.size() + 1) / 2);
  per_action_ = std::max<std::int64_t>(1, budget_ / (rounds_ * static_cast<std::int64_t>(left_.size())));
  done_in_round_ = 0;
}

std::optional<int> SequentialHalving::next(Tree::Node& root) {
  if (done_ == budget_) return std::nullopt;
  if (left_.size() > 1 && done_in_round_ == per_action_ * static_cast<std::int64_t>(left_.size())) halve(root);
  ++done_;
  return left_[static_cast<std::size_t>(done_in_round_++) % left_.size()];
}

int best_by_gumbel(const SearchResult& result, std::uint64_t noise_seed) {
  std::vector<float> priors;
  std::int64_t most = 0;
  for (const ActionReport& a : result.actions) {
    priors.push_back(static_cast<float>(a.prior));
    most = std::max(most, a.visits);
  }
  const std::vector<float> base = noisy_priors(priors, noise_seed);
  int best = -1;
  float best_score = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (result.actions[i].visits < most) continue;
    const float score = base[i] + sigma(static_cast<float>(result.actions[i].value), static_cast<double>(most));
    if (best < 0 || score > best_score) best = static_cast<int>(i), best_score = score;
  }
  return best;
}

}  // namespace carc
