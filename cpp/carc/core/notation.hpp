// Actions as text. Features are named by an edge or half-edge in the tile's reference orientation.
//
//   C                       a tile is drawn                       city:N  road:E  field:3  monastery   a meeple is set
//   D@0,-1r2                placed at x 0, y -1, two quarter      abbot:monastery  abbot:garden        the abbot is set
//                           turns clockwise                       back:3,-1   a figure is taken back    -   nothing
#pragma once

#include <string>
#include <string_view>

#include "carc/core/action.hpp"
#include "carc/core/game.hpp"

namespace carc {

class GameState;

// The name of feature `f` of a tile: kind and its first side or half-edge.
std::string feature_name(const TileType& tile, unsigned f);

std::string action_to_string(const GameState& state, Action action);

// Reads an action for the state's phase. Any side or half-edge of a feature names it; a placement may name any of
// several rotations that give the same tile. Throws NotationError for text that is no action, IllegalAction for one
// that is not legal now.
Action string_to_action(const GameState& state, std::string_view text);

// What to say of an action that is not legal now: the action, the phase, and the first of the legal actions.
std::string illegal_action_message(const GameState& state, Action action);

}  // namespace carc
