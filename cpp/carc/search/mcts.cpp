#include "carc/search/mcts.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <system_error>
#include <thread>

#include "carc/search/gumbel.hpp"
#include "carc/search/tree_search.hpp"

namespace carc {
namespace {

using Clock = std::chrono::steady_clock;

// Streams of one seed.
constexpr std::uint64_t kNoise = 0, kChoice = 1, kGumbel = 2, kTrees = 3;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

}  // namespace

void MctsOptions::validate() const {
  for (const auto& [name, value] : {std::pair("rave", rave), std::pair("widening_factor", widening_factor)}) {
    if (unknown_deck != UnknownDeck::kOpenLoop || value == 0) continue;
    throw OptionError(std::string(name) + ": found " + detail::number_text(static_cast<double>(value)) +
                      " with unknown_deck open_loop, expected decks or nodes");
  }
  if (gumbel_actions > 0 && (time_ms > 0 || widening_factor > 0)) {
    throw OptionError("gumbel_actions: found " + std::to_string(gumbel_actions) + " with " +
                      (time_ms > 0 ? "time_ms" : "widening_factor") + ", expected a number of simulations alone");
  }
}

struct Mcts::Worker {
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<Tree> tree;
};

Mcts::Mcts(const MctsOptions& options, EvaluatorFactory make_evaluator)
    : options_(options), make_evaluator_(std::move(make_evaluator)) {
  options_.validate();
}
Mcts::~Mcts() = default;
Mcts::Mcts(Mcts&&) noexcept = default;
Mcts& Mcts::operator=(Mcts&&) noexcept = default;

namespace {

// Ends what Evaluator::search_begins began.
struct Asking {
  ~Asking() { evaluator.search_ends(); }
  Evaluator& evaluator;
};

struct TreeResult {
  TreeSearch::RootSums sums;
  std::vector<float> priors;
  std::vector<std::vector<Action>> lines;  // by root action
  std::int64_t simulations = 0;
  std::int64_t nodes = 0;
  std::size_t bytes = 0;
};

// The root's actions in the order of legal_actions, though a node may keep them sorted by prior.
std::vector<int> places_of(const ActionList& actions, Tree::Node& root) {
  std::vector<int> places;
  for (const Action a : actions)
    places.push_back(static_cast<int>(std::find(root.actions(), root.actions() + root.size, a) - root.actions()));
  return places;
}

// The statistics of all trees' roots together.
SearchResult pooled(const GameState& state, const ActionList& actions, const std::vector<TreeResult>& results) {
  SearchResult out;
  out.players = state.players();
  const auto n = static_cast<std::size_t>(actions.size());
  const auto players = static_cast<std::size_t>(state.players());
  const auto mover = static_cast<std::size_t>(state.turn_player());
  std::array<double, kMaxPlayers> utility{}, points{};
  for (std::size_t i = 0; i < n; ++i) {
    ActionReport report;
    report.action = actions[static_cast<int>(i)];
    report.players = state.players();
    std::array<double, kMaxPlayers> sum{}, sum_points{}, squares{};
    for (const TreeResult& r : results) {
      report.visits += r.sums.visits[i];
      report.prior += static_cast<double>(r.priors[i]) / static_cast<double>(results.size());
      for (std::size_t p = 0; p < players; ++p) {
        sum[p] += r.sums.utility[i][p];
        sum_points[p] += r.sums.points[i][p];
        squares[p] += r.sums.points_squared[i][p];
      }
    }
    const double visits = static_cast<double>(std::max<std::int64_t>(1, report.visits));
    for (std::size_t p = 0; p < players; ++p) {
      utility[p] += sum[p];
      points[p] += sum_points[p];
      const double mean = sum_points[p] / visits;
      report.utility[p] = static_cast<float>(sum[p] / visits);
      report.points[p] = static_cast<float>(mean);
      report.spread[p] = static_cast<float>(std::sqrt(std::max(0.0, squares[p] / visits - mean * mean)));
    }
    report.value = sum[mover] / visits;
    out.actions.push_back(report);
  }
  for (const TreeResult& r : results) {
    out.simulations += r.simulations;
    out.nodes += r.nodes;
    out.bytes += r.bytes;
  }
  for (std::size_t p = 0; p < players; ++p) {
    out.value[p] = static_cast<float>(utility[p] / static_cast<double>(std::max<std::int64_t>(1, out.simulations)));
    out.points[p] = static_cast<float>(points[p] / static_cast<double>(std::max<std::int64_t>(1, out.simulations)));
  }
  return out;
}

}  // namespace

SearchResult Mcts::search(const GameState& state, std::uint64_t seed) {
  if (state.phase() != Phase::kPlace && state.phase() != Phase::kFigure) {
    throw IllegalAction("search: found phase " + std::string(kPhaseNames[static_cast<std::size_t>(state.phase())]) +
                        ", expected place or figure");
  }
  const auto began = Clock::now();
  const int trees = options_.trees;
  const int threads = std::min(options_.threads, trees);
  while (workers_.size() < static_cast<std::size_t>(threads)) {
    workers_.push_back(std::make_unique<Worker>(Worker{make_evaluator_(), nullptr}));
  }

  ActionList actions;
  state.legal_actions(actions);
  std::vector<TreeResult> results(static_cast<std::size_t>(trees));

  const auto run_tree = [&](Worker& worker, int t, int trees_to_come) {
    TreeResult& result = results[static_cast<std::size_t>(t)];
    TreeSearch search(options_, *worker.evaluator, *worker.tree, state,
                      split(seed, kTrees + static_cast<std::uint64_t>(t)), split(seed, kNoise));
    const std::int64_t budget =
        std::min<std::int64_t>(options_.simulations / trees + (t < options_.simulations % trees),
                               std::numeric_limits<std::int32_t>::max() - 1);
    const auto stopped = [&] { return stop_ && stop_->load(std::memory_order_relaxed); };
    if (options_.gumbel_actions > 0) {
      SequentialHalving halving(search.root(), options_.gumbel_actions, budget, split(seed, kGumbel));
      while (const auto action = halving.next(search.root())) {
        search.simulate(*action);
        if (stopped()) break;
      }
    } else {
      const auto tree_began = Clock::now();
      const double share = (static_cast<double>(options_.time_ms) / 1000 - seconds_since(began)) / trees_to_come;
      for (std::int64_t i = 0; i < budget; ++i) {
        search.simulate();
        if (stopped() || (options_.time_ms > 0 && seconds_since(tree_began) >= share)) break;
      }
    }
    const std::vector<int> places = places_of(actions, search.root());
    for (const int place : places) {
      const auto p = static_cast<std::size_t>(place);
      const TreeSearch::RootSums& sums = search.root_sums();
      result.sums.visits.push_back(sums.visits[p]);
      result.sums.utility.push_back(sums.utility[p]);
      result.sums.points.push_back(sums.points[p]);
      result.sums.points_squared.push_back(sums.points_squared[p]);
      result.priors.push_back(search.root().priors()[place]);
      result.lines.push_back(search.line(place));
    }
    result.simulations = search.root().visits;
    result.nodes = worker.tree->nodes();
    result.bytes = worker.tree->bytes();
  };

  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(threads));
  const auto work = [&](int w) {
    try {
      Worker& worker = *workers_[static_cast<std::size_t>(w)];
      const Asking asking{*worker.evaluator};
      const NodeLayout layout = TreeSearch::layout(options_, *worker.evaluator, state.players());
      if (!worker.tree || worker.tree->layout().players != layout.players) {
        worker.tree = std::make_unique<Tree>(
            static_cast<std::size_t>(static_cast<double>(options_.memory_mb) * 1e6 / trees), layout);
      }
      for (int t = w; t < trees; t += threads) run_tree(worker, t, (trees - t + threads - 1) / threads);
    } catch (...) {
      errors[static_cast<std::size_t>(w)] = std::current_exception();
    }
  };
  {
    // All begin before any asks, so that a batch waits for all.
    const auto evaluator = [&](int w) -> Evaluator& { return *workers_[static_cast<std::size_t>(w)]->evaluator; };
    for (int w = 0; w < threads; ++w) evaluator(w).search_begins();
    std::vector<std::jthread> others;
    std::vector<int> own;
    for (int w = 1; w < threads; ++w) {
      try {
        others.emplace_back(work, w);
      } catch (const std::system_error&) {  // fewer threads will do
        evaluator(w).search_ends();
        own.push_back(w);
      }
    }
    work(0);
    for (const int w : own) {
      evaluator(w).search_begins();
      work(w);
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }

  SearchResult out = pooled(state, actions, results);
  out.best =
      options_.gumbel_actions > 0 ? best_by_gumbel(out, split(seed, kGumbel)) : choose(out, Rng(split(seed, kChoice)));
  std::size_t longest = 0;
  for (std::size_t t = 1; t < results.size(); ++t) {
    const auto best = static_cast<std::size_t>(out.best);
    if (results[t].sums.visits[best] > results[longest].sums.visits[best]) longest = t;
  }
  out.line = results[longest].lines[static_cast<std::size_t>(out.best)];
  out.seconds = seconds_since(began);
  return out;
}

int Mcts::choose(const SearchResult& result, Rng rng) const {
  const auto& actions = result.actions;
  if (options_.temperature > 0) {
    double most = 1;
    for (const ActionReport& a : actions) most = std::max(most, static_cast<double>(a.visits));
    std::vector<double> weights;
    double sum = 0;
    for (const ActionReport& a : actions) {
      sum += std::pow(static_cast<double>(a.visits) / most, 1 / static_cast<double>(options_.temperature));
      weights.push_back(sum);
    }
    const double at = rng.uniform() * sum;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (at < weights[i]) return static_cast<int>(i);
    }
  }
  // With too few visits everywhere, visits decide.
  const bool by_mean = options_.choice == FinalChoice::kMean &&
                       std::any_of(actions.begin(), actions.end(),
                                   [&](const ActionReport& a) { return a.visits >= options_.min_visits; });
  int best = -1;
  for (int i = 0; i < static_cast<int>(actions.size()); ++i) {
    const ActionReport& a = actions[static_cast<std::size_t>(i)];
    if (by_mean && a.visits < options_.min_visits) continue;
    if (best < 0) {
      best = i;
      continue;
    }
    const ActionReport& b = actions[static_cast<std::size_t>(best)];
    const bool better = by_mean ? a.value > b.value || (a.value == b.value && a.visits > b.visits)
                                : a.visits > b.visits || (a.visits == b.visits && a.value > b.value);
    if (better) best = i;
  }
  return best;
}

}  // namespace carc
