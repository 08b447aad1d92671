// Equal positions have equal hashes whatever the order of moves; different ones are unequal and, as far as random play
// finds them, have different hashes.
#include <unordered_map>

#include <gtest/gtest.h>

#include "../random_tiles.hpp"
#include "../support.hpp"
#include "carc/core/state_json.hpp"

namespace carc {
namespace {

using namespace test;

void expect_equal(const GameState& a, const GameState& b) {
  EXPECT_EQ(position_key(a), position_key(b));
  EXPECT_TRUE(a == b);
  EXPECT_EQ(a.hash(), b.hash());
}

void expect_different(const GameState& a, const GameState& b) {
  EXPECT_NE(position_key(a), position_key(b));
  EXPECT_FALSE(a == b);
  EXPECT_NE(a.hash(), b.hash());
}

Play after(const Rules& rules, const std::vector<std::string>& tiles, const std::vector<std::string>& turns) {
  Play game(rules, tiles);
  game.turns(turns);
  return game;
}

TEST(Transposition, SwappedTurnsOfOnePlayerGiveTheSamePosition) {
  const std::vector<std::string> tiles = {"U", "B", "A", "E", "B", "B"};
  const Play a = after(Rules(), tiles, {"U@1,0r1 field:0", "B@0,1r0 monastery", "E@0,-1r2", "A@-1,0r3"});
  const Play b = after(Rules(), tiles, {"E@0,-1r2", "B@0,1r0 monastery", "U@1,0r1 field:0", "A@-1,0r3"});
  expect_equal(a.state, b.state);
  const Play c = after(Rules(), tiles, {"U@1,0r1 field:0", "A@-1,0r3", "E@0,-1r2", "B@0,1r0 monastery"});
  expect_equal(a.state, c.state);
}

TEST(Transposition, PointsPaidInAnotherOrderGiveTheSamePosition) {
  const std::vector<std::string> tiles = {"E", "A", "A", "B", "B"};
  const Play a = after(Rules(), tiles, {"E@0,-1r2 city:N", "A@1,0r1", "A@-1,0r3 road:S", "B@0,1r0"});
  const Play b = after(Rules(), tiles, {"A@-1,0r3 road:S", "A@1,0r1", "E@0,-1r2 city:N", "B@0,1r0"});
  EXPECT_EQ(a.scores(), (std::vector<int>{7, 0}));
  expect_equal(a.state, b.state);
}

TEST(Transposition, RotationThatShowsTheSameTileGivesTheSamePosition) {
  const std::vector<std::string> tiles = {"U", "B", "H", "X"};
  expect_equal(after(Rules(), tiles, {"U@1,0r1", "B@0,1r0"}).state, after(Rules(), tiles, {"U@1,0r3", "B@0,1r2"}).state);
  // Turned by half a round, field 0 of U lies where field 1 lay.
  expect_equal(after(Rules(), tiles, {"U@1,0r1 field:0"}).state, after(Rules(), tiles, {"U@1,0r3 field:1"}).state);
  expect_different(after(Rules(), tiles, {"U@1,0r1 field:0"}).state, after(Rules(), tiles, {"U@1,0r3 field:0"}).state);
}

TEST(Transposition, WhatDiffersMakesPositionsDifferent) {
  const std::vector<std::string> tiles = {"U", "B", "B", "E", "V"};
  const Play base = after(Rules(), tiles, {"U@1,0r1 field:0", "B@0,1r0"});
  const auto differs = [&](const std::vector<std::string>& bag, const std::vector<std::string>& turns) {
    expect_different(base.state, after(Rules(), bag, turns).state);
  };
  differs(tiles, {"U@1,0r1 field:0", "B@0,1r0 monastery"});               // a figure
  differs(tiles, {"U@1,0r1 road:N", "B@0,1r0"});                          // its feature
  differs(tiles, {"U@-1,0r1 field:0", "B@0,1r0"});                        // a cell
  differs(tiles, {"B@0,1r0", "U@1,0r1 field:0"});                         // the owner of a figure
  differs({"U", "B", "B", "E", "E"}, {"U@1,0r1 field:0", "B@0,1r0"});     // the bag
  const Play first(Rules(), tiles), second(Rules(), tiles, 1);
  expect_different(first.state, second.state);                            // whose turn it is
}

TEST(Transposition, PhaseAndDrawnTileMakePositionsDifferent) {
  Play a(Rules(), {"U", "B"}), b(Rules(), {"U", "B"});
  a.state.apply(Action::draw(a.type("U")));
  b.state.apply(Action::draw(b.type("B")));
  expect_different(a.state, b.state);
  expect_different(a.state, Play(Rules(), {"B"}).state);
  a.state.apply(string_to_action(a.state, "U@1,0r1"));
  GameState before = a.state;
  a.figure("-");
  expect_different(a.state, before);
}

TEST(Transposition, TheTileJustLaidMakesPositionsDifferentBeforeItsFigure) {
  Play a(Rules(), {"B", "B", "B"}, "B", Cell{0, 0}, 0), b(Rules(), {"B", "B", "B"}, "B", Cell{0, 0}, 0);
  a.turn("B@1,0r0");
  a.lay("B@0,1r0");
  b.turn("B@0,1r0");
  b.lay("B@1,0r0");
  expect_different(a.state, b.state);
  a.figure("-");
  b.figure("-");
  expect_equal(a.state, b.state);
}

TEST(Transposition, RulesMakePositionsDifferent) {
  EXPECT_FALSE(Play(Rules(), {"B"}).state == Play(rules_of({{"tie_points", "split"}}), {"B"}).state);
  EXPECT_TRUE(Play(Rules(), {"B"}).state == Play(Rules(), {"B"}).state);  // two games of equal rules
}

// Four turns of random play with the first and third, or second and fourth, exchanged: where both orders are legal and
// the tables look alike, the states are equal; where they do not, they are not.
TEST(Transposition, RandomSwappedTurnsAgreeWithTheTable) {
  Rng rng(1);
  int same = 0, different = 0;
  for (int i = 0; i < 60; ++i) {
    Rules rules = random_rules(rng);
    rules.players = 2;
    if (i % 4 == 0) rules.tiles = random_tile_set(rules, rng);
    const auto game = Game::create(rules);
    GameState state(*game);
    while (!state.is_terminal()) {
      // One tile, placement and figure a turn; a turn with a discarded tile is not taken.
      std::vector<std::array<Action, 3>> turns;
      GameState end = state;
      while (turns.size() < 4 && !end.is_terminal()) {
        std::array<Action, 3> turn{Action::no_figure(), Action::no_figure(), Action::no_figure()};
        for (Action& a : turn) {
          if (end.is_terminal()) break;
          a = random_action(end, rng);
          end.apply(a);
        }
        if (end.phase() != Phase::kDraw) break;
        turns.push_back(turn);
      }
      if (turns.size() == 4) {
        std::swap(turns[0], turns[2]);
        GameState other = state;
        bool is_legal = true;
        for (const auto& turn : turns) {
          for (const Action a : turn) {
            is_legal = is_legal && other.is_legal(a);
            if (is_legal) other.apply(a);
          }
        }
        if (is_legal) {
          const bool looks_same = position_key(other) == position_key(end);
          ASSERT_EQ(other == end, looks_same) << position_key(other) << "\n" << position_key(end);
          ASSERT_EQ(other.hash() == end.hash(), looks_same);
          ASSERT_TRUE(!looks_same || other.projected() == end.projected());
          ++(looks_same ? same : different);
        }
      }
      for (int n = 0; n < 9 && !state.is_terminal(); ++n) state.apply(random_action(state, rng));
    }
  }
  EXPECT_GT(same, 30);
  EXPECT_GT(different, 10);
}

// No two of the positions that look different share a 64-bit hash: among n = 6,000 random ones that happens by chance
// with probability n^2 / 2^65 = 1e-12.
TEST(Transposition, NoCollisionsAmongManyPositions) {
  Rng rng(2);
  std::unordered_map<std::uint64_t, std::string> seen;
  for (const Rules& rules : {Rules(), rules_of({{"players", 3}, {"abbot", true}, {"farmer_recall", true}}), rules_of({{"river", "2014"}})}) {
    seen.clear();
    const auto game = Game::create(rules);
    const Deck deck(*game, 1);
    std::size_t positions = 0;
    while (positions < 6'000) {
      // Always the same tiles, so that short games come to the same positions again and again.
      GameState state(*game);
      std::size_t next = 0;
      for (int n = 0; n < 36 && !state.is_terminal(); ++n, ++positions) {
        state.apply(state.phase() == Phase::kDraw ? Action::draw(deck.order()[next++]) : random_action(state, rng));
        const auto [entry, is_new] = seen.try_emplace(state.hash(), position_key(state));
        ASSERT_TRUE(is_new || entry->second == position_key(state));
      }
    }
  }
}

// The smallest changes of a position: every draw and placement, and every figure that stays, leads to another hash.
TEST(Transposition, EveryLegalActionLeadsToAnotherHash) {
  Rng rng(3);
  for (int i = 0; i < 8; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.is_terminal() || rng.below(4)) return;
      std::unordered_map<std::uint64_t, std::string> keys;
      for (int n = 0; n < s.num_legal_actions(); ++n) {
        GameState next = s;
        next.apply(s.legal_action(n));
        const auto [entry, is_new] = keys.try_emplace(next.hash(), position_key(next));
        ASSERT_TRUE(is_new || entry->second == position_key(next));
      }
      ASSERT_TRUE(s.phase() == Phase::kFigure || static_cast<int>(keys.size()) == s.num_legal_actions());
    });
  }
}

}  // namespace
}  // namespace carc
