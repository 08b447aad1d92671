// The list of open cells, under shapes that shrink it, fill it to the brim, or move it about.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/core/replay.hpp"

namespace carc {
namespace {

using namespace test;

// Plain grass and crossings only: every cell takes every tile, in one rotation.
Rules one_tile_rules(const char* kind) {
  Rules rules;
  rules.tiles = std::string(kind) == "grass"
                    ? read(tile_set({tile("t", 84, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})}, "t"))
                    : read(tile_set({tile("t", 84, "RRRR", {road("N"), road("E"), road("S"), road("W"), field({0, 7}), field({1, 2}), field({3, 4}), field({5, 6})})}, "t"));
  return rules;
}

std::set<std::pair<int, int>> empty_neighbours(const GameState& s) {
  std::set<std::pair<int, int>> out;
  for (int i = 0; i < s.laid_tiles(); ++i) {
    const Cell c = s.laid_tile(i).cell;
    for (const Cell step : kSideStep) {
      const Cell beside{static_cast<std::int16_t>(c.x + step.x), static_cast<std::int16_t>(c.y + step.y)};
      if (s.tile_at(beside) < 0) out.emplace(beside.y, beside.x);
    }
  }
  return out;
}

// The list is that of the empty neighbours, and the tile that fits everywhere is offered once in each.
void expect_right_list(const GameState& s) {
  const auto expected = empty_neighbours(s);
  ASSERT_EQ(s.open_cells(), static_cast<int>(expected.size()));
  int i = 0;
  for (const auto& [y, x] : expected) {
    ASSERT_EQ(s.open_cell(i).x, x);
    ASSERT_EQ(s.open_cell(i).y, y);
    ++i;
  }
  const PlacementSet set = s.placements(0);
  ASSERT_EQ(set.count(), s.open_cells());
  std::vector<CellKey> keys;
  set.for_each([&](Action a) { keys.push_back(a.key()); });
  ASSERT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  ASSERT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
  ASSERT_NO_THROW(s.check_consistency());
}

void lay_at(Play& game, int x, int y) {
  game.turn("t@" + std::to_string(x) + "," + std::to_string(y) + "r0");
}

// A column from the start tile southward with a notch beside its top. Filling the notch opens no new cell, while the
// cells that come after it in the list are two for each tile of the column.
TEST(OpenCells, FilledNotchLeavesNoCellBehindWhateverComesAfter) {
  for (const int length : {2, 5, 8, 9, 15, 16, 17, 24, 31, 32, 33, 34, 40, 48, 56, 64, 72, 78}) {
    Play game(one_tile_rules("grass"), copies(83, "t"), "t", Cell{0, -40}, 0);
    for (int y = 1; y <= length; ++y) lay_at(game, 0, y - 40);
    for (const auto& [x, y] : {std::pair{1, 0}, {2, 0}, {1, 2}, {1, 1}}) lay_at(game, x, y - 40);
    expect_right_list(game.state);
    if (HasFatalFailure()) FAIL() << "column of " << length;
  }
}

// The same lying on its side: here the cells that come after are those of the rows below.
TEST(OpenCells, FilledNotchInARowLeavesNoCellBehind) {
  for (const int length : {2, 5, 8, 9, 15, 16, 17, 31, 32, 33, 48, 60, 61, 62, 63, 64, 65, 70, 78}) {
    Play game(one_tile_rules("grass"), copies(83, "t"), "t", Cell{-40, 0}, 0);
    for (int x = 1; x <= length; ++x) lay_at(game, x - 40, 0);
    for (const auto& [x, y] : {std::pair{0, -1}, {0, -2}, {2, -1}, {1, -1}}) lay_at(game, x - 40, y);
    expect_right_list(game.state);
    if (HasFatalFailure()) FAIL() << "row of " << length;
  }
}

// The same through the readers of records: the list loses its last cell with any number of cells behind the filled one,
// one part (16 or 32 cells) and two parts of the list among them. The turn after it states how many placements there are.
TEST(OpenCells, RecordsOfAFilledNotchAreReadWithEveryLengthBehind) {
  const auto game = Game::create(one_tile_rules("grass"));
  std::set<int> behind;
  for (int length = 4; length <= 77; ++length) {
    for (const bool has_foot : {false, true}) {  // one cell more
      SCOPED_TRACE("column of " + std::to_string(length) + (has_foot ? " with a foot" : ""));
      std::string moves = "start t@0,-40r0\nbag t=83\n";
      const auto lay = [&](int x, int y) { moves += "t@" + std::to_string(x) + "," + std::to_string(y - 40) + "r0 -\n"; };
      for (int y = 1; y <= length; ++y) lay(0, y);
      if (has_foot) lay(-1, length);
      for (const auto& [x, y] : {std::pair{1, 0}, {2, 0}, {1, 2}}) lay(x, y);
      const GameRecord before = GameRecord::from_text(moves, game);
      const int cells = before.state().open_cells();
      for (int i = 0; i < cells; ++i) {
        if (before.state().open_cell(i) == Cell{1, -39}) behind.insert(cells - 1 - i);
      }
      lay(1, 1);
      expect_right_list(GameRecord::from_text(moves, game).state());
      lay(0, length + 1);
      const GameRecord record = GameRecord::from_text(moves, game);
      expect_right_list(record.state());
      if (HasFatalFailure()) return;

      const Json json = Json::parse(record.to_json(true));
      ASSERT_EQ(json["turns"].back()["n_raw"], 4 * (cells - 1));
      ASSERT_EQ(GameRecord::from_json(json.dump()).actions(), record.actions());
      ASSERT_TRUE(verify_document(json.dump()).differences.empty());
    }
  }
  for (const int n : {31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129}) ASSERT_TRUE(behind.contains(n)) << n;
}

TEST(OpenCells, HoleOfOneCellIsFilledAnywhere) {
  // A block of tiles with one hole, moved through the rows of a long column.
  for (int top = 1; top < 70; top += 3) {
    Play game(one_tile_rules("grass"), copies(83, "t"), "t", Cell{0, -40}, 0);
    for (int y = 1; y <= 72; ++y) lay_at(game, 0, y - 40);
    for (const auto& [x, y] : {std::pair{1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {1, 1}}) lay_at(game, x, top + y - 40);
    expect_right_list(game.state);
    if (HasFatalFailure()) FAIL() << "hole at " << top;
  }
}

TEST(OpenCells, AreRightAfterEveryTileOfRandomBoards) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng(seed);
    Play game(one_tile_rules(seed % 2 ? "grass" : "crossings"), copies(83, "t"));
    GameState& s = game.state;
    while (!s.is_terminal()) {
      s.apply(Action::draw(0));
      // Now compact, now sprawling: the cell with most or with fewest neighbours of several.
      const int n = s.num_legal_actions();
      Action best = s.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(n))));
      int best_around = -1;
      for (int i = 0; i < 6; ++i) {
        const Action a = s.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(n))));
        int around = 0;
        for (const Cell step : kSideStep) {
          around += s.tile_at({static_cast<std::int16_t>(a.cell().x + step.x), static_cast<std::int16_t>(a.cell().y + step.y)}) >= 0;
        }
        const int value = seed % 3 ? around : 4 - around;
        if (value > best_around) best = a, best_around = value;
      }
      s.apply(best);
      s.apply(Action::no_figure());
      expect_right_list(s);
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace carc
