// Farmers under the three ways to score fields, with values counted by hand.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::ElementsAre;

struct Expected {
  const char* scoring;
  const char* ties;
  std::vector<int> points;
};
std::ostream& operator<<(std::ostream& out, const Expected& e) { return out << e.scoring << " " << e.ties; }

Rules rules_for(const Expected& e) { return rules_of({{"field_scoring", e.scoring}, {"tie_points", e.ties}}); }

void expect_fields(const std::vector<Expected>& all, const std::vector<std::string>& turns) {
  for (const Expected& e : all) {
    const Play game = play(rules_for(e), turns);
    EXPECT_TRUE(game.state.is_terminal());
    EXPECT_EQ(game.points(FeatureKind::kField), e.points) << e;
    EXPECT_EQ(game.state.final_count().total(0), game.state.score(0)) << e;
  }
}

// A city of two tiles (the start tile and E) between two fields. In the field round E stands a farmer of player 0. The
// road's monastery in the west joins what lies north and south of the road to one field: there stand a farmer of player
// 1 and, if wanted, a second one of player 0.
std::vector<std::string> one_city_two_fields(bool second_farmer) {
  return {"E@0,-1r2 field:2", "U@1,0r1 field:0", second_farmer ? "B@0,1r0 field:0" : "B@0,1r0", "A@-1,0r3"};
}

TEST(FieldScoring, OneCityBetweenAFieldWonAndAFieldTied) {
  expect_fields({{"field", "full", {6, 3}},
                 {"field", "split", {4, 1}},
                 {"transitional", "full", {3, 3}},
                 {"transitional", "split", {3, 1}},
                 {"city_2000", "full", {4, 0}},    // two farmers to one over both fields
                 {"city_2000", "split", {4, 0}}},
                one_city_two_fields(true));
}

TEST(FieldScoring, OneCityBetweenTwoFieldsOfDifferentPlayers) {
  expect_fields({{"field", "full", {3, 3}},
                 {"field", "split", {3, 3}},
                 {"transitional", "full", {3, 3}},
                 {"transitional", "split", {3, 3}},
                 {"city_2000", "full", {4, 4}},
                 {"city_2000", "split", {2, 2}}},
                one_city_two_fields(false));
}

TEST(FieldScoring, OneCityBetweenTwoFieldsOfOnePlayer) {
  expect_fields({{"field", "full", {6, 0}}, {"transitional", "full", {3, 0}}, {"city_2000", "full", {4, 0}}},
                {"E@0,-1r2 field:2", "V@0,1r0", "U@1,0r1 field:0"});
}

TEST(FieldScoring, OneFieldBetweenTwoCities) {
  // The grass of H lies between the start tile's city below and the small city above.
  expect_fields({{"field", "full", {6, 0}}, {"transitional", "full", {6, 0}}, {"city_2000", "full", {8, 0}}},
                {"H@0,-1r1 field:0", "E@0,-2r2"});
}

TEST(FieldScoring, UnfinishedCityPaysFarmersNothing) {
  // Above H the city stays open.
  expect_fields({{"field", "full", {3, 0}}, {"transitional", "full", {3, 0}}, {"city_2000", "full", {4, 0}}}, {"H@0,-1r1 field:0"});
  expect_fields({{"field", "full", {0, 0}}, {"transitional", "full", {0, 0}}, {"city_2000", "full", {0, 0}}}, {"G@0,-1r1 field:0"});
}

TEST(FieldScoring, FieldThatTouchesACitySeveralTimesIsPaidOnce) {
  // A city of three caps round R: the field outside touches all of them.
  const std::vector<std::string> turns = {"R@0,-1r2 field:4", "E@1,-1r3", "B@1,-2r0", "E@-1,-1r1", "B@0,-2r0"};
  Play game(Rules(), {"R", "E", "B", "E", "B"});
  game.turns(turns);
  EXPECT_THAT(game.scores(), ElementsAre(3, 0));
}

TEST(FieldScoring, SplitFieldSharesTheSumOfItsCities) {
  // Two farmers in one field: with one city 3 / 2 = 1 each, with two 6 / 2 = 3 each.
  std::vector<std::string> turns = {"E@0,-1r2", "U@1,0r1 field:0", "B@0,1r0 field:0", "A@-1,0r3"};
  expect_fields({{"field", "split", {1, 1}}, {"transitional", "split", {1, 1}}, {"city_2000", "split", {2, 2}}}, turns);
  turns.insert(turns.end(), {"E@-2,0r3", "E@-3,0r1"});
  expect_fields({{"field", "split", {3, 3}}, {"transitional", "split", {2, 2}}, {"city_2000", "split", {4, 4}}}, turns);
}

TEST(FieldScoring, FieldOfMostFarmersIsWonAlone) {
  // The last two tiles join three fields: two farmers of player 0, one of player 1.
  expect_fields({{"field", "full", {3, 0}}, {"transitional", "full", {3, 0}}, {"city_2000", "full", {4, 0}}},
                {"B@0,1r0 field:0", "U@1,0r1 field:0", "E@0,-1r2 field:2", "B@1,-1r0", "A@-1,0r3"});
}

TEST(FieldScoring, SmallCityIsWorthAsMuchToFarmers) {
  Rules rules = rules_of({{"small_city", 2}});
  EXPECT_THAT(play(rules, {"E@0,-1r2 field:2"}).points(FeatureKind::kField), ElementsAre(3, 0));
}

TEST(FieldScoring, CityClosedByTheLastTileCounts) {
  Play game(Rules(), {"B", "U", "E"});
  game.turns({"U@1,0r1 field:0", "B@0,1r0"});
  EXPECT_THAT(game.projected(FeatureKind::kField), ElementsAre(0, 0));
  game.lay("E@0,-1r2");
  EXPECT_THAT(game.projected(FeatureKind::kField), ElementsAre(3, 0));
  game.figure("-");
  EXPECT_THAT(game.points(FeatureKind::kField), ElementsAre(3, 0));
}

TEST(FieldScoring, FarmersAreNotSetWhereTheRulesForbidThem) {
  Play game(rules_of({{"farmers", false}}), {"E", "B"});
  game.lay("E@0,-1r2");
  EXPECT_THAT(game.legal(), ElementsAre("-", "city:N"));
  EXPECT_THROW(game.figure("field:2"), IllegalAction);
}

TEST(FieldScoring, FieldJoinedRoundAnEndOfTheRoadIsTaken) {
  Play game(Rules(), {"B", "A", "B"});
  game.turn("B@0,1r0 field:0");
  game.lay("A@1,0r1");  // round the monastery both sides of the road are one field, in which a farmer stands
  EXPECT_THAT(game.legal(), ElementsAre("-", "road:S", "monastery"));
}

TEST(FieldScoring, BridgesAndGatesPartFields) {
  Play game(Rules(), {"S", "B"});
  game.lay("S@0,-1r2");  // its road leaves to the north; a strip of grass on either side, both touching the city
  EXPECT_THAT(game.legal(), ElementsAre("-", "city:N", "road:S", "field:4", "field:5"));
}

}  // namespace
}  // namespace carc
