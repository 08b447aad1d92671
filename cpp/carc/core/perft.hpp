// Counts of action sequences along a given deck: one number that any change of the rules would move.
#pragma once

#include <cstdint>

#include "carc/core/deck.hpp"
#include "carc/core/state.hpp"

namespace carc {

// Number of sequences of (placement, figure) decisions over the next `turns` turns when tiles come in the deck's order
// from position `next`; what is left of a turn that has begun is its first turn; a game that ends earlier counts once.
// Throws DeckError if the deck runs out before the bag.
std::uint64_t perft(const GameState& state, const Deck& deck, int turns, std::size_t next = 0);

}  // namespace carc
