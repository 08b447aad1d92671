// Every kind of tile set that describes no playable tiles is refused with a message that names the tile and the fault.
#include <functional>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/core/game.hpp"

namespace carc {
namespace {

using namespace test;

struct Fault {
  const char* name;
  std::function<void(Json&)> damage;  // of the standard tile set
  std::vector<std::string> says;      // parts of the message
};
std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

// Index of a tile in a list of the standard set.
Json& at(Json& set, const char* list, const char* id) {
  for (Json& t : set[list]) {
    if (t["id"] == id) return t;
  }
  throw std::logic_error(id);
}
Json& base(Json& set, const char* id) { return at(set, "base", id); }

const std::vector<Fault> kFaults = {
    {"UnknownKeyOfTheSet", [](Json& s) { s["rivers"] = Json::array(); }, {"tile set", "'rivers'", "'river'"}},
    {"NoBase", [](Json& s) { s.erase("base"); }, {"'base'", "at least one tile"}},
    {"EmptyBase", [](Json& s) { s["base"] = Json::array(); }, {"'base'", "at least one tile"}},
    {"BaseIsNoList", [](Json& s) { s["base"] = 3; }, {"base", "found 3", "a list"}},
    {"TileIsNoObject", [](Json& s) { s["base"][1] = "B"; }, {"base", "\"B\"", "an object"}},
    {"NoStart", [](Json& s) { s.erase("start"); }, {"'start'", "missing"}},
    {"StartIsNoText", [](Json& s) { s["start"] = 4; }, {"start", "found 4", "a text"}},
    {"UnknownStart", [](Json& s) { s["start"] = "Z"; }, {"start", "'Z'"}},
    {"StartWithoutCopies", [](Json& s) { base(s, "D")["count"] = 0; }, {"start", "'D'", "count 1"}},
    {"NameIsNoText", [](Json& s) { s["name"] = 1; }, {"name", "found 1", "a text"}},
    {"UnknownKeyOfATile", [](Json& s) { base(s, "K")["counts"] = 1; }, {"tile K", "'counts'", "'count'"}},
    {"NoId", [](Json& s) { s["base"][0].erase("id"); }, {"'id'", "missing"}},
    {"EmptyId", [](Json& s) { s["base"][0]["id"] = ""; }, {"id", "''", "1 to 16"}},
    {"LongId", [](Json& s) { s["base"][0]["id"] = "ABCDEFGHIJKLMNOPQ"; }, {"'ABCDEFGHIJKLMNOPQ'", "1 to 16"}},
    {"IdWithASpace", [](Json& s) { s["base"][0]["id"] = "A 1"; }, {"'A 1'", "letters"}},
    {"IdWithAnAt", [](Json& s) { s["base"][0]["id"] = "A@1"; }, {"'A@1'", "letters"}},
    {"IdTwice", [](Json& s) { s["base"][1]["id"] = "A"; }, {"'A'", "twice"}},
    {"IdOfABaseTileInTheRiver", [](Json& s) { at(s, "river", "R04")["id"] = "B"; }, {"'B'", "river"}},
    {"NoCount", [](Json& s) { base(s, "K").erase("count"); }, {"tile K", "'count'", "missing"}},
    {"NegativeCount", [](Json& s) { base(s, "K")["count"] = -1; }, {"tile K", "count", "-1", "0 to 84"}},
    {"LargeCount", [](Json& s) { base(s, "K")["count"] = 85; }, {"tile K", "count", "85", "0 to 84"}},
    {"HugeCount", [](Json& s) { base(s, "K")["count"] = 1ull << 63; }, {"tile K", "count", "0 to 84"}},
    {"FractionalCount", [](Json& s) { base(s, "K")["count"] = 1.0; }, {"tile K", "count", "1.0", "integer"}},
    {"NoEdges", [](Json& s) { base(s, "K").erase("edges"); }, {"tile K", "'edges'", "missing"}},
    {"EdgesAreNoObject", [](Json& s) { base(s, "K")["edges"] = "NESW"; }, {"tile K", "edges", "an object"}},
    {"EdgeMissing", [](Json& s) { base(s, "K")["edges"].erase("E"); }, {"tile K", "'E'", "missing"}},
    {"UnknownSide", [](Json& s) { base(s, "K")["edges"]["Z"] = "road"; }, {"tile K", "'Z'"}},
    {"UnknownEdgeKind", [](Json& s) { base(s, "K")["edges"]["E"] = "sea"; }, {"tile K", "side E", "sea", "field, road, city or river"}},
    {"RiverEdgeInTheBase", [](Json& s) { base(s, "K")["edges"]["E"] = "river"; }, {"tile K", "river"}},
    {"NoRiverEdgeInTheRiver", [](Json& s) { s["river"].push_back(base(s, "K")); s["river"].back()["id"] = "R99"; }, {"tile R99", "no river edge"}},
    {"NoFeatures", [](Json& s) { base(s, "K").erase("features"); }, {"tile K", "'features'", "missing"}},
    {"FeaturesAreNoList", [](Json& s) { base(s, "K")["features"] = Json::object(); }, {"tile K", "features", "a list"}},
    {"FifteenFeatures", [](Json& s) { for (int i = 0; i < 15; ++i) base(s, "K")["features"].push_back(building("garden")); }, {"tile K", "features", "at most 14"}},
    {"FeatureIsNoObject", [](Json& s) { base(s, "K")["features"][0] = 7; }, {"tile K feature 0", "found 7", "an object"}},
    {"UnknownKeyOfAFeature", [](Json& s) { base(s, "K")["features"][0]["edge"] = "N"; }, {"tile K feature 0", "'edge'", "'edges'"}},
    {"NoKind", [](Json& s) { base(s, "K")["features"][0].erase("kind"); }, {"tile K feature 0", "'kind'"}},
    {"UnknownKind", [](Json& s) { base(s, "K")["features"][0]["kind"] = "town"; }, {"tile K feature 0", "town", "city, road"}},
    {"SideOfAFeatureUnknown", [](Json& s) { base(s, "K")["features"][0]["edges"] = Json::array({"n"}); }, {"tile K feature 0", "\"n\"", "N, E, S or W"}},
    {"SideThatShowsSomethingElse", [](Json& s) { base(s, "K")["features"][0]["edges"] = {"N", "E"}; }, {"tile K feature 0", "side E"}},
    {"RoadWithoutEdge", [](Json& s) { base(s, "K")["features"].push_back(road("")); }, {"tile K feature 4", "no edge"}},
    {"FieldWithoutEdge", [](Json& s) { base(s, "K")["features"].push_back(field({})); }, {"tile K feature 4", "no edge"}},
    {"MonasteryWithEdge", [](Json& s) { base(s, "A")["features"][1]["edges"] = Json::array({"S"}); }, {"tile A feature 1", "edges"}},
    {"SideOfTwoFeatures", [](Json& s) { base(s, "K")["features"].push_back(road("S")); }, {"tile K", "side S", "2"}},
    {"SideOfNoFeature", [](Json& s) { base(s, "K")["features"][1]["edges"] = Json::array({"S"}); }, {"tile K", "side W", "0"}},
    {"ShieldOnARoad", [](Json& s) { base(s, "K")["features"][1]["shields"] = 1; }, {"tile K feature 1", "shields"}},
    {"NegativeShields", [](Json& s) { base(s, "K")["features"][0]["shields"] = -1; }, {"tile K feature 0", "shields", "-1"}},
    {"TenShields", [](Json& s) { base(s, "K")["features"][0]["shields"] = 10; }, {"tile K feature 0", "shields", "10"}},
    {"HalfEdgesMissing", [](Json& s) { base(s, "K")["features"][2].erase("half_edges"); }, {"tile K feature 2", "'half_edges'"}},
    {"HalfEdgeEight", [](Json& s) { base(s, "K")["features"][2]["half_edges"] = Json::array({8}); }, {"tile K feature 2", "half_edges", "8", "0 to 7"}},
    {"HalfEdgeOfNoField", [](Json& s) { base(s, "K")["features"][2]["half_edges"] = {2, 3, 4}; }, {"tile K", "half-edge 7", "0 fields"}},
    {"HalfEdgeOfTwoFields", [](Json& s) { base(s, "K")["features"][3]["half_edges"] = {4, 5, 6}; }, {"tile K", "half-edge 4", "2 fields"}},
    {"HalfEdgeAtACitySide", [](Json& s) { base(s, "K")["features"][2]["half_edges"] = {0, 2, 3, 4, 7}; }, {"tile K", "half-edge 0"}},
    {"FieldSideSplit", [](Json& s) { base(s, "K")["features"][2]["half_edges"] = {2, 4, 7}; base(s, "K")["features"][3]["half_edges"] = {3, 5, 6}; }, {"tile K", "side E", "split"}},
    {"CityThatIsNone", [](Json& s) { base(s, "K")["features"][2]["cities"] = Json::array({1}); }, {"tile K feature 2", "feature 1", "no city"}},
    {"CityBeyondTheList", [](Json& s) { base(s, "K")["features"][2]["cities"] = Json::array({9}); }, {"tile K feature 2", "feature 9"}},
    {"CityIndexTooLarge", [](Json& s) { base(s, "K")["features"][2]["cities"] = Json::array({14}); }, {"tile K feature 2", "14", "0 to 13"}},
    {"TwoMonasteries", [](Json& s) { base(s, "B")["features"].push_back(building("monastery")); }, {"tile B", "at most one"}},
    {"TwoGardens", [](Json& s) { for (int i = 0; i < 2; ++i) base(s, "K")["features"].push_back(building("garden")); }, {"tile K", "at most one"}},
    {"TwoRiversOnATile", [](Json& s) { at(s, "river", "R04")["features"][0] = river("N"); at(s, "river", "R04")["features"].push_back(river("S")); }, {"tile R04", "at most one"}},
    {"GardenCountThatIsWrong", [](Json& s) { base(s, "K")["garden_count"] = 1; }, {"tile K", "garden_count", "found 1", "expected 0"}},
    {"ThreeRiverEdges", [](Json& s) {
       Json& t = at(s, "river", "R04");
       t = tile("R04", 1, "WWWF", {river("NES"), field({0, 5, 6, 7}), field({1, 2}), field({3, 4})});
     }, {"R04", "3 river edges"}},
    {"NoLake", [](Json& s) { s["river"].erase(11); }, {"river", "1", "the spring, then the lake"}},
    {"ThreeEnds", [](Json& s) { s["river"].push_back(at(s, "river", "R12")); s["river"].back()["id"] = "R13"; }, {"river", "3", "the spring, then the lake"}},
    {"TwoLakes", [](Json& s) { at(s, "river", "R12")["count"] = 2; }, {"R12", "count 2", "expected 1"}},
};

class BadTileSet : public testing::TestWithParam<Fault> {};

TEST_P(BadTileSet, IsRefusedByName) {
  Json set = standard_json();
  GetParam().damage(set);
  const std::string message = message_of<TileSetError>([&] { read(set); });
  EXPECT_NE(message, "");
  for (const std::string& part : GetParam().says) EXPECT_THAT(message, testing::HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(TileSet, BadTileSet, testing::ValuesIn(kFaults), [](const auto& info) { return info.param.name; });

TEST(TileSet, TextThatIsNoJsonIsRefused) {
  for (const char* text : {"", "{", "[]", "null", "3", "\"base\"", "{\"base\":", "\xff\xfe", "{\"base\":[1e999]}"}) {
    EXPECT_NE(message_of<TileSetError>([&] { TileSet::parse(text, "x"); }), "") << text;
  }
}

TEST(TileSet, DeeplyNestedTextIsRefused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(message_of<TileSetError>([&] { TileSet::parse(deep, "x"); }), testing::HasSubstr("nested"));
}

TEST(TileSet, NinetySevenTypesAreRefused) {
  std::vector<Json> base;
  for (int i = 0; i < 97; ++i) base.push_back(tile("t" + std::to_string(i), i == 0, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})}));
  EXPECT_THAT(message_of<TileSetError>([&] { read(tile_set(base, "t0")); }), testing::HasSubstr("96"));
  base.pop_back();
  Rules rules;
  rules.tiles = read(tile_set(base, "t0"));
  EXPECT_EQ(Game::create(rules)->types(), 96);
}

TEST(TileSet, NinetySevenTypesWithTheRiverAreRefused) {
  Json set = standard_json();
  for (int i = 0; i < 60; ++i) set["base"].push_back(tile("t" + std::to_string(i), 0, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})}));
  Rules rules = rules_of({{"river", "2021"}, {"abbot", true}});
  rules.tiles = read(set);
  EXPECT_THAT(message_of<TileSetError>([&] { Game::create(rules); }), testing::HasSubstr("96"));
}

}  // namespace
}  // namespace carc
