#include "carc/core/deck.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::HasSubstr;

std::vector<std::string> ids(const Game& game, const Deck& deck) {
  std::vector<std::string> out;
  for (const TypeId t : deck.order()) out.push_back(game.tile(t).id);
  return out;
}

TEST(Deck, SameSeedGivesSameOrder) {
  const auto game = Game::create(Rules());
  EXPECT_EQ(Deck(*game, 7).order(), Deck(*game, 7).order());
  EXPECT_NE(Deck(*game, 7).order(), Deck(*game, 8).order());
}

TEST(Deck, HoldsTheBagOfItsGame) {
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    const auto game = Game::create(random_rules(rng));
    const Deck deck(*game, rng.next());
    EXPECT_EQ(deck.bag(), game->bag());
    EXPECT_EQ(deck.size(), static_cast<std::size_t>(game->tiles_to_draw()));
  }
}

TEST(Deck, RiverComesFirstAndTheLakeLastOfIt) {
  const auto game = Game::create(rules_of({{"river", "2021"}}));
  std::set<std::string> second;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto order = ids(*game, Deck(*game, seed));
    for (std::size_t i = 0; i < 11; ++i) ASSERT_EQ(order[i][0] == 'R' && order[i].size() == 3, true) << order[i];
    ASSERT_EQ(order[10], "R12");
    for (std::size_t i = 11; i < order.size(); ++i) ASSERT_FALSE(game->tile(game->find(order[i])->type).is_river);
    second.insert(order[1]);
  }
  EXPECT_EQ(second.size(), 10u);  // every river tile comes second in some of them
}

// Chi-square of the first tile over 24 types, 23 degrees of freedom: above 70.6 with probability 1e-6.
TEST(Deck, FirstTileFollowsTheCountsOfTheBag) {
  const auto game = Game::create(Rules());
  std::vector<int> first(static_cast<std::size_t>(game->types()), 0);
  constexpr int kDecks = 71'000;
  for (int i = 0; i < kDecks; ++i) ++first[Deck(*game, static_cast<std::uint64_t>(i)).order()[0]];
  double chi = 0;
  for (std::size_t t = 0; t < first.size(); ++t) {
    const double expected = kDecks * game->bag()[t] / 71.0;
    chi += (first[t] - expected) * (first[t] - expected) / expected;
  }
  EXPECT_LT(chi, 70.6);
}

TEST(Deck, ExactTilesKeepTheirOrder) {
  const auto game = Game::create(Rules());
  const std::vector<std::string> tiles = {"X", "X", "B", "Vg", "C"};
  EXPECT_THAT(ids(*game, Deck::from_ids(*game, tiles)), testing::ElementsAre("X", "X", "B", "V", "C"));
}

TEST(Deck, EmptyDeckIsAllowed) {
  const auto game = Game::create(Rules());
  EXPECT_EQ(Deck::from_ids(*game, {}).size(), 0u);
}

TEST(Deck, EightyThreeTilesAreTheMost) {
  const auto game = Game::create(Rules());
  EXPECT_EQ(Deck::from_ids(*game, copies(83, "X")).size(), 83u);
  EXPECT_THAT(message_of<DeckError>([&] { Deck::from_ids(*game, copies(84, "X")); }),
              testing::AllOf(HasSubstr("84 tiles"), HasSubstr("at most 83")));
}

TEST(Deck, UnknownTileIsRefusedWithTheNearest) {
  const auto game = Game::create(Rules());
  EXPECT_THAT(message_of<DeckError>([&] { Deck::from_ids(*game, {"A", "Y"}); }), HasSubstr("'Y'"));
  EXPECT_THROW(Deck::from_ids(*game, {"R02"}), DeckError);
  EXPECT_THROW(Deck(*game, std::vector<TypeId>{24}), DeckError);
}

TEST(Deck, RiverTileAfterAnotherTileIsRefused) {
  const auto game = Game::create(rules_of({{"river", "2014"}}));
  EXPECT_NO_THROW(Deck::from_ids(*game, {"R05", "R12", "A"}));
  EXPECT_NO_THROW(Deck::from_ids(*game, {"R05"}));
  EXPECT_THAT(message_of<DeckError>([&] { Deck::from_ids(*game, {"A", "R05"}); }), testing::AllOf(HasSubstr("R05"), HasSubstr("position 1")));
  EXPECT_THROW(Deck::from_ids(*game, {"R12", "R05"}), DeckError);
  EXPECT_THROW(Deck::from_ids(*game, {"R12", "R12"}), DeckError);
}

// A custom set of 84 tiles in one type is refused when its game is made; an exact deck may not get round the limit.
TEST(Deck, ManyCopiesOfATileCutIntoEightFieldsAreRefused) {
  std::vector<Json> features = {road("N"), road("E"), road("S"), road("W")};
  for (int h = 0; h < 8; ++h) features.push_back(field({h}));
  Rules rules;
  rules.tiles = standard_and({tile("cut", 1, "RRRR", features)});
  const auto game = Game::create(rules);
  EXPECT_THROW(GameState(*game, Start{game->start()}, Deck::from_ids(*game, copies(83, "cut")).bag(), 0), Error);
}

TEST(Deck, ManyCopiesOfATileWithSixContactsAreRefused) {
  const std::vector<Json> features = {city("N"), city("E"), city("S"), field({6}, {0, 1, 2}), road("W"), field({7}, {0, 1, 2})};
  Rules rules;
  rules.tiles = standard_and({tile("fort", 1, "CCCR", features)});
  const auto game = Game::create(rules);
  EXPECT_THROW(GameState(*game, Start{game->start()}, Deck::from_ids(*game, copies(83, "fort")).bag(), 0), Error);
}

}  // namespace
}  // namespace carc
