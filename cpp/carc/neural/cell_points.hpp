// Which tiles the points of a game came from: labels by cell for the network on board planes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "carc/core/state.hpp"

namespace carc {

// A feature's points are shared equally by its tiles.
struct CellPoints {
  std::uint16_t turn = 0;  // in which they were paid; after the last turn: the number of turns
  std::uint8_t player = 0;
  Cell cell;
  float points = 0;
};

// What is paid when `figure` is applied to a state in phase Figure, without the count at the end of the game. Features
// are found afresh, so ask only where the scores changed.
void add_completed(const GameState& state, Action figure, std::uint16_t turn, std::vector<CellPoints>& out);

// The count at the end of a finished game. A player's points for fields are shared by the fields that he has the
// majority in, by their completed cities: exact where each field pays on its own, else the nearest thing to it.
void add_final_count(const GameState& state, std::uint16_t turn, std::vector<CellPoints>& out);

}  // namespace carc
