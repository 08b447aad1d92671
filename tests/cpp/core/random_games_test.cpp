// The conformance run: random games over random combinations of all options, 2 to 5 players, standard and random tile
// sets, the usual and exact decks.
//
// CARC_RANDOM_GAMES sets the number of games (300 if unset), CARC_RANDOM_SEED the seed. A failure names the game's seed;
// CARC_RANDOM_SEED=<seed> CARC_RANDOM_GAMES=1 plays that game alone.
//
// Every state: tiles and figures are conserved, scores never fall, somebody has a legal action, and placements come in
// their order, each once. One state in ten: a copy
// is equal, and the same action gives the same position from the copy. One state in thirty: all listed actions are legal.
// One state in seventy (two or three a game), and the last: check_consistency() recomputes everything. One game in
// sixteen: the record survives JSON and text, the state survives JSON, the whole game turned round the start gives the
// same scores. Under AddressSanitizer and UBSan (-O1) a game takes about 12 ms.
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "../random_tiles.hpp"
#include "../support.hpp"
#include "carc/core/record.hpp"
#include "carc/core/state_json.hpp"

namespace carc {
namespace {

using namespace test;

std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::optional(std::strtoull(text, nullptr, 10)) : std::nullopt;
}

Rules random_game_rules(Rng& rng) {
  Rules rules = random_rules(rng);
  if (rng.below(8) == 0) rules.tiles = random_tile_set(rules, rng);
  return rules;
}

// Any tiles of the game in any number: river tiles first, the lake last of them.
std::array<std::uint8_t, kMaxTypes> random_bag(const Game& game, Rng& rng) {
  std::array<std::uint8_t, kMaxTypes> bag{};
  const std::uint32_t kinds = 1 + rng.below(6);
  std::vector<TypeId> chosen;
  for (std::uint32_t i = 0; i < kinds; ++i) chosen.push_back(static_cast<TypeId>(rng.below(static_cast<std::uint32_t>(game.types()))));
  for (std::uint32_t n = rng.below(84); n-- > 0;) ++bag[pick(chosen, rng)];
  return bag;
}

// The usual game or, now and then, another bag, start and first player.
GameState random_start(const Game& game, Rng& rng) {
  if (rng.below(5)) return GameState(game);
  Start start{game.start(), {static_cast<std::int16_t>(rng.below(81)), static_cast<std::int16_t>(rng.below(81))}, static_cast<std::uint8_t>(rng.below(4))};
  start.cell.x = static_cast<std::int16_t>(start.cell.x - 40);
  start.cell.y = static_cast<std::int16_t>(start.cell.y - 40);
  const auto bag = rng.below(2) ? random_bag(game, rng) : game.bag();
  const int first = static_cast<int>(rng.below(static_cast<std::uint32_t>(game.rules().players)));
  try {
    return GameState(game, start, bag, first);
  } catch (const Error&) {  // a bag that could make too many fields
    return GameState(game, start, game.bag(), first);
  }
}

void check_material(const GameState& s, const GameState& initial) {
  const int in_hand = s.phase() == Phase::kPlace;
  ASSERT_EQ(s.laid_tiles() + s.discarded_tiles() + s.tiles_left() + in_hand, 1 + initial.tiles_left());
  std::array<int, kMaxPlayers> meeples{}, abbots{};
  for (int i = 0; i < s.figures_on_board(); ++i) {
    const Figure f = s.figure(i);
    ++(f.figure == FigureKind::kAbbot ? abbots : meeples)[f.player];
  }
  for (int p = 0; p < s.players(); ++p) {
    ASSERT_EQ(s.meeples(p) + meeples[static_cast<std::size_t>(p)], kMeeples);
    ASSERT_EQ(s.abbots(p) + abbots[static_cast<std::size_t>(p)], s.rules().abbot ? 1 : 0);
  }
}

void check_actions(const GameState& s) {
  ActionList actions;
  s.legal_actions(actions);
  ASSERT_EQ(actions.size(), s.num_legal_actions());
  for (int i = 0; i < actions.size(); ++i) {
    ASSERT_EQ(actions[i], s.legal_action(i));
    ASSERT_TRUE(s.is_legal(actions[i]));
  }
}

void check_placements(const GameState& s) {
  bool ascending = true;
  std::uint32_t least = 0;
  s.placements().for_each([&](Action a) {
    const std::uint32_t order = static_cast<std::uint32_t>(a.key()) << 2 | a.rotation();
    ascending = ascending && order >= least;
    least = order + 1;
  });
  EXPECT_TRUE(ascending);
}

// Plays one random game with the checks above; returns its record.
GameRecord checked_game(const std::shared_ptr<const Game>& game, const GameState& initial, Rng& rng) {
  GameRecord record(game, initial);
  GameState state = initial;
  while (true) {
    check_material(state, initial);
    if (state.phase() == Phase::kPlace) check_placements(state);
    EXPECT_EQ(state.num_legal_actions() > 0, !state.is_terminal());
    if (rng.below(70) == 0 || state.is_terminal()) state.check_consistency();
    if (testing::Test::HasFailure() || state.is_terminal()) return record;
    const Action action = random_action(state, rng);
    const GameState before = state;
    record.apply(action);
    state.apply_checked(action);
    for (int p = 0; p < state.players(); ++p) EXPECT_GE(state.score(p), before.score(p));
    if (rng.below(30) == 0) check_actions(before);
    if (rng.below(10)) continue;
    GameState copy = before;
    EXPECT_TRUE(copy == before);
    EXPECT_EQ(copy.hash(), before.hash());
    copy.apply(action);
    EXPECT_TRUE(copy == state);
    EXPECT_EQ(copy.hash(), state.hash());
    EXPECT_FALSE(before == state);
  }
}

void check_round_trips(const GameRecord& record, Rng& rng) {
  const GameRecord back = GameRecord::from_json(record.to_json(rng.below(2) == 0));
  EXPECT_EQ(back.actions(), record.actions());
  EXPECT_TRUE(back.state() == record.state());
  EXPECT_EQ(GameRecord::from_text(record.to_text(), record.game()).actions(), record.actions());
  const GameState middle = record.replay(static_cast<int>(rng.below(static_cast<std::uint32_t>(record.actions().size() + 1))));
  const LoadedState loaded = state_from_json(state_to_json(middle));
  EXPECT_TRUE(loaded.state == middle);
  EXPECT_EQ(loaded.state.hash(), middle.hash());
  loaded.state.check_consistency();
}

// Quarter turns clockwise round (0, 0): east becomes south.
Cell turned(Cell c, unsigned quarters) {
  for (; quarters > 0; --quarters) c = {static_cast<std::int16_t>(-c.y), c.x};
  return c;
}

void check_turned_game(const GameRecord& record, unsigned quarters) {
  const GameState& initial = record.initial_state();
  const LaidTile first = initial.laid_tile(0);
  const auto turned_rotation = [&](unsigned rotation) { return (rotation + quarters) % 4; };
  GameState straight = initial;
  GameState round(*record.game(), Start{first.type, turned(first.cell, quarters), static_cast<std::uint8_t>(turned_rotation(first.rotation))},
                  initial.bag(), initial.turn_player());
  for (Action action : record.actions()) {
    straight.apply(action);
    if (action.what() == Action::What::kPlace) action = Action::place(cell_key(turned(action.cell(), quarters)), turned_rotation(action.rotation()));
    if (action.what() == Action::What::kFigure && action.figure() == Action::Figure::kBack) action = Action::back(cell_key(turned(action.cell(), quarters)));
    round.apply_checked(action);
    ASSERT_EQ(round.phase(), straight.phase());
    ASSERT_EQ(round.num_legal_actions(), straight.num_legal_actions());
    ASSERT_EQ(round.figure_mask(), straight.figure_mask());
    ASSERT_TRUE(round.points() == straight.points());
    ASSERT_TRUE(round.projected() == straight.projected());
  }
  round.check_consistency();
}

// The games are played in four parts, so that CTest can run them side by side.
constexpr std::uint64_t kParts = 4;

class RandomGames : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomGames, KeepEveryPromiseOfAState) {
  const std::uint64_t games = number_from_environment("CARC_RANDOM_GAMES").value_or(300);
  const std::uint64_t seed = number_from_environment("CARC_RANDOM_SEED").value_or(1);
  int discards = 0, custom = 0, rivers = 0;
  for (std::uint64_t i = GetParam(); i < games && !HasFailure(); i += kParts) {
    const std::uint64_t game_seed = games == 1 ? seed : split(seed, i);
    Rng rng(game_seed);
    const Rules rules = random_game_rules(rng);
    SCOPED_TRACE("CARC_RANDOM_GAMES=1 CARC_RANDOM_SEED=" + std::to_string(game_seed));
    try {
      const auto game = Game::create(rules);
      const GameRecord record = checked_game(game, random_start(*game, rng), rng);
      if (HasFailure()) break;
      if (rng.below(16) == 0) {
        check_round_trips(record, rng);
        check_turned_game(record, 1 + rng.below(3));
      }
      discards += record.state().discarded_tiles();
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
    custom += rules.tiles != TileSet::standard();
    rivers += rules.river != River::kOff;
  }
  if (games < 200 || HasFailure()) return;
  EXPECT_GT(discards, 0);
  EXPECT_GT(custom, 0);
  EXPECT_GT(rivers, 0);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomGames, testing::Range(std::uint64_t{0}, kParts));

}  // namespace
}  // namespace carc
