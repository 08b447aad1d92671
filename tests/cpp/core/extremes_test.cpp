// Boards at the limits: as long, as round, as cut up as 84 tiles can make them; games of no tile and of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/core/features.hpp"
#include "carc/core/state_json.hpp"

namespace carc {
namespace {

using namespace test;
using testing::ElementsAre;

std::string at(const std::string& id, int x, int y, unsigned rotation) {
  return id + "@" + std::to_string(x) + "," + std::to_string(y) + "r" + std::to_string(rotation);
}

std::vector<Feature> features_of(const GameState& s, FeatureKind kind) {
  auto all = find_features(s);
  std::erase_if(all, [&](const Feature& f) { return f.kind != kind; });
  return all;
}

void expect_sound(const GameState& s) {
  EXPECT_NO_THROW(s.check_consistency());
  EXPECT_TRUE(state_from_json(state_to_json(s)).state == s);
  EXPECT_FALSE(board_text(s).empty());
}

// --- Rows -----------------------------------------------------------------------------------------------------------

struct Row {
  int start, step;  // step 0: both directions in turn
  bool is_column;
};

class LongRow : public testing::TestWithParam<Row> {};

// A straight road of 84 tiles; the player who begins stands on it, the other one in the grass on either side.
TEST_P(LongRow, Of84TilesIsOneRoad) {
  const Row row = GetParam();
  const unsigned turn = row.is_column;
  const auto cell = [&](int n) { return row.is_column ? Cell{0, static_cast<std::int16_t>(n)} : Cell{static_cast<std::int16_t>(n), 0}; };
  Play game(Rules(), copies(83, "U"), "U", cell(row.start), 1 - turn);
  int low = row.start, high = row.start;
  for (int i = 0; i < 83; ++i) {
    const bool up = row.step > 0 || (row.step == 0 && i % 2);
    const int n = up ? ++high : --low;
    const std::string figure = i == 0 ? " road:N" : i == 1 ? " field:0" : i == 3 ? " field:1" : "";
    game.turn(at("U", cell(n).x, cell(n).y, 1 - turn) + figure);
    ASSERT_TRUE(i % 20 || message_of<Error>([&] { game.state.check_consistency(); }).empty());
  }
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_EQ(game.state.laid_tiles(), 84);
  EXPECT_EQ(game.state.open_cells(), 2 * 84 + 2);
  EXPECT_THAT(game.scores(), ElementsAre(84, 0));
  EXPECT_THAT(game.meeples(), ElementsAre(6, 5));
  const auto roads = features_of(game.state, FeatureKind::kRoad);
  ASSERT_EQ(roads.size(), 1u);
  EXPECT_EQ(roads[0].tiles, 84);
  EXPECT_EQ(roads[0].open, 2);
  EXPECT_EQ(features_of(game.state, FeatureKind::kField).size(), 2u);
  expect_sound(game.state);
}

INSTANTIATE_TEST_SUITE_P(Extremes, LongRow,
                         testing::Values(Row{0, 1, false}, Row{0, -1, false}, Row{0, 0, false}, Row{0, 1, true}, Row{0, -1, true}, Row{0, 0, true},
                                         Row{40, 1, false}, Row{-40, -1, false}, Row{40, 1, true}, Row{-40, -1, true}));

TEST(Extremes, RowThatStartsInACornerReachesTheFarthestCells) {
  for (const auto& [corner, step] : {std::pair{40, 1}, {-40, -1}}) {
    const auto edge = static_cast<std::int16_t>(corner);
    Play game(Rules(), copies(83, "B"), "B", Cell{edge, edge}, 0);
    for (int i = 1; i <= 83; ++i) game.turn(at("B", corner + step * i, corner, 0));
    EXPECT_EQ(game.state.laid_tile(83).cell.x, corner + step * 83);
    expect_sound(game.state);
  }
}

// --- Rings ----------------------------------------------------------------------------------------------------------

// Cells of a square ring of 4 (side - 1) tiles, clockwise from the one right of the start, which is the second cell of
// its northern row; quarter turns clockwise for a straight in that row and for the corner behind it.
struct RingCell {
  Cell cell;
  bool is_corner;
  unsigned turns;
};
std::vector<RingCell> ring(int side) {
  std::vector<RingCell> out;
  Cell c{0, 0};
  int along = 1;  // position in the row, 0 at its corner
  for (unsigned edge = 0; edge < 4; ++edge) {
    const Cell step = kSideStep[(edge + 1) % 4];
    for (; along < side - 1; ++along) {
      if (!(edge == 0 && along == 1)) out.push_back({c, false, edge});
      c = {static_cast<std::int16_t>(c.x + step.x), static_cast<std::int16_t>(c.y + step.y)};
    }
    out.push_back({c, true, edge});  // the corner where the next row begins
    const Cell next = kSideStep[(edge + 2) % 4];
    c = {static_cast<std::int16_t>(c.x + next.x), static_cast<std::int16_t>(c.y + next.y)};
    along = 1;
  }
  return out;
}

// A ring of roads. The start tile D has its city outside, to the north; U and V make the rest.
TEST(Extremes, RoadRingOf84TilesCountsEachOnceAndPartsTheFields) {
  std::vector<std::string> tiles = copies(79, "U");
  const auto corners = copies(4, "V");
  tiles.insert(tiles.end(), corners.begin(), corners.end());
  Play game(Rules(), tiles);
  const auto cells = ring(22);
  ASSERT_EQ(cells.size(), 83u);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& [cell, is_corner, turns] = cells[i];
    // Inside lies south of the northern row. U turned once is a road to the east with field 0 to its north; V not turned
    // connects west and south, with field 0 outside.
    std::string figure;
    if (i == 0) figure = " road:N";
    if (i == 1) figure = " field:0";  // outside
    if (i == 2) figure = " field:1";  // inside
    game.turn(is_corner ? at("V", cell.x, cell.y, turns) + figure : at("U", cell.x, cell.y, (1 + turns) % 4) + figure);
    const int road = game.projected(FeatureKind::kRoad)[0];
    EXPECT_EQ(road, i + 1 == cells.size() ? 0 : static_cast<int>(i) + 2);  // with the start tile
  }
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_THAT(game.points(FeatureKind::kRoad), ElementsAre(84, 0));
  EXPECT_EQ(game.state.final_count().total(0), 0);
  EXPECT_THAT(game.meeples(), ElementsAre(6, 6));  // the thief came home, the farmers did not
  const auto fields = features_of(game.state, FeatureKind::kField);
  ASSERT_EQ(fields.size(), 2u);
  for (const Feature& f : fields) {
    EXPECT_EQ(f.tiles, 84);
    EXPECT_EQ(f.figures.size(), 1u);
  }
  EXPECT_EQ(game.state.open_cells(), 4 * 22 + 4 * 20 - 4);
  expect_sound(game.state);
}

// A ring of cities, shields on the straights.
TEST(Extremes, CityRingOf84TilesIsCompleteAroundItsHole) {
  std::vector<std::string> tiles = copies(79, "F");
  const auto corners = copies(4, "N");
  tiles.insert(tiles.end(), corners.begin(), corners.end());
  Play game(Rules(), tiles, "F", Cell{0, 0}, 0);
  const auto cells = ring(22);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& [cell, is_corner, turns] = cells[i];
    const std::string figure = i == 0 ? " city:E" : i == 1 ? " field:0" : i == 2 ? " field:4" : "";
    // F not turned runs east and west; N turned twice connects south and west.
    game.turn(is_corner ? at("N", cell.x, cell.y, (2 + turns) % 4) + figure : at("F", cell.x, cell.y, turns) + figure);
  }
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(2 * (84 + 80), 0));
  EXPECT_THAT(game.points(FeatureKind::kField), ElementsAre(3, 3));  // strips of grass on either side of one tile each
  const auto cities = features_of(game.state, FeatureKind::kCity);
  ASSERT_EQ(cities.size(), 1u);
  EXPECT_EQ(cities[0].tiles, 84);
  EXPECT_EQ(cities[0].shields, 80);
  EXPECT_EQ(features_of(game.state, FeatureKind::kField).size(), 2u * 80 + 4);
  expect_sound(game.state);
}

TEST(Extremes, SmallestRingIsOfFourTiles) {
  Play game(Rules(), {"N", "N", "N"}, "N", Cell{0, 0}, 1);  // east and south
  game.turns({"N@1,0r2 city:N", "N@1,1r3"});
  EXPECT_THAT(game.projected(FeatureKind::kCity), ElementsAre(3, 0));
  game.turn("N@0,1r0");
  EXPECT_THAT(game.points(FeatureKind::kCity), ElementsAre(8, 0));
}

// --- Many pieces ----------------------------------------------------------------------------------------------------

// Cells next to the laid ones in the order of a walk over the board.
std::vector<Cell> spiral(int n) {
  std::vector<Cell> out;
  Cell c{0, 0};
  for (int leg = 0; static_cast<int>(out.size()) < n; ++leg) {
    const Cell step = kSideStep[static_cast<std::size_t>((leg + 1) % 4)];
    for (int i = 0; i < leg / 2 + 1 && static_cast<int>(out.size()) < n; ++i) {
      c = {static_cast<std::int16_t>(c.x + step.x), static_cast<std::int16_t>(c.y + step.y)};
      out.push_back(c);
    }
  }
  return out;
}
// A spine with a tooth of three tiles at every second cell.
std::vector<Cell> comb(int n) {
  std::vector<Cell> out;
  for (std::int16_t x = 1; static_cast<int>(out.size()) < n; ++x) {
    out.push_back({x, 0});
    for (std::int16_t y = 1; y <= 3 && x % 2 == 0; ++y) out.push_back({x, y});
  }
  out.resize(static_cast<std::size_t>(n));
  return out;
}
std::vector<Cell> row(int n) {
  std::vector<Cell> out;
  for (std::int16_t x = 1; x <= n; ++x) out.push_back({x, 0});
  return out;
}
std::vector<Cell> staircase(int n) {
  std::vector<Cell> out;
  Cell c{0, 0};
  for (int i = 0; i < n; ++i) {
    ++(i % 2 ? c.x : c.y);
    out.push_back(c);
  }
  return out;
}

const std::vector<std::pair<const char*, std::vector<Cell>>> kShapes = {
    {"row", row(83)}, {"spiral", spiral(83)}, {"comb", comb(83)}, {"staircase", staircase(83)}};

// 84 crossings: as many roads and fields as a game can have; each link of two is a complete road of two tiles.
TEST(Extremes, EightyFourCrossingsInAnyShape) {
  for (const auto& [name, cells] : kShapes) {
    SCOPED_TRACE(name);
    Play game(rules_of({{"players", 5}}), copies(83, "X"), "X", Cell{0, 0}, 0);
    for (const Cell c : cells) {
      game.lay(at("X", c.x, c.y, 0));
      game.state.apply(game.state.legal_action(std::min(1, game.state.num_legal_actions() - 1)));
    }
    EXPECT_TRUE(game.state.is_terminal());
    EXPECT_EQ(game.state.discarded_tiles(), 0);
    std::size_t links = 0;
    for (const Feature& f : features_of(game.state, FeatureKind::kRoad)) links += f.is_complete;
    EXPECT_EQ(features_of(game.state, FeatureKind::kRoad).size(), 4u * 84 - links);
    EXPECT_EQ(links == 83, std::string(name) != "spiral");  // the other shapes have no loops
    expect_sound(game.state);
  }
}

// 84 tiles of four cities each: every link is a city of two tiles.
TEST(Extremes, EightyFourTilesOfFourCitiesInAnyShape) {
  Rules rules;
  rules.tiles = read(tile_set({tile("q", 84, "CCCC", {city("N"), city("E"), city("S"), city("W")})}, "q"));
  for (const auto& [name, cells] : kShapes) {
    SCOPED_TRACE(name);
    Play game(rules, copies(83, "q"));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      game.lay(at("q", cells[i].x, cells[i].y, 0));
      ASSERT_EQ(game.state.num_legal_actions(), 5);
      // On the side of the tile before: paid at once.
      const Cell before = i ? cells[i - 1] : Cell{0, 0};
      const char* side = before.x < cells[i].x ? "city:W" : before.x > cells[i].x ? "city:E" : before.y < cells[i].y ? "city:N" : "city:S";
      game.figure(std::string(name) == "comb" ? "-" : side);
    }
    EXPECT_TRUE(game.state.is_terminal());
    EXPECT_EQ(game.scores(), std::string(name) == "comb" ? (std::vector<int>{0, 0}) : (std::vector<int>{42 * 4, 41 * 4}));
    EXPECT_THAT(game.meeples(), ElementsAre(7, 7));
    expect_sound(game.state);
  }
}

TEST(Extremes, OneCityOf84Tiles) {
  Play game(rules_of({{"tie_points", "split"}}), copies(83, "C"), "C", Cell{0, 0}, 0);
  const auto cells = spiral(83);
  for (std::size_t i = 0; i < cells.size(); ++i) game.turn(at("C", cells[i].x, cells[i].y, i % 4) + (i == 0 ? " city:N" : ""));
  EXPECT_THAT(game.scores(), ElementsAre(2 * 84, 0));  // a shield on each
  expect_sound(game.state);
}

TEST(Extremes, OneFieldOf84TilesTakesOneFarmer) {
  Play game(rules_of({{"players", 5}}), copies(83, "B"), "B", Cell{0, 0}, 0);
  game.turn("B@1,0r0 field:0");
  for (std::int16_t x = 2; x <= 83; ++x) {
    game.lay(at("B", x, 0, 0));
    EXPECT_EQ(game.state.figure_mask() >> 1 & 1u, 0u);  // the one field is taken
    game.figure(x < 30 ? "monastery" : "-");
  }
  const auto fields = features_of(game.state, FeatureKind::kField);
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].tiles, 84);
  EXPECT_THAT(game.scores(), ElementsAre(15, 18, 18, 18, 15));  // 3 points for each of 28 monks in the row
  expect_sound(game.state);
}

// --- Few tiles ------------------------------------------------------------------------------------------------------

TEST(Extremes, BagWhoseTilesAllFitNowhere) {
  Play game(Rules(), [] {
    auto tiles = copies(82, "C");
    tiles.push_back("E");
    return tiles;
  }());
  game.turn("E@0,-1r2 field:2");
  for (int i = 0; i < 82; ++i) game.discard("C");
  EXPECT_TRUE(game.state.is_terminal());
  EXPECT_EQ(game.state.discarded_tiles(), 82);
  EXPECT_THAT(game.scores(), ElementsAre(3, 0));
  expect_sound(game.state);
}

TEST(Extremes, GamesOfNoTileAndOfOne) {
  for (const int players : {2, 5}) {
    const Play none(rules_of({{"players", players}}), {});
    EXPECT_TRUE(none.state.is_terminal());
    expect_sound(none.state);
    Play one(rules_of({{"players", players}}), {"D"}, players - 1);
    expect_sound(one.state);
    one.turn("D@0,-1r2 city:N");
    EXPECT_TRUE(one.state.is_terminal());
    EXPECT_EQ(one.state.score(players - 1), 4);
    expect_sound(one.state);
  }
}

}  // namespace
}  // namespace carc
