// A position as planes over a window of cells, with numbers for the whole position: the inputs of the network `resnet`.
//
// The window is the box round the laid tiles and one row and column more on each side, so every open cell lies in it
// and nothing is ever cut off. Positions of different sizes share a batch: they are padded, and a mask says which cells
// are a position's own. Players are counted from the one who decides (relative player 0; while a tile is drawn, from
// who draws), in the order of play; values of the network are in that order, too.
//
// A position is kept as a list of the entries that are not zero, a small part of all, and written out in a batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "carc/core/action.hpp"
#include "carc/core/state.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

inline constexpr int kPlaneEncoder = 1;  // version: changes with every change of what follows

// --- Planes by cell -------------------------------------------------------------------------------------------------

// Sides N E S W; half-edges as in tileset.hpp. An open cell shows on each side what the tile there continues with, so
// planes of sides mean "belongs to" on a laid tile and "would join" on an open cell. Figures of a road, city or field
// are those of the whole feature.
inline constexpr int kLaidPlane = 0;
inline constexpr int kOpenPlane = 1;
inline constexpr int kEdgePlanes = 2;             // [side][field, road, city, river]: 1
inline constexpr int kLinePlanes = 18;            // [side][tiles / 8, shields / 4, open edges / 4, complete]
inline constexpr int kLineFigurePlanes = 34;      // [side][relative player]: figures / 2
inline constexpr int kLineOwnerPlanes = 54;       // [side][relative player]: 1 = has the majority, maybe with others
inline constexpr int kFieldOwnerPlanes = 74;      // [half-edge][relative player]: likewise
inline constexpr int kFieldCityPlanes = 114;      // [half-edge]: completed cities at the field / 4
inline constexpr int kFieldOpenCityPlanes = 122;  // [half-edge]: unfinished cities at the field / 4
inline constexpr int kMonasteryPlane = 130;
inline constexpr int kGardenPlane = 131;
inline constexpr int kMissingPlane = 132;         // monastery or garden: missing neighbours / 8
inline constexpr int kBuildingOwnerPlanes = 133;  // [relative player]: figure in the monastery or garden
inline constexpr int kFigurePlanes = 138;         // [relative player]: a figure stands on this tile
inline constexpr int kAbbotPlane = 143;           // and it is the abbot
inline constexpr int kLastPlane = 144;            // the tile laid last, while its figure is decided
inline constexpr int kPlacementPlanes = 145;      // [rotation]: the tile in hand may be laid so
inline constexpr int kFitsPlane = 149;            // open cell: undrawn tiles that fit, at most 8, / 8
inline constexpr int kFitSharePlane = 150;        // open cell: those of all undrawn tiles
inline constexpr int kDeadPlane = 151;            // open cell: 1 = none fits
inline constexpr int kRiverEndPlane = 152;        // open cell that must continue the river
inline constexpr int kPlanes = 153;

// --- Numbers of the whole position ----------------------------------------------------------------------------------

// Classes of tiles: 24 patterns of edges up to rotation (field, road, city; a river counts as field), each with at most
// one road and one city, or with several.
inline constexpr int kTileClasses = 48;

inline constexpr int kSeatGlobals = 0;        // [relative player]: 1 = takes part
inline constexpr int kScoreGlobals = 5;       // [relative player]: score / 50
inline constexpr int kProjectedGlobals = 10;  // [relative player]: GameState::projected / 50
inline constexpr int kMeepleGlobals = 15;     // [relative player]: meeples in hand / 7
inline constexpr int kAbbotGlobals = 20;      // [relative player]: abbots in hand
inline constexpr int kTilesLeftGlobal = 25;   // / 84
inline constexpr int kNearEndGlobal = 26;     // 1 / (1 + tiles left)
inline constexpr int kPhaseGlobals = 27;      // draw, place, figure
inline constexpr int kRuleGlobals = 30;       // 12 flags, see planes.cpp
inline constexpr int kBagGlobals = 42;   // [class] copies / 8; monasteries / 6, gardens / 8, shields / 8, river / 12
inline constexpr int kHandGlobals = 94;  // the tile in hand: [class], monastery, garden, shields, river
inline constexpr int kPlaneGlobals = 146;

// Names of all planes and of all numbers, in order.
const std::vector<std::string>& plane_names();
const std::vector<std::string>& plane_global_names();

// --- Encoding -------------------------------------------------------------------------------------------------------

struct PlaneEntry {
  std::uint8_t plane;
  std::uint8_t y, x;  // in the window
  float value;
};

// A position as the network sees it.
struct PlaneInput {
  Cell origin;  // the window's north-west cell
  int height = 0, width = 0;
  int players = 0;
  int perspective = 0;              // the player who is relative player 0
  std::vector<PlaneEntry> entries;  // each place at most once
  std::array<float, kPlaneGlobals> globals{};
  Values base{};  // by relative player: points if the game ended now, to which the network adds

  int relative(int player) const { return (player - perspective + players) % players; }
  int seat(int relative_player) const { return (relative_player + perspective) % players; }
};

// Any phase but Over. Reuses the memory of `out`.
void encode_planes(const GameState& state, PlaneInput& out);

// Positions in one window, as the network reads them; row-major. The planes of a cell lie together.
struct PlaneBatch {
  int size = 0, height = 0, width = 0;
  std::vector<float> planes;   // [size, height, width, kPlanes]
  std::vector<float> mask;     // [size, 1, height, width]: 1 = a cell of the position's own window
  std::vector<float> globals;  // [size, kPlaneGlobals]

  // The window is the least that holds all inputs, padded to a multiple of kWindowStep so that few sizes occur. Own
  // windows lie in its north-west corner.
  void assign(std::span<const PlaneInput* const> inputs);
};
inline constexpr int kWindowStep = 2;

// --- Outputs --------------------------------------------------------------------------------------------------------

// The policy has planes over the window and one number more, for no figure.
inline constexpr int kPlacePolicy = 0;            // [rotation] at the open cell
inline constexpr int kLinePolicy = 4;             // [lowest side] of the road or city, at the tile laid last
inline constexpr int kFieldPolicy = 8;            // [lowest half-edge] of the field
inline constexpr int kMonasteryPolicy = 16;       // meeple in the monastery
inline constexpr int kAbbotMonasteryPolicy = 17;  // abbot in the monastery
inline constexpr int kAbbotGardenPolicy = 18;     // abbot in the garden
inline constexpr int kBackPolicy = 19;            // the figure on this tile is taken back
inline constexpr int kPolicyPlanes = 20;

// Where an action's logit stands; plane < 0: no figure.
struct PolicyPlace {
  std::int16_t plane = -1;
  std::int16_t y = 0, x = 0;

  // In one row of all logits: [kPolicyPlanes, height, width], then no figure.
  std::size_t index(int height, int width) const;
};

// `action`: a legal placement or figure decision of the state; no two have the same place.
PolicyPlace policy_place(const GameState& state, const PlaneInput& input, Action action);

// The distribution of the final lead (own points less the mean of the others') of relative player 0: bin i holds leads
// near 2 i - 60 points, the outer bins all beyond.
inline constexpr int kLeadBins = 61;
inline constexpr float kLeadBinPoints = 2;
inline constexpr float kLeadLowest = -60;

inline constexpr float kPointsUnit = 10;  // values of the network are in units of 10 points more than `base`

}  // namespace carc
