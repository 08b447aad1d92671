#include "carc/play/batch.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "carc/core/rng.hpp"

namespace carc {

GameState random_game(const Game& game, std::uint64_t seed, std::int32_t& placements, std::int32_t& figures) {
  const Deck deck(game, split(seed, 0));
  Rng rng(split(seed, 1));
  GameState state(game);
  std::size_t next = 0;
  while (!state.is_terminal()) {
    switch (state.phase()) {
      case Phase::kDraw:
        state.apply(Action::draw(deck.order()[next++]));
        break;
      case Phase::kPlace: {
        const PlacementSet choices = state.placements();
        const int n = choices.count();
        placements += n;
        state.apply(choices[static_cast<int>(rng.below(static_cast<std::uint32_t>(n)))]);
        break;
      }
      default: {
        const Action action =
            state.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(state.num_legal_actions()))));
        figures += action.figure() == Action::Figure::kMeeple || action.figure() == Action::Figure::kAbbot;
        state.apply(action);
      }
    }
  }
  return state;
}

RandomGames random_games(const Game& game, std::size_t n, std::uint64_t seed, int threads,
                         const std::function<bool()>& interrupted) {
  constexpr std::size_t kChunk = 256;  // games a worker takes at once
  const auto players = static_cast<std::size_t>(game.rules().players);
  RandomGames out;
  out.players = game.rules().players;
  out.scores.resize(n * players);
  out.turns.resize(n);
  out.discards.resize(n);
  out.placements.resize(n);
  out.figures.resize(n);

  const std::size_t chunks = (n + kChunk - 1) / kChunk;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  const auto work = [&](bool may_ask) {
    for (std::size_t chunk; !stop && (chunk = next++) < chunks;) {
      for (std::size_t i = chunk * kChunk; i < std::min(n, (chunk + 1) * kChunk); ++i) {
        std::int32_t placements = 0, figures = 0;
        const GameState end = random_game(game, split(seed, i), placements, figures);
        for (std::size_t p = 0; p < players; ++p)
          out.scores[i * players + p] = static_cast<std::int16_t>(end.score(static_cast<int>(p)));
        out.turns[i] = static_cast<std::int16_t>(end.laid_tiles() - 1);
        out.discards[i] = static_cast<std::int16_t>(end.discarded_tiles());
        out.placements[i] = placements;
        out.figures[i] = figures;
      }
      if (may_ask && interrupted && interrupted()) stop = true;
    }
  };
  {
    std::vector<std::jthread> others;
    const auto extra =
        std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), std::max<std::size_t>(chunks, 1)) - 1;
    try {
      for (std::size_t t = 0; t < extra; ++t) others.emplace_back(work, false);
    } catch (const std::system_error&) {  // fewer threads will do
    }
    work(true);
  }
  if (stop) {  // chunks are taken in order, so all games before the last one taken are complete
    const std::size_t done = std::min(n, std::min<std::size_t>(next, chunks) * kChunk);
    out.scores.resize(done * players);
    out.turns.resize(done);
    out.discards.resize(done);
    out.placements.resize(done);
    out.figures.resize(done);
  }
  return out;
}

}  // namespace carc
