#include "carc/core/replay.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../mutate.hpp"
#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- The cases of tests/data ----------------------------------------------------------------------------------------

TEST(Replay, AllCasesAgree) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CARC_TEST_DATA_DIR "/cases")) {
    const Findings findings = verify_document(read_file(entry.path().string()));
    EXPECT_THAT(findings.differences, IsEmpty()) << entry.path();
    EXPECT_EQ(findings.games, 1);
    EXPECT_GT(findings.values, 3) << entry.path();
    ++cases;
  }
  EXPECT_EQ(cases, 32);
}

// Every number that a case expects is compared: moved by one, it is reported.
TEST(Replay, EveryChangedExpectationOfACaseIsReported) {
  int changed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CARC_TEST_DATA_DIR "/cases")) {
    const Json json = Json::parse(read_file(entry.path().string()));
    for (const auto& place : all_places(json)) {
      const std::string at = place.to_string();
      const bool is_value = at.starts_with("/expect/final/") || at.find("/scores/") != std::string::npos || at.find("/meeples/") != std::string::npos ||
                            at.find("/abbots/") != std::string::npos || at.ends_with("/n_raw") || at.ends_with("/left") || at.ends_with("/legal");
      if (!is_value || json[place].is_structured()) continue;
      Json other = json;
      if (json[place].is_boolean()) other[place] = !json[place].get<bool>();
      else other[place] = json[place].get<int>() + 1;
      EXPECT_THAT(verify_document(other.dump()).differences, testing::Not(IsEmpty())) << entry.path() << " " << at;
      ++changed;
    }
  }
  EXPECT_GT(changed, 300);
}

// --- Golden games ---------------------------------------------------------------------------------------------------

// A game as the golden files hold it: no envelope, all values of every turn.
Json golden(const Rules& rules, std::uint64_t seed, int tiles) {
  const auto game = Game::create(rules);
  Rng rng(seed);
  auto bag = game->bag();
  int left = game->tiles_to_draw() - tiles;
  while (left > 0) {
    auto& copies = bag[rng.below(static_cast<std::uint32_t>(game->types()))];
    if (copies) --copies, --left;
  }
  GameRecord record(game, GameState(*game, Start{game->start()}, bag, 0));
  while (!record.state().is_terminal()) record.apply(random_action(record.state(), rng));
  Json json = Json::parse(record.to_json(true));
  for (const char* key : {"format", "version", "checksum"}) json.erase(key);
  return json;
}

TEST(Replay, GoldenGameAgreesAndIsCounted) {
  const Json json = golden(rules_of({{"abbot", true}}), 1, 20);
  const Findings findings = verify_document(json.dump());
  EXPECT_THAT(findings.differences, IsEmpty());
  EXPECT_EQ(findings.games, 1);
  EXPECT_EQ(findings.turns, 20);
  EXPECT_GT(findings.values, 100);
}

// Every number of a golden game but its seed, moved up or down by one. All values are compared. A move may be changed to
// another one after which all the same values follow: another rotation that shows the same tile, a figure on another part
// of the same feature, another place for the last tile. That is rare.
TEST(Replay, EveryChangedNumberOfAGoldenGameIsReported) {
  int changed = 0, unseen = 0;
  for (const Rules& rules : {rules_of({{"players", 4}, {"abbot", true}}), rules_of({{"river", "2014"}})}) {
    const Json json = golden(rules, 2, 15);
    for (const auto& place : all_places(json)) {
      if (!json[place].is_number_integer() || place.to_string() == "/seed" || place.to_string().starts_with("/bag")) continue;
      for (const int by : {-1, 1}) {
        Json other = json;
        other[place] = json[place].get<int>() + by;
        ++changed;
        if (!verify_document(other.dump()).differences.empty()) continue;
        ++unseen;
        const std::string key = place.back();
        const bool is_move = key == "rot" || key == "x" || key == "y" || (key == "feature" && place.parent_pointer().back() == "meeple");
        EXPECT_TRUE(is_move) << place.to_string() << " " << by;
      }
    }
  }
  EXPECT_GT(changed, 900);
  EXPECT_LT(unseen, changed / 50);
}

TEST(Replay, ReportedDifferenceNamesTurnAndBothValues) {
  Json json = golden(Rules(), 3, 10);
  const Json scores = json["turns"][4]["scores"];
  json["turns"][4]["scores"][0] = 77;
  const Findings findings = verify_document(json.dump());
  EXPECT_THAT(findings.differences, ElementsAre(AllOf(HasSubstr("turn 4: scores: found [77,"), HasSubstr("the engine says " + scores.dump()))));
}

TEST(Replay, AllDifferencesAreCollected) {
  Json json = golden(Rules(), 4, 10);
  json["turns"][2]["n_raw"] = 500;
  json["turns"][5]["meeples"] = "seven";
  json["final"]["scores"] = nullptr;
  EXPECT_EQ(verify_document(json.dump()).differences.size(), 3u);
}

TEST(Replay, MissingOrAddedSpotIsReported) {
  const Json json = golden(rules_of({{"abbot", true}}), 5, 15);
  for (std::size_t t = 0; t < json["turns"].size(); ++t) {
    const Json& spots = json["turns"][t].value("spots", Json::array());
    if (spots.empty()) continue;
    Json fewer = json, more = json;
    fewer["turns"][t]["spots"].erase(0);
    more["turns"][t]["spots"].push_back(spots[0]);
    EXPECT_EQ(verify_document(fewer.dump()).differences.size(), 1u);
    EXPECT_EQ(verify_document(more.dump()).differences.size(), 1u);
  }
}

TEST(Replay, OrderOfSpotsDoesNotMatter) {
  Json json = golden(Rules(), 6, 15);
  for (Json& turn : json["turns"]) {
    if (turn.contains("spots")) std::reverse(turn["spots"].begin(), turn["spots"].end());
  }
  EXPECT_THAT(verify_document(json.dump()).differences, IsEmpty());
}

TEST(Replay, FinalCountOfAnUnfinishedGameIsReported) {
  Json json = golden(Rules(), 7, 10);
  json["turns"].erase(json["turns"].size() - 1);
  EXPECT_THAT(verify_document(json.dump()).differences, testing::Contains(HasSubstr("not over")));
}

// --- Documents with nothing to compare, or damaged ------------------------------------------------------------------

TEST(Replay, DocumentWithNothingToCompareIsADifference) {
  for (const char* text : {"{\"players\":2,\"turns\":[]}", "{\"players\":2,\"turns\":[],\"expect\":{}}"}) {
    EXPECT_THAT(verify_document(text).differences, testing::Contains(HasSubstr("no value to compare"))) << text;
  }
}

TEST(Replay, DamagedTextIsADifference) {
  for (const char* text : {"", "{", "3", "[]", "null", "\xff", "{\"format\":\"x\"}", "{\"players\":2}", "{\"expect\":{}}"}) {
    EXPECT_EQ(verify_document(text).differences.size(), 1u) << text;
  }
}

TEST(Replay, TurnAfterTheEndIsADifference) {
  Json json = golden(Rules(), 8, 5);
  json["turns"].push_back(json["turns"].back());
  EXPECT_THAT(verify_document(json.dump()).differences, testing::Contains(HasSubstr("the game is over")));
}

TEST(Replay, CaseTurnWithoutFigureIsADifference) {
  const char* text = R"({"players":2,"river":false,"rules":{},"start":{"tile":"D","x":0,"y":0,"rot":0},)"
                     R"("turns":[{"player":0,"tile":"B","x":0,"y":1,"rot":0}],"expect":{"final":{"scores":[0,0]}}})";
  EXPECT_THAT(verify_document(text).differences, ElementsAre(HasSubstr("meeple")));
}

TEST(Replay, CaseQuestionWithoutItsValuesIsADifference) {
  const std::string front = R"({"players":2,"river":false,"rules":{},"start":{"tile":"D","x":0,"y":0,"rot":0},"turns":[],"expect":{)";
  for (const char* question : {R"("placeable":[{"before_turn":0}])", R"("placeable":[{"before_turn":0,"tile":"B"}])", R"("placement":[{"before_turn":0}])",
                               R"("placement":[{"before_turn":0,"tile":"B","x":0,"y":1,"rot":0}])", R"("deck":[{"before_turn":0}])",
                               R"("deck":[{"before_turn":0,"left":71,"of":3}])", R"("placeable":[3])", R"("placeable":[{"before_turn":0,"n_raw":4}])"}) {
    EXPECT_EQ(verify_document(front + question + "}}").differences.size(), 1u) << question;
  }
}

// Where no abbot is in play a garden copy is its plain twin, on which nobody stands in the garden.
TEST(Replay, GardenIsNoPlaceForAFigureWithoutAbbots) {
  const std::string front = R"({"players":2,"river":false,"start":{"tile":"D","x":0,"y":0,"rot":0},)"
                            R"("turns":[{"player":0,"tile":"Vg","x":0,"y":1,"rot":0,"meeple":null}],)";
  const auto differences = [&](const std::string& rules, const std::string& meeple, bool legal) {
    return verify_document(front + "\"rules\":" + rules + ",\"expect\":{\"meeple\":[{\"turn\":0,\"meeple\":" + meeple +
                           ",\"legal\":" + (legal ? "true" : "false") + "}]}}").differences;
  };
  for (const char* garden : {R"({"kind":"garden"})", R"({"kind":"garden","edges":[],"figure":"abbot"})"}) {
    EXPECT_THAT(differences("{}", garden, false), IsEmpty());
    EXPECT_EQ(differences("{}", garden, true).size(), 1u);
  }
  EXPECT_THAT(differences(R"({"abbot":true})", R"({"kind":"garden","figure":"abbot"})", true), IsEmpty());
  EXPECT_THAT(differences(R"({"abbot":true})", R"({"kind":"garden"})", false), IsEmpty());
}

TEST(Replay, DamagedCasesNeverThrow) {
  Rng rng(9);
  for (const auto& entry : std::filesystem::directory_iterator(CARC_TEST_DATA_DIR "/cases")) {
    const Json json = Json::parse(read_file(entry.path().string()));
    const auto places = all_places(json);
    for (int i = 0; i < 60; ++i) {
      Json damaged = mutated(json, places, rng);
      if (rng.below(2)) damaged = mutated(damaged, places, rng);
      ASSERT_NO_THROW(verify_document(damaged.dump())) << damaged;
    }
  }
}

}  // namespace
}  // namespace carc
