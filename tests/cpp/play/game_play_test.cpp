#include "carc/play/game_play.hpp"

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../neural/nets.hpp"
#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<AgentFactory> kRandomAndGreedy = {configure_agent("random"), configure_agent("greedy")};
const std::vector<std::string> kNames = {"random", "greedy"};

// Every deck in every rotation of the seats.
std::vector<GameSpec> paired(int decks, int players, std::uint64_t seed) {
  std::vector<GameSpec> specs;
  for (int d = 0; d < decks; ++d) {
    for (int turn = 0; turn < players; ++turn) {
      GameSpec spec{split(seed, static_cast<std::uint64_t>(d)), {}};
      for (int s = 0; s < players; ++s) spec.seats.push_back((s + turn) % players % 2);
      specs.push_back(spec);
    }
  }
  return specs;
}

std::map<std::size_t, GameResult> results_of(const std::shared_ptr<const Game>& game,
                                             const std::vector<GameSpec>& specs, int threads,
                                             const std::vector<AgentFactory>& agents = kRandomAndGreedy) {
  std::map<std::size_t, GameResult> out;
  PlayOptions options;
  options.threads = threads;
  options.on_result = [&](std::size_t i, const GameResult& result) {
    EXPECT_TRUE(out.emplace(i, result).second);
    return true;
  };
  EXPECT_EQ(play_games(game, specs, agents, kNames, options), specs.size());
  return out;
}

// An agent that does something else after a number of decisions.
class Faulty : public Agent {
 public:
  Faulty(int good, std::function<Action(const GameState&)> then) : good_(good), then_(std::move(then)) {}
  Action choose(const GameState& state, Rng& rng) override {
    if (good_-- > 0)
      return state.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(state.num_legal_actions()))));
    return then_(state);
  }

 private:
  int good_;
  std::function<Action(const GameState&)> then_;
};

AgentFactory faulty(int good, std::function<Action(const GameState&)> then) {
  return [=] { return std::make_unique<Faulty>(good, then); };
}

// --- Agents by name -------------------------------------------------------------------------------------------------

TEST(AgentKinds, UnknownNamesAndOptionsSuggestTheNearest) {
  const auto message = [](const std::string& kind, const Json& options) {
    return message_of<OptionError>([&] { configure_agent(kind, options); });
  };
  EXPECT_THAT(message("gready", Json::object()), AllOf(HasSubstr("'gready'"), HasSubstr("'greedy'")));
  EXPECT_THAT(message("", Json::object()), HasSubstr("''"));
  EXPECT_THAT(message("random", {{"depth", 2}}), AllOf(HasSubstr("'depth'"), HasSubstr("expected none")));
  EXPECT_THAT(message("mcts", {{"simulation", 2}}), AllOf(HasSubstr("'simulation'"), HasSubstr("'simulations'")));
  EXPECT_THAT(message("mcts", {{"simulations", 0}}), AllOf(HasSubstr("simulations: found 0"), HasSubstr("from 1 to")));
  EXPECT_THAT(message("mcts", {{"simulations", 1.5}}), HasSubstr("whole number"));
  EXPECT_THAT(message("mcts", {{"selection", "puckt"}}), HasSubstr("one of uct, ucb1_tuned, puct, uniform"));
  EXPECT_THAT(message("mcts", {{"bag_aware", 1}}), HasSubstr("true or false"));
  EXPECT_THAT(message("mcts", {{"hand", {1, 2}}}), HasSubstr("a list of 8 numbers"));
  EXPECT_THAT(message("mcts", Json::array()), HasSubstr("expected an object"));
}

TEST(AgentKinds, OptionsListTheirDefaultsAsValues) {
  for (const AgentKind& kind : agent_kinds()) {
    Json options = Json::object();
    for (const OptionInfo& option : kind.options) {
      options[option.name] = Json::parse(option.value);
      EXPECT_FALSE(option.meaning.empty());
      EXPECT_FALSE(option.expected.empty());
    }
    if (kind.name == "guest") options["command"] = "true";  // which has no default
    if (kind.name == "feature_net") options["network"] = random_feature_net_file(1);
    EXPECT_NO_THROW(configure_agent(kind.name, options)) << kind.name;
  }
}

// Few simulations, so that whole games are quick.
Json quick(const std::string& kind) {
  if (kind == "mcts") return {{"simulations", 12}, {"trees", 2}, {"memory_mb", 4}};
  if (kind == "expectiminimax") return {{"depth", 1}};
  if (kind == "feature_net") return {{"network", random_feature_net_file(1)}};
  return Json::object();
}

TEST(AgentKinds, EveryKindPlaysWholeGamesWithAllPlayers) {
  for (int players = 2; players <= 5; ++players) {
    const auto game =
        Game::create(rules_of({{"players", players}, {"abbot", true}, {"river", "2021"}, {"farmer_recall", true}}));
    for (const AgentKind& kind : agent_kinds()) {
      if (kind.name == "guest") continue;  // needs a program
      const auto agent = configure_agent(kind.name, quick(kind.name))();
      const GameResult result =
          play_game(game, {3, std::vector<int>(static_cast<std::size_t>(players), 0)}, {agent.get()}, {kind.name});
      EXPECT_EQ(result.scores.size(), static_cast<std::size_t>(players)) << kind.name;
      EXPECT_FALSE(kind.summary.empty());
      EXPECT_EQ(result.simulations[0] > 0, kind.name == "mcts" || kind.name == "expectiminimax") << kind.name;
    }
  }
}

// --- One game -------------------------------------------------------------------------------------------------------

TEST(PlayGame, RecordIsTheWholeGameWithItsAgents) {
  const auto game = Game::create(rules_of({{"players", 3}, {"abbot", true}}));
  const auto results = results_of(game, {{41, {0, 1, 0}}}, 1);
  const GameResult& result = results.at(0);
  const GameRecord record = GameRecord::from_json(result.record);
  EXPECT_TRUE(record.state().is_terminal());
  EXPECT_EQ(record.agents, (std::vector<std::string>{"random", "greedy", "random"}));
  EXPECT_EQ(record.seed, 41u);
  int figures = 0, figures_in_record = 0;
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(result.scores[static_cast<std::size_t>(p)], record.state().score(p));
    figures += result.figures_set[static_cast<std::size_t>(p)];
    EXPECT_GE(result.think_ns[static_cast<std::size_t>(p)], 0);
  }
  for (const Action a : record.actions()) {
    figures_in_record +=
        a.what() == Action::What::kFigure && a.figure() != Action::Figure::kNone && a.figure() != Action::Figure::kBack;
  }
  EXPECT_EQ(figures, figures_in_record);
  EXPECT_TRUE(result.points == record.state().points());
  EXPECT_TRUE(result.final_count == record.state().final_count());
  EXPECT_EQ(result.turns + static_cast<int>(result.discarded.size()), 71);
}

TEST(PlayGame, DeckIsThatOfTheSeed) {
  const auto game = Game::create(Rules());
  const Deck deck(*game, 99);
  const GameRecord record = GameRecord::from_json(results_of(game, {{99, {1, 0}}}, 1).at(0).record);
  std::vector<TypeId> drawn;
  for (const Action a : record.actions()) {
    if (a.what() == Action::What::kDraw) drawn.push_back(a.type());
  }
  EXPECT_EQ(drawn, deck.order());
}

// --- Many games -----------------------------------------------------------------------------------------------------

TEST(PlayGames, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto game = Game::create(rules_of({{"players", 4}}));
  const auto specs = paired(3, 4, 5);
  const auto one = results_of(game, specs, 1);
  for (const int threads : {2, 3}) {
    const auto many = results_of(game, specs, threads);
    ASSERT_EQ(many.size(), one.size());
    for (const auto& [i, result] : one) {
      EXPECT_EQ(many.at(i).record, result.record) << i;
      EXPECT_EQ(many.at(i).scores, result.scores);
      EXPECT_EQ(many.at(i).figures_set, result.figures_set);
    }
  }
}

TEST(PlayGames, EqualAgentsPlayTheSameGameInAllSeatings) {
  const auto game = Game::create(Rules());
  const std::vector<GameSpec> specs = {{8, {0, 1}}, {8, {1, 0}}};
  for (const std::string kind : {"random", "greedy"}) {
    const auto results = results_of(game, specs, 1, {configure_agent(kind), configure_agent(kind)});
    const auto actions = [&](std::size_t i) { return GameRecord::from_json(results.at(i).record).actions(); };
    EXPECT_EQ(actions(0), actions(1)) << kind;
  }
}

TEST(PlayGames, SeedOfTheDecisionsChangesTheDecisionsAlone) {
  const auto game = Game::create(Rules());
  const auto results = results_of(game, {{8, {0, 1}}, {8, {0, 1}, 3}, {8, {0, 1}, 3}, {8, {0, 1}, split(8, 1)}}, 1);
  const auto actions = [&](std::size_t i) { return GameRecord::from_json(results.at(i).record).actions(); };
  EXPECT_EQ(actions(0)[0], actions(1)[0]);
  EXPECT_NE(actions(0), actions(1));
  EXPECT_EQ(actions(1), actions(2));
  EXPECT_EQ(actions(0), actions(3));
}

TEST(PlayGames, RecordsCanBeLeftOut) {
  const auto game = Game::create(Rules());
  PlayOptions options;
  options.records = false;
  int seen = 0;
  options.on_result = [&](std::size_t, const GameResult& result) {
    EXPECT_TRUE(result.record.empty());
    ++seen;
    return true;
  };
  EXPECT_EQ(play_games(game, paired(1, 2, 1), kRandomAndGreedy, kNames, options), 2u);
  EXPECT_EQ(seen, 2);
}

TEST(PlayGames, NothingToPlayIsNothingDone) {
  EXPECT_EQ(play_games(Game::create(Rules()), {}, kRandomAndGreedy, kNames, PlayOptions()), 0u);
}

TEST(PlayGames, CallerMayStopTheRun) {
  const auto game = Game::create(Rules());
  for (const int threads : {1, 2}) {
    PlayOptions options;
    options.threads = threads;
    std::set<std::size_t> seen;
    options.on_result = [&](std::size_t i, const GameResult&) {
      seen.insert(i);
      return seen.size() < 3;
    };
    const std::size_t finished =
        play_games(game, paired(500, 2, 2), {kRandomAndGreedy[0], kRandomAndGreedy[0]}, kNames, options);
    EXPECT_GE(finished, 3u);
    EXPECT_LT(finished, 1000u);
    EXPECT_EQ(seen.size(), finished);  // what is finished is delivered
  }
}

TEST(PlayGames, InterruptionStopsTheRun) {
  const auto game = Game::create(Rules());
  PlayOptions options;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 2; };
  EXPECT_LT(play_games(game, paired(2000, 2, 3), {kRandomAndGreedy[0], kRandomAndGreedy[0]}, kNames, options), 4000u);
}

TEST(PlayGames, ResultsComeOnTheCallingThread) {
  const auto game = Game::create(Rules());
  PlayOptions options;
  options.threads = 3;
  options.on_result = [caller = std::this_thread::get_id()](std::size_t, const GameResult&) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return true;
  };
  play_games(game, paired(4, 2, 4), kRandomAndGreedy, kNames, options);
}

// --- Agents that fail -----------------------------------------------------------------------------------------------

TEST(PlayGames, IllegalActionStopsTheRunAndNamesTheAgent) {
  const auto game = Game::create(Rules());
  for (const int threads : {1, 3}) {
    for (const Action bad :
         {Action::place(cell_key({100, 100}), 0), Action::meeple(13), Action::draw(0), Action::from_bits(~0u)}) {
      PlayOptions options;
      options.threads = threads;
      const std::string message = message_of<IllegalAction>([&] {
        play_games(game, paired(20, 2, 6), {kRandomAndGreedy[0], faulty(30, [=](const GameState&) { return bad; })},
                   {"random", "cheat"}, options);
      });
      EXPECT_THAT(message, AllOf(HasSubstr("'cheat'"), HasSubstr("found"), HasSubstr("expected")));
    }
  }
}

TEST(PlayGames, StaleActionStopsTheRun) {
  const auto game = Game::create(Rules());
  // The placement of the tile before is offered again.
  const auto stale = [](const GameState& s) {
    const LaidTile last = s.laid_tile(s.laid_tiles() - 1);
    return Action::place(cell_key(last.cell), last.rotation);
  };
  EXPECT_THROW(play_games(game, paired(1, 2, 7), {kRandomAndGreedy[0], faulty(8, stale)}, kNames, PlayOptions()),
               IllegalAction);
}

TEST(PlayGames, ExceptionOfAnAgentReachesTheCaller) {
  const auto game = Game::create(Rules());
  for (const int threads : {1, 3}) {
    PlayOptions options;
    options.threads = threads;
    const auto thrower = faulty(20, [](const GameState&) -> Action { throw std::logic_error("I give up"); });
    try {
      play_games(game, paired(20, 2, 8), {thrower, kRandomAndGreedy[0]}, kNames, options);
      FAIL() << "nothing was thrown";
    } catch (const std::logic_error& e) {
      EXPECT_STREQ(e.what(), "I give up");
    }
  }
}

TEST(PlayGames, ExceptionOfAFactoryReachesTheCaller) {
  const AgentFactory broken = []() -> std::unique_ptr<Agent> { throw std::logic_error("no weights"); };
  PlayOptions options;
  options.threads = 2;
  EXPECT_THROW(play_games(Game::create(Rules()), paired(2, 2, 9), {broken, broken}, kNames, options), std::logic_error);
}

TEST(PlayGames, ExceptionOfTheCallbackReachesTheCaller) {
  PlayOptions options;
  options.threads = 2;
  options.on_result = [](std::size_t, const GameResult&) -> bool { throw std::logic_error("disk full"); };
  EXPECT_THROW(play_games(Game::create(Rules()), paired(2, 2, 10), kRandomAndGreedy, kNames, options),
               std::logic_error);
}

TEST(PlayGames, SeatsThatDoNotFitAreRefused) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const auto message = [&](const std::vector<int>& seats) {
    return message_of<Error>([&] { play_games(game, {{1, seats}}, kRandomAndGreedy, kNames, PlayOptions()); });
  };
  EXPECT_THAT(message({0, 1}), AllOf(HasSubstr("found 2"), HasSubstr("3 players")));
  EXPECT_THAT(message({0, 1, 2}), AllOf(HasSubstr("found agent 2"), HasSubstr("0 to 1")));
  EXPECT_THAT(message({0, 1, -1}), HasSubstr("found agent -1"));
}

// --- Agents that forfeit --------------------------------------------------------------------------------------------

// An agent that hears of games and forfeits where it is told to.
class Guest : public Faulty {
 public:
  struct Heard {
    int begun = 0, ended = 0;
    bool fails_to_begin = false;
  };
  Guest(int good, std::shared_ptr<Heard> heard)
      : Faulty(good, [](const GameState&) -> Action { throw Forfeit("crash", "exited with code 3"); }),
        heard_(std::move(heard)) {}
  void begin(const GameRecord& game) override {
    EXPECT_EQ(game.actions().size(), 0u);
    EXPECT_EQ(heard_->begun++, heard_->ended);
    if (heard_->fails_to_begin) throw Forfeit("start", "did not answer");
  }
  void end() override { EXPECT_EQ(++heard_->ended, heard_->begun); }

 private:
  std::shared_ptr<Heard> heard_;
};

AgentFactory forfeiting(int good, const std::shared_ptr<Guest::Heard>& heard) {
  return [=] { return std::make_unique<Guest>(good, heard); };
}

TEST(Forfeits, EndTheGameAndNotTheRun) {
  const auto game = Game::create(Rules());
  const auto heard = std::make_shared<Guest::Heard>();
  const auto results = results_of(game, {{1, {0, 1}}, {2, {1, 0}}, {3, {0, 0}}}, 1,
                                  {kRandomAndGreedy[0], forfeiting(9, heard)});  // nine decisions in all games
  EXPECT_EQ(results.at(0).forfeit->seat, 1);
  EXPECT_EQ(results.at(0).forfeit->reason, "crash");
  EXPECT_EQ(results.at(0).forfeit->detail, "exited with code 3");
  EXPECT_EQ(results.at(1).forfeit->seat, 0);
  EXPECT_EQ(results.at(1).turns, 0);
  EXPECT_FALSE(results.at(2).forfeit);
  EXPECT_EQ(heard->begun, 2);
  EXPECT_EQ(heard->ended, 2);
}

TEST(Forfeits, PointsAreThoseIfTheGameHadEndedThere) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const auto heard = std::make_shared<Guest::Heard>();
  const GameResult result = results_of(game, {{4, {0, 0, 1}}}, 1, {kRandomAndGreedy[1], forfeiting(25, heard)}).at(0);
  ASSERT_TRUE(result.forfeit);
  EXPECT_EQ(result.forfeit->seat, 2);
  const GameRecord record = GameRecord::from_json(result.record);
  EXPECT_FALSE(record.state().is_terminal());
  EXPECT_EQ(record.state().turn_player(), 2);
  Points points = record.state().points();
  points += record.state().projected();
  EXPECT_TRUE(result.points == points);
  EXPECT_TRUE(result.final_count == record.state().projected());
  for (int p = 0; p < 3; ++p) EXPECT_EQ(result.scores[static_cast<std::size_t>(p)], points.total(p));
  EXPECT_GT(result.turns, 20);
}

TEST(Forfeits, GameMayBeLostBeforeItsFirstTurn) {
  const auto heard = std::make_shared<Guest::Heard>();
  heard->fails_to_begin = true;
  const auto results =
      results_of(Game::create(Rules()), {{1, {0, 1}}, {2, {1, 1}}}, 1, {kRandomAndGreedy[0], forfeiting(1000, heard)});
  EXPECT_EQ(results.at(0).forfeit->seat, 1);
  EXPECT_EQ(results.at(0).forfeit->reason, "start");
  EXPECT_EQ(results.at(0).scores, (std::vector<int>{0, 0}));
  EXPECT_EQ(results.at(1).forfeit->seat, 0);
  EXPECT_EQ(heard->ended, 2);
}

TEST(Forfeits, AgentInSeveralSeatsHearsOfAGameOnce) {
  const auto heard = std::make_shared<Guest::Heard>();
  const auto results = results_of(Game::create(rules_of({{"players", 3}})), {{1, {1, 0, 1}}}, 1,
                                  {kRandomAndGreedy[0], forfeiting(1000, heard)});
  EXPECT_FALSE(results.at(0).forfeit);
  EXPECT_EQ(heard->begun, 1);
  EXPECT_EQ(heard->ended, 1);
}

TEST(Forfeits, EndIsToldWhenAnErrorStopsTheRun) {
  const auto heard = std::make_shared<Guest::Heard>();
  const auto thrower = faulty(20, [](const GameState&) -> Action { throw std::logic_error("I give up"); });
  PlayOptions options;
  EXPECT_THROW(play_games(Game::create(Rules()), {{1, {0, 1}}}, {thrower, forfeiting(1000, heard)}, kNames, options),
               std::logic_error);
  EXPECT_EQ(heard->ended, 1);
}

// --- Strength -------------------------------------------------------------------------------------------------------

// 40 decks, each with both seatings. Greedy wins about 99 of 100 games; an agent that wins 98 of 100 would fail to win
// 76 of 80 (95 %) with probability 0.02, and the seed is fixed.
TEST(PlayGames, GreedyBeatsRandom) {
  const auto game = Game::create(Rules());
  const auto specs = paired(40, 2, 11);
  int wins = 0, margin = 0;
  for (const auto& [i, result] : results_of(game, specs, 2)) {
    const std::size_t greedy = specs[i].seats[0] == 1 ? 0 : 1;
    const int ahead = result.scores[greedy] - result.scores[1 - greedy];
    wins += ahead > 0;
    margin += ahead;
  }
  EXPECT_GE(wins, 76);
  EXPECT_GE(margin / 80, 40);
}

}  // namespace
}  // namespace carc
