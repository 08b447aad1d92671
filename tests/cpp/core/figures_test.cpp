// Abbots, farmers that are taken back, cities that may not be joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// The standard tiles and two of plain grass: p, and g with a garden.
Rules grass_rules(std::initializer_list<std::pair<const char*, Json>> options) {
  Rules rules = rules_of(options);
  const Json grass = field({0, 1, 2, 3, 4, 5, 6, 7});
  rules.tiles = standard_and({tile("p", 1, "FFFF", {grass}), tile("g", 1, "FFFF", {grass, building("garden")})});
  return rules;
}
const Rules kAbbot = grass_rules({{"abbot", true}});

Play on_grass(const Rules& rules, std::vector<std::string> tiles) {
  tiles.insert(tiles.end(), 12, "p");
  return Play(rules, tiles, "p", Cell{0, 0}, 0);
}

// --- The abbot ------------------------------------------------------------------------------------------------------

TEST(Abbot, EachPlayerHasOneBesidesSevenMeeples) {
  const Play game = on_grass(kAbbot, {"g"});
  EXPECT_THAT(game.abbots(), ElementsAre(1, 1));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
}

TEST(Abbot, StandsInGardensAndMonasteriesAndMeeplesInMonasteriesOnly) {
  Play game = on_grass(kAbbot, {"g", "B"});
  game.lay("g@0,1r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "field:0", "abbot:garden"));
  EXPECT_THROW(game.figure("garden"), IllegalAction);
  EXPECT_THROW(game.figure("abbot:field:0"), IllegalAction);
  game.figure("abbot:garden");
  EXPECT_THAT(game.abbots(), ElementsAre(0, 1));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
  game.lay("B@1,0r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "field:0", "abbot:monastery"));
}

TEST(Abbot, IsInHandOnlyOnce) {
  Play game = on_grass(kAbbot, {"g", "B"});
  game.turns({"g@0,1r0 abbot:garden", "p@1,0r0"});
  game.lay("B@-1,0r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "field:0", "back:0,1"));
}

TEST(Abbot, TakenBackScoresOneAndTheNeighboursAfterTheTileIsLaid) {
  Play game = on_grass(kAbbot, {"g"});
  game.turns({"g@0,1r0 abbot:garden", "p@1,1r0"});
  EXPECT_THAT(game.projected(FeatureKind::kGarden), ElementsAre(3, 0));
  game.turn("p@1,2r0 back:0,1");
  EXPECT_THAT(game.points(FeatureKind::kGarden), ElementsAre(4, 0));
  EXPECT_THAT(game.abbots(), ElementsAre(1, 1));
  EXPECT_EQ(game.state.figures_on_board(), 0);
}

TEST(Abbot, OnlyItsOwnerTakesItBack) {
  Play game = on_grass(kAbbot, {"g"});
  game.turn("g@0,1r0 abbot:garden");
  game.lay("p@1,1r0");
  EXPECT_THAT(game.legal(), Not(Contains("back:0,1")));
  EXPECT_THROW(game.figure("back:0,1"), IllegalAction);
}

TEST(Abbot, BuildingIsFreeAgainAfterwards) {
  Play game = on_grass(kAbbot, {"B"});
  game.turns({"B@0,1r0 abbot:monastery", "p@1,1r0", "p@1,2r0 back:0,1"});
  EXPECT_THAT(game.points(FeatureKind::kMonastery), ElementsAre(4, 0));
  EXPECT_EQ(game.state.figures_on_board(), 0);
}

TEST(Abbot, SurroundedGardenPaysNineAndSendsHimHome) {
  Play game = on_grass(kAbbot, {"g"});
  game.turns({"g@0,1r0 abbot:garden", "p@1,0r0", "p@-1,0r0", "p@1,1r0", "p@-1,1r0", "p@1,2r0", "p@-1,2r0"});
  EXPECT_THAT(game.projected(FeatureKind::kGarden), ElementsAre(8, 0));
  game.turn("p@0,2r0");
  EXPECT_THAT(game.points(FeatureKind::kGarden), ElementsAre(9, 0));
  EXPECT_THAT(game.abbots(), ElementsAre(1, 1));
}

TEST(Abbot, CannotBeTakenBackInTheTurnThatCompletesHisBuilding) {
  Play game = on_grass(kAbbot, {"g"});
  game.turns({"g@0,1r0 abbot:garden", "p@1,0r0", "p@-1,0r0", "p@1,1r0", "p@-1,1r0", "p@1,2r0", "p@-1,2r0", "p@2,0r0"});
  game.lay("p@0,2r0");  // by the owner
  EXPECT_THAT(game.legal(), ElementsAre("-", "field:0"));
  game.figure("-");
  EXPECT_THAT(game.points(FeatureKind::kGarden), ElementsAre(9, 0));
}

TEST(Abbot, ScoresAtTheEndLikeAMonk) {
  Play game(kAbbot, {"g", "B"}, "p", Cell{0, 0}, 0);
  game.turns({"g@0,1r0 abbot:garden", "B@0,2r0 abbot:monastery"});
  EXPECT_THAT(game.points(FeatureKind::kGarden), ElementsAre(3, 0));
  EXPECT_THAT(game.points(FeatureKind::kMonastery), ElementsAre(0, 2));
  EXPECT_TRUE(game.state.is_terminal());
}

TEST(Abbot, GardensAreIdleWithoutHim) {
  Play game = on_grass(grass_rules({}), {"g"});
  game.lay("g@0,1r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "field:0"));
}

// --- Farmers taken back ---------------------------------------------------------------------------------------------

TEST(FarmerRecall, BringsAFarmerHomeForNoPoints) {
  Play game(rules_of({{"farmer_recall", true}}), {"E", "U", "B", "B"});
  game.turns({"E@0,-1r2 field:2", "U@1,0r1"});
  EXPECT_THAT(game.meeples(), ElementsAre(6, 7));
  game.lay("B@0,1r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "field:0", "back:0,-1"));
  game.figure("back:0,-1");
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
  EXPECT_THAT(game.scores(), ElementsAre(0, 0));
  EXPECT_EQ(game.state.figures_on_board(), 0);
}

TEST(FarmerRecall, ConcernsOwnFarmersOnlyAndNoOtherFigures) {
  Play game(rules_of({{"farmer_recall", true}}), {"E", "U", "B", "B", "B"});
  game.turns({"E@0,-1r2 field:2", "U@1,0r1 road:N"});
  game.turn("B@0,1r0");
  game.lay("B@0,2r0");  // player 1 has a thief, and the farmer is player 0's
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "field:0"));
}

TEST(FarmerRecall, IsListedByRowThenColumn) {
  Play game(rules_of({{"farmer_recall", true}, {"abbot", true}}), {"E", "B", "B", "U", "U", "U", "U", "B", "B"});
  game.turns({"B@0,1r0 abbot:monastery", "E@0,-1r2", "U@1,0r1 field:0", "U@-1,0r1", "U@2,0r1 field:1", "U@-2,0r1"});
  game.lay("B@0,2r0");
  EXPECT_THAT(game.legal(), testing::IsSupersetOf({"back:1,0", "back:2,0", "back:0,1"}));
  const auto legal = game.legal();
  EXPECT_EQ(std::vector<std::string>(legal.end() - 3, legal.end()), (std::vector<std::string>{"back:1,0", "back:2,0", "back:0,1"}));
}

TEST(FarmerRecall, IsOffByDefault) {
  Play game(Rules(), {"E", "U", "B", "B"});
  game.turns({"E@0,-1r2 field:2", "U@1,0r1"});
  game.lay("B@0,1r0");
  EXPECT_THROW(game.figure("back:0,-1"), IllegalAction);
}

TEST(FarmerRecall, FreesTheFieldForOthers) {
  Play game(rules_of({{"farmer_recall", true}}), {"B", "B", "B", "B", "B"});
  game.turns({"B@0,1r0 field:0", "B@0,2r0"});
  game.lay("B@0,3r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "back:0,1"));
  game.figure("back:0,1");
  game.lay("B@0,4r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "field:0"));
}

// --- Joining cities -------------------------------------------------------------------------------------------------

const std::vector<std::string> kClaimedCaps = {"U@1,0r1", "U@-1,0r1", "E@1,-1r3 city:N", "E@-1,-1r1 city:N"};
const Rules kForbidden = rules_of({{"join_cities", "forbidden"}});

Play claimed_caps(const Rules& rules) {
  Play game(rules, {"U", "U", "E", "E", "R", "C", "B", "H", "B"});
  game.turns(kClaimedCaps);
  return game;
}

TEST(JoinCities, ForbiddenBetweenDifferentPlayers) {
  const Play allowed = claimed_caps(Rules()), forbidden = claimed_caps(kForbidden);
  const auto fits = [](const Play& game, unsigned rotation) { return game.state.can_place(game.type("R"), cell_key({0, -1}), rotation); };
  EXPECT_TRUE(fits(allowed, 2));
  EXPECT_FALSE(fits(forbidden, 2));
}

TEST(JoinCities, TileThatCouldOnlyJoinLeavesTheGame) {
  Play game = claimed_caps(kForbidden);
  game.discard("C");
  EXPECT_EQ(game.state.turn_player(), 0);
}

TEST(JoinCities, RefusedJoinIsAnIllegalAction) {
  Play game = claimed_caps(kForbidden);
  game.state.apply_checked(Action::draw(game.type("R")));
  EXPECT_THROW(string_to_action(game.state, "R@0,-1r2"), IllegalAction);
}

TEST(JoinCities, OwnAndEmptyCitiesMayBeJoined) {
  Play own(kForbidden, {"U", "U", "E", "B", "E", "R"});
  own.turns({"U@1,0r1", "U@-1,0r1", "E@1,-1r3 city:N", "B@0,1r0", "E@-1,-1r1 city:N", "R@0,-1r2"});
  EXPECT_TRUE(own.state.is_terminal());
  Play empty(kForbidden, {"U", "U", "E", "E", "R"});
  empty.turns({"U@1,0r1", "U@-1,0r1", "E@1,-1r3 city:N", "E@-1,-1r1", "R@0,-1r2"});
  EXPECT_TRUE(empty.state.is_terminal());
}

TEST(JoinCities, SeparateCitiesOfOneTileAreNotJoined) {
  // Between a cap of player 1 in the east and one of player 0 in the west: H has a city for each, G one for both.
  const std::vector<std::string> turns = {"B@0,1r0", "B@1,1r0", "B@-1,1r0", "E@1,2r3 city:N", "E@-1,2r1 city:N"};
  const auto fits = [&](const Rules& rules, const std::string& id) {
    Play game(rules, {"B", "B", "B", "E", "E", "H", "G"});
    game.turns(turns);
    return game.state.can_place(game.type(id), cell_key({0, 2}), 0);
  };
  EXPECT_TRUE(fits(kForbidden, "H"));
  EXPECT_FALSE(fits(kForbidden, "G"));
  EXPECT_TRUE(fits(Rules(), "G"));
}

TEST(JoinCities, JoinThroughAnEmptyCityBeyondIsSeen) {
  // The tile has two corner cities that both touch one empty city, which would join them; caps of both players touch
  // one corner each.
  Rules rules = kForbidden;
  rules.tiles = standard_and({tile("corners", 1, "CCCC", {city("NW"), city("ES")})});
  const auto fits = [&](const Rules& with, const std::string& second) {
    Play game(with, {"N", "N", "B", "B", "E", "E", "corners"}, "N", Cell{1, -1}, 2);
    game.turns({"N@0,-1r1", "N@1,0r3", "B@-1,-1r0", "B@1,1r0", "E@-1,0r1 city:N", "E@0,1r0" + second});
    return game.state.can_place(game.type("corners"), cell_key({0, 0}), 0);
  };
  EXPECT_FALSE(fits(rules, " city:N"));
  EXPECT_TRUE(fits(rules, ""));
  rules.join_cities = true;
  EXPECT_TRUE(fits(rules, " city:N"));
}

}  // namespace
}  // namespace carc
