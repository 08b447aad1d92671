#include "carc/play/resnet_self_play.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "carc/core/deck.hpp"
#include "carc/neural/resnet_evaluator.hpp"
#include "carc/search/heuristic.hpp"

namespace carc {
namespace {

constexpr std::uint64_t kDeck = 0, kChoices = 1;  // streams of a game's seed

struct Options {
  ResnetSelfPlayOptions own;
  MctsOptions search;
};

Options read_options(const Json& json) {
  Options out;
  out.search.trees = 1;
  out.search.unknown_deck = UnknownDeck::kNodes;
  out.search.first_play = FirstPlay::kParent;
  out.search.memory_mb = 16;
  Json left = require_object<OptionError>(json, "options of self-play");
  Json search = Json::object();
  if (const auto found = left.find("search"); found != left.end()) {
    search = require_object<OptionError>(*found, "search");
    left.erase(found);
  }
  std::vector<OptionInfo> known, known_search;
  list_options(ResnetSelfPlayOptions{}, known);
  list_options(MctsOptions{}, known_search);
  take_options(left, out.own);
  require_none_left(left, known);
  take_options(search, out.search);
  require_none_left(search, known_search);
  out.search.threads = 1;
  out.search.temperature = 0;
  out.search.time_ms = 0;
  out.search.choice = FinalChoice::kVisits;
  out.search.validate();
  return out;
}

MctsOptions with_simulations(const Options& options, bool is_full) {
  MctsOptions out = options.search;
  out.simulations = is_full ? options.own.simulations : options.own.fast_simulations;
  out.root_noise = is_full ? options.own.root_noise : 0;
  out.root_noise_alpha = options.own.root_noise_alpha;
  return out;
}

// One game after another.
class Lane {
 public:
  Lane(const Options& options, const EvaluatorFactory& make, const std::atomic<bool>& stopped)
      : options_(options),
        full_(with_simulations(options, true), make),
        fast_(with_simulations(options, false), make),
        stopped_(stopped) {
    full_.watch(&stopped);
    fast_.watch(&stopped);
  }

  GameArrays play(const Game& game, std::uint64_t seed) {
    GameArrays out;
    out.players = game.rules().players;
    const Deck deck(game, split(seed, kDeck));
    Rng rng(split(seed, kChoices));
    GameState state(game);
    std::uint16_t turns = 0;
    for (const TypeId tile : deck.order()) {
      if (state.is_terminal()) break;
      ++turns;
      state.apply(Action::draw(tile));
      out.tile.push_back(tile);
      Values value;
      value.fill(std::numeric_limits<float>::quiet_NaN());
      std::uint8_t explored = 0;
      if (state.drawn_tile() < 0) {
        out.placement.push_back(kDiscarded);
        out.figure.push_back(kDiscarded);
        out.policy_size.insert(out.policy_size.end(), 2, 0);
      } else {
        const bool is_full = rng.uniform() < static_cast<double>(options_.own.full_rate);
        out.placement.push_back(decide(state, is_full, rng, out, &value, explored));
        out.figure.push_back(decide(state, is_full, rng, out, nullptr, explored));
      }
      out.explored.push_back(explored);
      out.value.insert(out.value.end(), value.begin(), value.begin() + state.players());
    }
    out.game_turns.push_back(turns);
    for (int p = 0; p < state.players(); ++p) out.final_scores.push_back(static_cast<std::int16_t>(state.score(p)));
    return out;
  }

 private:
  // Searches, chooses and applies; `value`: what the search foresees.
  std::uint32_t decide(GameState& state, bool is_full, Rng& rng, GameArrays& out, Values* value,
                       std::uint8_t& explored) {
    const std::uint64_t seed = rng.next();
    const double at = rng.uniform();
    int chosen = 0;
    std::uint16_t size = 0;
    if (state.num_legal_actions() > 1) {
      const SearchResult result = (is_full ? full_ : fast_).search(state, seed);
      if (stopped_) throw BatchStopped();
      if (value) std::copy_n(result.points.begin(), state.players(), value->begin());
      chosen = choose(result, at);
      explored |= chosen != result.best;
      if (is_full) {
        size = static_cast<std::uint16_t>(result.actions.size());
        for (const ActionReport& a : result.actions) {
          out.policy_action.push_back(a.action.bits());
          out.policy_share.push_back(static_cast<float>(
              static_cast<double>(a.visits) / static_cast<double>(std::max<std::int64_t>(1, result.simulations))));
        }
      }
    }
    out.policy_size.push_back(size);
    const Action action = state.legal_action(chosen);
    state.apply(action);
    return action.bits();
  }

  int choose(const SearchResult& result, double at) const {
    const auto temperature = static_cast<double>(options_.own.temperature);
    if (temperature == 0) return result.best;
    const auto most = static_cast<double>(result.actions[static_cast<std::size_t>(result.best)].visits);
    std::vector<double> sums;
    double sum = 0;
    for (const ActionReport& a : result.actions)
      sums.push_back(sum += std::pow(static_cast<double>(a.visits) / std::max(most, 1.0), 1 / temperature));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (at * sum < sums[i]) return static_cast<int>(i);
    }
    return result.best;
  }

  const Options& options_;
  Mcts full_, fast_;
  const std::atomic<bool>& stopped_;
};

// The lanes of a run: each with its thread, some with a common queue.
class Run {
 public:
  Run(const std::shared_ptr<const Game>& game, const Json& json, std::uint64_t seed, std::uint64_t first_game,
      int games, int threads)
      : game_(game),
        options_(read_options(json)),
        seed_(seed),
        first_(first_game),
        played_(static_cast<std::size_t>(games)) {
    lanes_ = std::clamp(std::min(options_.own.lanes, games), 1, 256);
    const int queues = std::clamp(threads, 1, lanes_);
    batch_ = (lanes_ + queues - 1) / queues;
    if (options_.own.network.empty()) {
      lanes_ = queues;  // nothing to share
      return;
    }
    const auto model = load_batch_model(options_.own.network);
    for (int q = 0; q < queues; ++q) queues_.push_back(std::make_shared<BatchQueue>(model, batch_));
    for (int l = 0; l < lanes_; ++l) seats_.push_back(queue(l).take_seat());  // before any lane begins
  }

  ResnetSelfPlay play(const std::function<bool()>& interrupted) {
    {
      std::vector<std::jthread> threads;
      try {
        for (int l = 0; l < lanes_; ++l) {
          running_.fetch_add(1);
          threads.emplace_back([this, l] { run_lane(l); });
        }
        while (running_ > 0) {
          if (interrupted && interrupted()) fail(std::make_exception_ptr(BatchStopped()));
          for (int i = 0; i < 20 && running_ > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
      } catch (...) {
        fail(std::current_exception());
      }
    }
    if (error_) std::rethrow_exception(error_);
    ResnetSelfPlay out;
    out.games.players = game_->rules().players;
    for (const GameArrays& game : played_) out.games.append(game);
    for (const auto& queue : queues_) {
      out.batches.positions += queue->counts().positions;
      out.batches.batches += queue->counts().batches;
    }
    out.batch = queues_.empty() ? 0 : batch_;
    return out;
  }

 private:
  BatchQueue& queue(int lane) { return *queues_[static_cast<std::size_t>(lane) % queues_.size()]; }

  void run_lane(int l) {
    try {
      Lane lane(options_, evaluator_factory(l), stopped_);
      for (std::size_t g = static_cast<std::size_t>(l); g < played_.size(); g += static_cast<std::size_t>(lanes_))
        played_[g] = lane.play(*game_, split(seed_, first_ + g));
    } catch (...) {
      fail(std::current_exception());
    }
    if (!queues_.empty()) queue(l).leave_seat(seats_[static_cast<std::size_t>(l)]);
    running_.fetch_sub(1);
  }

  EvaluatorFactory evaluator_factory(int l) {
    if (queues_.empty()) return [] { return std::make_unique<HeuristicEvaluator>(); };
    return [queue = queues_[static_cast<std::size_t>(l) % queues_.size()], seat = seats_[static_cast<std::size_t>(l)]] {
      return std::make_unique<ResnetEvaluator>(queue, seat);
    };
  }

  // Keeps the first error and ends all games.
  void fail(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    stopped_ = true;
    for (const auto& queue : queues_) queue->stop();
  }

  const std::shared_ptr<const Game> game_;
  const Options options_;
  const std::uint64_t seed_, first_;
  std::vector<GameArrays> played_;
  int lanes_ = 1, batch_ = 1;
  std::vector<std::shared_ptr<BatchQueue>> queues_;
  std::vector<int> seats_;  // by lane
  std::atomic<int> running_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

ResnetSelfPlay resnet_self_play(const std::shared_ptr<const Game>& game, const Json& options, std::uint64_t seed,
                                std::uint64_t first_game, int games, int threads,
                                const std::function<bool()>& interrupted) {
  return Run(game, options, seed, first_game, games, threads).play(interrupted);
}

}  // namespace carc
