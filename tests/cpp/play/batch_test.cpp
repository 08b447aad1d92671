#include "carc/play/batch.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

bool equal(const RandomGames& a, const RandomGames& b) {
  return a.players == b.players && a.scores == b.scores && a.turns == b.turns && a.discards == b.discards && a.placements == b.placements &&
         a.figures == b.figures;
}

TEST(RandomBatch, ResultsDoNotDependOnTheNumberOfThreads) {
  for (const Rules& rules : {Rules(), rules_of({{"players", 5}, {"river", "2021"}, {"abbot", true}})}) {
    const auto game = Game::create(rules);
    const RandomGames one = random_games(*game, 1000, 7, 1);
    for (const int threads : {2, 3, 8}) EXPECT_TRUE(equal(random_games(*game, 1000, 7, threads), one)) << threads;
  }
}

TEST(RandomBatch, GamesOfAShorterRunAreTheFirstOfALongerOne) {
  const auto game = Game::create(Rules());
  const RandomGames few = random_games(*game, 10, 3, 1), many = random_games(*game, 300, 3, 2);
  EXPECT_TRUE(std::equal(few.scores.begin(), few.scores.end(), many.scores.begin()));
}

TEST(RandomBatch, DifferentSeedsGiveDifferentGames) {
  const auto game = Game::create(Rules());
  EXPECT_NE(random_games(*game, 20, 1, 1).scores, random_games(*game, 20, 2, 1).scores);
}

TEST(RandomBatch, NoGamesAndOddThreadNumbersAreFine) {
  const auto game = Game::create(Rules());
  for (const int threads : {-3, 0, 1, 2, 64}) {
    EXPECT_TRUE(random_games(*game, 0, 1, threads).scores.empty());
    EXPECT_EQ(random_games(*game, 3, 1, threads).turns.size(), 3u);
  }
}

TEST(RandomBatch, GameIsTheOneThatItsSeedGives) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const RandomGames batch = random_games(*game, 5, 9, 1);
  for (std::size_t i = 0; i < 5; ++i) {
    std::int32_t placements = 0, figures = 0;
    const GameState end = random_game(*game, split(9, i), placements, figures);
    EXPECT_TRUE(end.is_terminal());
    EXPECT_NO_THROW(end.check_consistency());
    for (int p = 0; p < 3; ++p) EXPECT_EQ(batch.scores[3 * i + static_cast<std::size_t>(p)], end.score(p));
    EXPECT_EQ(batch.turns[i], end.laid_tiles() - 1);
    EXPECT_EQ(batch.discards[i], end.discarded_tiles());
    EXPECT_EQ(batch.placements[i], placements);
    EXPECT_EQ(batch.figures[i], figures);
  }
}

// The same game through the public interface: legal actions by index, equally likely.
TEST(RandomBatch, EveryActionIsDrawnFromTheListOfLegalActions) {
  const auto game = Game::create(rules_of({{"abbot", true}, {"river", "2014"}}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Deck deck(*game, split(seed, 0));
    Rng rng(split(seed, 1));
    GameState state(*game);
    std::size_t next = 0;
    std::int32_t placements = 0, figures = 0, placements_seen = 0, figures_seen = 0;
    while (!state.is_terminal()) {
      if (state.phase() == Phase::kDraw) {
        state.apply(Action::draw(deck.order()[next++]));
        continue;
      }
      if (state.phase() == Phase::kPlace) placements_seen += state.num_legal_actions();
      const Action action = state.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(state.num_legal_actions()))));
      figures_seen += action.what() == Action::What::kFigure && (action.figure() == Action::Figure::kMeeple || action.figure() == Action::Figure::kAbbot);
      state.apply(action);
    }
    ASSERT_TRUE(random_game(*game, seed, placements, figures) == state);
    EXPECT_EQ(placements, placements_seen);
    EXPECT_EQ(figures, figures_seen);
  }
}

TEST(RandomBatch, InterruptionKeepsTheGamesThatAreComplete) {
  const auto game = Game::create(Rules());
  const RandomGames all = random_games(*game, 4000, 5, 1);
  for (const int threads : {1, 3}) {
    int asked = 0;
    const RandomGames some = random_games(*game, 4000, 5, threads, [&] { return ++asked == 2; });
    EXPECT_GT(some.turns.size(), 0u);
    EXPECT_LT(some.turns.size(), 4000u);
    EXPECT_EQ(some.scores.size(), 2 * some.turns.size());
    EXPECT_TRUE(std::equal(some.scores.begin(), some.scores.end(), all.scores.begin()));
  }
}

TEST(RandomBatch, BaseGamesLayAllTilesOfTheDeck) {
  const auto game = Game::create(Rules());
  const RandomGames games = random_games(*game, 500, 11, 2);
  for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(games.turns[i] + games.discards[i], 71);
}

}  // namespace
}  // namespace carc
