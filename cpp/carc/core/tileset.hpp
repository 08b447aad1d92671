// Tile types as the data file describes them, and the set of them that a game is played with.
//
// Half-edges are numbered clockwise from the west half of the north edge: 0 N.west, 1 N.east, 2 E.north, 3 E.south,
// 4 S.east, 5 S.west, 6 W.south, 7 W.north; side s owns the half-edges 2 s and 2 s + 1.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "carc/core/types.hpp"

namespace carc {

// One road, city, field, monastery, garden or stretch of river on one tile, in the reference orientation.
struct TileFeature {
  FeatureKind kind = FeatureKind::kField;
  std::uint8_t sides = 0;       // bit s: ends at side s (road, city, river)
  std::uint8_t half_edges = 0;  // bit h: touches half-edge h (field)
  std::uint8_t shields = 0;     // city
  std::uint16_t cities = 0;     // bit i: the field touches the city with index i in the tile's feature list
  bool operator==(const TileFeature&) const = default;
};

struct TileType {
  std::string id;
  int count = 0;  // copies in the box
  std::array<EdgeKind, 4> edges{};
  std::vector<TileFeature> features;
  bool operator==(const TileType&) const = default;

  // Index of the first feature of this kind, or -1.
  int find(FeatureKind kind) const;
};

struct TileSet {
  std::string name;
  std::vector<TileType> base;
  std::vector<TileType> river_2021;
  std::vector<TileType> river_2014;
  std::string start;
  bool operator==(const TileSet&) const = default;

  // The tiles of the box, built in.
  static std::shared_ptr<const TileSet> standard();
  // Reads the format of tiles.json. Throws TileSetError naming the tile and what is wrong with it.
  static std::shared_ptr<const TileSet> from_json(const nlohmann::json& json, const std::string& name);
  static std::shared_ptr<const TileSet> parse(std::string_view text, const std::string& name);
  nlohmann::ordered_json to_json() const;
};

}  // namespace carc
