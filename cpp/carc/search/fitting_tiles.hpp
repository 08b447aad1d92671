// How many of the undrawn tiles fit an open cell.
#pragma once

#include <array>
#include <cstdint>

#include "carc/core/state.hpp"

namespace carc {

// Counts by the kinds of edge that the cell asks for, each computed when it is first asked: valid while the state's bag
// stays as it is, whatever is laid meanwhile. A river tile fits the river's end alone; its turns, and what may not be
// joined, are left out.
class FittingTiles {
 public:
  explicit FittingTiles(const GameState& state) : state_(&state) { known_.fill(kUnknown); }

  // `code`: GameState::open_cell_code; 0 is the river's end.
  int operator()(unsigned code) {
    std::int16_t& count = known_[code];
    if (count != kUnknown) return count;
    int n = 0;
    for (int t = 0; t < state_->game().types(); ++t) {
      const TileData& tile = state_->game().tile(static_cast<TypeId>(t));
      const bool fits = code ? !tile.is_river && (tile.fits_low[code & 15] & tile.fits_high[code >> 4]) : tile.is_river;
      if (fits) n += state_->tiles_left(static_cast<TypeId>(t));
    }
    return count = static_cast<std::int16_t>(n);
  }

  const GameState& state() const { return *state_; }

 private:
  static constexpr std::int16_t kUnknown = -1;
  const GameState* state_;
  std::array<std::int16_t, 256> known_;
};

}  // namespace carc
