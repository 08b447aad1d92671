#include "carc/core/record.hpp"

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

GameRecord record_of(const Play& game) { return GameRecord(game.game(), game.state); }

// A whole random game; with probability one half from a bag of few tiles, another start and another first player.
GameRecord random_record(Rng& rng) {
  const Rules rules = random_rules(rng);
  const auto game = Game::create(rules);
  Start start{game->start()};
  auto bag = game->bag();
  int first = 0;
  if (rng.below(2)) {
    start.cell = {static_cast<std::int16_t>(rng.below(81)) , static_cast<std::int16_t>(rng.below(81))};
    start.cell.x = static_cast<std::int16_t>(start.cell.x - 40);
    start.cell.y = static_cast<std::int16_t>(start.cell.y - 40);
    start.rotation = static_cast<std::uint8_t>(rng.below(4));
    first = static_cast<int>(rng.below(static_cast<std::uint32_t>(rules.players)));
    for (auto& copies : bag) copies = static_cast<std::uint8_t>(rng.below(copies + 1u));
  }
  GameRecord record(game, GameState(*game, start, bag, first));
  while (!record.state().is_terminal()) record.apply(random_action(record.state(), rng));
  if (rng.below(2)) record.seed = rng.next();
  if (rng.below(2)) {
    for (int p = 0; p < rules.players; ++p) record.agents.push_back("agent \"" + std::to_string(p) + "\" \xC3\xA9");
  }
  return record;
}

GameRecord short_record() {
  Play game(rules_of({{"abbot", true}}), {"E", "Vg", "C", "B", "U"});
  GameRecord record = record_of(game);
  record.agents = {"left", "right"};
  record.seed = 17;
  for (const char* text : {"E", "E@0,-1r2", "city:N", "Vg", "Vg@0,1r0", "abbot:garden", "C", "B", "B@1,1r0", "field:0", "U", "U@1,0r1", "back:0,1"}) {
    record.apply(string_to_action(record.state(), text));
  }
  return record;
}

// --- Round trips ----------------------------------------------------------------------------------------------------

TEST(Record, JsonRoundTripKeepsTheWholeGame) {
  Rng rng(1);
  for (int i = 0; i < 40; ++i) {
    const GameRecord record = random_record(rng);
    const std::string text = record.to_json(rng.below(2) == 0);
    const GameRecord back = GameRecord::from_json(text);
    ASSERT_EQ(back.actions(), record.actions());
    ASSERT_TRUE(back.initial_state() == record.initial_state());
    ASSERT_TRUE(back.state() == record.state());
    ASSERT_EQ(back.state().hash(), record.state().hash());
    ASSERT_EQ(back.agents, record.agents);
    ASSERT_EQ(back.seed, record.seed);
    ASSERT_EQ(back.to_json(), record.to_json());
    ASSERT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(Record, RecordMayStopAfterAnyAction) {
  Rng rng(2);
  const GameRecord whole = random_record(rng);
  GameRecord part(whole.game(), whole.initial_state());
  for (std::size_t i = 0; i <= whole.actions().size(); ++i) {
    ASSERT_EQ(GameRecord::from_json(part.to_json()).actions(), part.actions()) << i;
    if (i < whole.actions().size()) part.apply(whole.actions()[i]);
  }
}

TEST(Record, TextRoundTripKeepsTheActions) {
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const GameRecord whole = random_record(rng);
    GameRecord record(whole.game(), whole.initial_state());
    const std::size_t length = rng.below(static_cast<std::uint32_t>(whole.actions().size() + 1));
    for (std::size_t n = 0; n < length; ++n) record.apply(whole.actions()[n]);
    const GameRecord back = GameRecord::from_text(record.to_text(), record.game());
    ASSERT_EQ(back.actions(), record.actions()) << record.to_text();
    ASSERT_TRUE(back.initial_state() == record.initial_state());
    ASSERT_TRUE(back.state() == record.state());
    ASSERT_EQ(back.to_text(), record.to_text());
  }
}

TEST(Record, ReplayGivesThePositionAfterEachAction) {
  const GameRecord record = short_record();
  GameState state = record.initial_state();
  for (std::size_t i = 0; i < record.actions().size(); ++i) {
    EXPECT_TRUE(record.replay(static_cast<int>(i)) == state);
    state.apply(record.actions()[i]);
  }
  EXPECT_TRUE(record.replay() == state);
  EXPECT_TRUE(record.replay(1'000'000) == state);
  EXPECT_TRUE(record.replay(0) == record.initial_state());
}

TEST(Record, TextOfAGameIsReadable) {
  EXPECT_EQ(short_record().to_text(), "bag B=1 C=1 E=1 U=1 Vg=1\n"
            "E@0,-1r2 city:N\nVg@0,1r0 abbot:garden\nC!\nB@1,1r0 field:0\nU@1,0r1 back:0,1\n");
}

TEST(Record, TextStartsWithWhatDiffersFromTheDefaults) {
  const Play game(Rules(), {"A"}, "E", Cell{-3, 4}, 2, 1);
  EXPECT_EQ(record_of(game).to_text(), "start E@-3,4r2\nfirst_player 1\nbag A=1\n");
}

TEST(Record, CopiesOfGardenTwinsInABagAreAdded) {
  const auto game = Game::create(Rules());
  EXPECT_EQ(GameRecord::from_text("bag E=2 Eg=1\n", game).state().tiles_left(game->find("E")->type), 3);
  const GameRecord record = GameRecord::from_json(R"({"players":2,"rules":{},"bag":{"E":2,"Eg":1},"turns":[]})");
  EXPECT_EQ(record.state().tiles_left(), 3);
  EXPECT_THAT(message_of<DeckError>([&] { GameRecord::from_text("bag E=83 Eg=83\n", game); }), HasSubstr("tiles in one game"));
}

TEST(Record, CommentsAndBlankLinesAreSkipped) {
  const auto game = Game::create(Rules());
  const GameRecord record = GameRecord::from_text("# a game\n\nfirst_player 1 # the other\n  E@0,-1r2   city:N  # four points\n\t\nB@0,1r0\n", game);
  EXPECT_EQ(record.actions().size(), 5u);
  EXPECT_EQ(record.state().score(1), 4);
  EXPECT_EQ(record.state().phase(), Phase::kFigure);
}

TEST(Record, JsonHoldsTheValuesOfEveryTurn) {
  const Json json = Json::parse(short_record().to_json(true));
  EXPECT_EQ(json["format"], "carc-record");
  EXPECT_EQ(json["players"], 2);
  EXPECT_EQ(json["seed"], 17);
  EXPECT_EQ(json["turns"].size(), 5u);
  EXPECT_EQ(json["turns"][0]["n_raw"], 4);  // one rotation at the city, three at the grass, none at the road
  EXPECT_EQ(json["turns"][0]["scores"], Json({4, 0}));
  EXPECT_EQ(json["turns"][2], Json({{"tile", "C"}, {"discarded", true}}));
  EXPECT_EQ(json["turns"][4]["meeple"], Json({{"return", {0, 1}}, {"who", "abbot"}}));
  EXPECT_EQ(json["turns"][4]["abbots"], Json({1, 1}));
  EXPECT_EQ(json["final"]["scores"].size(), 2u);
}

// --- Errors ---------------------------------------------------------------------------------------------------------

TEST(Record, BeginsBeforeTheFirstDraw) {
  Play game(Rules(), {"E", "C", "B"});
  game.state.apply(Action::draw(game.type("E")));
  EXPECT_THROW(record_of(game), RecordError);
  game.state.apply(string_to_action(game.state, "E@0,-1r2"));
  EXPECT_THROW(record_of(game), RecordError);
  game.figure("-");
  EXPECT_THAT(message_of<RecordError>([&] { record_of(game); }), AllOf(HasSubstr("2 tiles"), HasSubstr("before its first draw")));
}

TEST(Record, IllegalActionIsRefusedAndNothingIsAdded) {
  GameRecord record = record_of(Play(Rules(), {"E", "B"}));
  record.apply(string_to_action(record.state(), "E"));
  const std::string before = record.to_json();
  EXPECT_THROW(record.apply(Action::place(cell_key({0, 0}), 0)), IllegalAction);
  EXPECT_THROW(record.apply(Action::no_figure()), IllegalAction);
  EXPECT_EQ(record.to_json(), before);
}

TEST(Record, EveryTruncationIsRefused) {
  const std::string text = short_record().to_json();
  for (std::size_t n = 0; n < text.size(); ++n) {
    ASSERT_NE(message_of<Error>([&] { GameRecord::from_json(text.substr(0, n)); }), "") << n;
  }
}

// A flipped bit is refused, or gives a game that can be replayed (where it hits a key that nothing depends on).
TEST(Record, ThousandByteFlipsAreRefusedOrLegal) {
  const std::string text = short_record().to_json();
  Rng rng(4);
  int legal = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = text;
    damaged[rng.below(static_cast<std::uint32_t>(text.size()))] ^= static_cast<char>(1 + rng.below(255));
    try {
      const GameRecord record = GameRecord::from_json(damaged);
      ASSERT_TRUE(record.replay() == record.state());
      ASSERT_NO_THROW(record.state().check_consistency());
      ++legal;
    } catch (const Error& e) {
      ASSERT_NE(std::string(e.what()), "");
    }
  }
  EXPECT_LT(legal, 20);
}

TEST(Record, DamagedDocumentsWithoutChecksumAreRefusedOrLegal) {
  Rng rng(5);
  std::vector<Json> documents{Json::parse(short_record().to_json(true))};
  for (int n = 0; n < 3; ++n) documents.push_back(Json::parse(random_record(rng).to_json()));
  for (Json& document : documents) {
    document.erase("format");  // what has no format is not asked for a checksum
    const auto places = all_places(document);
    for (int i = 0; i < 150; ++i) {
      Json json = mutated(document, places, rng);
      if (rng.below(2)) json = mutated(json, places, rng);
      try {
        const GameRecord record = GameRecord::from_json(json.dump());
        GameState state = record.state();
        ASSERT_NO_THROW(state.check_consistency()) << json;
        ASSERT_EQ(GameRecord::from_json(record.to_json()).actions(), record.actions()) << json;
        play_randomly(state, rng, [](const GameState&) {});
        ASSERT_NO_THROW(state.check_consistency()) << json;
      } catch (const Error&) {
      }
    }
  }
}

TEST(Record, ChangedValueIsFoundByTheChecksum) {
  Json json = Json::parse(short_record().to_json());
  json["turns"][0]["rot"] = 3;
  EXPECT_THAT(message_of<RecordError>([&] { GameRecord::from_json(json.dump()); }),
              AllOf(HasSubstr("checksum: found"), HasSubstr("expected"), HasSubstr("damaged")));
}

TEST(Record, ChecksumDoesNotDependOnSpacesOrOrder) {
  const std::string text = short_record().to_json();
  EXPECT_NO_THROW(GameRecord::from_json(Json::parse(text).dump(2)));
}

TEST(Record, WrongEnvelopeIsRefusedByName) {
  const Json good = Json::parse(short_record().to_json());
  const auto message = [&](const char* key, const Json& value) {
    Json json = good;
    if (value.is_null()) json.erase(key);
    else json[key] = value;
    return message_of<RecordError>([&] { GameRecord::from_json(json.dump()); });
  };
  EXPECT_THAT(message("format", "carc-state"), AllOf(HasSubstr("'carc-state'"), HasSubstr("'carc-record'")));
  EXPECT_THAT(message("version", 2), AllOf(HasSubstr("version: found 2"), HasSubstr("1 to 1")));
  EXPECT_THAT(message("version", "1"), HasSubstr("version: found \"1\""));
  EXPECT_THAT(message("version", nullptr), HasSubstr("'version' is missing"));
  EXPECT_THAT(message("checksum", nullptr), HasSubstr("'checksum' is missing"));
  EXPECT_THAT(message("checksum", 0), HasSubstr("checksum: found 0"));
}

TEST(Record, WrongValueIsNamedWithItsTurn) {
  Json json = Json::parse(short_record().to_json());
  json["turns"][1]["scores"][0] = 5;
  json["checksum"] = checksum(json);
  EXPECT_THAT(message_of<RecordError>([&] { GameRecord::from_json(json.dump()); }),
              AllOf(HasSubstr("turn 1"), HasSubstr("scores"), HasSubstr("found [5,0]"), HasSubstr("[4,0]")));
}

TEST(Record, TextThatIsNoRecordIsRefused) {
  for (const char* text : {"", "{}", "[]", "3", "null", "\"x\"", "{\"players\":2}", "{\"turns\":[]}", "\xff", "{\"players\":2,\"turns\":{}}",
                           "{\"players\":9,\"turns\":[]}", "{\"players\":2,\"turns\":[[]]}", "{\"players\":2,\"turns\":[{\"tile\":3}]}"}) {
    EXPECT_NE(message_of<Error>([&] { GameRecord::from_json(text); }), "") << text;
  }
  EXPECT_THAT(message_of<RecordError>([] { GameRecord::from_json(std::string(1000, '[')); }), HasSubstr("nested"));
}

TEST(Record, BadMovesInTextAreNamedByLine) {
  const auto game = Game::create(Rules());
  const auto message = [&](const std::string& text) { return message_of<RecordError>([&] { GameRecord::from_text(text, game); }); };
  EXPECT_THAT(message("E@0,-1r2 -\nZ@0,1r0\n"), AllOf(HasSubstr("line 2"), HasSubstr("'Z'")));
  EXPECT_THAT(message("E@0,-1r2\nB@0,1r0 -\n"), AllOf(HasSubstr("line 1"), HasSubstr("unfinished")));
  EXPECT_THAT(message("E@0,-1r2 - -\n"), AllOf(HasSubstr("line 1"), HasSubstr("3 words")));
  EXPECT_THAT(message("E!\n"), AllOf(HasSubstr("line 1"), HasSubstr("can be laid")));
  EXPECT_THAT(message("E@0,-1r2 -\nC\n"), AllOf(HasSubstr("line 2"), HasSubstr("fits nowhere")));
  EXPECT_THAT(message("E@0,0r0 -\n"), AllOf(HasSubstr("line 1"), HasSubstr("legal actions")));
  EXPECT_THAT(message("E@0,-1r2 monastery\n"), AllOf(HasSubstr("line 1"), HasSubstr("'monastery'")));
  EXPECT_THAT(message("!\n"), HasSubstr("line 1"));
  EXPECT_THAT(message("@\n"), HasSubstr("line 1"));
  EXPECT_THAT(message("E@0,-1r2! -\n"), HasSubstr("line 1"));
  EXPECT_THAT(message("first_player x\n"), HasSubstr("line 1"));
  EXPECT_THAT(message("first_player 2\n"), HasSubstr("first_player: found 2"));
  EXPECT_THAT(message(std::string(70'000, '#')), HasSubstr("65536"));
}

TEST(Record, BadBagInTextIsRefused) {
  const auto game = Game::create(Rules());
  for (const char* bag : {"bag A", "bag A=", "bag A=x", "bag A=-1", "bag A=84", "bag A=85", "bag A=1000", "bag A=999999999999", "bag Q9=1",
                          "bag =1", "bag A=1=2", "bag A=1x"}) {
    EXPECT_THROW(GameRecord::from_text(std::string(bag) + "\n", game), Error) << bag;
  }
  EXPECT_EQ(GameRecord::from_text("bag A=2 E=1\n", game).state().tiles_left(), 3);
}

TEST(Record, BadStartInTextIsRefused) {
  const auto game = Game::create(Rules());
  for (const char* start : {"D", "D@", "D@0,0", "D@0,0r", "D@0,0r4", "D@0,0r-1", "D@0,0r0x", "D@41,0r0", "D@0,-41r0", "D@1000,0r0", "Q1@0,0r0", "@0,0r0"}) {
    EXPECT_THROW(GameRecord::from_text("start " + std::string(start) + "\n", game), Error) << start;
  }
  EXPECT_THROW(GameRecord::from_text(std::string("start D@0,0r0\0x\n", 16), game), Error);
}

TEST(Record, HeaderLineGivenTwiceIsRefused) {
  const auto game = Game::create(Rules());
  for (const char* word : {"start", "first_player", "bag"}) {
    const std::string line = std::string(word) + (word[0] == 's' ? " D@0,0r0\n" : word[0] == 'f' ? " 1\n" : " A=1\n");
    EXPECT_NO_THROW(GameRecord::from_text(line, game));
    EXPECT_THAT(message_of<RecordError>([&] { GameRecord::from_text("# once\n" + line + line, game); }),
                AllOf(HasSubstr("line 3"), HasSubstr("another line '" + std::string(word) + "'")));
  }
  EXPECT_THAT(message_of<RecordError>([&] { GameRecord::from_text("start D@0,0r0\nbag A=1\nstart A@0,0r0\n", game); }), HasSubstr("line 3"));
}

TEST(Record, TileGivenTwiceInABagIsRefused) {
  const auto game = Game::create(Rules());
  EXPECT_THAT(message_of<Error>([&] { GameRecord::from_text("bag A=1 B=2 A=1\n", game); }), AllOf(HasSubstr("'A=1'"), HasSubstr("once")));
}

TEST(Record, FrontThatContradictsTheRulesIsRefused) {
  const auto message = [](const char* front) {
    return message_of<RecordError>([&] { GameRecord::from_json(std::string("{") + front + ",\"turns\":[]}"); });
  };
  EXPECT_THAT(message(R"("rules":{},"players":3)"), AllOf(HasSubstr("players: found 3"), HasSubstr("expected 2")));
  EXPECT_THAT(message(R"("rules":{},"river":true)"), AllOf(HasSubstr("river: found true, expected false"), HasSubstr("\"off\"")));
  EXPECT_THAT(message(R"("rules":{"river":"2014"},"river":false)"), AllOf(HasSubstr("river: found false, expected true"), HasSubstr("\"2014\"")));
  EXPECT_THAT(message(R"("rules":{},"abbots":true)"), AllOf(HasSubstr("abbots: found true"), HasSubstr("abbot is false")));
  EXPECT_THAT(message(R"("rules":{"abbot":true},"abbots":false)"), AllOf(HasSubstr("abbots: found false"), HasSubstr("abbot is true")));
  EXPECT_THAT(message(R"("rules":{},"river":"off")"), HasSubstr("river: found \"off\""));
  EXPECT_EQ(message(R"("rules":{"river":"2021","abbot":true},"players":2,"river":true,"abbots":true)"), "");
}

// --- What is written can be read ------------------------------------------------------------------------------------

// Either refuses to write, or writes what is read back as the same game.
void expect_written_or_refused(const GameRecord& record) {
  std::string text;
  try {
    text = record.to_json();
  } catch (const Error&) {
    return;
  }
  EXPECT_EQ(GameRecord::from_json(text).actions(), record.actions());
}

TEST(Record, NamesThatAreNoUnicodeAreRefusedOrKept) {
  GameRecord record = short_record();
  record.agents = {"\xff\xfe", "b"};
  EXPECT_NO_THROW(expect_written_or_refused(record));
}

TEST(Record, WrongNumberOfNamesIsRefusedOrKept) {
  for (const std::vector<std::string>& names : {std::vector<std::string>{"a"}, {"a", "b", "c"}}) {
    GameRecord record = short_record();
    record.agents = names;
    EXPECT_NO_THROW(expect_written_or_refused(record));
  }
}

}  // namespace
}  // namespace carc
