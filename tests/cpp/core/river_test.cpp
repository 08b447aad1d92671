// The river: its order in the deck, where it may go on, what may lie beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/core/features.hpp"

namespace carc {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

const Rules kRiver2014 = rules_of({{"river", "2014"}});
const Rules kRiver2021 = rules_of({{"river", "2021"}});

std::vector<std::string> placements(const Play& game, const std::string& id) {
  std::vector<std::string> out;
  game.state.placements(game.type(id)).for_each([&](Action a) {
    out.push_back(std::to_string(a.cell().x) + "," + std::to_string(a.cell().y) + "r" + std::to_string(a.rotation()));
  });
  return out;
}

TEST(River, SpringLiesAtTheStartAndItsTilesComeFirst) {
  const auto game = Game::create(kRiver2021);
  GameState state(*game);
  EXPECT_EQ(game->tile(state.laid_tile(0).type).id, "R01");
  EXPECT_EQ(state.num_legal_actions(), 10);  // R02 .. R11
  EXPECT_FALSE(state.can_draw(*game->lake()));
  EXPECT_FALSE(state.can_draw(game->find("A")->type));
  EXPECT_TRUE(state.can_draw(game->find("R11")->type));
}

TEST(River, LakeComesLastThenTheOtherTiles) {
  Rng rng(1);
  for (const Rules& rules : {kRiver2014, kRiver2021}) {
    const auto game = Game::create(rules);
    GameState state(*game);
    int drawn = 0;
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.phase() != Phase::kDraw) return;
      const auto outcomes = s.chance_outcomes();
      if (drawn <= 10) {
        EXPECT_EQ(outcomes.size(), static_cast<std::size_t>(std::max(1, 10 - drawn)));
        EXPECT_EQ(game->tile(outcomes[0].tile).id == "R12", drawn == 10);
      }
      for (const ChanceOutcome& o : outcomes) EXPECT_EQ(game->tile(o.tile).is_river, drawn <= 10);
      ++drawn;
    });
    EXPECT_GE(drawn, 82);
  }
}

TEST(River, GoesOnAtItsOpenEndOnly) {
  Play game(kRiver2014, {"R04", "R07", "R12", "A"});
  EXPECT_THAT(placements(game, "R04"), ElementsAre("0,1r0"));
  EXPECT_THAT(placements(game, "R07"), ElementsAre("0,1r0", "0,1r1"));
  game.turn("R04@0,1r0");
  EXPECT_THAT(placements(game, "R04"), ElementsAre("0,2r0"));
  EXPECT_THAT(placements(game, "R12"), ElementsAre("0,2r0"));
}

TEST(River, OtherTilesMayNotBlockItsEnd) {
  Play game(kRiver2014, {"R04", "R12", "B", "B"});
  EXPECT_EQ(game.state.open_cell_code(3), 0u);
  EXPECT_THAT(placements(game, "B"), ElementsAre("0,-1r0", "-1,0r0", "1,0r0"));
  // The cell beside the end stays closed to grass although two of its other sides show grass only.
  game.turn("R04@0,1r0");
  EXPECT_THAT(placements(game, "B"), ElementsAre("0,-1r0", "-1,0r0", "1,0r0", "-1,1r0", "1,1r0"));
}

TEST(River, TwoCurvesOfTheSameHandAreAUTurn) {
  Play game(kRiver2014, {"R07", "R10", "R12", "B"});
  game.turn("R07@0,1r1");  // comes from the north, leaves to the east: a left curve
  EXPECT_THAT(placements(game, "R10"), ElementsAre("1,1r1"));  // to the right, south
  EXPECT_THAT(placements(game, "R07"), ElementsAre("1,1r3"));  // the same hand again would be r0, to the north
  EXPECT_THAT(placements(game, "R04"), ElementsAre("1,1r1"));
}

TEST(River, NoCurveAfterACurveWhereDoubleCurvesAreForbidden) {
  Rules rules = kRiver2014;
  rules.set("river_turns", "no_double_curve");
  Play game(rules, {"R07", "R04", "R10", "R12", "B"});
  game.turn("R07@0,1r1");
  EXPECT_THAT(placements(game, "R10"), IsEmpty());
  EXPECT_THAT(placements(game, "R12"), ElementsAre("1,1r3"));
  game.turn("R04@1,1r1");
  EXPECT_THAT(placements(game, "R10"), ElementsAre("2,1r1", "2,1r2"));  // a straight between sets both hands free
}

TEST(River, SBendIsAllowedByTheUTurnRule) {
  Play game(kRiver2014, {"R07", "R10", "R07", "R12"});
  game.turns({"R07@0,1r1", "R10@1,1r1"});  // east, then south
  EXPECT_THAT(placements(game, "R07"), ElementsAre("1,2r1"));  // a left curve, to the east; not a second right curve
}

TEST(River, UnplaceableRiverTileIsDiscardedAndTheRiverStaysOpen) {
  Rules rules = kRiver2014;
  rules.set("river_turns", "no_double_curve");
  Play game(rules, {"R07", "R10", "R12", "B"});
  game.turn("R07@0,1r1");
  game.discard("R10");
  EXPECT_EQ(game.state.turn_player(), 1);
  EXPECT_THAT(game.legal(), ElementsAre("R12"));
  game.turn("R12@1,1r3");
  EXPECT_EQ(game.state.discarded_tiles(), 1);
}

TEST(River, WithoutItsLakeItNeedNotBeFinished) {
  Play game(kRiver2014, {"R04", "B"});
  game.turn("R04@0,1r0");
  EXPECT_THAT(game.legal(), ElementsAre("B"));
  game.turn("B@1,1r0");
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_NO_THROW(game.state.check_consistency());
}

TEST(River, NobodyStandsOnTheRiver) {
  Play game(kRiver2014, {"R04", "B"});
  game.lay("R04@0,1r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "field:0", "field:1"));
}

TEST(River, PartsFieldsThatThePlainSpringJoins) {
  Play game(kRiver2014, {"R04", "R12", "B"});
  game.turn("R04@0,1r0 field:0");
  game.lay("R12@0,2r0");  // the lake joins both banks, and so does the spring: one field, in which a farmer stands
  EXPECT_THAT(game.legal(), ElementsAre("-"));
}

TEST(River, CascadeOfTheNewSpringPartsTheBanks) {
  Play game(kRiver2021, {"R04", "R06", "R12"});
  game.turn("R04@0,1r0 field:1");  // the eastern bank
  game.lay("R06@0,2r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "field:0"));  // the western bank is another field
}

TEST(River, BridgeCarriesTheRoadAndPartsFourFields) {
  Play game(kRiver2014, {"R11", "B"});
  game.lay("R11@0,1r0");
  EXPECT_THAT(game.legal(), ElementsAre("-", "road:E", "field:0", "field:1", "field:3", "field:5"));
}

TEST(River, FeaturesListTheWholeRiver) {
  Play game(kRiver2014, {"R04", "R12", "B"});
  game.turns({"R04@0,1r0", "R12@0,2r0"});
  int rivers = 0;
  for (const Feature& f : find_features(game.state)) {
    if (f.kind != FeatureKind::kRiver) continue;
    ++rivers;
    EXPECT_EQ(f.tiles, 3);
    EXPECT_EQ(f.open, 0);
    EXPECT_TRUE(f.is_complete);
    EXPECT_EQ(f.value, 0);
  }
  EXPECT_EQ(rivers, 1);
}

TEST(River, HandOfAnUnfinishedRiverSurvivesItsLastCurve) {
  Play game(kRiver2014, {"R07", "R07", "R04", "R12"}, "R01", Cell{3, -4}, 1);  // the spring flows west
  game.turn("R07@2,-4r2");  // enters in the east, leaves to the south: a left curve
  EXPECT_THAT(placements(game, "R07"), ElementsAre("2,-3r0"));
  EXPECT_THAT(placements(game, "R04"), ElementsAre("2,-3r0"));
}

// A start tile with two open river ends would make a river that runs in two directions.
TEST(River, StartTileWithTwoRiverEndsIsRefused) {
  const auto game = Game::create(kRiver2014);
  for (const char* id : {"R04", "R07", "R11"}) {
    const TypeId type = game->find(id)->type;
    EXPECT_THROW(GameState(*game, Start{type}, game->bag(), 0), Error) << id;
  }
}

TEST(River, LakeMayLieAtTheStart) {
  Play game(kRiver2014, {"R04", "B"}, "R12", Cell{0, 0}, 0);
  EXPECT_THAT(placements(game, "R04"), ElementsAre("0,-1r0"));
  EXPECT_NO_THROW(game.state.check_consistency());
}

TEST(River, PlainStartTileLeavesRiverTilesNowhereToGo) {
  Play game(kRiver2014, {"R04", "R12", "B"}, "D", Cell{0, 0}, 0);
  game.discard("R04");
  game.discard("R12");
  game.turn("B@0,1r0");
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_NO_THROW(game.state.check_consistency());
}

}  // namespace
}  // namespace carc
