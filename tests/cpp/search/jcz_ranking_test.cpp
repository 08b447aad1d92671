#include "carc/search/jcz_ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

// The start tile D lies at 0,0: city north, road east to west, field south.

JczTerms terms(const Play& game, int player, const JczWeights& weights = {}) {
  JczRanking ranking(weights, game.state);
  ranking.set_board(game.state);
  return ranking.terms(game.state, player);
}

// A game whose bag holds the tiles of `turns` and `left`, after these turns.
Play after(const Rules& rules, const std::vector<std::string>& turns, const std::vector<std::string>& left) {
  return play(rules, turns, left);
}

std::vector<std::string> with(std::vector<std::string> tiles, const std::vector<std::string>& more) {
  tiles.insert(tiles.end(), more.begin(), more.end());
  return tiles;
}

Rules for_players(int players) { return rules_of({{"players", players}}); }

unsigned code(EdgeKind edge, Side side) { return static_cast<unsigned>(edge) << 2 * side; }

// --- Score ----------------------------------------------------------------------------------------------------------

TEST(JczScore, IsOwnMinusTheSumOfTheOthers) {
  const Play game = after(for_players(3), {"E@0,-1r2 city:N", "B@0,1r0", "B@0,2r0"}, {"B"});
  EXPECT_EQ(terms(game, 0).score, 4);
  EXPECT_EQ(terms(game, 1).score, -4);
}

TEST(JczScore, CountsAloneWhenTheGameIsOver) {
  const JczTerms t = terms(after(Rules(), {"E@0,-1r2 field:2"}, {}), 0);
  EXPECT_EQ(t.score, 3);
  EXPECT_DOUBLE_EQ(t.sum(), 3.0001);
}

// --- Chances --------------------------------------------------------------------------------------------------------

TEST(JczChance, AnyOfTheFittingTilesMustBeDrawnByAnyoneElse) {
  for (const int players : {2, 4}) {
    const Play game(for_players(players), {"E", "E", "E", "B", "V"});
    const JczWeights weights;
    JczRanking ranking(weights, game.state);
    const double others = 1 - 1.0 / players;
    EXPECT_DOUBLE_EQ(ranking.fill_chance(code(EdgeKind::kCity, kNorth)), 1 - others * others * others);
    EXPECT_DOUBLE_EQ(ranking.fill_chance(code(EdgeKind::kRoad, kEast) | code(EdgeKind::kRoad, kSouth)), 1 - others);
    EXPECT_EQ(ranking.fill_chance(code(EdgeKind::kCity, kNorth) | code(EdgeKind::kCity, kEast)), 0);
  }
}

TEST(JczChance, RiverTilesFitTheEndOfTheRiverAlone) {
  const Play game(rules_of({{"river", "2021"}}), {"R04", "R07", "R12", "E"});
  const JczWeights weights;
  JczRanking ranking(weights, game.state);
  EXPECT_DOUBLE_EQ(ranking.fill_chance(0), 1 - 0.125);
  EXPECT_DOUBLE_EQ(ranking.fill_chance(code(EdgeKind::kField, kNorth)), 0.5);
}

// --- Features -------------------------------------------------------------------------------------------------------

TEST(JczFeatures, UnfinishedCityIsWorthMoreTheLikelierItIsFinished) {
  const auto value = [](const std::vector<std::string>& left, int player, int players = 2) {
    return terms(after(for_players(players), {"F@0,-1r1 city:E"}, left), player).features;
  };
  EXPECT_DOUBLE_EQ(value({"B"}, 0), 3);                  // two tiles and a shield
  EXPECT_DOUBLE_EQ(value({"E"}, 0), 3 + 0.8 * 0.5 * 3);  // one tile fits
  EXPECT_DOUBLE_EQ(value({"E"}, 0, 3), 3 + 0.8 * 1 / 3.0 * 3);
  EXPECT_DOUBLE_EQ(value({"E", "E"}, 0), 3 + 0.8 * 0.75 * 3);
  EXPECT_DOUBLE_EQ(value({"E", "E", "E"}, 0), 3 + 0.8 * 3);  // 0.875 counts as 1
  EXPECT_DOUBLE_EQ(value({"E"}, 1), -(3 + 0.8 * 0.5 * 3));
}

TEST(JczFeatures, CellAtTwoEdgesOfACityIsFilledOnce) {
  // The city bends round 1,-1 and is open there to the west and to the north.
  const Play game = after(Rules(), {"R@0,-1r1 city:N", "N@0,-2r1", "N@1,-2r2"}, {"N"});
  EXPECT_DOUBLE_EQ(terms(game, 0).features, 4 + 0.8 * 0.5 * 4);
}

TEST(JczFeatures, RoadIsWorthItsTiles) {
  EXPECT_DOUBLE_EQ(terms(after(Rules(), {"D@1,0r0 road:E"}, {"V"}), 0).features, 2);
}

TEST(JczFeatures, MonasteryNeedsTheNeighboursInWhichSomethingCanBeLaid) {
  // Open cells round 0,1: two that ask for a road (V fits), three for a field (V and E fit).
  const Play game = after(Rules(), {"B@0,1r0 monastery"}, {"V", "E"});
  const double chance = 0.5 * 0.5 * 0.75 * 0.75 * 0.75;
  EXPECT_DOUBLE_EQ(terms(game, 0).features, 2 + 0.5 * chance * 7);
  EXPECT_DOUBLE_EQ(terms(game, 1).features, -(2 + 0.5 * chance * 7));
}

// The third tile joins the city of player 0 and the city of player 1; it stays open.
const std::vector<std::string> kSharedCity = {"D@1,0r0 city:N", "N@0,-1r1 city:N", "R@1,-1r2"};

TEST(JczFeatures, EveryOwnerOfTheMajorityCounts) {
  const Play game = after(for_players(3), kSharedCity, {"B"});
  EXPECT_DOUBLE_EQ(terms(game, 0).features, 0);
  EXPECT_DOUBLE_EQ(terms(game, 2).features, -8);
}

TEST(JczFeatures, SharedPointsAreHalfForEach) {
  const Play game = after(rules_of({{"players", 3}, {"tie_points", "split"}}), kSharedCity, {"B"});
  EXPECT_DOUBLE_EQ(terms(game, 2).features, -4);
}

// --- Stuck figures --------------------------------------------------------------------------------------------------

TEST(JczStuck, PenaltyGrowsAsTheChanceFalls) {
  const auto eight = copies(8, "B");
  const auto check = [](const Play& game, double own, double other) {
    EXPECT_DOUBLE_EQ(terms(game, 0).stuck, own);
    EXPECT_DOUBLE_EQ(terms(game, 1).stuck, other);
  };
  check(after(Rules(), {"F@0,-1r1 city:E"}, eight), -12, 3);                        // P = 0
  check(after(for_players(3), {"R@0,-1r1 city:N"}, with(eight, {"E"})), -3, 0.75);  // two cells: 1/9
  check(after(Rules(), {"F@0,-1r1 city:E"}, with(eight, {"E"})), -1.2, 0.3);        // 1/2
  check(after(Rules(), {"F@0,-1r1 city:E"}, with(eight, {"E", "E"})), 0, 0);        // 3/4
}

TEST(JczStuck, NothingIsStuckInTheLastSevenTurns) {
  EXPECT_EQ(terms(after(Rules(), {"F@0,-1r1 city:E"}, copies(7, "B")), 0).stuck, 0);
  EXPECT_EQ(terms(after(Rules(), {"F@0,-1r1 city:E"}, copies(8, "B")), 0).stuck, -12);
}

TEST(JczStuck, NeitherFarmersNorAbbotsAreStuck) {
  const Rules abbots = rules_of({{"abbot", true}});
  EXPECT_EQ(terms(after(Rules(), {"B@0,1r0 field:0"}, copies(8, "B")), 0).stuck, 0);
  EXPECT_EQ(terms(after(abbots, {"B@0,1r0 abbot:monastery"}, copies(8, "B")), 0).stuck, 0);
  EXPECT_EQ(terms(after(abbots, {"B@0,1r0 monastery"}, copies(8, "B")), 0).stuck, -12);
}

// --- Fields, open things, hand, neighbours --------------------------------------------------------------------------

TEST(JczFields, PayNearlyWhatTheyWouldPayNow) {
  const Play game = after(Rules(), {"E@0,-1r2 field:2"}, {"B"});
  EXPECT_DOUBLE_EQ(terms(game, 0).fields, 0.99 * 3);
  EXPECT_DOUBLE_EQ(terms(game, 1).fields, -0.99 * 3);
}

TEST(JczOpen, PenaltyByKindAndNumber) {
  const std::vector<std::string> turns = {"D@1,0r0 road:E", "B@0,1r0", "E@0,2r2 city:N", "B@1,1r0", "E@-1,1r3 city:N"};
  const auto first = [&](std::ptrdiff_t n) { return after(Rules(), {turns.begin(), turns.begin() + n}, {"B"}); };
  EXPECT_DOUBLE_EQ(terms(first(1), 0).open, -1);        // a road
  EXPECT_DOUBLE_EQ(terms(first(3), 0).open, -1 - 0.5);  // and a city
  EXPECT_DOUBLE_EQ(terms(first(5), 0).open, -1 - 1.5);  // and two
  EXPECT_DOUBLE_EQ(terms(first(5), 1).open, 1 + 1.5);
  EXPECT_DOUBLE_EQ(terms(after(Rules(), {"E@0,-1r2 field:2"}, {"B"}), 0).open, -5);
}

TEST(JczOpen, SharedThingsAndMonasteriesDoNotCount) {
  EXPECT_EQ(terms(after(Rules(), kSharedCity, {"B"}), 0).open, 0);
  EXPECT_EQ(terms(after(Rules(), {"B@0,1r0 monastery"}, {"B"}), 0).open, 0);
}

TEST(JczHand, EveryFigureCountsAndAnEmptyHandCostsFour) {
  std::vector<std::string> turns;
  for (int y = 1; y <= 13; ++y) turns.push_back("B@0," + std::to_string(y) + "r0 " + (y % 2 ? "monastery" : "-"));
  const Play game = after(Rules(), turns, {"B"});
  ASSERT_EQ(game.meeples(), (std::vector<int>{0, 7}));
  EXPECT_DOUBLE_EQ(terms(game, 0).hand, -4 - 7 * 0.15);
  EXPECT_DOUBLE_EQ(terms(game, 1).hand, 7 * 0.15 + 4);
  const Play with_abbots = after(rules_of({{"abbot", true}}), turns, {"B"});
  EXPECT_DOUBLE_EQ(terms(with_abbots, 0).hand, 0.15 - 8 * 0.15);
}

TEST(JczNeighbours, DiagonalOnesCount) {
  EXPECT_DOUBLE_EQ(terms(after(Rules(), {"B@0,1r0"}, {"B"}), 0).neighbours, 0.0001);
  EXPECT_DOUBLE_EQ(terms(after(Rules(), {"B@0,1r0", "B@1,1r0"}, {"B"}), 0).neighbours, 0.0002);
}

// --- Merges ---------------------------------------------------------------------------------------------------------

// Cell 1,-1: west a city of two tiles, south a city of one tile of player 0.
Play two_cities(const std::string& west_figure, const std::vector<std::string>& left, const Rules& rules = {}) {
  return after(rules, {"D@1,0r0 city:N", "N@0,-1r1 " + west_figure}, left);
}

TEST(JczMerges, RivalsWhoTieGainEachOthersValue) {
  const Play game = two_cities("city:N", {"N", "N"});  // p = 0.75
  EXPECT_DOUBLE_EQ(terms(game, 0).merges, 0.5 * 0.75 * (2 - 1));
  EXPECT_DOUBLE_EQ(terms(game, 1).merges, 0.5 * 0.75 * (1 - 2));
}

TEST(JczMerges, OwnerGainsWhatIsUnowned) {
  const Play game = two_cities("-", {"N", "N"});
  EXPECT_DOUBLE_EQ(terms(game, 0).merges, 0.5 * 0.75 * 2);
  EXPECT_DOUBLE_EQ(terms(game, 1).merges, -0.5 * 0.75 * 2);
}

TEST(JczMerges, UnlikelyOnesAreLeftOut) { EXPECT_EQ(terms(two_cities("city:N", {"N", "B"}), 0).merges, 0); }

TEST(JczMerges, RulesMayForbidThem) {
  const Rules apart = rules_of({{"join_cities", "forbidden"}});
  EXPECT_EQ(terms(two_cities("city:N", {"N", "N"}, apart), 0).merges, 0);
  EXPECT_DOUBLE_EQ(terms(two_cities("-", {"N", "N"}, apart), 0).merges, 0.75);
}

TEST(JczMerges, LoserLosesAndWinnerGains) {
  // Cell 2,-1: west a city with two figures of player 0, south a city of one tile with one of player 1.
  const Play game =
      after(Rules(), {"N@0,-1r1 city:N", "B@0,1r0", "D@1,0r0 city:N", "D@2,0r0 city:N", "R@1,-1r2"}, {"N", "N"});
  EXPECT_DOUBLE_EQ(terms(game, 0).merges, 0.5 * 0.75 * (1 + 1));
  EXPECT_DOUBLE_EQ(terms(game, 1).merges, -0.5 * 0.75 * (1 + 1));
}

TEST(JczMerges, FieldsJoinAtTheCorner) {
  // Cell 1,-1: west the farmer's field, south the unowned one between the completed city and the road.
  const Play game = after(Rules(), {"E@0,-1r2 field:2", "V@1,0r0"}, {"B", "B"});
  EXPECT_DOUBLE_EQ(terms(game, 0).merges, 0.5 * 0.75 * 3);
}

// --- Weights --------------------------------------------------------------------------------------------------------

TEST(JczWeights, EveryTermFollowsItsWeights) {
  JczWeights weights;
  Json json = Json::parse(R"({"completion": 0, "stuck_other": [7, 1, 1], "figure_in_hand": 2, "neighbour": 1})");
  take_options(json, weights);
  EXPECT_TRUE(json.empty());
  const JczTerms t = terms(after(Rules(), {"F@0,-1r1 city:E"}, copies(8, "B")), 1, weights);
  EXPECT_EQ(t.features, -3);
  EXPECT_EQ(t.stuck, 7);
  EXPECT_EQ(t.hand, 2);
  EXPECT_EQ(t.neighbours, 1);
}

TEST(JczWeights, AreListedWithTheirDefaults) {
  std::vector<OptionInfo> options;
  list_options(JczWeights(), options);
  EXPECT_EQ(options.size(), 16u);
  EXPECT_EQ(options[0].name, "completion");
  EXPECT_EQ(options[0].value, "0.8");
}

}  // namespace
}  // namespace carc
