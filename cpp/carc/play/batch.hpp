// Uniformly random games in bulk, for statistics and as the measure of the engine's speed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "carc/core/deck.hpp"
#include "carc/core/state.hpp"

namespace carc {

struct RandomGames {
  int players = 0;
  std::vector<std::int16_t> scores;      // [game][player]
  std::vector<std::int16_t> turns;       // [game] tiles laid
  std::vector<std::int16_t> discards;    // [game] tiles that fitted nowhere
  std::vector<std::int32_t> placements;  // [game] legal placements, summed over the turns
  std::vector<std::int32_t> figures;     // [game] figures set
};

// One complete game in which every legal action of every decision is equally likely; the deck comes from
// split(seed, 0), the choices from split(seed, 1). Returns the final state; `placements` and `figures` are added to.
GameState random_game(const Game& game, std::uint64_t seed, std::int32_t& placements, std::int32_t& figures);

// Game i has the seed split(seed, i): the results do not depend on the number of threads. `interrupted` is asked now
// and then on the calling thread; if it says true, the run ends early and the arrays hold the first games only.
RandomGames random_games(const Game& game, std::size_t n, std::uint64_t seed, int threads,
                         const std::function<bool()>& interrupted = {});

}  // namespace carc
