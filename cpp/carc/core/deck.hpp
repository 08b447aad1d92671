// The hidden order of the tiles. A state never holds one: it knows only the bag, so no agent that is handed a state can
// look ahead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "carc/core/game.hpp"
#include "carc/core/rng.hpp"

namespace carc {

class Deck {
 public:
  // The game's bag in random order: river tiles, the lake, then the others, each part uniformly shuffled.
  Deck(const Game& game, std::uint64_t seed);
  // Exactly these tiles, first drawn first: a prepared order of the bag, or any other list of the game's tile types.
  // Throws DeckError for more than 83 tiles or for a river tile after another tile or after the lake.
  Deck(const Game& game, std::vector<TypeId> order);
  static Deck from_ids(const Game& game, const std::vector<std::string>& ids);

  const std::vector<TypeId>& order() const { return order_; }
  std::size_t size() const { return order_.size(); }
  // Copies of each type: the bag of a state that is played with this deck.
  std::array<std::uint8_t, kMaxTypes> bag() const;

 private:
  std::vector<TypeId> order_;
};

}  // namespace carc
