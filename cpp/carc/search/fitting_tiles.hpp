// How many of the undrawn tiles fit an open cell, and the chance that it is filled.
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
  explicit FittingTiles(const GameState& state) : state_(&state) {
    known_.fill(kUnknown);
    chances_.fill(kUnknown);
  }

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

  // 1 - (1 - 1 / players)^m: that one player draws at least one of the m tiles that fit.
  double fill_chance(unsigned code) {
    double& chance = chances_[code];
    if (chance != kUnknown) return chance;
    const double others_take_it = 1 - 1.0 / state_->players();
    double nobody = 1;
    for (int m = (*this)(code); m > 0; --m) nobody *= others_take_it;
    return chance = 1 - nobody;
  }

 private:
  static constexpr std::int16_t kUnknown = -1;
  const GameState* state_;
  std::array<std::int16_t, 256> known_;
  std::array<double, 256> chances_;
};

}  // namespace carc
