// Vocabulary of the rules: players, sides, edge and feature kinds, and the limits that size every array of the core.
#pragma once

#include <array>
#include <cstdint>

namespace carc {

// --- Limits -------------------------------------------------------------------------------------------------------

inline constexpr int kMinPlayers = 2;
inline constexpr int kMaxPlayers = 5;
inline constexpr int kMeeples = 7;         // a player; the eighth figure of the box only marks the score
inline constexpr int kMaxTiles = 84;       // laid and discarded together: 72 base + 12 river
inline constexpr int kMaxOpenCells = 170;  // 84 connected cells have at most 2 * 84 + 2 empty neighbour cells
inline constexpr int kMaxTypes = 96;       // tile types of one game
inline constexpr int kMaxLines = 254;      // roads and cities: 4 edges of the first tile + at most 3 new ones a tile
inline constexpr int kMaxFields = 254;     // that could arise; checked for each game and bag
inline constexpr int kMaxContacts = 176;   // of a field with a city on its tile; checked likewise
inline constexpr int kMaxShields = 255;    // in one game; checked likewise
inline constexpr int kMaxFeatures = 14;    // of one tile: 4 edges + 8 half-edges + monastery + garden
inline constexpr int kMaxFigures = kMaxPlayers * (kMeeples + 1);

inline constexpr std::uint8_t kNone = 0xFF;  // "no such thing" in every array of labels

// --- Kinds --------------------------------------------------------------------------------------------------------

// Sides clockwise from north; the opposite of side s is s ^ 2.
enum Side : std::uint8_t { kNorth, kEast, kSouth, kWest };
inline constexpr std::array<char, 4> kSideLetters = {'N', 'E', 'S', 'W'};

// What an edge of a tile shows. The first three are the two-bit edge codes of an open cell (0 there: nothing laid).
enum class EdgeKind : std::uint8_t { kField = 1, kRoad = 2, kCity = 3, kRiver = 4 };

enum class FeatureKind : std::uint8_t { kRoad, kCity, kMonastery, kGarden, kField, kRiver };
inline constexpr int kScoringKinds = 5;  // all but the river
inline constexpr std::array<const char*, 6> kFeatureKindNames = {"road",   "city",  "monastery",
                                                                 "garden", "field", "river"};

using Player = std::int8_t;
inline constexpr Player kChancePlayer = -1;    // current_player() in phase Draw
inline constexpr Player kTerminalPlayer = -4;  // current_player() in phase Over

using TypeId = std::uint8_t;  // index of a tile type in its Game

// Whether a figure is a meeple or the abbot.
enum class FigureKind : std::uint8_t { kMeeple, kAbbot };

// --- Cells --------------------------------------------------------------------------------------------------------

// A cell of the board. x grows east, y grows south, the first tile lies at (0, 0) unless a record says else.
struct Cell {
  std::int16_t x = 0;
  std::int16_t y = 0;
  bool operator==(const Cell&) const = default;
};

// A cell as one number that sorts by y, then x: bits 15..8 = y + 128, bits 7..0 = x + 128.
using CellKey = std::uint16_t;

constexpr CellKey cell_key(Cell c) { return static_cast<CellKey>(((c.y + 128) << 8) | (c.x + 128)); }
constexpr Cell key_cell(CellKey k) {
  return {static_cast<std::int16_t>((k & 0xFF) - 128), static_cast<std::int16_t>((k >> 8) - 128)};
}
// Whether a cell can be named by a key at all.
constexpr bool cell_in_range(int x, int y) { return x >= -128 && x < 128 && y >= -128 && y < 128; }

inline constexpr std::array<int, 4> kKeyStep = {-256, 1, 256, -1};  // key of the neighbour at each side
inline constexpr std::array<Cell, 4> kSideStep = {Cell{0, -1}, Cell{1, 0}, Cell{0, 1}, Cell{-1, 0}};

}  // namespace carc
