// The features of a position found afresh from its tiles, for reading and for checking: slower than what a state keeps.
#pragma once

#include <vector>

#include "carc/core/state.hpp"

namespace carc {

struct Segment {
  int tile;     // index of the laid tile
  int feature;  // index in the tile type's feature list
  bool operator==(const Segment&) const = default;
};

struct Feature {
  FeatureKind kind = FeatureKind::kRoad;
  std::vector<Segment> segments;  // by tile, then feature
  int tiles = 0;                  // distinct
  int shields = 0;
  int open = 0;              // roads, cities, rivers: open edges; monasteries, gardens: missing neighbours; fields: 0
  bool is_complete = false;  // never for fields
  std::vector<Figure> figures;
  std::vector<int> cities;  // of a field: indices of the cities it touches, sorted
  int value = 0;            // points for its majority if the game ended now; for a field 3 a completed city
};

// All features, in the order of their first segment. Idle gardens (no abbot in play) are left out.
std::vector<Feature> find_features(const GameState& state);

}  // namespace carc
