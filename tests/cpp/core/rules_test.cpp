#include "carc/core/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/core/game.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

TEST(Rules, DefaultsAreTodaysBaseGameForTwo) {
  const Rules rules;
  EXPECT_EQ(rules.to_json().dump(),
            R"({"players":2,"farmers":true,"field_scoring":"field","small_city":4,"river":"off","river_turns":"no_u_turn",)"
            R"("river_start_tile":"boxed","abbot":false,"join_cities":"allowed","farmer_recall":false,"tie_points":"full","tiles":"base"})");
}

TEST(Rules, FirstValueOfEveryOptionIsTheDefault) {
  const Json defaults = Json::parse(Rules().to_json().dump());
  for (const RulesOption& option : rules_options()) {
    EXPECT_EQ(defaults.at(option.name).dump(), option.values.front()) << option.name;
  }
  EXPECT_EQ(defaults.size(), rules_options().size());
}

TEST(Rules, PresetsSetWhatTheirEditionChanged) {
  EXPECT_EQ(Rules::preset("current"), Rules());
  EXPECT_EQ(Rules::preset("first_edition_2000"), rules_of({{"field_scoring", "city_2000"}, {"small_city", 2}}));
  EXPECT_EQ(Rules::preset("transitional"), rules_of({{"field_scoring", "transitional"}, {"small_city", 2}}));
  EXPECT_EQ(Rules::preset("family"), rules_of({{"farmers", false}, {"join_cities", "forbidden"}}));
  EXPECT_EQ(Rules::preset("current_river_abbot"), rules_of({{"river", "2021"}, {"abbot", true}}));
}

TEST(Rules, EveryListedPresetExists) {
  for (const RulesPreset& preset : rules_presets()) EXPECT_NO_THROW(Rules::preset(preset.name).validate()) << preset.name;
}

TEST(Rules, UnknownPresetIsRefusedWithTheNearest) {
  EXPECT_THAT(message_of<RulesError>([] { Rules::preset("currant"); }), AllOf(HasSubstr("'currant'"), HasSubstr("'current'")));
  EXPECT_THAT(message_of<RulesError>([] { Rules::preset("first_edition"); }), HasSubstr("'first_edition_2000'"));
}

TEST(Rules, UnknownOptionIsRefusedWithTheNearest) {
  Rules rules;
  EXPECT_THAT(message_of<RulesError>([&] { rules.set("player", 3); }), AllOf(HasSubstr("'player'"), HasSubstr("'players'")));
  EXPECT_THAT(message_of<RulesError>([&] { rules.set("fieldscoring", "field"); }), HasSubstr("'field_scoring'"));
  EXPECT_THAT(message_of<RulesError>([] { Rules::from_json({{"abbots", true}}); }), HasSubstr("'abbot'"));
}

struct BadValue {
  const char* option;
  Json value;
};

TEST(Rules, ValueThatIsNotListedIsRefusedAndNamed) {
  const std::vector<BadValue> bad = {
      {"players", 1}, {"players", 6}, {"players", 0}, {"players", -2}, {"players", 2.0}, {"players", "2"}, {"players", true},
      {"players", 1ull << 32 | 2}, {"players", ~0ull}, {"players", nullptr}, {"players", Json::array({2})},
      {"farmers", 1}, {"farmers", "true"}, {"farmers", "yes"}, {"field_scoring", "Field"}, {"field_scoring", 3},
      {"field_scoring", true}, {"small_city", 3}, {"small_city", "4"}, {"small_city", 4.0}, {"river", 2021}, {"river", true},
      {"river", "on"}, {"river", "2022"}, {"river_turns", ""}, {"river_start_tile", "drawn"}, {"abbot", nullptr}, {"abbot", 0},
      {"join_cities", true}, {"farmer_recall", "maybe"}, {"tie_points", "half"}, {"tie_points", Json::object()},
      {"tiles", "standard"}, {"tiles", 1}, {"tiles", nullptr}, {"tiles", Json::array()}};
  for (const auto& [option, value] : bad) {
    const std::string message = message_of<RulesError>([&] { Rules::from_json({{option, value}}); });
    EXPECT_THAT(message, AllOf(HasSubstr(option), HasSubstr("found"), HasSubstr("expected"))) << option << " " << value;
  }
}

TEST(Rules, RefusedValueChangesNothing) {
  Rules rules;
  EXPECT_THROW(rules.set("players", 9), RulesError);
  EXPECT_THROW(rules.set("tie_points", "half"), RulesError);
  EXPECT_EQ(rules, Rules());
}

TEST(Rules, OnAndOffAreReadForSwitches) {
  EXPECT_TRUE(rules_of({{"abbot", "on"}}).abbot);
  EXPECT_FALSE(rules_of({{"farmers", "off"}}).farmers);
}

TEST(Rules, JsonThatIsNoObjectIsRefused) {
  for (const Json& json : {Json(), Json(3), Json("current"), Json::array()}) {
    EXPECT_THAT(message_of<RulesError>([&] { Rules::from_json(json); }), HasSubstr("an object"));
  }
}

TEST(Rules, FieldsSetByHandAreValidated) {
  Rules rules;
  rules.players = 6;
  EXPECT_THAT(message_of<RulesError>([&] { Game::create(rules); }), HasSubstr("players: found 6"));
  rules = Rules();
  rules.small_city = 3;
  EXPECT_THAT(message_of<RulesError>([&] { Game::create(rules); }), HasSubstr("small_city: found 3"));
  rules = Rules();
  rules.tiles = nullptr;
  EXPECT_THAT(message_of<RulesError>([&] { Game::create(rules); }), HasSubstr("tiles"));
}

TEST(Rules, RiverNeedsATileSetWithOne) {
  Rules rules;
  rules.tiles = read(tile_set({tile("a", 2, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})}, "a"));
  for (const char* river : {"2021", "2014"}) {
    rules.set("river", river);
    EXPECT_THAT(message_of<RulesError>([&] { rules.validate(); }), AllOf(HasSubstr("river"), HasSubstr(river), HasSubstr("'test'")));
  }
}

// 9,216 combinations: all of them survive the way through JSON, and no two give the same text.
TEST(Rules, EveryCombinationSurvivesJson) {
  std::vector<Rules> all{Rules()};
  for (const RulesOption& option : rules_options()) {
    if (option.name == "tiles") continue;
    std::vector<Rules> next;
    for (const Rules& rules : all) {
      for (const std::string& value : option.values) {
        next.push_back(rules);
        next.back().set(option.name, Json::parse(value));
      }
    }
    all = std::move(next);
  }
  EXPECT_EQ(all.size(), 9216u);
  std::set<std::string> texts;
  for (const Rules& rules : all) {
    const std::string text = rules.to_json().dump();
    texts.insert(text);
    const Rules back = Rules::from_json(Json::parse(text));
    ASSERT_TRUE(back == rules) << text;
    ASSERT_EQ(back.to_json().dump(), text);
  }
  EXPECT_EQ(texts.size(), all.size());
}

TEST(Rules, CustomTilesSurviveJson) {
  Rules rules;
  rules.tiles = standard_and({tile("extra", 2, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})});
  const Json json = Json::parse(rules.to_json().dump());
  EXPECT_TRUE(json["tiles"].is_object());
  EXPECT_TRUE(Rules::from_json(json) == rules);
  EXPECT_FALSE(Rules::from_json(json) == Rules());
}

TEST(Rules, CustomTilesAreEqualByContent) {
  Rules a, b;
  a.tiles = read(standard_json());
  b.tiles = read(standard_json());
  EXPECT_TRUE(a == b);
}

TEST(Rules, BadTilesInRulesAreRefusedByTile) {
  Json set = standard_json();
  set["base"][0]["count"] = 99;
  EXPECT_THAT(message_of<TileSetError>([&] { Rules::from_json({{"tiles", set}}); }), HasSubstr("tile A"));
}

}  // namespace
}  // namespace carc
