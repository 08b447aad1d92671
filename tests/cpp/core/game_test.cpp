#include "carc/core/game.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::HasSubstr;

std::shared_ptr<const Game> game_of(std::initializer_list<std::pair<const char*, Json>> options) {
  return Game::create(rules_of(options));
}
int copies_of(const Game& game, const std::string& id) { return game.bag()[game.find(id)->type]; }

TEST(Game, BaseGameDraws71Tiles) {
  const auto game = game_of({});
  EXPECT_EQ(game->tiles_to_draw(), 71);
  EXPECT_EQ(game->tile(game->start()).id, "D");
  EXPECT_EQ(copies_of(*game, "D"), 3);
  EXPECT_FALSE(game->lake());
}

TEST(Game, BoxedStartTileLeaves12And71Tiles) {
  for (const char* river : {"2021", "2014"}) {
    const auto game = game_of({{"river", river}});
    EXPECT_EQ(game->tiles_to_draw(), 82);  // and the spring that lies there
    EXPECT_EQ(game->tile(game->start()).id, "R01");
    EXPECT_EQ(game->tile(*game->lake()).id, "R12");
    EXPECT_EQ(copies_of(*game, "R01"), 0);
    EXPECT_EQ(copies_of(*game, "D"), 3);
  }
}

TEST(Game, ShuffledStartTileMakes84Tiles) {
  const auto game = game_of({{"river", "2021"}, {"river_start_tile", "shuffled"}});
  EXPECT_EQ(game->tiles_to_draw(), 83);
  EXPECT_EQ(copies_of(*game, "D"), 4);
}

TEST(Game, ShuffledStartTileMeansNothingWithoutARiver) {
  EXPECT_EQ(game_of({{"river_start_tile", "shuffled"}})->tiles_to_draw(), 71);
}

TEST(Game, GardenCopiesAreTheirPlainTwinsWithoutTheAbbot) {
  const auto game = game_of({});
  EXPECT_EQ(game->types(), 24);
  for (const auto& [garden, plain, number] : {std::tuple{"Eg", "E", 5}, {"Hg", "H", 3}, {"Ig", "I", 2}, {"Mg", "M", 2},
                                              {"Ng", "N", 3}, {"Rg", "R", 3}, {"Ug", "U", 8}, {"Vg", "V", 9}}) {
    EXPECT_EQ(game->find(garden)->type, game->find(plain)->type);
    EXPECT_EQ(copies_of(*game, plain), number) << plain;
  }
}

TEST(Game, GardenCopiesAreTypesOfTheirOwnWithTheAbbot) {
  const auto game = game_of({{"abbot", true}});
  EXPECT_EQ(game->types(), 32);
  EXPECT_NE(game->find("Eg")->type, game->find("E")->type);
  EXPECT_EQ(copies_of(*game, "E"), 4);
  EXPECT_EQ(copies_of(*game, "Eg"), 1);
}

TEST(Game, FeatureNumbersOfAGardenCopyAreTranslatedToItsTwin) {
  const auto game = game_of({});
  const Game::Named vg = *game->find("Vg");  // road, garden, two fields; V: road, two fields
  EXPECT_EQ(vg.feature[0], 0);
  EXPECT_EQ(vg.feature[1], kNone);
  EXPECT_EQ(vg.feature[2], 1);
  EXPECT_EQ(vg.feature[3], 2);
  EXPECT_EQ(vg.feature_back[0], 0);
  EXPECT_EQ(vg.feature_back[1], 2);
  EXPECT_EQ(vg.feature_back[2], 3);
}

TEST(Game, PlainTileMergesIntoAGardenTileThatComesFirst) {
  Json set = standard_json();
  std::swap(set["base"][4], set["base"][5]);  // Eg before E
  Rules rules;
  rules.tiles = read(set);
  const auto game = Game::create(rules);
  EXPECT_EQ(game->find("E")->type, game->find("Eg")->type);
  EXPECT_EQ(copies_of(*game, "E"), 5);
  EXPECT_EQ(game->tile(game->find("E")->type).garden, -1);
  EXPECT_EQ(game->find("E")->feature[1], 2);  // the field comes after the idle garden
}

TEST(Game, EqualTilesWithoutGardensStayApart) {
  const auto game = game_of({{"river", "2021"}});
  EXPECT_NE(game->find("R04")->type, game->find("R06")->type);
}

TEST(Game, PeriodIsTheNumberOfDifferentRotations) {
  const auto game = game_of({{"abbot", true}, {"river", "2021"}});
  const std::map<std::string, int> symmetric = {{"B", 1}, {"C", 1}, {"X", 1}, {"F", 2}, {"G", 2}, {"H", 2}, {"Hg", 2},
                                                {"U", 2}, {"Ug", 2}, {"R03", 2}, {"R04", 2}, {"R06", 2}, {"R11", 2}};
  for (int t = 0; t < game->types(); ++t) {
    const TileData& tile = game->tile(static_cast<TypeId>(t));
    const auto found = symmetric.find(tile.id);
    EXPECT_EQ(tile.period, found == symmetric.end() ? 4 : found->second) << tile.id;
  }
}

TEST(Game, TileOfOppositeCitiesWithOneShieldHasFourRotations) {
  const std::vector<Json> features = {city("E", 1), city("W"), field({0, 1, 4, 5}, {0, 1})};
  Rules rules;
  rules.tiles = standard_and({tile("shielded", 1, "FCFC", features)});
  const auto game = Game::create(rules);
  EXPECT_EQ(game->tile(game->find("shielded")->type).period, 4);
}

TEST(Game, TileWhoseFieldTouchesOneOfTwoCitiesHasFourRotations) {
  Rules rules;
  rules.tiles = standard_and({tile("one_side", 1, "FCFC", {city("E"), city("W"), field({0, 1, 4, 5}, {0})})});
  const auto game = Game::create(rules);
  EXPECT_EQ(game->tile(game->find("one_side")->type).period, 4);
}

TEST(Game, RotatedFeatureNumbersPointAtTheSamePlace) {
  const auto game = game_of({{"abbot", true}, {"river", "2021"}});
  for (int t = 0; t < game->types(); ++t) {
    const TileData& tile = game->tile(static_cast<TypeId>(t));
    const auto& features = tile.type->features;
    for (unsigned r = 0; r < 4; ++r) {
      for (std::size_t f = 0; f < features.size(); ++f) {
        const TileFeature& here = features[f];
        const TileFeature& same = features[tile.same_feature[r][f]];
        const unsigned base = r % tile.period;
        const auto sides = [](unsigned mask, unsigned by) { return (mask << by | mask >> (4 - by)) & 0xFu; };
        const auto halves = [](unsigned mask, unsigned by) { return (mask << 2 * by | mask >> (8 - 2 * by)) & 0xFFu; };
        EXPECT_EQ(here.kind, same.kind) << tile.id;
        EXPECT_EQ(sides(here.sides, r), sides(same.sides, base)) << tile.id;
        EXPECT_EQ(halves(here.half_edges, r), halves(same.half_edges, base)) << tile.id;
      }
    }
  }
}

TEST(Game, UnknownTileIsRefusedWithTheNearest) {
  const auto game = game_of({{"river", "2021"}});
  EXPECT_THAT(message_of<NotationError>([&] { game->require<NotationError>("R13"); }), HasSubstr("'R13'"));
  EXPECT_THAT(message_of<NotationError>([&] { game->require<NotationError>("e"); }), HasSubstr("did you mean '"));
  EXPECT_FALSE(game->find(""));
  EXPECT_FALSE(game_of({})->find("R02"));
}

TEST(Game, EightyFourTilesAreTheMost) {
  const auto set = [](int n) { return read(tile_set({tile("a", n, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})}, "a")); };
  Rules rules;
  rules.tiles = set(84);
  EXPECT_EQ(Game::create(rules)->tiles_to_draw(), 83);
  Json two = tile_set({tile("a", 84, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})}), tile("b", 1, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7}), building("monastery")})}, "a");
  rules.tiles = read(two);
  EXPECT_THAT(message_of<TileSetError>([&] { Game::create(rules); }), testing::AllOf(HasSubstr("85 tiles"), HasSubstr("at most 84")));
}

TEST(Game, CopiesOfGardenTwinsAreCountedTogether) {
  const Json grass = field({0, 1, 2, 3, 4, 5, 6, 7});
  Rules rules;
  rules.tiles = read(tile_set({tile("a", 84, "FFFF", {grass}), tile("b", 84, "FFFF", {grass, building("garden")}),
                               tile("c", 84, "FFFF", {building("garden"), grass}), tile("d", 84, "FFFF", {grass, building("garden")})}, "a"));
  EXPECT_THROW(Game::create(rules), TileSetError);
}

// Eight fields a tile: each of 83 tiles could add six, more than a state has room for.
TEST(Game, SetThatCouldMakeTooManyFieldsIsRefused) {
  std::vector<Json> features = {road("N"), road("E"), road("S"), road("W")};
  for (int h = 0; h < 8; ++h) features.push_back(field({h}));
  const auto rules_with = [&](int n) {
    Rules rules;
    rules.tiles = read(tile_set({tile("cut", n, "RRRR", features)}, "cut"));
    return rules;
  };
  EXPECT_THAT(message_of<TileSetError>([&] { Game::create(rules_with(84)); }), testing::AllOf(HasSubstr("fields"), HasSubstr(std::to_string(kMaxFields))));
  EXPECT_NO_THROW(Game::create(rules_with(40)));
}

TEST(Game, SetWithTooManyContactsIsRefused) {
  const auto rules_with = [&](const std::vector<int>& touched) {
    Rules rules;
    rules.tiles = read(tile_set({tile("fort", 84, "CCCF", {city("N"), city("E"), city("S"), field({6, 7}, touched)})}, "fort"));
    return rules;
  };
  EXPECT_NO_THROW(Game::create(rules_with({0, 1})));
  EXPECT_THAT(message_of<TileSetError>([&] { Game::create(rules_with({0, 1, 2})); }),
              testing::AllOf(HasSubstr("252 contacts"), HasSubstr(std::to_string(kMaxContacts))));
}

}  // namespace
}  // namespace carc
