#include "carc/core/state.hpp"

#include <cstring>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(State, FitsIntoEightKibibytes) { EXPECT_LE(sizeof(GameState), 8192u); }

TEST(State, NewGameWaitsForADraw) {
  const Play game(rules_of({{"players", 3}}), {"E", "B"});
  const GameState& s = game.state;
  EXPECT_EQ(s.phase(), Phase::kDraw);
  EXPECT_TRUE(s.is_chance_node());
  EXPECT_FALSE(s.is_terminal());
  EXPECT_EQ(s.current_player(), kChancePlayer);
  EXPECT_EQ(s.turn_player(), 0);
  EXPECT_EQ(s.drawn_tile(), -1);
  EXPECT_EQ(s.laid_tiles(), 1);
  EXPECT_EQ(s.tiles_left(), 2);
  EXPECT_EQ(s.figures_on_board(), 0);
  EXPECT_THAT(game.meeples(), ElementsAre(7, 7, 7));
  EXPECT_THAT(game.abbots(), ElementsAre(0, 0, 0));
  EXPECT_THAT(game.legal(), ElementsAre("B", "E"));
  EXPECT_NO_THROW(s.check_consistency());
}

TEST(State, TurnGoesThroughDrawPlaceAndFigure) {
  Play game(Rules(), {"E", "B"});
  game.state.apply_checked(Action::draw(game.type("E")));
  EXPECT_EQ(game.state.phase(), Phase::kPlace);
  EXPECT_EQ(game.state.current_player(), 0);
  EXPECT_EQ(game.state.drawn_tile(), game.type("E"));
  EXPECT_EQ(game.state.tiles_left(), 1);
  game.state.apply_checked(string_to_action(game.state, "E@0,-1r2"));
  EXPECT_EQ(game.state.phase(), Phase::kFigure);
  EXPECT_EQ(game.state.current_player(), 0);
  EXPECT_EQ(game.state.drawn_tile(), game.type("E"));
  EXPECT_EQ(game.state.laid_tiles(), 2);
  game.figure("-");
  EXPECT_EQ(game.state.phase(), Phase::kDraw);
  EXPECT_EQ(game.state.turn_player(), 1);
  EXPECT_EQ(game.state.drawn_tile(), -1);
  game.turn("B@0,1r0");
  EXPECT_EQ(game.state.phase(), Phase::kOver);
  EXPECT_EQ(game.state.current_player(), kTerminalPlayer);
  EXPECT_TRUE(game.legal().empty());
  EXPECT_EQ(game.state.num_legal_actions(), 0);
}

TEST(State, TurnsGoRoundTheTableFromTheFirstPlayer) {
  Play game(rules_of({{"players", 5}}), copies(12, "U"), 3);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(game.state.turn_player(), (3 + i) % 5);
    game.turn("U@" + std::to_string(i + 1) + ",0r1");
  }
}

TEST(State, PlacementsAreListedByRowThenColumnThenRotation) {
  Play game(Rules(), {"V", "B"});
  game.state.apply_checked(Action::draw(game.type("V")));
  // The road of V (south, west) may meet the start tile's in the east or the west, its grass the start tile's in the
  // south.
  EXPECT_THAT(game.legal(), ElementsAre("V@-1,0r2", "V@-1,0r3", "V@1,0r0", "V@1,0r1", "V@0,1r0", "V@0,1r3"));
}

TEST(State, RotationsOfSymmetricTilesAreOneAction) {
  Play game(Rules(), {"U", "B", "X"});
  game.state.apply_checked(Action::draw(game.type("U")));
  EXPECT_THAT(game.legal(), ElementsAre("U@-1,0r1", "U@1,0r1", "U@0,1r1"));
  game.state.apply_checked(string_to_action(game.state, "U@1,0r3"));  // the other rotation is legal all the same
  EXPECT_EQ(game.state.laid_tile(1).rotation, 3);
  game.figure("-");
  game.state.apply_checked(Action::draw(game.type("X")));
  EXPECT_THAT(game.legal(), ElementsAre("X@-1,0r0", "X@2,0r0"));
}

TEST(State, EveryListedActionIsFoundByItsIndex) {
  Rng rng(1);
  for (int i = 0; i < 5; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [](const GameState& s) {
      ActionList list;
      s.legal_actions(list);
      ASSERT_EQ(list.size(), s.num_legal_actions());
      std::set<std::uint32_t> seen;
      for (int n = 0; n < list.size(); ++n) {
        ASSERT_EQ(list[n], s.legal_action(n));
        ASSERT_TRUE(s.is_legal(list[n]));
        ASSERT_TRUE(seen.insert(list[n].bits()).second);
      }
    });
  }
}

// Every action that any phase could know is legal exactly when it is listed, or is another rotation of a listed one.
TEST(State, NothingIsLegalThatIsNotListed) {
  Rng rng(2);
  const auto game = Game::create(rules_of({{"abbot", true}, {"farmer_recall", true}, {"players", 3}}));
  GameState state(*game);
  int step = 0;
  play_randomly(state, rng, [&](const GameState& s) {
    if (++step % 7) return;
    std::set<std::uint32_t> listed;
    for (int i = 0; i < s.num_legal_actions(); ++i) listed.insert(s.legal_action(i).bits());
    for (unsigned t = 0; t < 256; ++t) EXPECT_EQ(s.is_legal(Action::draw(static_cast<TypeId>(t))), listed.contains(Action::draw(static_cast<TypeId>(t)).bits()));
    for (unsigned f = 0; f < 256; ++f) {
      EXPECT_EQ(s.is_legal(Action::meeple(f)), listed.contains(Action::meeple(f).bits()));
      EXPECT_EQ(s.is_legal(Action::abbot(f)), listed.contains(Action::abbot(f).bits()));
    }
    for (unsigned key = 0; key < 65536; ++key) {
      const auto cell = static_cast<CellKey>(key);
      ASSERT_EQ(s.is_legal(Action::back(cell)), listed.contains(Action::back(cell).bits()));
      for (unsigned r = 0; r < 4; ++r) {
        const unsigned same = s.phase() == Phase::kPlace ? r % game->tile(static_cast<TypeId>(s.drawn_tile())).period : r;
        ASSERT_EQ(s.is_legal(Action::place(cell, r)), listed.contains(Action::place(cell, same).bits()));
      }
    }
  });
}

TEST(State, ActionsWithStrayBitsAreIllegal) {
  Play game(Rules(), {"E", "B"});
  const auto refuses_strays = [&](Action legal) {
    ASSERT_TRUE(game.state.is_legal(legal));
    for (int bit = 0; bit < 32; ++bit) {
      const Action changed = Action::from_bits(legal.bits() ^ 1u << bit);
      if (!game.state.is_legal(changed)) {
        EXPECT_THROW(game.state.apply_checked(changed), IllegalAction);
        continue;
      }
      bool is_listed = false;
      for (int i = 0; i < game.state.num_legal_actions(); ++i) is_listed |= game.state.legal_action(i) == changed;
      EXPECT_TRUE(is_listed) << bit;
    }
  };
  refuses_strays(Action::draw(game.type("E")));
  game.state.apply_checked(Action::draw(game.type("E")));
  refuses_strays(string_to_action(game.state, "E@0,-1r2"));
  game.state.apply_checked(string_to_action(game.state, "E@0,-1r2"));
  refuses_strays(Action::no_figure());
  refuses_strays(Action::meeple(0));
}

TEST(State, RefusedActionLeavesEveryByteAsItWas) {
  Rng rng(3);
  const auto game = Game::create(rules_of({{"abbot", true}, {"river", "2021"}}));
  GameState state(*game);
  play_randomly(state, rng, [](const GameState& s) {
    GameState copy = s;
    for (const Action bad : {Action::draw(200), Action::place(0, 0), Action::place(0xFFFF, 3), Action::meeple(13), Action::meeple(255),
                             Action::abbot(0), Action::abbot(31), Action::back(0x8080), Action::from_bits(~0u), Action::from_bits(3)}) {
      if (s.is_legal(bad)) continue;
      const std::string message = message_of<IllegalAction>([&] { copy.apply_checked(bad); });
      ASSERT_THAT(message, AllOf(HasSubstr("found "), HasSubstr("expected ")));
      ASSERT_EQ(std::memcmp(&copy, &s, sizeof(GameState)), 0);
    }
  });
}

TEST(State, IllegalActionMessageNamesPhaseAndLegalActions) {
  Play game(Rules(), {"E", "B"});
  const auto message = [&](Action a) { return message_of<IllegalAction>([&] { game.state.apply_checked(a); }); };
  EXPECT_THAT(message(Action::no_figure()), AllOf(HasSubstr("found -"), HasSubstr("phase draw"), HasSubstr("B E")));
  EXPECT_THAT(message(Action::draw(game.type("A"))), AllOf(HasSubstr("found A"), HasSubstr("2 legal actions")));
  game.turns({"E@0,-1r2", "B@0,1r0"});
  EXPECT_THAT(message(Action::no_figure()), HasSubstr("the game is over"));
}

TEST(State, ChanceOutcomesAreTheSharesOfTheBag) {
  const Play game(Rules(), {"E", "E", "E", "B"});
  const auto outcomes = game.state.chance_outcomes();
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].tile, game.type("B"));
  EXPECT_DOUBLE_EQ(outcomes[0].probability, 0.25);
  EXPECT_DOUBLE_EQ(outcomes[1].probability, 0.75);
}

TEST(State, ChanceOutcomesSumToOneAndMatchTheLegalDraws) {
  Rng rng(4);
  for (int i = 0; i < 20; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [](const GameState& s) {
      const auto outcomes = s.chance_outcomes();
      ASSERT_EQ(outcomes.empty(), s.phase() != Phase::kDraw);
      if (outcomes.empty()) return;
      double sum = 0;
      for (std::size_t n = 0; n < outcomes.size(); ++n) {
        sum += outcomes[n].probability;
        ASSERT_GT(outcomes[n].probability, 0.0);
        ASSERT_EQ(s.legal_action(static_cast<int>(n)), Action::draw(outcomes[n].tile));
      }
      ASSERT_NEAR(sum, 1.0, 1e-12);
      ASSERT_EQ(static_cast<int>(outcomes.size()), s.num_legal_actions());
    });
  }
}

TEST(State, UnplaceableTileLeavesTheGameAndTheSamePlayerDraws) {
  Play game(Rules(), {"E", "C", "B"});
  game.turn("E@0,-1r2");  // closes the only city
  ASSERT_EQ(game.state.turn_player(), 1);
  game.discard("C");
  EXPECT_EQ(game.state.phase(), Phase::kDraw);
  EXPECT_EQ(game.state.turn_player(), 1);
  EXPECT_EQ(game.state.discarded_tiles(), 1);
  EXPECT_EQ(game.state.discarded_tile(0), game.type("C"));
  EXPECT_EQ(game.state.tiles_left(), 1);
  game.turn("B@0,1r0");
  EXPECT_TRUE(game.state.is_terminal());
}

TEST(State, UnplaceableLastTileEndsTheGameWithTheFinalCount) {
  Play game(Rules(), {"E", "C", "C"});
  game.turn("E@0,-1r2 field:2");
  EXPECT_THAT(game.scores(), ElementsAre(0, 0));
  game.discard("C");
  game.discard("C");
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_EQ(game.state.discarded_tiles(), 2);
  EXPECT_THAT(game.scores(), ElementsAre(3, 0));
  EXPECT_EQ(game.state.figures_on_board(), 1);  // farmers stay on the board
}

TEST(State, DeckOfOneUnplaceableTileEndsTheGameAtOnce) {
  Rules rules;
  rules.tiles = read(tile_set({tile("a", 1, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})}), tile("c", 1, "CCCC", {city("NESW")})}, "a"));
  Play game(rules, {"c"});
  game.discard("c");
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_EQ(game.state.laid_tiles(), 1);
}

TEST(State, EmptyBagIsAGameThatIsOver) {
  const Play game(Rules(), {});
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_EQ(game.state.current_player(), kTerminalPlayer);
  EXPECT_TRUE(game.state.chance_outcomes().empty());
  EXPECT_EQ(game.state.num_legal_actions(), 0);
  EXPECT_THAT(game.scores(), ElementsAre(0, 0));
  EXPECT_EQ(game.state.leaders(), 0b11u);
  EXPECT_NO_THROW(game.state.check_consistency());
}

TEST(State, BagOfOneTileIsAGameOfOneTurn) {
  Play game(Rules(), {"B"});
  game.turn("B@0,1r0 monastery");
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_THAT(game.scores(), ElementsAre(2, 0));
}

TEST(State, ReturnsAreScoresMinusTheMeanOfTheOthers) {
  Play game(rules_of({{"players", 3}}), {"B"});
  EXPECT_THAT(game.state.returns(), ElementsAre(0, 0, 0, 0, 0));
  game.turn("B@0,1r0 monastery");
  EXPECT_THAT(game.state.returns(), ElementsAre(2, -1, -1, 0, 0));
  EXPECT_EQ(game.state.leaders(), 0b001u);
}

TEST(State, BadStartIsRefused) {
  const auto game = Game::create(Rules());
  const auto make = [&](Start start, int first) { return GameState(*game, start, game->bag(), first); };
  EXPECT_THAT(message_of<RecordError>([&] { make({24, {0, 0}, 0}, 0); }), HasSubstr("24"));
  EXPECT_THAT(message_of<RecordError>([&] { make({3, {41, 0}, 0}, 0); }), AllOf(HasSubstr("41"), HasSubstr("-40 to 40")));
  EXPECT_THROW(make({3, {0, -41}, 0}, 0), RecordError);
  EXPECT_THROW(make({3, {0, 0}, 4}, 0), RecordError);
  EXPECT_THAT(message_of<RecordError>([&] { make({3, {0, 0}, 0}, 2); }), AllOf(HasSubstr("found 2"), HasSubstr("0 to 1")));
  EXPECT_THROW(make({3, {0, 0}, 0}, -1), RecordError);
}

TEST(State, BadBagIsRefused) {
  const auto game = Game::create(Rules());
  auto bag = game->bag();
  bag[24] = 1;
  EXPECT_THROW(GameState(*game, Start{game->start()}, bag, 0), DeckError);
  bag = game->bag();
  bag[0] = 255;
  EXPECT_THROW(GameState(*game, Start{game->start()}, bag, 0), DeckError);
}

TEST(State, OpenCellsAreSortedWithTheirEdges) {
  const Play game(Rules(), {"E"});
  ASSERT_EQ(game.state.open_cells(), 4);
  EXPECT_EQ(game.state.open_cell(0), (Cell{0, -1}));
  EXPECT_EQ(game.state.open_cell(1), (Cell{-1, 0}));
  EXPECT_EQ(game.state.open_cell(2), (Cell{1, 0}));
  EXPECT_EQ(game.state.open_cell(3), (Cell{0, 1}));
  EXPECT_EQ(game.state.open_cell_code(0), 3u << 4);  // a city in the south
  EXPECT_EQ(game.state.open_cell_code(1), 2u << 2);  // a road in the east
  EXPECT_EQ(game.state.open_cell_code(3), 1u);       // grass in the north
}

TEST(State, TileAtFindsLaidTilesOnly) {
  Play game(Rules(), {"E", "B"});
  game.turn("E@0,-1r2");
  EXPECT_EQ(game.state.tile_at({0, 0}), 0);
  EXPECT_EQ(game.state.tile_at({0, -1}), 1);
  EXPECT_EQ(game.state.tile_at({1, 0}), -1);
  EXPECT_EQ(game.state.tile_at({200, 0}), -1);
  EXPECT_EQ(game.state.tile_at({-129, -129}), -1);
}

TEST(State, PlacementsOfAnyTypeCanBeAsked) {
  Play game(Rules(), {"E", "B"});
  EXPECT_EQ(game.state.placements(game.type("C")).count(), 1);
  EXPECT_TRUE(game.state.placements(game.type("C"))[0] == Action::place(cell_key({0, -1}), 0));
  EXPECT_TRUE(game.state.can_place(game.type("C"), cell_key({0, -1}), 3));
  EXPECT_FALSE(game.state.can_place(game.type("C"), cell_key({0, 1}), 0));
  EXPECT_FALSE(game.state.can_place(game.type("C"), cell_key({5, 5}), 0));
}

// In phase Draw: a placement set agrees with can_place and counts itself right, for all types.
TEST(State, PlacementSetsAgreeWithCanPlace) {
  Rng rng(5);
  const auto game = Game::create(rules_of({{"river", "2014"}, {"join_cities", "forbidden"}, {"players", 4}}));
  GameState state(*game);
  play_randomly(state, rng, [&](const GameState& s) {
    if (s.phase() != Phase::kDraw) return;
    for (int t = 0; t < game->types(); ++t) {
      const auto type = static_cast<TypeId>(t);
      const PlacementSet set = s.placements(type);
      std::vector<std::uint32_t> visited, expected;
      set.for_each([&](Action a) { visited.push_back(a.bits()); });
      for (int i = 0; i < s.open_cells(); ++i) {
        for (unsigned r = 0; r < game->tile(type).period; ++r) {
          const bool fits = s.can_place(type, cell_key(s.open_cell(i)), r);
          ASSERT_EQ(set.contains(i, r), fits);
          if (fits) expected.push_back(Action::place(cell_key(s.open_cell(i)), r).bits());
        }
      }
      ASSERT_EQ(visited, expected);
      ASSERT_EQ(set.count(), static_cast<int>(expected.size()));
      ASSERT_EQ(set.empty(), expected.empty());
      for (int n = 0; n < set.count(); ++n) ASSERT_EQ(set[n].bits(), expected[static_cast<std::size_t>(n)]);
    }
  });
}

}  // namespace
}  // namespace carc
