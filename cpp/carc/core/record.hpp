// One whole game as data: rules, start and actions, kept as one JSON object a line or as moves in text.
//
// The JSON form is a superset of the golden games': "turns" with player, tile, x, y, rot, meeple, scores, meeples (and
// abbots), {"tile", "discarded": true} for a tile that fitted nowhere, and "final". Records of this program carry
// "format": "carc-record", "version" and a "checksum": crc32 of the object without the checksum, written with sorted
// keys and no spaces. A record may stop before the end of the game.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "carc/core/state.hpp"

namespace carc {

// The turns of a game as texts, which grow with it: "D@0,-1r2 city:N", "C!" for a discarded tile. A tile in hand is not
// among them; one that was laid, but not yet given its figure, is "D@0,-1r2".
class TurnTexts {
 public:
  explicit TurnTexts(const GameState& initial) : state_(initial) {}
  // Adds what is new: `actions` begins with those of the call before.
  void follow(const std::vector<Action>& actions);
  const std::vector<std::string>& turns() const { return turns_; }
  const GameState& state() const { return state_; }  // after all of them

 private:
  GameState state_;
  std::size_t seen_ = 0;
  std::vector<std::string> turns_;
};

// The tile that lies before the first turn, "R01@0,0r3".
std::string start_text(const GameState& initial);
// Whether it is the one that the rules say, in the middle and not turned.
bool starts_as_usual(const GameState& initial);

class GameRecord {
 public:
  // `initial` must be a state of `game` before its first draw; throws RecordError otherwise.
  GameRecord(std::shared_ptr<const Game> game, const GameState& initial);

  const std::shared_ptr<const Game>& game() const { return game_; }
  const std::vector<Action>& actions() const { return actions_; }
  std::vector<std::string> agents;    // names by seat; may be empty
  std::optional<std::uint64_t> seed;  // of the deck, for information

  const GameState& initial_state() const { return initial_; }
  // The position after the first `n` actions (all of them if n is negative or too large).
  GameState replay(int n = -1) const;
  const GameState& state() const { return current_; }  // after all actions
  // Adds an action; throws IllegalAction and changes nothing if it is not legal after the others.
  void apply(Action action);

  // One JSON object on one line. `details` adds to every turn what could have been done: "n_raw" and "spots".
  std::string to_json(bool details = false) const;
  // Reads a record or golden game; replays it and throws RecordError for damage, illegal moves and wrong values.
  static GameRecord from_json(std::string_view text);

  // A turn a line: "D@0,-1r2 city:N"; "C!" for a discarded tile; "start R01@0,0r3", "first_player 1" and the tiles to
  // draw, "bag U=2 V=2", come first where they differ from the rules' defaults. '#' starts a comment.
  std::string to_text() const;
  static GameRecord from_text(std::string_view text, std::shared_ptr<const Game> game);

 private:
  std::shared_ptr<const Game> game_;
  GameState initial_;
  GameState current_;
  std::vector<Action> actions_;
};

}  // namespace carc
