// Roads, cities, monasteries and majorities, with values counted by hand.
#include "carc/core/scoring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::ElementsAre;

const Rules kSplit = rules_of({{"tie_points", "split"}});
const Rules kSmallCity2 = rules_of({{"small_city", 2}});

// --- Majorities -----------------------------------------------------------------------------------------------------

FigureCounts counts(std::initializer_list<int> of_players) {
  FigureCounts out = 0;
  int p = 0;
  for (const int n : of_players) out = static_cast<FigureCounts>(out + n * one_figure(p++));
  return out;
}

TEST(Majority, BelongsToThePlayerWithMostFigures) {
  EXPECT_EQ(majority(counts({2, 1, 0, 0, 0})).players, 0b00001);
  EXPECT_EQ(majority(counts({1, 0, 0, 0, 7})).players, 0b10000);
  EXPECT_EQ(majority(counts({1, 0, 0, 0, 7})).number, 1);
}

TEST(Majority, IsSharedByAllWhoTie) {
  EXPECT_EQ(majority(counts({2, 1, 2})).players, 0b00101);
  EXPECT_EQ(majority(counts({2, 1, 2})).number, 2);
  EXPECT_EQ(majority(counts({3, 3, 3, 3, 3})).players, 0b11111);
  EXPECT_EQ(majority(counts({3, 3, 3, 3, 3})).number, 5);
}

TEST(Majority, IsNobodysWithoutFigures) {
  EXPECT_EQ(majority(0).players, 0);
  EXPECT_EQ(majority(0).number, 0);
}

TEST(Majority, CountsEveryCombinationRight) {
  for (int n = 0; n < 8 * 8 * 8 * 8 * 8; ++n) {
    std::array<int, 5> of{};
    for (std::size_t p = 0; p < 5; ++p) of[p] = n >> 3 * p & 7;
    const int most = *std::max_element(of.begin(), of.end());
    unsigned players = 0;
    for (std::size_t p = 0; p < 5; ++p) players |= static_cast<unsigned>(most > 0 && of[p] == most) << p;
    const Majority m = majority(static_cast<FigureCounts>(n));
    ASSERT_EQ(m.players, players) << n;
    ASSERT_EQ(m.number, std::popcount(players)) << n;
  }
}

TEST(Majority, SharesAreWholePointsRoundedDown) {
  const Majority three = majority(counts({1, 1, 1}));
  EXPECT_EQ(share(Rules(), 10, three), 10);
  EXPECT_EQ(share(kSplit, 10, three), 3);
  EXPECT_EQ(share(kSplit, 2, three), 0);
  EXPECT_EQ(share(kSplit, 10, majority(counts({1}))), 10);
}

// --- Roads ----------------------------------------------------------------------------------------------------------

TEST(Scoring, CompletedRoadPaysOneATile) {
  const Play game = play(Rules(), {"A@1,0r1 road:S", "A@-1,0r3"}, {"B"});
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(3, 0));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
}

TEST(Scoring, UnfinishedRoadPaysOneATileAtTheEnd) {
  const Play game = play(Rules(), {"A@1,0r1 road:S", "B@0,1r0"});
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(2, 0));
  EXPECT_EQ(game.state.final_count().total(0), 2);
  EXPECT_THAT(game.meeples(), ElementsAre(6, 7));  // the final count sends nobody home
}

TEST(Scoring, RoadThatClosesIntoARingIsComplete) {
  Play game(Rules(), {"V", "V", "U", "V", "V", "B"});
  game.turns({"V@1,0r0 road:S", "V@1,1r1", "U@0,1r1", "V@-1,1r2"});
  EXPECT_THAT(game.projected(FeatureKind::kRoad), ElementsAre(5, 0));
  game.turn("V@-1,0r3");
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(6, 0));
}

TEST(Scoring, RoadThatComesBackToItsCrossingCountsTheTileOnce) {
  const Play game = play(Rules(), {"X@1,0r0", "V@2,0r0 road:S", "V@2,1r1", "V@1,1r2"}, {"B"});
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(0, 4));
}

TEST(Scoring, ArmsOfACrossingAreRoadsOfTheirOwn) {
  Play game(Rules(), {"X", "A", "B"});
  game.turn("X@1,0r0 road:E");
  game.lay("A@2,0r1");
  EXPECT_THAT(game.legal(), ElementsAre("-", "monastery", "field:0"));  // the road to the east is taken
  game.figure("-");
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(2, 0));
}

TEST(Scoring, OneTileMayCompleteTwoRoads) {
  Play game(Rules(), {"A", "E", "B", "A", "X", "B"});
  game.turns({"A@-1,0r3 road:S", "E@0,-1r2", "B@0,1r0", "A@1,-1r0 road:S"});
  EXPECT_THAT(game.scores(), ElementsAre(0, 0));
  game.turn("X@1,0r0");
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(3, 2));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
}

// --- Cities ---------------------------------------------------------------------------------------------------------

TEST(Scoring, CompletedCityPaysTwoATileAndTwoAShield) {
  Play game(Rules(), {"C", "E", "E", "E", "B"});
  game.turn("C@0,-1r0 city:N");
  EXPECT_THAT(game.projected(FeatureKind::kCity), ElementsAre(3, 0));
  game.turns({"E@1,-1r3", "E@-1,-1r1", "E@0,-2r2"});
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(12, 0));
}

TEST(Scoring, UnfinishedCityPaysOneATileAndOneAShield) {
  const Play game = play(Rules(), {"C@0,-1r0 city:N", "E@1,-1r3"});
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(4, 0));
}

TEST(Scoring, CityOfTwoTilesPaysFourOrTwo) {
  for (const auto& [rules, points] : {std::pair{Rules(), 4}, {kSmallCity2, 2}}) {
    const Play game = play(rules, {"E@0,-1r2 city:N"}, {"B"});
    EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(points, 0));
  }
}

TEST(Scoring, SmallCityRuleHalvesShieldsToo) {
  Rules rules;
  rules.tiles = standard_and({tile("cap", 1, "CFFF", {city("N", 1), field({2, 3, 4, 5, 6, 7}, {0})}),
                              tile("twin_shield", 1, "CFFF", {city("N", 2), field({2, 3, 4, 5, 6, 7}, {0})})});
  EXPECT_THAT(play(rules, {"cap@0,-1r2 city:N"}, {"B"}).points(FeatureKind::kCity), ElementsAre(6, 0));
  rules.small_city = 2;
  EXPECT_THAT(play(rules, {"cap@0,-1r2 city:N"}, {"B"}).points(FeatureKind::kCity), ElementsAre(3, 0));
  EXPECT_THAT(play(rules, {"twin_shield@0,-1r2 city:N"}, {"B"}).points(FeatureKind::kCity), ElementsAre(4, 0));
}

TEST(Scoring, SmallCityRuleLeavesOtherCitiesAlone) {
  const Play unfinished = play(kSmallCity2, {"G@0,-1r1 city:E"});
  EXPECT_THAT(unfinished.points(FeatureKind::kCity), ElementsAre(2, 0));
  const Play three_tiles = play(kSmallCity2, {"G@0,-1r1 city:E", "E@0,-2r2"}, {"B"});
  EXPECT_THAT(three_tiles.points(FeatureKind::kCity), ElementsAre(6, 0));
}

TEST(Scoring, TileWithTwoPartsOfACityCountsOnce) {
  Play game(Rules(), {"N", "N", "N", "B"}, "I", Cell{0, 0}, 0);
  game.turns({"N@0,-1r1 city:N", "N@1,-1r2", "N@1,0r3"});
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(8, 0));
}

TEST(Scoring, CompletedCityWithoutFiguresPaysNobody) {
  EXPECT_THAT(play(Rules(), {"E@0,-1r2"}, {"B"}).scores(), ElementsAre(0, 0));
}

TEST(Scoring, OpponentWhoClosesACityGetsNothing) {
  const Play game = play(Rules(), {"G@0,-1r1 city:E", "E@0,-2r2 field:2"}, {"B"});
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(6, 0));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 6));
}

TEST(Scoring, ManyShieldsAreCountedInFull) {
  const std::vector<Json> features = {city("NESW", 3)};
  Rules rules;
  rules.tiles = read(tile_set({tile("fort", 84, "CCCC", features)}, "fort"));
  Play game(rules, copies(83, "fort"));
  game.turn("fort@1,0r0 city:N");
  for (int x = 2; x <= 83; ++x) game.turn("fort@" + std::to_string(x) + ",0r0");
  EXPECT_THAT(game.scores(), ElementsAre(84 + 84 * 3, 0));
}

TEST(Scoring, MoreShieldsThanAStateCountsAreRefused) {
  Rules rules;
  rules.tiles = read(tile_set({tile("fort", 84, "CCCC", {city("NESW", 9)})}, "fort"));
  EXPECT_THROW(Game::create(rules), TileSetError);
}

// --- Monasteries ----------------------------------------------------------------------------------------------------

TEST(Scoring, MonasteryPaysOneAndItsNeighboursAtTheEnd) {
  const Play game = play(Rules(), {"B@0,1r0 monastery", "B@1,1r0", "B@1,2r0"});
  EXPECT_THAT(game.points(FeatureKind::kMonastery), ElementsAre(4, 0));
}

TEST(Scoring, SurroundedMonasteryPaysNineAndSendsTheMonkHome) {
  Play game(Rules(), copies(12, "B"));
  game.turns({"B@0,1r0", "B@0,2r0 monastery", "B@1,1r0", "B@-1,1r0", "B@1,2r0", "B@-1,2r0", "B@1,3r0", "B@0,3r0"});
  EXPECT_THAT(game.projected(FeatureKind::kMonastery), ElementsAre(0, 8));
  EXPECT_THAT(game.points(FeatureKind::kMonastery), ElementsAre(0, 0));
  game.turn("B@-1,3r0");
  EXPECT_THAT(game.points(FeatureKind::kMonastery), ElementsAre(0, 9));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
}

TEST(Scoring, MonkSetIntoAFullRingIsPaidAtOnce) {
  Play game(Rules(), copies(12, "B"));
  game.turns({"B@0,1r0", "B@1,1r0", "B@-1,1r0", "B@1,2r0", "B@-1,2r0", "B@1,3r0", "B@-1,3r0", "B@0,3r0"});
  game.turn("B@0,2r0 monastery");
  EXPECT_THAT(game.points(FeatureKind::kMonastery), ElementsAre(9, 0));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
}

// --- Ties and figures -----------------------------------------------------------------------------------------------

// Two players' roads meet: seven tiles, one figure each.
std::vector<std::string> shared_road() {
  return {"V@1,0r1 road:S", "V@0,1r0 road:S", "V@-1,1r2", "V@-1,0r3", "A@1,-1r0", "A@0,2r2"};
}

TEST(Scoring, TiedMajorityPaysEveryoneInFull) {
  const Play game = play(Rules(), shared_road(), {"B"});
  EXPECT_THAT(game.scores(), ElementsAre(7, 7));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
}

TEST(Scoring, SplitTieSharesRoundedDown) {
  EXPECT_THAT(play(kSplit, shared_road(), {"B"}).scores(), ElementsAre(3, 3));
}

TEST(Scoring, SplitTieSharesUnfinishedRoadsToo) {
  std::vector<std::string> turns = shared_road();
  turns.resize(4);  // five tiles, open at both ends
  EXPECT_THAT(play(Rules(), turns).scores(), ElementsAre(5, 5));
  EXPECT_THAT(play(kSplit, turns).scores(), ElementsAre(2, 2));
}

// Caps of a city on all sides of one cell, into which C is laid: five tiles and a shield.
std::vector<std::string> caps_of_two_players(const std::string& third_cap) {
  return {"U@1,0r1",  "U@-1,0r1", "E@1,-1r3 city:N",      "E@-1,-1r1 city:N",
          "B@1,-2r0", "B@0,1r0",  "E@0,-2r2" + third_cap, "C@0,-1r0"};
}

TEST(Scoring, MajorityOfTwoToOneTakesAll) {
  const Play two_to_one = play(Rules(), caps_of_two_players(" city:N"), {"B"});
  EXPECT_THAT(two_to_one.points(FeatureKind::kCity), ElementsAre(12, 0));
  EXPECT_THAT(two_to_one.meeples(), ElementsAre(7, 7));
  EXPECT_THAT(play(Rules(), caps_of_two_players(""), {"B"}).points(FeatureKind::kCity), ElementsAre(12, 12));
}

TEST(Scoring, MajorityCountsFiguresOfUpToFivePlayers) {
  const Rules five = rules_of({{"players", 5}});
  const Rules five_split = rules_of({{"players", 5}, {"tie_points", "split"}});
  const std::vector<std::string> turns = {"U@1,0r1",  "U@-1,0r1",        "E@1,-1r3 city:N", "E@-1,-1r1 city:N",
                                          "B@1,-2r0", "E@0,-2r2 city:N", "C@0,-1r0"};
  // Players 2, 3 and 0 have one figure each.
  EXPECT_THAT(play(five, turns, {"B"}).points(FeatureKind::kCity), ElementsAre(12, 0, 12, 12, 0));
  EXPECT_THAT(play(five_split, turns, {"B"}).points(FeatureKind::kCity), ElementsAre(4, 0, 4, 4, 0));
}

TEST(Scoring, NoMeepleInHandMeansNoFigure) {
  Play game(Rules(), [] {
    auto tiles = copies(14, "B");
    tiles.push_back("E");
    return tiles;
  }());
  for (int y = 1; y <= 13; ++y) game.turn("B@0," + std::to_string(y) + "r0" + (y % 2 ? " monastery" : ""));
  EXPECT_THAT(game.meeples(), ElementsAre(0, 7));
  game.turn("B@0,14r0");
  game.lay("E@0,-1r2");
  EXPECT_THAT(game.legal(), ElementsAre("-"));
}

TEST(Scoring, FigureThatComesHomeCannotBeSetInTheSameTurn) {
  Play game(Rules(), [] {
    auto tiles = copies(14, "B");
    tiles.insert(tiles.end(), {"G", "E"});
    return tiles;
  }());
  game.turns({"G@0,-1r1 city:E", "B@0,1r0"});
  for (int y = 2; y <= 13; ++y) game.turn("B@0," + std::to_string(y) + "r0" + (y % 2 ? "" : " monastery"));
  EXPECT_THAT(game.meeples(), ElementsAre(0, 7));
  game.lay("E@0,-2r2");
  EXPECT_THAT(game.legal(), ElementsAre("-"));
  game.figure("-");
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(6, 0));
  EXPECT_THAT(game.meeples(), ElementsAre(1, 7));
}

TEST(Scoring, FigureMayBeSetAndComeHomeInOneTurn) {
  Play game(Rules(), {"E", "B"});
  game.turn("E@0,-1r2 city:N");
  EXPECT_THAT(game.scores(), ElementsAre(4, 0));
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
  EXPECT_EQ(game.state.figures_on_board(), 0);
}

TEST(Scoring, FinalCountIsThePartPaidAfterTheLastTurn) {
  const Play game = play(Rules(), {"E@0,-1r2 city:N", "B@0,1r0 monastery"});
  EXPECT_THAT(game.scores(), ElementsAre(4, 2));
  EXPECT_EQ(game.state.final_count().total(0), 0);
  EXPECT_EQ(game.state.final_count().total(1), 2);
  EXPECT_TRUE(game.state.projected() == Points());  // nothing is to come
}

TEST(Scoring, EqualTotalsShareTheWin) {
  const Play game = play(rules_of({{"players", 3}}), {"B@0,1r0 monastery", "B@0,2r0 monastery", "B@0,3r0"});
  EXPECT_THAT(game.scores(), ElementsAre(3, 3, 0));
  EXPECT_EQ(game.state.leaders(), 0b011u);
  EXPECT_THAT(game.state.returns(), ElementsAre(1.5, 1.5, -3, 0, 0));
}

}  // namespace
}  // namespace carc
