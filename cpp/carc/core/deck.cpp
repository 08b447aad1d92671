#include "carc/core/deck.hpp"

namespace carc {

Deck::Deck(const Game& game, std::uint64_t seed) {
  std::vector<TypeId> others;
  for (int t = 0; t < game.types(); ++t) {
    const auto type = static_cast<TypeId>(t);
    auto& part = game.comes_before_lake(type) ? order_ : others;
    if (game.lake() != type) part.insert(part.end(), game.bag()[type], type);
  }
  Rng rng(seed);
  rng.shuffle(std::span(order_));
  rng.shuffle(std::span(others));
  if (game.lake()) order_.push_back(*game.lake());
  order_.insert(order_.end(), others.begin(), others.end());
}

Deck::Deck(const Game& game, std::vector<TypeId> order) : order_(std::move(order)) {
  if (order_.size() >= static_cast<std::size_t>(kMaxTiles)) {
    throw DeckError("deck: found " + std::to_string(order_.size()) + " tiles, expected at most " +
                    std::to_string(kMaxTiles - 1));
  }
  bool river_is_over = false;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (order_[i] >= game.types()) {
      throw DeckError("deck: found tile type " + std::to_string(order_[i]) + ", expected less than " +
                      std::to_string(game.types()));
    }
    const TileData& tile = game.tile(order_[i]);
    if (tile.is_river && river_is_over) {
      throw DeckError("deck: found river tile " + tile.id + " at position " + std::to_string(i) +
                      ", expected all river tiles first, the lake last of them");
    }
    river_is_over |= !tile.is_river || game.lake() == order_[i];
  }
}

Deck Deck::from_ids(const Game& game, const std::vector<std::string>& ids) {
  std::vector<TypeId> order;
  for (const std::string& id : ids) order.push_back(game.require<DeckError>(id).type);
  return Deck(game, std::move(order));
}

std::array<std::uint8_t, kMaxTypes> Deck::bag() const {
  std::array<std::uint8_t, kMaxTypes> bag{};
  for (const TypeId t : order_) ++bag[t];
  return bag;
}

}  // namespace carc
