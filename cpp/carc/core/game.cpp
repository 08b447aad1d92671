#include "carc/core/game.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

namespace carc {
namespace {

// Side or half-edge masks turned clockwise by `r` quarters.
std::uint8_t turned_sides(unsigned mask, unsigned r) {
  return static_cast<std::uint8_t>((mask << r | mask >> (4 - r)) & 0xF);
}
std::uint8_t turned_halves(unsigned mask, unsigned r) {
  return static_cast<std::uint8_t>((mask << 2 * r | mask >> (8 - 2 * r)) & 0xFF);
}

// The feature of `to` at the same place as feature `f` of `from` turned by `r`; kNone if there is none.
std::uint8_t counterpart(const TileType& from, std::size_t f, unsigned r, const TileType& to, bool ignore_gardens) {
  const TileFeature& a = from.features[f];
  for (std::size_t g = 0; g < to.features.size(); ++g) {
    const TileFeature& b = to.features[g];
    if (a.kind != b.kind || (ignore_gardens && a.kind == FeatureKind::kGarden)) continue;
    if (turned_sides(a.sides, r) == b.sides && turned_halves(a.half_edges, r) == b.half_edges &&
        a.shields == b.shields) {
      return static_cast<std::uint8_t>(g);
    }
  }
  return kNone;
}

// Whether `from` turned by `r` is the same tile as `to`: all features with their contacts agree.
bool same_tile(const TileType& from, unsigned r, const TileType& to, bool ignore_gardens,
               std::array<std::uint8_t, kMaxFeatures>& feature) {
  feature.fill(kNone);
  for (std::size_t s = 0; s < 4; ++s) {
    if (from.edges[s] != to.edges[(s + r) % 4]) return false;
  }
  std::size_t matched = 0;
  for (std::size_t f = 0; f < from.features.size(); ++f) {
    feature[f] = counterpart(from, f, r, to, ignore_gardens);
    if (feature[f] != kNone)
      ++matched;
    else if (!(ignore_gardens && from.features[f].kind == FeatureKind::kGarden))
      return false;
  }
  const auto gardens = std::count_if(to.features.begin(), to.features.end(),
                                     [](const TileFeature& t) { return t.kind == FeatureKind::kGarden; });
  if (matched + (ignore_gardens ? static_cast<std::size_t>(gardens) : 0) != to.features.size()) return false;
  for (std::size_t f = 0; f < from.features.size(); ++f) {
    if (feature[f] == kNone) continue;
    unsigned cities = 0;
    for (std::size_t c = 0; c < from.features.size(); ++c) {
      if (from.features[f].cities >> c & 1) cities |= 1u << feature[c];
    }
    if (cities != to.features[feature[f]].cities) return false;
  }
  return true;
}

TileFace make_face(const TileType& type, const TileData& data, unsigned r) {
  TileFace face;
  face.line_of_side.fill(kNoLine);
  face.field_of_half.fill(kNoField);
  for (std::size_t s = 0; s < 4; ++s) face.edges[(s + r) % 4] = type.edges[s];
  for (std::size_t s = 0; s < 4; ++s) {
    const bool is_river = face.edges[s] == EdgeKind::kRiver;
    face.code_beyond[s] =
        static_cast<std::uint8_t>(is_river ? 0u : static_cast<unsigned>(face.edges[s]) << 2 * (s ^ 2));
  }
  for (std::size_t l = 0; l < data.lines; ++l) {
    face.sides_of_line[l] = turned_sides(type.features[data.line_feature[l]].sides, r);
    for (std::size_t s = 0; s < 4; ++s) {
      if (face.sides_of_line[l] >> s & 1) face.line_of_side[s] = static_cast<std::uint8_t>(l);
    }
  }
  for (std::size_t f = 0; f < data.fields; ++f) {
    const std::uint8_t halves = turned_halves(type.features[data.field_feature[f]].half_edges, r);
    for (std::size_t h = 0; h < 8; ++h) {
      if (halves >> h & 1) face.field_of_half[h] = static_cast<std::uint8_t>(f);
    }
  }
  return face;
}

TileData compile(const TileType& type, bool gardens_count) {
  TileData data;
  data.id = type.id;
  data.type = &type;
  int roads = 0, cities = 0;
  for (std::size_t f = 0; f < type.features.size(); ++f) {
    const TileFeature& feature = type.features[f];
    switch (feature.kind) {
      case FeatureKind::kRoad:
      case FeatureKind::kCity:
        (feature.kind == FeatureKind::kRoad ? roads : cities) += 1;
        data.local_of_feature[f] = data.lines;
        data.line_kind[data.lines] = feature.kind;
        data.line_shields[data.lines] = feature.shields;
        data.line_feature[data.lines++] = static_cast<std::uint8_t>(f);
        break;
      case FeatureKind::kField:
        data.local_of_feature[f] = data.fields;
        data.field_feature[data.fields++] = static_cast<std::uint8_t>(f);
        break;
      case FeatureKind::kMonastery:
        data.monastery = static_cast<std::int8_t>(f);
        break;
      case FeatureKind::kGarden:
        data.garden = static_cast<std::int8_t>(gardens_count ? static_cast<int>(f) : -1);
        break;
      case FeatureKind::kRiver:
        data.is_river = true;
        break;
    }
  }
  data.has_twin_lines = roads > 1 || cities > 1;
  for (std::size_t l = 0; l < data.fields; ++l) {
    for (std::size_t c = 0; c < type.features.size(); ++c) {
      if (type.features[data.field_feature[l]].cities >> c & 1) {
        data.contacts.push_back({static_cast<std::uint8_t>(l), data.local_of_feature[c]});
      }
    }
  }
  for (unsigned r = 0; r < 4; ++r) data.faces[r] = make_face(type, data, r);

  // Beside another tile, a tile joins the fields of one side at least; a river tile those beside the river.
  int fewest_joined = 8;
  for (std::size_t s = 0; s < 4; ++s) {
    if (data.is_river && type.edges[s] != EdgeKind::kRiver) continue;
    const std::uint8_t a = data.faces[0].field_of_half[2 * s], b = data.faces[0].field_of_half[2 * s + 1];
    fewest_joined = std::min(fewest_joined, (a != kNoField) + (b != kNoField && b != a));
  }
  data.most_new_fields = static_cast<std::uint8_t>(data.fields - fewest_joined);

  for (unsigned period : {1u, 2u, 4u}) {
    if (std::array<std::uint8_t, kMaxFeatures> map; same_tile(type, period % 4, type, false, map)) {
      data.period = static_cast<std::uint8_t>(period);
      break;
    }
  }
  for (unsigned r = 0; r < 4; ++r) {
    // Rotation r is rotation r % period turned on by a multiple of the period, under which the tile maps to itself.
    const bool same = same_tile(type, r - r % data.period, type, false, data.same_feature[r]);
    if (!same) throw TileSetError("tile " + type.id + ": its rotations cannot be compared");
  }

  for (unsigned nibble = 0; nibble < 16; ++nibble) {
    for (unsigned r = 0; r < data.period; ++r) {
      const auto matches = [&](std::size_t side, unsigned code) {
        return code == 0 || static_cast<unsigned>(data.faces[r].edges[side]) == code;
      };
      if (matches(0, nibble & 3) && matches(1, nibble >> 2))
        data.fits_low[nibble] |= static_cast<std::uint8_t>(1u << r);
      if (matches(2, nibble & 3) && matches(3, nibble >> 2))
        data.fits_high[nibble] |= static_cast<std::uint8_t>(1u << r);
    }
  }
  return data;
}

}  // namespace

std::shared_ptr<const Game> Game::create(const Rules& rules) { return std::shared_ptr<const Game>(new Game(rules)); }

Game::Game(const Rules& rules) : rules_(rules) {
  static std::atomic<std::uint64_t> games{0};
  serial_ = ++games;
  rules_.validate();
  const TileSet& set = *rules_.tiles;
  for (const TileType& t : set.base) add_type(t, t.count);
  start_ = find(set.start)->type;
  if (rules_.river == River::kOff) {
    --bag_[start_];
  } else {
    if (!rules_.start_tile_shuffled) --bag_[start_];
    std::optional<TypeId> spring;
    for (const TileType& t : rules_.river == River::k2021 ? set.river_2021 : set.river_2014) {
      add_type(t, t.count);
      if (std::count(t.edges.begin(), t.edges.end(), EdgeKind::kRiver) != 1) continue;
      const TypeId id = find(t.id)->type;
      (spring ? lake_ : spring) = id;
    }
    start_ = *spring;
    --bag_[start_];
  }
  for (const int copies : bag_) tiles_to_draw_ += copies;
  if (const std::string problem = limit_exceeded(start_, bag_); !problem.empty())
    throw TileSetError("tile set: " + problem);
}

void Game::add_type(const TileType& type, int copies) {
  Named named{0, {}, {}};
  named.feature.fill(kNone);
  named.feature_back.fill(kNone);
  const bool has_idle_garden = !rules_.abbot && type.find(FeatureKind::kGarden) >= 0;
  if (!rules_.abbot) {  // a garden copy is one more copy of its plain twin
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
      const bool twin_has_garden = tiles_[t].type->find(FeatureKind::kGarden) >= 0;
      if (has_idle_garden == twin_has_garden || !same_tile(type, 0, *tiles_[t].type, true, named.feature)) continue;
      for (std::size_t f = 0; f < type.features.size(); ++f) {
        if (named.feature[f] != kNone) named.feature_back[named.feature[f]] = static_cast<std::uint8_t>(f);
      }
      named.type = static_cast<TypeId>(t);
      bag_[t] = static_cast<std::uint8_t>(std::min(bag_[t] + copies, 255));
      names_.emplace_back(type.id, named);
      return;
    }
  }
  if (tiles_.size() == static_cast<std::size_t>(kMaxTypes)) {
    throw TileSetError("tile set: found more than " + std::to_string(kMaxTypes) + " tile types in one game");
  }
  named.type = static_cast<TypeId>(tiles_.size());
  for (std::size_t f = 0; f < type.features.size(); ++f)
    named.feature[f] = named.feature_back[f] = static_cast<std::uint8_t>(f);
  names_.emplace_back(type.id, named);
  tiles_.push_back(compile(type, rules_.abbot));
  bag_[named.type] = static_cast<std::uint8_t>(copies);
}

std::string Game::limit_exceeded(TypeId start, const std::array<std::uint8_t, kMaxTypes>& bag) const {
  int tiles = 1, fields = tiles_[start].fields, contacts = static_cast<int>(tiles_[start].contacts.size());
  int shields = tiles_[start].shields();
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    tiles += bag[t];
    fields += bag[t] * tiles_[t].most_new_fields;
    contacts += bag[t] * static_cast<int>(tiles_[t].contacts.size());
    shields += bag[t] * tiles_[t].shields();
  }
  const auto too_many = [](int found, const char* what, int most) {
    return "found " + std::to_string(found) + " " + what + ", expected at most " + std::to_string(most);
  };
  if (tiles > kMaxTiles) return too_many(tiles, "tiles in one game with the start tile", kMaxTiles);
  if (shields > kMaxShields) return too_many(shields, "shields", kMaxShields);
  if (fields > kMaxFields) return too_many(fields, "fields that could arise", kMaxFields);
  if (contacts > kMaxContacts)
    return too_many(contacts, "contacts of a field with a city that could arise", kMaxContacts);
  return {};
}

std::optional<Game::Named> Game::find(const std::string& id) const {
  for (const auto& [name, named] : names_) {
    if (name == id) return named;
  }
  return std::nullopt;
}

std::string Game::nearest_id(const std::string& id) const {
  std::vector<std::string> ids;
  for (const auto& entry : names_) ids.push_back(entry.first);
  return nearest(id, ids);
}

}  // namespace carc
