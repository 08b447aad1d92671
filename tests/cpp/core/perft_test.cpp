#include "carc/core/perft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

// The same count from the lists of legal actions only.
std::uint64_t counted(const GameState& state, const Deck& deck, int turns, std::size_t next) {
  if (turns == 0 || state.is_terminal()) return 1;
  if (state.phase() == Phase::kDraw) {
    GameState drawn = state;
    drawn.apply_checked(Action::draw(deck.order().at(next)));
    return counted(drawn, deck, turns, next + 1);
  }
  ActionList actions;
  state.legal_actions(actions);
  std::uint64_t sum = 0;
  for (const Action action : actions) {
    GameState after = state;
    after.apply_checked(action);
    sum += counted(after, deck, turns - (state.phase() == Phase::kFigure), next);
  }
  return sum;
}

struct Known {
  const char* rules;
  std::uint64_t seed;
  std::vector<std::uint64_t> counts;  // after 1, 2, ... turns
};

Rules rules_named(const std::string& name) {
  if (name == "everything") {
    return rules_of({{"players", 3}, {"river", "2014"}, {"abbot", true}, {"farmer_recall", true}, {"join_cities", "forbidden"}});
  }
  return Rules::preset(name);
}

const std::vector<Known> kKnown = {
    {"current", 1, {25, 981, 26101, 498449}},    {"current", 2, {24, 640, 28978, 768716}},
    {"first_edition_2000", 3, {3, 90, 3190}},    {"family", 4, {12, 288, 7030, 30385}},
    {"transitional", 5, {24, 48, 1480, 10096}},  {"current_river_abbot", 6, {8, 20, 40, 68}},
    {"everything", 7, {5, 32, 88, 1008}},
};

TEST(Perft, NumbersOfFixedDecksStayAsTheyAre) {
  for (const Known& known : kKnown) {
    const auto game = Game::create(rules_named(known.rules));
    const Deck deck(*game, known.seed);
    for (std::size_t turns = 1; turns <= known.counts.size(); ++turns) {
      EXPECT_EQ(perft(GameState(*game), deck, static_cast<int>(turns)), known.counts[turns - 1]) << known.rules << " " << known.seed << " " << turns;
    }
  }
}

TEST(Perft, AgreesWithTheListsOfLegalActions) {
  Rng rng(1);
  for (int i = 0; i < 30; ++i) {
    const auto game = Game::create(random_rules(rng));
    const Deck deck(*game, rng.next());
    for (int turns = 0; turns <= 2; ++turns) {
      ASSERT_EQ(perft(GameState(*game), deck, turns), counted(GameState(*game), deck, turns, 0)) << i;
    }
  }
}

TEST(Perft, AgreesFromTheMiddleOfAGame) {
  Rng rng(2);
  for (int i = 0; i < 10; ++i) {
    const auto game = Game::create(random_rules(rng));
    const Deck deck(*game, rng.next());
    GameState state(*game);
    std::size_t next = 0;
    while (!state.is_terminal() && state.laid_tiles() < 40) {
      state.apply(state.phase() == Phase::kDraw ? Action::draw(deck.order()[next++]) : random_action(state, rng));
    }
    while (!state.is_terminal() && state.phase() != Phase::kDraw) state.apply(random_action(state, rng));
    ASSERT_EQ(perft(state, deck, 1, next), counted(state, deck, 1, next));
  }
}

TEST(Perft, StartsAtTheDecisionThatIsDue) {
  const auto game = Game::create(Rules());
  const Deck deck(*game, 5);
  GameState placing(*game);
  placing.apply(Action::draw(deck.order()[0]));
  EXPECT_EQ(perft(placing, deck, 2, 1), perft(GameState(*game), deck, 2));
}

// In phase Figure the turn that is under way is the first one.
TEST(Perft, CountsFromAFigureDecision) {
  const auto game = Game::create(Rules());
  const Deck deck(*game, 5);
  GameState state(*game);
  state.apply(Action::draw(deck.order()[0]));
  state.apply(state.legal_action(0));
  ASSERT_EQ(state.phase(), Phase::kFigure);
  EXPECT_EQ(perft(state, deck, 1, 1), counted(state, deck, 1, 1));
  EXPECT_EQ(perft(state, deck, 2, 1), counted(state, deck, 2, 1));
}

TEST(Perft, NoTurnsAreOneSequence) {
  const auto game = Game::create(Rules());
  EXPECT_EQ(perft(GameState(*game), Deck(*game, 1), 0), 1u);
}

TEST(Perft, GameThatEndsEarlierCountsOnce) {
  const Play game(Rules(), {"E"});
  const Deck deck = Deck::from_ids(*game.game(), {"E"});
  EXPECT_EQ(perft(game.state, deck, 1), perft(game.state, deck, 5));
  EXPECT_EQ(perft(Play(Rules(), {}).state, deck, 3), 1u);
}

TEST(Perft, DiscardedTilesTakeNoTurn) {
  Rules rules;
  rules.tiles = standard_and({tile("p", 1, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})});
  const Play game(rules, {"C", "C", "p"}, "p", Cell{0, 0}, 0);
  // Four cells of grass; in each nothing or a farmer.
  EXPECT_EQ(perft(game.state, Deck::from_ids(*game.game(), {"C", "C", "p"}), 1), 8u);
}

TEST(Perft, DeckThatRunsOutBeforeTheBagIsRefused) {
  const auto game = Game::create(Rules());
  const std::string message = message_of<DeckError>([&] { perft(GameState(*game), Deck::from_ids(*game, {"E"}), 2); });
  EXPECT_THAT(message, testing::HasSubstr("1 tiles"));
}

TEST(Perft, DeckThatIsNotOfTheBagIsRefused) {
  const Play game(Rules(), {"E"});
  EXPECT_THROW(perft(game.state, Deck::from_ids(*game.game(), {"B"}), 1), IllegalAction);
}

}  // namespace
}  // namespace carc
