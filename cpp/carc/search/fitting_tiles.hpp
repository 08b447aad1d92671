// How many of the undrawn tiles fit an open cell.
#pragma once

#include <array>
#include <cstdint>

#include "carc/core/state.hpp"

namespace carc {

// Counts by the kinds of edge that the cell asks for, each computed when it is first asked: valid while the state's bag
// stays as it is, whatever is laid meanwhile. The rules of the river and of joining are left out.
class FittingTiles {
 public:
  explicit FittingTiles(const GameState& state) : state_(&state) { known_.fill(kUnknown); }

  // `code`: GameState::open_cell_code; 0 (the river's end) fits nothing.
  int operator()(unsigned code) {
    std::int16_t& count = known_[code];
    if (count != kUnknown) return count;
    int n = 0;
    for (int t = 0; code && t < state_->game().types(); ++t) {
      const TileData& tile = state_->game().tile(static_cast<TypeId>(t));
      if (tile.fits_low[code & 15] & tile.fits_high[code >> 4]) n += state_->tiles_left(static_cast<TypeId>(t));
    }
    return count = static_cast<std::int16_t>(n);
  }

 private:
  static constexpr std::int16_t kUnknown = -1;
  const GameState* state_;
  std::array<std::int16_t, 256> known_;
};

}  // namespace carc
