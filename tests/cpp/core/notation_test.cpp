#include "carc/core/notation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

// --- Writing and reading --------------------------------------------------------------------------------------------

TEST(Notation, EveryLegalActionOfRandomGamesIsReadAsItWasWritten) {
  Rng rng(1);
  for (int i = 0; i < 30; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [](const GameState& s) {
      for (int n = 0; n < s.num_legal_actions(); ++n) {
        const Action action = s.legal_action(n);
        const std::string text = action_to_string(s, action);
        ASSERT_EQ(string_to_action(s, text), action) << text;
      }
    });
  }
}

TEST(Notation, TextsOfThePhasesAreThoseOfTheDesign) {
  Play game(rules_of({{"abbot", true}, {"farmer_recall", true}}), {"D", "Vg", "B", "A"});
  EXPECT_EQ(action_to_string(game.state, Action::draw(game.type("Vg"))), "Vg");
  game.state.apply(Action::draw(game.type("D")));
  EXPECT_EQ(action_to_string(game.state, Action::place(cell_key({0, -1}), 2)), "D@0,-1r2");
  game.state.apply(Action::place(cell_key({0, -1}), 2));
  EXPECT_EQ(action_to_string(game.state, Action::no_figure()), "-");
  EXPECT_EQ(action_to_string(game.state, Action::meeple(0)), "city:N");
  EXPECT_EQ(action_to_string(game.state, Action::meeple(1)), "road:E");
  EXPECT_EQ(action_to_string(game.state, Action::meeple(3)), "field:3");
  EXPECT_EQ(action_to_string(game.state, Action::back(cell_key({3, -1}))), "back:3,-1");
  game.figure("-");
  game.lay("Vg@0,1r0");
  EXPECT_EQ(action_to_string(game.state, Action::abbot(1)), "abbot:garden");
  game.figure("-");
  game.lay("A@1,0r1");
  EXPECT_EQ(action_to_string(game.state, Action::meeple(1)), "monastery");
  EXPECT_EQ(action_to_string(game.state, Action::abbot(1)), "abbot:monastery");
}

TEST(Notation, AnySideOrHalfEdgeOfAFeatureNamesIt) {
  Play game(Rules(), {"D", "B"});
  game.lay("D@0,-1r2");
  for (const char* text : {"road:E", "road:W"}) EXPECT_EQ(string_to_action(game.state, text), Action::meeple(1));
  for (const char* text : {"field:2", "field:7"}) EXPECT_EQ(string_to_action(game.state, text), Action::meeple(2));
  for (const char* text : {"field:3", "field:4", "field:5", "field:6"}) EXPECT_EQ(string_to_action(game.state, text), Action::meeple(3));
}

TEST(Notation, RotationsThatGiveTheSameTileAreAllRead) {
  Play game(Rules(), {"U", "B"});
  game.state.apply(Action::draw(game.type("U")));
  EXPECT_EQ(string_to_action(game.state, "U@1,0r1"), Action::place(cell_key({1, 0}), 1));
  EXPECT_EQ(string_to_action(game.state, "U@1,0r3"), Action::place(cell_key({1, 0}), 3));
}

TEST(Notation, GardenNameIsReadForItsPlainTwin) {
  Play game(Rules(), {"V", "B"});
  game.state.apply(string_to_action(game.state, "Vg"));
  EXPECT_EQ(string_to_action(game.state, "Vg@1,0r0"), Action::place(cell_key({1, 0}), 0));
  EXPECT_EQ(action_to_string(game.state, Action::place(cell_key({1, 0}), 0)), "V@1,0r0");
}

TEST(Notation, ActionsThatNoStateKnowsAreStillWritten) {
  Play game(Rules(), {"D", "B"});
  EXPECT_EQ(action_to_string(game.state, Action::draw(200)), "?");
  EXPECT_EQ(action_to_string(game.state, Action::place(0, 0)), "?@-128,-128r0");
  EXPECT_EQ(action_to_string(game.state, Action::meeple(9)), "feature 9");
  EXPECT_FALSE(action_to_string(game.state, Action::from_bits(~0u)).empty());
  game.lay("D@0,-1r2");
  EXPECT_EQ(action_to_string(game.state, Action::abbot(9)), "abbot:feature 9");
}

// --- Errors ---------------------------------------------------------------------------------------------------------

TEST(Notation, TextThatIsNoDrawIsRefused) {
  const Play game(Rules(), {"D", "B"});
  for (const char* text : {"", " ", "d", "D ", "D@0,-1r2", "Z", "R01", "-", "D\n"}) {
    EXPECT_THAT(message_of<NotationError>([&] { string_to_action(game.state, text); }), HasSubstr("unknown tile '")) << text;
  }
}

TEST(Notation, TileThatCannotComeIsIllegal) {
  const Play game(Rules(), {"D", "B"});
  EXPECT_THAT(message_of<IllegalAction>([&] { string_to_action(game.state, "A"); }), AllOf(HasSubstr("found A"), HasSubstr("B D")));
}

TEST(Notation, TextThatIsNoPlacementIsRefused) {
  Play game(Rules(), {"D", "B"});
  game.state.apply(Action::draw(game.type("D")));
  for (const char* text : {"", "D", "D@", "D@0", "D@0,", "D@0,-1", "D@0,-1r", "D@0,-1r4", "D@0,-1r-1", "D@0,-1r22", "D@0,-1r2 ", " D@0,-1r2",
                           "D@0,-1 r2", "D@+0,-1r2", "D@0.0,-1r2", "D@128,0r0", "D@0,-129r0", "D@99999999999999999999,0r0", "D@0,-1r2-",
                           "@0,-1r2", "Z@0,-1r2", "-", "D@0;-1r2", "D@@0,-1r2"}) {
    EXPECT_NE(message_of<NotationError>([&] { string_to_action(game.state, text); }), "") << text;
  }
}

TEST(Notation, PlacementOfAnotherTileIsIllegal) {
  Play game(Rules(), {"D", "B"});
  game.state.apply(Action::draw(game.type("D")));
  EXPECT_THAT(message_of<IllegalAction>([&] { string_to_action(game.state, "B@0,1r0"); }), AllOf(HasSubstr("tile B"), HasSubstr("tile D")));
}

TEST(Notation, PlacementThatDoesNotFitIsIllegal) {
  Play game(Rules(), {"D", "B"});
  game.state.apply(Action::draw(game.type("D")));
  for (const char* text : {"D@0,0r0", "D@0,-1r0", "D@5,5r0", "D@-128,-128r3", "D@127,127r0"}) {
    EXPECT_THAT(message_of<IllegalAction>([&] { string_to_action(game.state, text); }), AllOf(HasSubstr(text), HasSubstr("legal actions"))) << text;
  }
}

TEST(Notation, TextThatIsNoFigureIsRefusedWithTheFeatures) {
  Play game(Rules(), {"D", "B"});
  game.lay("D@0,-1r2");
  for (const char* text : {"", "city", "city:", "city:E", "city:n", "road:N", "road:3", "field:0", "field:8", "field:-1", "field:", "field:33",
                           "monastery", "garden", "abbot", "abbot:", "abbot:abbot:city:N", "river:N", "--", "- ", "City:N"}) {
    EXPECT_THAT(message_of<NotationError>([&] { string_to_action(game.state, text); }), HasSubstr("city:N, road:E, field:2, field:3")) << text;
  }
  for (const char* text : {"back:", "back:0", "back:0,", "back:0,0,0", "back:0,0 ", "back:300,0", "back:x,y"}) {
    EXPECT_NE(message_of<NotationError>([&] { string_to_action(game.state, text); }), "") << text;
  }
}

TEST(Notation, MonasteryHasNoSide) {
  Play game(Rules(), {"B"});
  game.lay("B@0,1r0");
  for (const char* text : {"monastery:", "monastery:N", "monastery:0"}) EXPECT_THROW(string_to_action(game.state, text), NotationError) << text;
}

TEST(Notation, FigureThatMayNotBeSetIsIllegal) {
  Play game(Rules(), {"G", "E", "B"});
  game.turn("G@0,-1r1 city:E");
  game.lay("E@0,-2r2");
  for (const char* text : {"city:N", "abbot:city:N", "back:0,0", "back:0,-1"}) {
    EXPECT_THAT(message_of<IllegalAction>([&] { string_to_action(game.state, text); }), HasSubstr("legal actions: - field:2")) << text;
  }
}

TEST(Notation, NothingIsReadWhenTheGameIsOver) {
  const Play game(Rules(), {});
  for (const char* text : {"", "-", "D", "D@0,0r0"}) {
    EXPECT_THAT(message_of<IllegalAction>([&] { string_to_action(game.state, text); }), HasSubstr("the game is over"));
  }
}

TEST(Notation, MessagesStayShortAndPrintable) {
  const Play game(Rules(), {"D", "B"});
  const std::string message = message_of<NotationError>([&] { string_to_action(game.state, std::string(100'000, '\x01') + "\xff"); });
  EXPECT_LT(message.size(), 200u);
  EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

TEST(Notation, RandomTextIsRefusedOrLegal) {
  Rng rng(2);
  const auto game = Game::create(rules_of({{"abbot", true}, {"river", "2021"}}));
  GameState state(*game);
  const std::string letters = "ABDEgRUV01234567@,-r:cityroadfieldmonasterygardenabbotback NESW!#\n\xff";
  play_randomly(state, rng, [&](const GameState& s) {
    for (int i = 0; i < 20; ++i) {
      // A legal text with a few characters changed, added or dropped.
      std::string text = s.is_terminal() ? "-" : action_to_string(s, random_action(s, rng));
      for (std::uint32_t n = rng.below(3); n-- > 0 && !text.empty();) {
        const std::size_t at = rng.below(static_cast<std::uint32_t>(text.size()));
        const char c = letters[rng.below(static_cast<std::uint32_t>(letters.size()))];
        switch (rng.below(3)) {
          case 0: text[at] = c; break;
          case 1: text.insert(at, 1, c); break;
          default: text.erase(at, 1);
        }
      }
      try {
        ASSERT_TRUE(s.is_legal(string_to_action(s, text))) << text;
      } catch (const Error&) {
      }
    }
  });
}

}  // namespace
}  // namespace carc
