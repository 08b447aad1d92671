#include "carc/play/turn_values.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "carc/play/complete_turns.hpp"
#include "carc/search/mcts.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

constexpr std::uint64_t kDeck = 0, kDecisions = 1;

void require_decision(const GameState& state) {
  if (state.phase() == Phase::kPlace || state.phase() == Phase::kFigure) return;
  throw IllegalAction("turns: found phase " + std::string(kPhaseNames[static_cast<std::size_t>(state.phase())]) +
                      ", expected place or figure");
}

template <class OnTurn>
void each_turn(const GameState& state, OnTurn on_turn) {
  for_each_turn(
      state, [](const GameState&) {},
      [&](Action decision, Action figure, const GameState& after) { on_turn(CompleteTurn{decision, figure}, after); });
}

// Plays on to the end, or until `stop`, with a deck of sample_deck. Whoever decides when n tiles are left uses the
// random stream split(decisions, n).
void play_out(GameState& state, const std::array<TypeId, kMaxTiles>& deck, std::uint64_t decisions, Agent& agent,
              const std::atomic<bool>& stop) {
  Rng rng(0);
  while (!state.is_terminal()) {
    if (state.phase() == Phase::kDraw) {
      state.apply(Action::draw(deck[static_cast<std::size_t>(state.tiles_left() - 1)]));
      continue;
    }
    if (stop) return;
    if (state.phase() == Phase::kPlace) rng = Rng(split(decisions, static_cast<std::uint64_t>(state.tiles_left())));
    const Action action = agent.choose(state, rng);
    if (stop) return;  // the decision may have been cut short
    state.apply_checked(action);
  }
}

}  // namespace

std::vector<TurnPlayouts> playout_turn_values(std::span<const GameState> states, const AgentFactory& make,
                                              const PlayoutOptions& options) {
  const auto playouts = static_cast<std::size_t>(std::max(0, options.playouts));
  std::vector<TurnPlayouts> out(states.size());
  std::vector<std::vector<GameState>> after(states.size());  // [state][turn]
  for (std::size_t i = 0; i < states.size(); ++i) {
    require_decision(states[i]);
    each_turn(states[i], [&](const CompleteTurn& turn, const GameState& end) {
      out[i].turns.push_back(turn);
      after[i].push_back(end);
    });
    out[i].playouts = options.playouts;
    out[i].margins.resize(out[i].turns.size() * playouts);
  }

  const std::size_t units = states.size() * playouts;  // one playout of all turns of a state
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr error;
  const auto play_unit = [&](std::size_t unit, Agent& agent) {
    const std::size_t i = unit / playouts, k = unit % playouts;
    const auto mover = static_cast<std::size_t>(states[i].turn_player());
    const std::uint64_t seed = split(split(options.seed, i), k);
    Rng rng(split(seed, kDeck));
    const auto deck = sample_deck(states[i], rng);
    for (std::size_t turn = 0; turn < after[i].size(); ++turn) {
      GameState state = after[i][turn];
      play_out(state, deck, split(seed, kDecisions), agent, stop);
      if (stop) return;
      out[i].margins[turn * playouts + k] = static_cast<float>(state.returns()[mover]);
    }
  };
  const auto work = [&](bool may_ask) {
    try {
      const std::unique_ptr<Agent> agent = make();
      agent->watch(&stop);
      for (std::size_t unit; !stop && (unit = next++) < units;) {
        play_unit(unit, *agent);
        if (may_ask && options.interrupted && options.interrupted()) stop = true;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      stop = true;
    }
  };
  {
    std::vector<std::jthread> others;
    const auto threads = static_cast<std::size_t>(std::max(1, options.threads));
    try {
      for (std::size_t t = 1; t < std::min(threads, std::max<std::size_t>(units, 1)); ++t)
        others.emplace_back(work, false);
    } catch (const std::system_error&) {  // fewer threads will do
    }
    work(true);
  }
  if (error) std::rethrow_exception(error);
  return out;
}

JudgedTurns heuristic_turn_values(const GameState& state, const HeuristicEvaluator& evaluator) {
  require_decision(state);
  JudgedTurns out;
  each_turn(state, [&](const CompleteTurn& turn, const GameState& after) {
    out.turns.push_back(turn);
    out.values.push_back(after.is_terminal() ? final_points(after) : evaluator.value(after));
  });
  return out;
}

}  // namespace carc
