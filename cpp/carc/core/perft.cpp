#include "carc/core/perft.hpp"

#include "carc/core/error.hpp"

namespace carc {

namespace {

// All figure decisions after a placement, then the turns that follow.
std::uint64_t after_placement(const GameState& placed, const Deck& deck, int turns, std::size_t next) {
  const int choices = placed.num_legal_actions();
  if (turns == 1) return static_cast<std::uint64_t>(choices);
  std::uint64_t sequences = 0;
  for (int i = 0; i < choices; ++i) {
    GameState after = placed;
    after.apply(placed.legal_action(i));
    sequences += perft(after, deck, turns - 1, next);
  }
  return sequences;
}

}  // namespace

std::uint64_t perft(const GameState& state, const Deck& deck, int turns, std::size_t next) {
  if (turns <= 0 || state.is_terminal()) return 1;
  if (state.phase() == Phase::kFigure) return after_placement(state, deck, turns, next);
  GameState drawn = state;
  while (drawn.phase() == Phase::kDraw) {
    if (next >= deck.size()) {
      throw DeckError("perft: found a deck of " + std::to_string(deck.size()) + " tiles, expected more");
    }
    drawn.apply_checked(Action::draw(deck.order()[next++]));
  }
  if (drawn.is_terminal()) return 1;
  std::uint64_t sequences = 0;
  drawn.placements().for_each([&](Action placement) {
    GameState placed = drawn;
    placed.apply(placement);
    sequences += after_placement(placed, deck, turns, next);
  });
  return sequences;
}

}  // namespace carc
