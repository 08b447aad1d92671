#include "carc/core/tileset.hpp"

#include <algorithm>
#include <set>

#include "carc/core/json.hpp"
#include "carc/core/tile_data.hpp"

namespace carc {
namespace {

constexpr int kMostCopies = kMaxTiles;
constexpr int kMostShields = 9;

struct NamedEdge {
  const char* name;
  EdgeKind kind;
};
constexpr std::array<NamedEdge, 4> kEdgeNames = {
    {{"field", EdgeKind::kField}, {"road", EdgeKind::kRoad}, {"city", EdgeKind::kCity}, {"river", EdgeKind::kRiver}}};

EdgeKind edge_kind(const Json& value, const std::string& what) {
  for (const auto& [name, kind] : kEdgeNames) {
    if (value == name) return kind;
  }
  throw TileSetError(what + ": found " + shown(value) + ", expected field, road, city or river");
}

FeatureKind feature_kind(const Json& value, const std::string& what) {
  for (std::size_t i = 0; i < kFeatureKindNames.size(); ++i) {
    if (value == kFeatureKindNames[i]) return static_cast<FeatureKind>(i);
  }
  throw TileSetError(what + ": found " + shown(value) + ", expected city, road, monastery, garden, river or field");
}

int side_of(const Json& value, const std::string& what) {
  for (std::size_t s = 0; s < 4; ++s) {
    if (value == std::string(1, kSideLetters[s])) return static_cast<int>(s);
  }
  throw TileSetError(what + ": found " + shown(value) + ", expected N, E, S or W");
}

void reject_unknown_keys(const Json& object, std::initializer_list<const char*> known, const std::string& what) {
  for (const auto& [key, value] : object.items()) {
    if (std::none_of(known.begin(), known.end(), [&key = key](const char* k) { return key == k; })) {
      throw TileSetError(what + ": unknown key " + quote(key) + ", did you mean '" + nearest(key, known) + "'?");
    }
  }
}

TileFeature read_feature(const Json& json, const std::string& what) {
  require_object<TileSetError>(json, what);
  reject_unknown_keys(json, {"kind", "edges", "shields", "half_edges", "cities"}, what);
  TileFeature feature;
  feature.kind = feature_kind(require_key<TileSetError>(json, "kind", what), what + " kind");
  if (feature.kind == FeatureKind::kField) {
    for (const Json& h : require_array<TileSetError>(require_key<TileSetError>(json, "half_edges", what), what)) {
      feature.half_edges |= static_cast<std::uint8_t>(1u << require_int<TileSetError>(h, 0, 7, what + " half_edges"));
    }
    if (json.contains("cities")) {
      for (const Json& c : require_array<TileSetError>(json["cities"], what + " cities")) {
        feature.cities |=
            static_cast<std::uint16_t>(1u << require_int<TileSetError>(c, 0, kMaxFeatures - 1, what + " cities"));
      }
    }
  } else {
    for (const Json& s : require_array<TileSetError>(require_key<TileSetError>(json, "edges", what), what)) {
      feature.sides |= static_cast<std::uint8_t>(1u << side_of(s, what + " edges"));
    }
    if (json.contains("shields")) {
      feature.shields =
          static_cast<std::uint8_t>(require_int<TileSetError>(json["shields"], 0, kMostShields, what + " shields"));
    }
  }
  return feature;
}

// Every edge and half-edge must belong to exactly the features that its kind asks for.
void check_coverage(const TileType& tile, const std::string& what) {
  std::array<int, 4> owners{};
  std::array<int, 8> grass{};
  int monasteries = 0, gardens = 0, rivers = 0;
  for (std::size_t i = 0; i < tile.features.size(); ++i) {
    const TileFeature& f = tile.features[i];
    const std::string where = what + " feature " + std::to_string(i);
    const bool in_the_middle = f.kind == FeatureKind::kMonastery || f.kind == FeatureKind::kGarden;
    if (in_the_middle && f.sides) throw TileSetError(where + ": found edges, expected none for a monastery or garden");
    if (f.shields && f.kind != FeatureKind::kCity)
      throw TileSetError(where + ": found shields, expected them in a city only");
    if (f.kind == FeatureKind::kField ? !f.half_edges : !in_the_middle && !f.sides) {
      throw TileSetError(where + ": found no edge, expected at least one");
    }
    monasteries += f.kind == FeatureKind::kMonastery;
    gardens += f.kind == FeatureKind::kGarden;
    rivers += f.kind == FeatureKind::kRiver;
    const EdgeKind shows = f.kind == FeatureKind::kRoad   ? EdgeKind::kRoad
                           : f.kind == FeatureKind::kCity ? EdgeKind::kCity
                                                          : EdgeKind::kRiver;
    for (std::size_t s = 0; s < 4; ++s) {
      if (!(f.sides >> s & 1)) continue;
      ++owners[s];
      if (tile.edges[s] != shows) {
        throw TileSetError(where + ": names side " + kSideLetters[s] + ", which shows something else");
      }
    }
    for (std::size_t h = 0; h < 8; ++h) grass[h] += f.half_edges >> h & 1;
    for (std::size_t c = 0; c < 16; ++c) {
      if ((f.cities >> c & 1) && (c >= tile.features.size() || tile.features[c].kind != FeatureKind::kCity)) {
        throw TileSetError(where + ": cities names feature " + std::to_string(c) + ", which is no city of this tile");
      }
    }
  }
  if (monasteries > 1 || gardens > 1 || rivers > 1) {
    throw TileSetError(what + ": found several monasteries, gardens or rivers, expected at most one of each");
  }
  for (std::size_t s = 0; s < 4; ++s) {
    const EdgeKind kind = tile.edges[s];
    const std::string where = what + " side " + kSideLetters[s];
    if (owners[s] != (kind == EdgeKind::kField ? 0 : 1)) {
      throw TileSetError(where + ": belongs to " + std::to_string(owners[s]) + " features, expected " +
                         (kind == EdgeKind::kField ? "0" : "1"));
    }
    for (std::size_t h = 2 * s; h < 2 * s + 2; ++h) {
      if (grass[h] != (kind == EdgeKind::kCity ? 0 : 1)) {
        throw TileSetError(where + ": half-edge " + std::to_string(h) + " belongs to " + std::to_string(grass[h]) +
                           " fields, expected " + (kind == EdgeKind::kCity ? "0" : "1"));
      }
    }
    if (kind == EdgeKind::kField) {
      for (const TileFeature& f : tile.features) {
        const unsigned both = f.half_edges >> (2 * s) & 3;
        if (both == 1 || both == 2) throw TileSetError(where + ": is split between two fields, expected one");
      }
    }
  }
}

TileType read_tile(const Json& json, const std::string& list, bool is_river) {
  require_object<TileSetError>(json, list);
  TileType tile;
  tile.id = require_string<TileSetError>(require_key<TileSetError>(json, "id", list), list + " id");
  const auto plain = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (tile.id.empty() || tile.id.size() > 16 || !std::all_of(tile.id.begin(), tile.id.end(), plain)) {
    throw TileSetError(list + " id: found " + quote(tile.id) + ", expected 1 to 16 letters, digits or underscores");
  }
  const std::string what = "tile " + tile.id;
  reject_unknown_keys(json, {"id", "count", "edges", "features", "garden_count"}, what);
  tile.count =
      require_int<TileSetError>(require_key<TileSetError>(json, "count", what), 0, kMostCopies, what + " count");
  const Json& edges = require_key<TileSetError>(json, "edges", what);
  require_object<TileSetError>(edges, what + " edges");
  reject_unknown_keys(edges, {"N", "E", "S", "W"}, what + " edges");
  bool has_river = false;
  for (std::size_t s = 0; s < 4; ++s) {
    const std::string side(1, kSideLetters[s]);
    tile.edges[s] = edge_kind(require_key<TileSetError>(edges, side, what + " edges"), what + " side " + side);
    has_river |= tile.edges[s] == EdgeKind::kRiver;
  }
  if (has_river != is_river) {
    throw TileSetError(what + (is_river ? ": has no river edge, expected one or two in the list of river tiles"
                                        : ": has a river edge, expected it in a list of river tiles"));
  }
  const Json& features =
      require_array<TileSetError>(require_key<TileSetError>(json, "features", what), what + " features");
  if (features.size() > static_cast<std::size_t>(kMaxFeatures)) {
    throw TileSetError(what + ": has " + std::to_string(features.size()) + " features, expected at most " +
                       std::to_string(kMaxFeatures));
  }
  for (std::size_t i = 0; i < features.size(); ++i) {
    tile.features.push_back(read_feature(features[i], what + " feature " + std::to_string(i)));
  }
  check_coverage(tile, what);
  if (json.contains("garden_count")) {
    const int stated = require_int<TileSetError>(json["garden_count"], 0, 1, what + " garden_count");
    const int found = tile.find(FeatureKind::kGarden) >= 0;
    if (stated != found) {
      throw TileSetError(what + " garden_count: found " + std::to_string(stated) + ", expected " +
                         std::to_string(found));
    }
  }
  return tile;
}

std::vector<TileType> read_list(const Json& json, const std::string& key, bool is_river) {
  std::vector<TileType> tiles;
  if (!json.contains(key)) return tiles;
  std::set<std::string> seen;
  for (const Json& item : require_array<TileSetError>(json[key], key)) {
    tiles.push_back(read_tile(item, key, is_river));
    if (!seen.insert(tiles.back().id).second) {
      throw TileSetError(key + ": found the tile id " + quote(tiles.back().id) + " twice, expected each id once");
    }
    if (tiles.size() > static_cast<std::size_t>(kMaxTypes)) {
      throw TileSetError(key + ": has more than " + std::to_string(kMaxTypes) + " tile types");
    }
  }
  return tiles;
}

// A river needs one spring (first tile with one river edge), one lake (last such tile), and two-ended tiles between.
void check_river(const std::vector<TileType>& tiles, const std::string& key) {
  if (tiles.empty()) return;
  int ends = 0;
  for (const TileType& t : tiles) {
    const auto edges = std::count(t.edges.begin(), t.edges.end(), EdgeKind::kRiver);
    if (edges > 2)
      throw TileSetError(key + ": tile " + t.id + " has " + std::to_string(edges) + " river edges, expected 1 or 2");
    if (edges == 1) {
      ++ends;
      if (t.count != 1)
        throw TileSetError(key + ": tile " + t.id + " ends the river and has count " + std::to_string(t.count) +
                           ", expected 1");
    }
  }
  if (ends != 2) {
    throw TileSetError(key + ": found " + std::to_string(ends) +
                       " tiles with a single river edge, expected 2: the spring, then the lake");
  }
}

OrderedJson tile_json(const TileType& tile) {
  OrderedJson edges, features = OrderedJson::array();
  for (std::size_t s = 0; s < 4; ++s) {
    for (const auto& [name, kind] : kEdgeNames) {
      if (tile.edges[s] == kind) edges[std::string(1, kSideLetters[s])] = name;
    }
  }
  for (const TileFeature& f : tile.features) {
    OrderedJson out;
    out["kind"] = kFeatureKindNames[static_cast<std::size_t>(f.kind)];
    if (f.kind == FeatureKind::kField) {
      out["half_edges"] = OrderedJson::array();
      for (int h = 0; h < 8; ++h)
        if (f.half_edges >> h & 1) out["half_edges"].push_back(h);
      out["cities"] = OrderedJson::array();
      for (int c = 0; c < 16; ++c)
        if (f.cities >> c & 1) out["cities"].push_back(c);
    } else {
      out["edges"] = OrderedJson::array();
      for (std::size_t s = 0; s < 4; ++s)
        if (f.sides >> s & 1) out["edges"].push_back(std::string(1, kSideLetters[s]));
      if (f.kind == FeatureKind::kCity) out["shields"] = f.shields;
    }
    features.push_back(std::move(out));
  }
  return {{"id", tile.id}, {"count", tile.count}, {"edges", edges}, {"features", features}};
}

}  // namespace

int TileType::find(FeatureKind kind) const {
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].kind == kind) return static_cast<int>(i);
  }
  return -1;
}

std::shared_ptr<const TileSet> TileSet::standard() {
  static const std::shared_ptr<const TileSet> kStandard = parse(kTilesJson, "base");
  return kStandard;
}

std::shared_ptr<const TileSet> TileSet::parse(std::string_view text, const std::string& name) {
  return from_json(parse_json<TileSetError>(text, "tile set " + quote(name)), name);
}

std::shared_ptr<const TileSet> TileSet::from_json(const Json& json, const std::string& name) {
  require_object<TileSetError>(json, "tile set " + quote(name));
  reject_unknown_keys(json, {"name", "base", "river", "river_c2", "start", "notes"}, "tile set");
  auto set = std::make_shared<TileSet>();
  set->name = json.contains("name") ? require_string<TileSetError>(json["name"], "tile set name") : name;
  set->base = read_list(json, "base", false);
  set->river_2021 = read_list(json, "river", true);
  set->river_2014 = read_list(json, "river_c2", true);
  check_river(set->river_2021, "river");
  check_river(set->river_2014, "river_c2");
  if (set->base.empty())
    throw TileSetError("tile set: the list 'base' is empty or missing, expected at least one tile");
  set->start = require_string<TileSetError>(require_key<TileSetError>(json, "start", "tile set"), "tile set start");
  const auto is_start = [&](const TileType& t) { return t.id == set->start && t.count > 0; };
  if (std::none_of(set->base.begin(), set->base.end(), is_start)) {
    throw TileSetError("tile set start: found " + quote(set->start) +
                       ", expected the id of a base tile with count 1 or more");
  }
  for (const auto* river : {&set->river_2021, &set->river_2014}) {
    for (const TileType& r : *river) {
      for (const TileType& b : set->base) {
        if (r.id == b.id) throw TileSetError("tile id " + quote(r.id) + " names a base tile and a river tile");
      }
    }
  }
  return set;
}

OrderedJson TileSet::to_json() const {
  OrderedJson out{{"name", name}, {"start", start}};
  const auto list = [](const std::vector<TileType>& tiles) {
    OrderedJson items = OrderedJson::array();
    for (const TileType& t : tiles) items.push_back(tile_json(t));
    return items;
  };
  out["base"] = list(base);
  if (!river_2021.empty()) out["river"] = list(river_2021);
  if (!river_2014.empty()) out["river_c2"] = list(river_2014);
  return out;
}

}  // namespace carc
