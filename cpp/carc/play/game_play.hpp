// Plays games: one between given agents, or many on a pool of threads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "carc/core/deck.hpp"
#include "carc/core/record.hpp"
#include "carc/play/agent.hpp"

namespace carc {

// One game to play. The deck comes from `seed`. Whoever decides after draw t uses the random stream split(decisions,
// t), where `decisions` is split(seed, 1) unless it is given. So all games of a deck have the same numbers at the same
// point, whichever agent sits there: agents that play alike play the same game until their first difference, and what
// luck of decisions they share cancels between the seatings of a deck (common random numbers).
struct GameSpec {
  std::uint64_t seed = 0;
  std::vector<int> seats;                                 // index of the agent in each seat
  std::optional<std::uint64_t> decisions = std::nullopt;  // seed of the agents' random numbers
};

// The end of a game by an agent that could not go on.
struct Forfeited {
  int seat = 0;
  std::string reason;  // one word
  std::string detail;
};

// A forfeited game has the points that there would be if it had ended then; who forfeited has lost to all others.
struct GameResult {
  std::vector<int> scores;                              // by seat
  Points points;                                        // by feature kind and seat
  Points final_count;                                   // the part of them paid after the last turn
  int turns = 0;                                        // tiles laid
  std::vector<std::string> discarded;                   // ids of the tiles that fitted nowhere
  std::array<int, kMaxPlayers> figures_set{};           // by seat, in the whole game
  std::array<std::int64_t, kMaxPlayers> think_ns{};     // by seat: time spent in choose()
  std::array<std::int64_t, kMaxPlayers> simulations{};  // by seat: Agent::simulations of the whole game
  std::vector<double> luck;                             // by seat: of all draws (see luck.hpp); empty: not measured
  std::string record;                                   // GameRecord::to_json()
  std::optional<Forfeited> forfeit;
};

// Throws IllegalAction naming the agent if it chooses an illegal action.
GameResult play_game(const std::shared_ptr<const Game>& game, const GameSpec& spec, const std::vector<Agent*>& agents,
                     const std::vector<std::string>& names);

struct PlayOptions {
  int threads = 1;
  bool records = true;  // fill GameResult::record
  bool luck = false;    // fill GameResult::luck: some milliseconds a game, which are no agent's time
  // Called on the calling thread for each finished game, in the order in which games end; false stops the run.
  std::function<bool(std::size_t, const GameResult&)> on_result;
  // Asked on the calling thread about ten times a second; true stops the run. An exception that one of the two throws
  // stops it at the next decision of every game.
  std::function<bool()> interrupted;
};

// Plays all specs; `make[i]` makes the agent with index i, once a thread. The results do not depend on the number of
// threads. Returns the number of games finished. An error in an agent stops the run and is thrown here.
std::size_t play_games(const std::shared_ptr<const Game>& game, const std::vector<GameSpec>& specs,
                       const std::vector<AgentFactory>& make, const std::vector<std::string>& names,
                       const PlayOptions& options);

}  // namespace carc
