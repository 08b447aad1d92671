#include "carc/play/game_play.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "carc/core/error.hpp"
#include "carc/core/notation.hpp"
#include "carc/play/luck.hpp"

namespace carc {
namespace {

constexpr std::uint64_t kDecisions = 1;
constexpr std::chrono::milliseconds kPollInterval{100};

// Of a finished game, or of one that was broken off as if it had ended there.
GameResult summarise(const GameState& state) {
  GameResult result;
  result.points = state.points();
  result.final_count = state.final_count();
  if (!state.is_terminal()) {
    result.final_count = state.projected();
    result.points += result.final_count;
  }
  for (int p = 0; p < state.players(); ++p) result.scores.push_back(result.points.total(p));
  result.turns = state.laid_tiles() - 1;
  for (int i = 0; i < state.discarded_tiles(); ++i)
    result.discarded.push_back(state.game().tile(state.discarded_tile(i)).id);
  return result;
}

// Finished games on their way from the workers to the caller.
struct Finished {
  std::mutex mutex;
  std::condition_variable ready;
  std::deque<std::pair<std::size_t, GameResult>> results;
  std::exception_ptr error;
  std::size_t workers = 0;
};

// Tells the agents of a game that it begins and, whatever happens, that it is over.
class Attendance {
 public:
  explicit Attendance(std::vector<Agent*> agents) : agents_(std::move(agents)) {}
  ~Attendance() {
    for (Agent* agent : agents_) agent->end();
  }
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

 private:
  std::vector<Agent*> agents_;
};

// Plays a game to its end, or to the decision before which it is abandoned. Measures its luck if there is a `meter`.
std::optional<GameResult> play(const std::shared_ptr<const Game>& game, const GameSpec& spec,
                               const std::vector<Agent*>& agents, const std::vector<std::string>& names,
                               const std::atomic<bool>& abandoned, LuckMeter* meter) {
  const Deck deck(*game, spec.seed);
  GameRecord record(game, GameState(*game));
  const GameState& state = record.state();
  record.seed = spec.seed;
  std::array<std::int64_t, kMaxPlayers> think_ns{};
  std::array<int, kMaxPlayers> figures_set{};
  std::array<std::int64_t, kMaxPlayers> simulations{};
  const std::uint64_t decisions = spec.decisions.value_or(split(spec.seed, kDecisions));
  std::vector<double> luck(meter ? spec.seats.size() : 0);
  std::size_t next = 0;
  Rng rng(0);
  std::vector<Agent*> attending;
  for (const int seat : spec.seats) {
    Agent* agent = agents[static_cast<std::size_t>(seat)];
    if (std::find(attending.begin(), attending.end(), agent) == attending.end()) attending.push_back(agent);
  }
  const Attendance attendance(attending);
  std::optional<Forfeited> forfeit;
  const auto ask = [&](int seat, auto question) {
    try {
      question(*agents[static_cast<std::size_t>(spec.seats[static_cast<std::size_t>(seat)])]);
    } catch (const Forfeit& error) {
      forfeit = Forfeited{seat, error.reason(), error.what()};
    }
  };
  for (int seat = 0; seat < state.players() && !forfeit; ++seat) {
    const auto first = std::find(spec.seats.begin(), spec.seats.end(), spec.seats[static_cast<std::size_t>(seat)]);
    if (first - spec.seats.begin() == seat) ask(seat, [&](Agent& agent) { agent.begin(record); });
  }
  while (!state.is_terminal() && !forfeit) {
    Action action = Action::no_figure();
    if (state.phase() == Phase::kDraw) {
      const TypeId tile = deck.order()[next++];
      action = Action::draw(tile);
      if (meter) {
        const Luck of_draw = meter->of_draw(state, tile);
        for (std::size_t s = 0; s < luck.size(); ++s) luck[s] += of_draw[s];
      }
    } else {
      if (abandoned) return std::nullopt;
      const auto seat = static_cast<std::size_t>(state.turn_player());
      const int agent = spec.seats[seat];
      if (state.phase() == Phase::kPlace) rng = Rng(split(decisions, next));
      Agent& asked = *agents[static_cast<std::size_t>(agent)];
      const std::int64_t searched = asked.simulations();
      const auto began = std::chrono::steady_clock::now();
      ask(state.turn_player(), [&](Agent& a) { action = a.choose(state, rng); });
      if (abandoned) return std::nullopt;  // the decision may have been cut short
      think_ns[seat] +=
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began).count();
      simulations[seat] += asked.simulations() - searched;
      if (forfeit) break;
      if (!state.is_legal(action)) {
        throw IllegalAction("agent " + quote(names[static_cast<std::size_t>(agent)]) + ": " +
                            illegal_action_message(state, action));
      }
      figures_set[seat] += action.what() == Action::What::kFigure &&
                           (action.figure() == Action::Figure::kMeeple || action.figure() == Action::Figure::kAbbot);
    }
    record.apply(action);
  }
  GameResult result = summarise(state);
  result.think_ns = think_ns;
  result.figures_set = figures_set;
  result.simulations = simulations;
  result.luck = luck;
  result.forfeit = forfeit;
  for (const int seat : spec.seats) record.agents.push_back(names[static_cast<std::size_t>(seat)]);
  result.record = record.to_json();
  return result;
}

void check_specs(const std::vector<GameSpec>& specs, std::size_t players, std::size_t agents) {
  if (!specs.empty() && agents == 0)
    throw Error("agents: found none, expected 1 or more, which the seats name by index");
  for (const GameSpec& spec : specs) {
    if (spec.seats.size() != players) {
      throw Error("seats: found " + std::to_string(spec.seats.size()) + ", expected one agent for each of " +
                  std::to_string(players) + " players");
    }
    for (const int agent : spec.seats) {
      if (agent < 0 || static_cast<std::size_t>(agent) >= agents) {
        throw Error("seats: found agent " + std::to_string(agent) + ", expected an index from 0 to " +
                    std::to_string(agents - 1));
      }
    }
  }
}

}  // namespace

GameResult play_game(const std::shared_ptr<const Game>& game, const GameSpec& spec, const std::vector<Agent*>& agents,
                     const std::vector<std::string>& names) {
  return *play(game, spec, agents, names, std::atomic<bool>(false), nullptr);
}

std::size_t play_games(const std::shared_ptr<const Game>& game, const std::vector<GameSpec>& specs,
                       const std::vector<AgentFactory>& make, const std::vector<std::string>& names,
                       const PlayOptions& options) {
  check_specs(specs, static_cast<std::size_t>(game->rules().players), make.size());
  Finished finished;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};       // begin no other game
  std::atomic<bool> abandoned{false};  // leave those that have begun
  const auto work = [&] {
    try {
      std::vector<std::unique_ptr<Agent>> own;
      std::vector<Agent*> agents;
      for (const AgentFactory& factory : make) {
        agents.push_back(own.emplace_back(factory()).get());
        agents.back()->watch(&abandoned);
      }
      LuckMeter meter;
      for (std::size_t i; !stop && (i = next++) < specs.size();) {
        std::optional<GameResult> result =
            play(game, specs[i], agents, names, abandoned, options.luck ? &meter : nullptr);
        if (!result) break;
        if (!options.records) result->record.clear();
        const std::lock_guard lock(finished.mutex);
        finished.results.emplace_back(i, std::move(*result));
        finished.ready.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(finished.mutex);
      if (!finished.error) finished.error = std::current_exception();
      stop = true;
    }
    const std::lock_guard lock(finished.mutex);
    --finished.workers;
    finished.ready.notify_one();
  };

  const std::size_t workers =
      std::max<std::size_t>(1, std::min(static_cast<std::size_t>(std::max(1, options.threads)), specs.size()));
  std::vector<std::jthread> threads;
  std::unique_lock lock(finished.mutex);  // no worker ends before all have been counted
  try {
    for (; finished.workers < workers; ++finished.workers) threads.emplace_back(work);
  } catch (const std::system_error&) {  // fewer threads will do
    if (threads.empty()) throw Error("threads: found none that the system could start, expected 1");
  }

  std::size_t delivered = 0;
  std::exception_ptr error;
  while (finished.workers > 0 || !finished.results.empty()) {
    finished.ready.wait_for(lock, kPollInterval, [&] { return finished.workers == 0 || !finished.results.empty(); });
    std::deque<std::pair<std::size_t, GameResult>> batch;
    batch.swap(finished.results);
    lock.unlock();
    const auto guarded = [&](auto call) {
      try {
        if (!call()) stop = true;
      } catch (...) {
        if (!error) error = std::current_exception();
        stop = abandoned = true;
      }
    };
    for (const auto& finished_game : batch) {
      ++delivered;  // games in flight when a run stops are finished and delivered too
      guarded([&] { return !options.on_result || options.on_result(finished_game.first, finished_game.second); });
    }
    guarded([&] { return error || !options.interrupted || !options.interrupted(); });
    lock.lock();
  }
  lock.unlock();
  threads.clear();
  if (error) std::rethrow_exception(error);
  if (finished.error) std::rethrow_exception(finished.error);
  return delivered;
}

}  // namespace carc
