#include "carc/core/rules.hpp"

#include <algorithm>

#include "carc/core/json.hpp"

namespace carc {
namespace {

// The option's table row decides which values are allowed; `set` below only stores them.
std::string allowed_values(const RulesOption& option) {
  std::string out;
  for (const std::string& v : option.values) out += (out.empty() ? "" : ", ") + v;
  return out;
}

// "on" and "off" are read as true and false where the option is a switch.
Json normalised(const RulesOption& option, const Json& value) {
  const bool is_switch = option.values.front() == "true" || option.values.front() == "false";
  if (is_switch && value == "on") return true;
  if (is_switch && value == "off") return false;
  return value;
}

template <class Enum, std::size_t N>
Enum pick(const Json& value, const std::array<const char*, N>& names) {
  const auto found = std::find(names.begin(), names.end(), value.get<std::string>());
  return static_cast<Enum>(found - names.begin());
}

constexpr std::array<const char*, 3> kFieldScoringNames = {"field", "city_2000", "transitional"};
constexpr std::array<const char*, 3> kRiverNames = {"off", "2021", "2014"};
constexpr std::array<const char*, 2> kRiverTurnsNames = {"no_u_turn", "no_double_curve"};
constexpr std::array<const char*, 2> kStartTileNames = {"boxed", "shuffled"};
constexpr std::array<const char*, 2> kJoinNames = {"allowed", "forbidden"};
constexpr std::array<const char*, 2> kTieNames = {"full", "split"};

template <std::size_t N>
std::vector<std::string> as_json(const std::array<const char*, N>& names) {
  std::vector<std::string> out;
  for (const char* n : names) out.push_back('"' + std::string(n) + '"');
  return out;
}

}  // namespace

const std::vector<RulesOption>& rules_options() {
  static const std::vector<RulesOption> kOptions = {
      {"players", {"2", "3", "4", "5"}, "number of players"},
      {"farmers", {"true", "false"}, "whether figures may be set on fields"},
      {"field_scoring", as_json(kFieldScoringNames),
       "field: 3 a completed city to the majority of each field; city_2000: 4 a completed city to the majority over "
       "all "
       "its fields; transitional: as field, but a city pays the same player once"},
      {"small_city", {"4", "2"}, "points of a completed city of two tiles (2: 1 a tile and 1 a shield)"},
      {"river", as_json(kRiverNames), "river tiles of the current box (2021) or of the second edition (2014)"},
      {"river_turns", as_json(kRiverTurnsNames),
       "no_u_turn: no two curves of the same hand directly after each other; no_double_curve: no two curves at all"},
      {"river_start_tile", as_json(kStartTileNames), "with a river, the start tile stays in the box or is drawn"},
      {"abbot", {"false", "true"}, "one abbot a player; gardens count"},
      {"join_cities", as_json(kJoinNames), "forbidden: no placement may merge cities of different players"},
      {"farmer_recall", {"false", "true"}, "instead of setting a figure an own farmer may be taken back for no points"},
      {"tie_points", as_json(kTieNames), "what tied majorities get: everything, or an equal share rounded down"},
      {"tiles", {"\"base\""}, "the standard tiles, or a tile set in the format of tiles.json"},
  };
  return kOptions;
}

const std::vector<RulesPreset>& rules_presets() {
  static const std::vector<RulesPreset> kPresets = {
      {"current", "today's base game"},
      {"first_edition_2000", "fields scored from the cities (4 each), small cities 2"},
      {"transitional", "fields pay 3 a city, but a city pays the same player once; small cities 2"},
      {"family", "no farmers, no joining of cities"},
      {"current_river_abbot", "the whole current box: river 2021, abbot and gardens"},
  };
  return kPresets;
}

bool Rules::operator==(const Rules& other) const {
  const auto flags = [](const Rules& r) {
    return std::tuple(r.players, r.farmers, r.field_scoring, r.small_city, r.river, r.river_turns,
                      r.start_tile_shuffled, r.abbot, r.join_cities, r.farmer_recall, r.split_ties);
  };
  return flags(*this) == flags(other) && (tiles == other.tiles || (tiles && other.tiles && *tiles == *other.tiles));
}

void Rules::validate() const {
  if (players < kMinPlayers || players > kMaxPlayers) {
    throw RulesError("players: found " + std::to_string(players) + ", expected 2, 3, 4 or 5");
  }
  if (small_city != 4 && small_city != 2) {
    throw RulesError("small_city: found " + std::to_string(small_city) + ", expected 4 or 2");
  }
  if (!tiles) throw RulesError("tiles: found no tile set, expected one");
  if (river == River::k2021 && tiles->river_2021.empty()) {
    throw RulesError("river: found \"2021\", expected \"off\": the tile set " + quote(tiles->name) +
                     " has no list 'river'");
  }
  if (river == River::k2014 && tiles->river_2014.empty()) {
    throw RulesError("river: found \"2014\", expected \"off\": the tile set " + quote(tiles->name) +
                     " has no list 'river_c2'");
  }
}

void Rules::set(const std::string& name, const Json& raw) {
  const auto& options = rules_options();
  const auto option = std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.name == name; });
  if (option == options.end()) {
    std::vector<std::string> names;
    for (const auto& o : options) names.push_back(o.name);
    throw RulesError("unknown rules option " + quote(name) + ", did you mean '" + nearest(name, names) + "'?");
  }
  const Json value = normalised(*option, raw);
  if (name == "tiles") {
    if (value == "base") {
      tiles = TileSet::standard();
    } else if (value.is_object()) {
      tiles = TileSet::from_json(value, "custom");
    } else {
      throw RulesError("tiles: found " + shown(value) + ", expected \"base\" or a tile set");
    }
    return;
  }
  if (std::find(option->values.begin(), option->values.end(),
                value.dump(-1, ' ', true, Json::error_handler_t::replace)) == option->values.end()) {
    throw RulesError(name + ": found " + shown(raw) + ", expected one of " + allowed_values(*option));
  }
  if (name == "players") players = value.get<int>();
  if (name == "farmers") farmers = value.get<bool>();
  if (name == "field_scoring") field_scoring = pick<FieldScoring>(value, kFieldScoringNames);
  if (name == "small_city") small_city = value.get<int>();
  if (name == "river") river = pick<River>(value, kRiverNames);
  if (name == "river_turns") river_turns = pick<RiverTurns>(value, kRiverTurnsNames);
  if (name == "river_start_tile") start_tile_shuffled = value == "shuffled";
  if (name == "abbot") abbot = value.get<bool>();
  if (name == "join_cities") join_cities = value == "allowed";
  if (name == "farmer_recall") farmer_recall = value.get<bool>();
  if (name == "tie_points") split_ties = value == "split";
}

Rules Rules::from_json(const Json& json) {
  require_object<RulesError>(json, "rules");
  Rules rules;
  for (const auto& [key, value] : json.items()) rules.set(key, value);
  rules.validate();
  return rules;
}

OrderedJson Rules::to_json() const {
  OrderedJson out;
  out["players"] = players;
  out["farmers"] = farmers;
  out["field_scoring"] = kFieldScoringNames[static_cast<std::size_t>(field_scoring)];
  out["small_city"] = small_city;
  out["river"] = kRiverNames[static_cast<std::size_t>(river)];
  out["river_turns"] = kRiverTurnsNames[static_cast<std::size_t>(river_turns)];
  out["river_start_tile"] = kStartTileNames[start_tile_shuffled];
  out["abbot"] = abbot;
  out["join_cities"] = kJoinNames[!join_cities];
  out["farmer_recall"] = farmer_recall;
  out["tie_points"] = kTieNames[split_ties];
  const bool is_standard = tiles == TileSet::standard() || *tiles == *TileSet::standard();
  out["tiles"] = is_standard ? OrderedJson("base") : tiles->to_json();
  return out;
}

Rules Rules::preset(const std::string& name) {
  Rules rules;
  if (name == "current") return rules;
  if (name == "first_edition_2000") {
    rules.field_scoring = FieldScoring::kCity2000;
    rules.small_city = 2;
    return rules;
  }
  if (name == "transitional") {
    rules.field_scoring = FieldScoring::kTransitional;
    rules.small_city = 2;
    return rules;
  }
  if (name == "family") {
    rules.farmers = false;
    rules.join_cities = false;
    return rules;
  }
  if (name == "current_river_abbot") {
    rules.river = River::k2021;
    rules.abbot = true;
    return rules;
  }
  std::vector<std::string> names;
  for (const auto& p : rules_presets()) names.push_back(p.name);
  throw RulesError("unknown rules preset " + quote(name) + ", did you mean '" + nearest(name, names) + "'?");
}

}  // namespace carc
