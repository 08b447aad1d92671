#include "carc/core/state_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../mutate.hpp"
#include "../support.hpp"
#include "carc/core/record_format.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

// The document with its checksum put right.
std::string signed_text(Json json) {
  if (json.is_object()) json["checksum"] = checksum(json);
  return json.dump();
}

// A game with a discarded tile, gardens, farmers and an abbot, stopped after some of its actions.
Play example(std::size_t actions) {
  Play game(rules_of({{"abbot", true}, {"players", 3}}), {"E", "Vg", "C", "B", "U", "A", "X"});
  const std::vector<std::string> texts = {"E",          "E@0,-1r2",      "city:N", "Vg",        "Vg@0,1r0",  "abbot:garden", "C",
                                          "B",          "B@1,1r0",       "field:0", "U",        "U@1,0r1",   "road:N",       "A",
                                          "A@2,0r1",    "-",             "X",      "X@-1,0r0",  "road:N"};
  for (std::size_t i = 0; i < std::min(actions, texts.size()); ++i) game.state.apply_checked(string_to_action(game.state, texts[i]));
  return game;
}

// --- Round trips ----------------------------------------------------------------------------------------------------

void expect_same(const GameState& loaded, const GameState& state) {
  ASSERT_TRUE(loaded == state);
  ASSERT_EQ(loaded.hash(), state.hash());
  ASSERT_NO_THROW(loaded.check_consistency());
  ASSERT_TRUE(loaded.points() == state.points());
  ASSERT_TRUE(loaded.final_count() == state.final_count());
  ASSERT_TRUE(loaded.projected() == state.projected());
  ASSERT_EQ(loaded.num_legal_actions(), state.num_legal_actions());
  for (int i = 0; i < state.num_legal_actions(); ++i) ASSERT_EQ(loaded.legal_action(i), state.legal_action(i));
  for (int i = 0; i < state.discarded_tiles(); ++i) ASSERT_EQ(loaded.discarded_tile(i), state.discarded_tile(i));
}

TEST(StateJson, RoundTripGivesTheSamePositionInEveryPhase) {
  Rng rng(1);
  for (int i = 0; i < 25; ++i) {
    Rules rules = random_rules(rng);
    if (rules.river == River::kOff) rules.tiles = standard_and({tile("p", 2, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})});
    const auto game = Game::create(rules);
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (rng.below(8) && !s.is_terminal()) return;
      const std::string text = state_to_json(s);
      const LoadedState loaded = state_from_json(text);
      expect_same(loaded.state, s);
      ASSERT_EQ(state_to_json(loaded.state), text);
      ASSERT_TRUE(loaded.game->rules() == s.rules());
    });
  }
}

TEST(StateJson, LoadedGameGoesOnLikeTheOriginal) {
  Rng rng(2);
  for (int i = 0; i < 10; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    const int stop = static_cast<int>(rng.below(200));
    for (int n = 0; n < stop && !state.is_terminal(); ++n) state.apply(random_action(state, rng));
    LoadedState loaded = state_from_json(state_to_json(state));
    while (!state.is_terminal()) {
      const Action action = random_action(state, rng);
      state.apply(action);
      loaded.state.apply_checked(action);
      ASSERT_TRUE(loaded.state == state);
    }
    expect_same(loaded.state, state);
  }
}

TEST(StateJson, LoadedStateOutlivesTheTextAndTheOldGame) {
  LoadedState loaded = state_from_json(state_to_json(example(8).state));
  EXPECT_EQ(loaded.state.rules().players, 3);
  EXPECT_EQ(loaded.state.drawn_tile(), loaded.game->find("B")->type);
}

TEST(StateJson, EmptyGameIsWrittenAndRead) {
  const Play game(Rules(), {});
  expect_same(state_from_json(state_to_json(game.state)).state, game.state);
}

// --- Errors ---------------------------------------------------------------------------------------------------------

TEST(StateJson, ChangedDocumentIsRefusedByItsChecksum) {
  std::string text = state_to_json(example(9).state);
  text.replace(text.find("\"player\":2"), 10, "\"player\":1");
  EXPECT_THAT(message_of<RecordError>([&] { state_from_json(text); }), HasSubstr("checksum"));
}

TEST(StateJson, EveryTruncationIsRefused) {
  const std::string text = state_to_json(example(9).state);
  for (std::size_t n = 0; n < text.size(); ++n) ASSERT_NE(message_of<RecordError>([&] { state_from_json(text.substr(0, n)); }), "") << n;
}

TEST(StateJson, TextThatIsNoStateIsRefused) {
  for (const char* text : {"", "{}", "[]", "null", "7", "{\"format\":\"carc-record\",\"version\":1,\"checksum\":\"\"}", "\xff"}) {
    EXPECT_NE(message_of<RecordError>([&] { state_from_json(text); }), "") << text;
  }
}

struct Edit {
  const char* name;
  std::size_t actions;  // of the example
  std::function<void(Json&)> change;
  const char* says;
};
std::ostream& operator<<(std::ostream& out, const Edit& edit) { return out << edit.name; }

// Positions in the example: after 9 actions B is laid (phase figure), after 10 it has a farmer, after 7 B is drawn.
const std::vector<Edit> kEdits = {
    {"NoRules", 9, [](Json& j) { j.erase("rules"); }, "'rules'"},
    {"NoTiles", 9, [](Json& j) { j["tiles"] = Json::array(); }, "tiles"},
    {"UnknownTile", 9, [](Json& j) { j["tiles"][1]["tile"] = "Q9"; }, "'Q9'"},
    {"TileThatDoesNotFit", 9, [](Json& j) { j["tiles"][1]["rot"] = 0; }, "tile 1"},
    {"TileOnATile", 9, [](Json& j) { j["tiles"][3]["x"] = 0; }, "tile 3"},
    {"TileFarAway", 9, [](Json& j) { j["tiles"][3]["x"] = 90; }, "tile 3"},
    {"StartFarAway", 0, [](Json& j) { j["tiles"][0]["x"] = 41; }, "-40 to 40"},
    {"Rotation4", 9, [](Json& j) { j["tiles"][3]["rot"] = 4; }, "rot"},
    {"FractionalCell", 9, [](Json& j) { j["tiles"][3]["x"] = 1.0; }, "integer"},
    {"PlayerThree", 9, [](Json& j) { j["player"] = 3; }, "player"},
    {"UnknownPhase", 9, [](Json& j) { j["phase"] = "think"; }, "'think'"},
    {"OverWithTilesLeft", 10, [](Json& j) { j["phase"] = "over"; }, "phase"},
    {"DrawWithoutTiles", 19, [](Json& j) { j["phase"] = "draw"; }, "phase"},
    {"PlaceWithoutDrawnTile", 10, [](Json& j) { j["phase"] = "place"; }, "'drawn'"},
    {"DrawnTileThatFitsNowhere", 8, [](Json& j) { j["drawn"] = "C"; }, "C"},
    {"FigureBeforeTheFirstTile", 0, [](Json& j) { j["phase"] = "figure"; }, "figure"},
    {"FigureWithOneOnTheLastTile", 10, [](Json& j) { j["phase"] = "figure"; }, "last tile"},
    {"FigureOnTheStartTile", 10, [](Json& j) { j["figures"][0]["tile"] = 0; }, "tile"},
    {"FigureOnNoTile", 10, [](Json& j) { j["figures"][0]["tile"] = 60; }, "figures"},
    {"FigureOnNoFeature", 10, [](Json& j) { j["figures"][0]["feature"] = 9; }, "feature 9"},
    {"FigureOfNobody", 10, [](Json& j) { j["figures"][0]["player"] = 3; }, "player"},
    {"MeepleInAGarden", 10, [](Json& j) { j["figures"][0]["figure"] = "meeple"; }, "cannot stand"},
    {"UnknownFigure", 10, [](Json& j) { j["figures"][0]["figure"] = "mayor"; }, "'mayor'"},
    {"TwoFiguresOnATile", 10, [](Json& j) { j["figures"].push_back(j["figures"][0]); }, "figure"},
    {"SecondAbbot", 10, [](Json& j) { j["figures"][1] = {{"tile", 3}, {"feature", 0}, {"player", 1}, {"figure", "abbot"}}; }, "cannot stand"},
    {"FarmerInATakenField", 10, [](Json& j) { j["figures"][0] = {{"tile", 2}, {"feature", 2}, {"player", 1}, {"figure", "meeple"}}; }, "cannot stand"},
    {"FigureInACompletedCity", 10, [](Json& j) { j["figures"].push_back({{"tile", 1}, {"feature", 0}, {"player", 0}, {"figure", "meeple"}}); }, "completed"},
    {"NegativePoints", 9, [](Json& j) { j["points"]["city"][0] = -1; }, "points city"},
    {"HugePoints", 9, [](Json& j) { j["points"]["city"][0] = 40000; }, "points city"},
    {"TooFewPoints", 9, [](Json& j) { j["points"]["city"].erase(0); }, "points city"},
    {"PointsOfNoKind", 9, [](Json& j) { j["points"].erase("garden"); }, "'garden'"},
    {"BagThatIsNoObject", 9, [](Json& j) { j["bag"] = 3; }, "bag"},
    {"BagOfUnknownTiles", 9, [](Json& j) { j["bag"]["Q9"] = 1; }, "'Q9'"},
    {"NegativeBag", 9, [](Json& j) { j["bag"]["A"] = -1; }, "bag 'A'"},
    {"TooManyTiles", 9, [](Json& j) { j["bag"]["A"] = 84; }, "84"},
    {"DiscardedIsNoList", 9, [](Json& j) { j["discarded"] = "C"; }, "discarded"},
    {"FinalCountMissing", 19, [](Json& j) { j.erase("final_count"); }, "'final_count'"},
    {"FewerPlayers", 10, [](Json& j) { j["rules"]["players"] = 2; }, "player"},
    {"UnknownRule", 9, [](Json& j) { j["rules"]["colour"] = 2; }, "'colour'"},
};

class EditedState : public testing::TestWithParam<Edit> {};

TEST_P(EditedState, IsRefusedByName) {
  Json json = Json::parse(state_to_json(example(GetParam().actions).state));
  GetParam().change(json);
  EXPECT_THAT(message_of<Error>([&] { state_from_json(signed_text(json)); }), HasSubstr(GetParam().says)) << json;
}

INSTANTIATE_TEST_SUITE_P(StateJson, EditedState, testing::ValuesIn(kEdits), [](const auto& info) { return info.param.name; });

// --- Whatever is read can be played ---------------------------------------------------------------------------------

// Loads the text; what is not refused must be consistent and playable to the end. Says whether it was read.
bool refused_or_playable(const std::string& text, Rng& rng) {
  try {
    LoadedState loaded = state_from_json(text);
    EXPECT_NO_THROW(loaded.state.check_consistency()) << text;
    EXPECT_TRUE(state_from_json(state_to_json(loaded.state)).state == loaded.state) << text;
    play_randomly(loaded.state, rng, [](const GameState&) {});
    EXPECT_NO_THROW(loaded.state.check_consistency()) << text;
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(StateJson, DamagedStatesAreRefusedOrPlayable) {
  Rng rng(3);
  int read = 0;
  for (int i = 0; i < 30; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    const int stop = static_cast<int>(rng.below(100));
    for (int n = 0; n < stop && !state.is_terminal(); ++n) state.apply(random_action(state, rng));
    const Json json = Json::parse(state_to_json(state));
    const auto places = all_places(json);
    for (int n = 0; n < 50 && !HasFailure(); ++n) {
      Json damaged = mutated(json, places, rng);
      if (rng.below(2)) damaged = mutated(damaged, places, rng);
      read += refused_or_playable(signed_text(damaged), rng);
    }
  }
  EXPECT_GT(read, 50);  // otherwise the damages test nothing but refusals
}

// River tiles come before all others and the lake last of them, so a board or bag that says otherwise is no position.
TEST(StateJson, RiverInTheWrongOrderIsRefusedOrPlayable) {
  const Play game(rules_of({{"river", "2014"}}), {"R04", "R12", "A"});
  const Json json = Json::parse(state_to_json(game.state));
  Rng rng(4);
  const auto laid = [](const char* id, int x, int y, int rot) { return Json({{"tile", id}, {"x", x}, {"y", y}, {"rot", rot}}); };

  Json lake_first = json;
  lake_first["tiles"].push_back(laid("R12", 0, 1, 0));
  lake_first["bag"] = {{"R04", 1}, {"A", 1}};
  refused_or_playable(signed_text(lake_first), rng);

  Json lake_drawn = json;
  lake_drawn["phase"] = "place";
  lake_drawn["drawn"] = "R12";
  lake_drawn["bag"] = {{"R04", 1}, {"A", 1}};
  refused_or_playable(signed_text(lake_drawn), rng);

  Json lake_discarded = json;
  lake_discarded["discarded"] = Json::array({"R12"});
  lake_discarded["bag"] = {{"R04", 1}, {"A", 1}};
  refused_or_playable(signed_text(lake_discarded), rng);

  Json grass_first = json;
  grass_first["tiles"].push_back(laid("A", 1, 0, 0));
  grass_first["bag"] = {{"R04", 1}, {"R12", 1}};
  refused_or_playable(signed_text(grass_first), rng);

  Json two_ends = json;
  two_ends["tiles"][0] = laid("R04", 0, 0, 0);
  refused_or_playable(signed_text(two_ends), rng);

  Json two_lakes = json;
  two_lakes["bag"] = {{"R04", 1}, {"R12", 2}, {"A", 1}};
  refused_or_playable(signed_text(two_lakes), rng);
}

// --- The picture ----------------------------------------------------------------------------------------------------

TEST(BoardText, ShowsTilesFiguresAndScores) {
  EXPECT_EQ(board_text(example(10).state),
            "       0     1\n"
            "     +....+\n"
            "-1   .E   .\n"
            "     +CCCC+\n"
            "     +CCCC+\n"
            "0    #D   #\n"
            "     +....+\n"
            "     +....++....+\n"
            "1    #Vg1G..B 2f.\n"
            "     +####++....+\n"
            "player 0: 4 points, 7 meeples, abbot\n"
            "player 1: 0 points, 7 meeples, no abbot\n"
            "player 2: 0 points, 6 meeples, abbot\n"
            "3 tiles left, phase draw of player 0\n");
}

TEST(BoardText, IsWrittenForEveryState) {
  Rng rng(5);
  for (int i = 0; i < 10; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game, Start{game->start(), {-40, 40}, 2}, game->bag(), 0);
    play_randomly(state, rng, [](const GameState& s) { ASSERT_THAT(board_text(s), HasSubstr("player 0: ")); });
  }
}

}  // namespace
}  // namespace carc
