// A position as JSON ("format": "carc-state"), and as a picture in characters.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "carc/core/state.hpp"

namespace carc {

struct LoadedState {
  std::shared_ptr<const Game> game;  // keeps alive what the state refers to
  GameState state;
};

// One line: rules, laid tiles in the order of play, figures, discarded tiles, bag, points, phase; with a checksum.
std::string state_to_json(const GameState& state);

// Throws RecordError (RulesError, TileSetError) naming what is wrong: damage, tiles that do not fit, figures that could
// not stand where they are said to, a phase that does not go with the rest.
LoadedState state_from_json(std::string_view text);

// Six by three characters a tile: edges ('.' field, '#' road, 'C' city, '~' river), the tile's id, and a figure as
// player number and the first letter of its feature (upper case for the abbot). Below: scores, figures and the phase.
std::string board_text(const GameState& state);

}  // namespace carc
