// The options of the rules as one comparable value, with named presets. `carc rules` lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "carc/core/tileset.hpp"

namespace carc {

enum class FieldScoring : std::uint8_t { kField, kCity2000, kTransitional };
enum class River : std::uint8_t { kOff, k2021, k2014 };
enum class RiverTurns : std::uint8_t { kNoUTurn, kNoDoubleCurve };

struct Rules {
  int players = 2;
  bool farmers = true;
  // kField: 3 a completed city, majority a field. kCity2000: 4 a completed city to the majority over all fields that
  // touch it. kTransitional: as kField, but a city pays the same player only once.
  FieldScoring field_scoring = FieldScoring::kField;
  int small_city = 4;  // points of a completed city of two tiles without shields: 4, or 2 (1 a tile and 1 a shield)
  River river = River::kOff;
  RiverTurns river_turns = RiverTurns::kNoUTurn;
  bool start_tile_shuffled = false;  // with a river: the start tile is drawn like the others instead of boxed
  bool abbot = false;                // one abbot a player; gardens count
  bool join_cities = true;           // false: no placement may merge cities of different players
  bool farmer_recall = false;        // instead of setting a figure, an own farmer may be taken back for nothing
  bool split_ties = false;           // tied majorities share the points, rounded down
  std::shared_ptr<const TileSet> tiles = TileSet::standard();

  bool operator==(const Rules& other) const;

  // Throws RulesError naming the option, the value found and the values expected.
  void validate() const;

  // Reads an object of option names and values as rules_options() lists them; missing options keep their defaults.
  static Rules from_json(const nlohmann::json& json);
  // Sets one option; `value` as in from_json.
  void set(const std::string& option, const nlohmann::json& value);
  // All options; the standard tiles appear as "base", others as the whole tile set.
  nlohmann::ordered_json to_json() const;

  static Rules preset(const std::string& name);
};

struct RulesOption {
  std::string name;
  std::vector<std::string> values;  // as JSON, the default first
  std::string meaning;
};

struct RulesPreset {
  std::string name;
  std::string meaning;
};

const std::vector<RulesOption>& rules_options();
const std::vector<RulesPreset>& rules_presets();

}  // namespace carc
