// What the JSON formats share: the envelope with version and checksum, and how a figure decision is written.
#pragma once

#include <string>

#include "carc/core/action.hpp"
#include "carc/core/json.hpp"

namespace carc {

class GameState;

// "crc32:" and eight hexadecimal digits over the object without its checksum, with sorted keys and no spaces.
std::string checksum(const Json& json);

// Throws RecordError unless format, version and checksum are as stated.
void check_envelope(const Json& json, const std::string& format, int version);

// Whether the figure that the action takes back is an abbot.
bool takes_abbot(const GameState& state, Action back);

// null, {"kind", "feature", "who"} or {"return": [x, y]} for an action in phase Figure.
OrderedJson spot_json(const GameState& state, Action action);

}  // namespace carc
