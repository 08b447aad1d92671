#include "carc/core/tileset.hpp"

#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

const TileType& type_of(const std::vector<TileType>& list, const std::string& id) {
  for (const TileType& t : list) {
    if (t.id == id) return t;
  }
  throw std::logic_error("no tile " + id);
}

const TileType& base_tile(const std::string& id) { return type_of(TileSet::standard()->base, id); }

int total(const std::vector<TileType>& list) {
  return std::accumulate(list.begin(), list.end(), 0, [](int n, const TileType& t) { return n + t.count; });
}

TEST(TileSet, StandardHas72BaseAnd12RiverTiles) {
  EXPECT_EQ(total(TileSet::standard()->base), 72);
  EXPECT_EQ(total(TileSet::standard()->river_2021), 12);
  EXPECT_EQ(total(TileSet::standard()->river_2014), 12);
  EXPECT_EQ(TileSet::standard()->start, "D");
}

TEST(TileSet, StandardCountsByLetterAreThoseOfTheRuleSheet) {
  const std::map<char, int> printed = {{'A', 2}, {'B', 4}, {'C', 1}, {'D', 4}, {'E', 5}, {'F', 2}, {'G', 1}, {'H', 3},
                                       {'I', 2}, {'J', 3}, {'K', 3}, {'L', 3}, {'M', 2}, {'N', 3}, {'O', 2}, {'P', 3},
                                       {'Q', 1}, {'R', 3}, {'S', 2}, {'T', 1}, {'U', 8}, {'V', 9}, {'W', 4}, {'X', 1}};
  std::map<char, int> found;
  for (const TileType& t : TileSet::standard()->base) found[t.id[0]] += t.count;
  EXPECT_EQ(found, printed);
}

TEST(TileSet, StandardHasTenShields) {
  std::map<std::string, int> shields;
  int sum = 0;
  for (const TileType& t : TileSet::standard()->base) {
    for (const TileFeature& f : t.features) {
      sum += t.count * f.shields;
      if (f.shields) shields[t.id] = t.count * f.shields;
    }
  }
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(shields, (std::map<std::string, int>{{"C", 1}, {"F", 2}, {"M", 1}, {"Mg", 1}, {"O", 2}, {"Q", 1}, {"S", 2}}));
}

TEST(TileSet, StandardHasEightGardensAndSixMonasteriesInTheBase) {
  int gardens = 0, monasteries = 0;
  for (const TileType& t : TileSet::standard()->base) {
    gardens += t.count * (t.find(FeatureKind::kGarden) >= 0);
    monasteries += t.count * (t.find(FeatureKind::kMonastery) >= 0);
  }
  EXPECT_EQ(gardens, 8);
  EXPECT_EQ(monasteries, 6);
}

TEST(TileSet, FindGivesTheFirstFeatureOfAKindOrMinusOne) {
  EXPECT_EQ(base_tile("L").find(FeatureKind::kCity), 0);
  EXPECT_EQ(base_tile("L").find(FeatureKind::kRoad), 1);
  EXPECT_EQ(base_tile("L").find(FeatureKind::kField), 4);
  EXPECT_EQ(base_tile("L").find(FeatureKind::kGarden), -1);
}

TEST(TileSet, FeaturesOfDAreThoseOfThePicture) {
  const TileType& d = base_tile("D");
  using enum EdgeKind;
  EXPECT_THAT(d.edges, testing::ElementsAre(kCity, kRoad, kField, kRoad));
  ASSERT_EQ(d.features.size(), 4u);
  EXPECT_EQ(d.features[0], (TileFeature{FeatureKind::kCity, 0b0001, 0, 0, 0}));
  EXPECT_EQ(d.features[1], (TileFeature{FeatureKind::kRoad, 0b1010, 0, 0, 0}));
  EXPECT_EQ(d.features[2], (TileFeature{FeatureKind::kField, 0, 0b1000'0100, 0, 0b1}));  // beside the city
  EXPECT_EQ(d.features[3], (TileFeature{FeatureKind::kField, 0, 0b0111'1000, 0, 0}));
}

TEST(TileSet, RiverSetsDifferInSpringAndLakeOnly) {
  const auto set = TileSet::standard();
  for (std::size_t i = 0; i < 12; ++i) {
    const bool differs = set->river_2021[i].id == "R01" || set->river_2021[i].id == "R12";
    EXPECT_EQ(set->river_2021[i] != set->river_2014[i], differs) << set->river_2021[i].id;
  }
  EXPECT_GE(type_of(set->river_2021, "R01").find(FeatureKind::kRoad), 0);
  EXPECT_GE(type_of(set->river_2021, "R12").find(FeatureKind::kMonastery), 0);
  EXPECT_EQ(type_of(set->river_2014, "R01").features.size(), 2u);  // river and one field round it
}

TEST(TileSet, JsonRoundTripKeepsEverything) {
  const auto set = TileSet::standard();
  EXPECT_EQ(*TileSet::parse(set->to_json().dump(), "other name"), *set);
}

TEST(TileSet, NameComesFromTheDocumentOrElseFromTheCaller) {
  Json set = standard_json();
  EXPECT_EQ(TileSet::from_json(set, "file")->name, "file");
  set["name"] = "mine";
  EXPECT_EQ(TileSet::from_json(set, "file")->name, "mine");
}

TEST(TileSet, SetsWithDifferentCountsAreDifferent) {
  Json set = standard_json();
  const auto before = read(set);
  set["base"][0]["count"] = 1;
  EXPECT_NE(*before, *read(set));
}

TEST(TileSet, TileWithoutCopiesIsAllowed) {
  Json set = standard_json();
  set["base"][2]["count"] = 0;
  EXPECT_EQ(total(read(set)->base), 71);
}

TEST(TileSet, ShieldsAndCitiesMayBeLeftOut) {
  const Json plain = {{"kind", "city"}, {"edges", Json::array({"N"})}};
  const Json grass = {{"kind", "field"}, {"half_edges", {2, 3, 4, 5, 6, 7}}};
  const auto set = read(tile_set({tile("a", 1, "CFFF", {plain, grass})}, "a"));
  EXPECT_EQ(set->base[0].features[0].shields, 0);
  EXPECT_EQ(set->base[0].features[1].cities, 0);
}

}  // namespace
}  // namespace carc
