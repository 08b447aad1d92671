#include "carc/play/guest_agent.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/play/game_play.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A bot in two lines: it says hello and plays the first legal action.
const std::string kHello = R"x(s/^\{"id":"([0-9]+)","action":"hello".*/{"id":"\1","protocol":1,"name":"sed"}/)x";
const std::string kFirst = R"x(s/^\{"id":"([0-9]+)".*"legal":\["([^"]*)".*/{"id":"\1","move":"\2"}/)x";
const std::vector<std::string> kFirstLegal = {"sed", "-u", "-E", "-e", kHello, "-e", kFirst};

// The same with another second line.
std::vector<std::string> answering(const std::string& answer) {
  return {"sed", "-u", "-E", "-e", kHello, "-e", R"x(s/^\{"id":"([0-9]+)","action":"move".*/)x" + answer + "/"};
}

AgentFactory guest(const std::vector<std::string>& command, Json options = Json::object()) {
  options["command"] = command;
  if (!options.contains("move_ms")) options["move_ms"] = 20'000;
  return configure_agent("guest", options);
}

std::map<std::size_t, GameResult> play(const std::shared_ptr<const Game>& game, const std::vector<GameSpec>& specs,
                                       const std::vector<AgentFactory>& agents, int threads = 1) {
  std::map<std::size_t, GameResult> out;
  PlayOptions options;
  options.threads = threads;
  options.on_result = [&](std::size_t i, const GameResult& result) {
    out.emplace(i, result);
    return true;
  };
  EXPECT_EQ(play_games(game, specs, agents, {"a", "b"}, options), specs.size());
  return out;
}

// How the guest in seat 1 loses against random.
Forfeited forfeit_of(const std::vector<std::string>& command, const Json& options = Json::object()) {
  const auto results = play(Game::create(Rules()), {{5, {0, 1}}}, {configure_agent("random"), guest(command, options)});
  return results.at(0).forfeit.value_or(Forfeited{-1, "none", ""});
}

TEST(GuestAgent, PlaysTheGameThatItsAnswersSay) {
  class First : public Agent {
    Action choose(const GameState& state, Rng& rng) override {
      rng.next();
      return state.legal_action(0);
    }
  };
  const AgentFactory first = [] { return std::make_unique<First>(); };
  for (int players = 2; players <= 5; ++players) {
    const auto game =
        Game::create(rules_of({{"players", players}, {"abbot", true}, {"river", "2021"}, {"farmer_recall", true}}));
    std::vector<int> seats(static_cast<std::size_t>(players), 1);
    seats[0] = 0;
    const auto with_guest = play(game, {{3, seats}}, {configure_agent("random"), guest(kFirstLegal)});
    const auto without = play(game, {{3, seats}}, {configure_agent("random"), first});
    EXPECT_FALSE(with_guest.at(0).forfeit) << with_guest.at(0).forfeit->detail;
    EXPECT_EQ(with_guest.at(0).record, without.at(0).record);
  }
}

TEST(GuestAgent, OneProgramPlaysAllGamesOfAThread) {
  const auto results =
      play(Game::create(Rules()), {{1, {0, 1}}, {2, {1, 0}}, {3, {0, 1}}},
           {configure_agent("random"),
            guest({"sh", "-c", "echo started >&2; exec sed -u -E -e '" + kHello + "' -e '" + kFirst + "'"})},
           2);
  for (const auto& [i, result] : results) EXPECT_FALSE(result.forfeit) << i;
}

TEST(GuestAgent, CommandMayBeOneText) {
  EXPECT_NO_THROW(configure_agent("guest", {{"command", "sh -c 'exit 0'"}}));
  const auto message = [](const Json& options) {
    return message_of<OptionError>([&] { configure_agent("guest", options); });
  };
  EXPECT_THAT(message(Json::object()), HasSubstr("command: found none"));
  EXPECT_THAT(message({{"command", "no-such-program --fast"}}), HasSubstr("command: found 'no-such-program'"));
  EXPECT_THAT(message({{"command", {"sh", 1}}}), HasSubstr("expected a text or a list of texts"));
  EXPECT_THAT(message({{"command", "sh"}, {"folder", 3}}), HasSubstr("expected a text"));
  EXPECT_THAT(message({{"command", "sh"}, {"move_ms", 0}}), HasSubstr("move_ms: found 0"));
}

TEST(GuestAgent, SpacesSplitATextAndNoWordOfAList) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "sp ace";
  std::filesystem::create_directories(folder);
  const std::string program = folder / "bot";
  std::ofstream(program) << "#!/bin/sh\nexec sed -u -E -e '" << kHello << "' -e '" << kFirst << "'\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto forfeit = [](const Json& command) {
    const auto agent = configure_agent("guest", {{"command", command}, {"move_ms", 20'000}});
    return play(Game::create(Rules()), {{5, {0, 1}}}, {configure_agent("random"), agent}).at(0).forfeit;
  };
  EXPECT_FALSE(forfeit(Json::array({program})));
  EXPECT_FALSE(forfeit("'" + program + "'"));
  EXPECT_THAT(message_of<OptionError>([&] { forfeit(program); }), HasSubstr("sp', expected a program"));
  std::filesystem::remove_all(folder);
}

TEST(GuestAgent, FaultsLoseTheGameWithTheirReason) {
  const std::map<std::string, std::vector<std::vector<std::string>>> faults = {
      {"start",
       {{"false"}, {"true"}, {"sh", "-c", "exec <&-; sleep 100"}, {"sh", "-c", R"x(echo '{"id":"0","error":"no"}')x"}}},
      {"crash",
       {{"sh", "-c", R"x(read -r a; echo '{"id":"0","protocol":1}'; read -r b; exit 3)x"},
        answering(R"x({"id":"\1","error":"I am lost"})x")}},
      {"timeout",
       {{"sh", "-c", R"x(read -r a; echo '{"id":"0","protocol":1}'; read -r b; printf '{"id'; sleep 100)x"}}},
      {"illegal", {answering(R"x({"id":"\1","move":"D@99,99r0"})x"), answering(R"x({"id":"\1","move":""})x")}},
      {"stale", {answering(R"x({"id":"0","move":"-"})x"), answering(R"x({"id":7,"move":"-"})x")}},
      {"garbage",
       {answering("thinking..."),
        answering("[]"),
        answering(R"x({"move":"-"})x"),
        answering(R"x({"id":"\1"})x"),
        answering(R"x({"id":"\1","move":3})x"),
        answering("\\xff"),
        {"echo", R"x({"id":"0","protocol":2})x"}}},
      {"flood", {{"sh", "-c", R"x(read -r a; echo '{"id":"0","protocol":1}'; tr '\0' x </dev/zero)x"}}},
  };
  for (const auto& [reason, commands] : faults) {
    for (const auto& command : commands) {
      const Forfeited forfeit =
          forfeit_of(command, {{"start_ms", 2000}, {"move_ms", reason == "timeout" ? 50 : 20'000}});
      EXPECT_EQ(forfeit.reason, reason) << command.back() << ": " << forfeit.detail;
      EXPECT_EQ(forfeit.seat, 1) << command.back();
    }
  }
}

TEST(GuestAgent, MessagesSayWhatWasFound) {
  EXPECT_THAT(forfeit_of({"sh", "-c", "echo 'no module named x' >&2; exit 1"}).detail,
              AllOf(HasSubstr("'sh' exited with code 1 before it answered hello"), HasSubstr("'no module named x'")));
  EXPECT_THAT(forfeit_of(answering("thinking...")).detail, HasSubstr("'thinking...'"));
  EXPECT_THAT(forfeit_of(answering(R"x({"id":"\1","error":"I am lost"})x")).detail, HasSubstr("I am lost"));
  EXPECT_THAT(forfeit_of({"echo", R"x({"id":"0","protocol":2})x"}).detail, HasSubstr("protocol: found 2"));
}

TEST(GuestAgent, MemoryIsLimited) {
  const std::vector<std::string> hog = {
      "sh", "-c", R"x(read -r a; echo '{"id":"0","protocol":1}'; read -r b; exec tail /dev/zero)x"};
  EXPECT_EQ(forfeit_of(hog, {{"memory_mb", 50}}).reason, "memory");
}

TEST(GuestAgent, GameHasAClockOfItsOwn) {
  // Every answer takes 20 ms or more.
  const std::vector<std::string> command = {"sh", "-c",
                                            "read -r a; echo '{\"id\":\"0\",\"protocol\":1}'; while read -r line; do "
                                            "sleep 0.02; echo \"$line\" | sed -E -e '" +
                                                kFirst + "'; done"};
  const Forfeited forfeit = forfeit_of(command, {{"game_ms", 200}});
  EXPECT_EQ(forfeit.reason, "timeout");
  EXPECT_THAT(forfeit.detail, HasSubstr("200 ms a game"));
}

TEST(GuestAgent, NextGameHasAFreshProgram) {
  // Plays five moves and then crashes.
  const std::vector<std::string> command = {"sh", "-c", "exec sed -u -E -e '" + kHello + "' -e '" + kFirst + "' -e 6q"};
  const auto results =
      play(Game::create(Rules()), {{1, {0, 1}}, {2, {0, 1}}, {3, {1, 0}}}, {configure_agent("random"), guest(command)});
  for (const auto& [i, result] : results) {
    ASSERT_TRUE(result.forfeit);
    EXPECT_EQ(result.forfeit->reason, "crash") << result.forfeit->detail;
    EXPECT_EQ(result.forfeit->seat, i == 2 ? 0 : 1);
    EXPECT_GE(result.turns, 2);
  }
}

TEST(GuestAgent, VisitsThatItReportsAreCounted) {
  const std::string visits =
      R"x(s/^\{"id":"([0-9]+)".*"legal":\["([^"]*)".*/{"id":"\1","move":"\2","rootInfo":{"visits":7}}/)x";
  const auto results = play(Game::create(Rules()), {{5, {0, 1}}},
                            {configure_agent("random"), guest({"sed", "-u", "-E", "-e", kHello, "-e", visits})});
  EXPECT_FALSE(results.at(0).forfeit);
  EXPECT_EQ(results.at(0).simulations[0], 0);
  EXPECT_GT(results.at(0).simulations[1], 0);
  EXPECT_EQ(results.at(0).simulations[1] % 7, 0);
}

TEST(GuestAgent, StoppedRunIsLeftWithoutAForfeit) {
  PlayOptions options;
  int asked = 0;
  options.interrupted = [&]() -> bool {
    if (++asked > 2) throw std::logic_error("enough");
    return false;
  };
  options.on_result = [](std::size_t, const GameResult&) -> bool {
    ADD_FAILURE() << "a game was finished";
    return true;
  };
  const auto hanging =
      guest({"sh", "-c", R"x(read -r a; echo '{"id":"0","protocol":1}'; sleep 100)x"}, {{"move_ms", 80'000'000}});
  EXPECT_THROW(
      play_games(Game::create(Rules()), {{5, {0, 1}}}, {configure_agent("random"), hanging}, {"a", "b"}, options),
      std::logic_error);
}

TEST(GuestAgent, PositionsWithoutTheirGameAreRefused) {
  const auto agent = guest(kFirstLegal)();
  const auto game = Game::create(Rules());
  Rng rng(1);
  const GameState state = placement_with(*game, 1, 40);
  EXPECT_THAT(message_of<Error>([&] { agent->choose(state, rng); }), HasSubstr("position without the game"));
}

TEST(GameRequests, SayTheWholeGame) {
  const auto game = Game::create(Rules());
  GameRecord record = GameRecord::from_text("start D@0,0r1\nfirst_player 1\nbag U=2 V=3 C=1\nU@0,1r0 -\nV", game);
  GameRequests requests(record);
  Json json = Json::parse(requests.move_request("12", {0.5, 100, 77}));
  EXPECT_EQ(json["id"], "12");
  EXPECT_EQ(json["action"], "move");
  EXPECT_EQ(json["rules"], Json(game->rules().to_json()));
  EXPECT_EQ(json["players"], 2);
  EXPECT_EQ(json["start"], "D@0,0r1");
  EXPECT_EQ(json["first_player"], 1);
  EXPECT_EQ(json["bag"], Json({{"C", 1}, {"U", 2}, {"V", 3}}));
  EXPECT_EQ(json["moves"], Json({"U@0,1r0 -"}));
  EXPECT_EQ(json["phase"], "place");
  EXPECT_EQ(json["player"], 0);
  EXPECT_EQ(json["tile"], "V");
  EXPECT_EQ(json["legal"].size(), static_cast<std::size_t>(record.state().num_legal_actions()));
  EXPECT_EQ(json["maxTime"], 0.5);
  EXPECT_EQ(json["maxVisits"], 100);
  EXPECT_EQ(json["seed"], 77);
  record.apply(string_to_action(record.state(), json["legal"][0].get<std::string>()));
  json = Json::parse(requests.move_request("13", {0.5, 0, 77}));
  EXPECT_EQ(json["phase"], "figure");
  EXPECT_EQ(json["moves"].size(), 2u);
  EXPECT_FALSE(json.contains("maxVisits"));
}

}  // namespace
}  // namespace carc
