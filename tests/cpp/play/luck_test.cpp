#include "carc/play/luck.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/play/game_play.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

using namespace test;

// Judges a position by the track alone.
class Track : public Evaluator {
 public:
  void evaluate(std::span<const Evaluation> batch, Rng&) override {
    for (const Evaluation& e : batch) {
      EXPECT_FALSE(e.state->is_terminal());
      *e.value = final_points(*e.state);
    }
    asked += batch.size();
  }
  std::size_t asked = 0;
};

// Judges by random numbers, those that it is handed.
class Noise : public Evaluator {
 public:
  void evaluate(std::span<const Evaluation> batch, Rng& rng) override {
    for (const Evaluation& e : batch) {
      for (float& v : *e.value) v = static_cast<float>(rng.uniform());
    }
  }
};

struct Expectation {
  Luck mean{};
  double size = 0;  // of the largest single luck
};

Expectation expectation(LuckMeter& meter, const GameState& state) {
  Expectation out;
  for (const ChanceOutcome& o : state.chance_outcomes()) {
    const Luck luck = meter.of_draw(state, o.tile);
    for (std::size_t p = 0; p < luck.size(); ++p) {
      out.mean[p] += o.probability * luck[p];
      out.size = std::max(out.size, std::abs(luck[p]));
    }
  }
  return out;
}

// A finished game of greedy against random agents.
GameRecord some_game(const Rules& rules, std::uint64_t seed) {
  const auto game = Game::create(rules);
  const auto greedy = configure_agent("greedy")(), random = configure_agent("random")();
  GameSpec spec{seed, {}};
  for (int p = 0; p < rules.players; ++p) spec.seats.push_back(p % 2);
  return GameRecord::from_json(play_game(game, spec, {greedy.get(), random.get()}, {"greedy", "random"}).record);
}

TEST(Luck, ExpectationIsZeroAtEveryDraw) {
  Rng rng(1);
  int draws = 0, with_unplaceable = 0, river = 0;
  double size = 0;
  std::set<int> players;
  for (int g = 0; g < 12; ++g) {
    Rules rules = random_rules(rng);
    rules.players = 2 + g % 4;
    players.insert(rules.players);
    const auto game = Game::create(rules);
    GameState state(*game);
    LuckMeter meter;
    play_randomly(state, rng, [&](const GameState& s) {
      const bool has_unplaceable =
          std::ranges::any_of(s.chance_outcomes(), [&](const ChanceOutcome& o) { return !s.can_be_laid(o.tile); });
      if (!s.is_chance_node() || (s.laid_tiles() % 6 && !has_unplaceable)) return;
      const Expectation e = expectation(meter, s);
      for (const double mean : e.mean) EXPECT_NEAR(mean, 0, 1e-9);
      size = std::max(size, e.size);
      with_unplaceable += has_unplaceable;
      river += game->tile(s.chance_outcomes()[0].tile).is_river;
      ++draws;
    });
  }
  EXPECT_GT(draws, 120);
  EXPECT_GE(with_unplaceable, 4);
  EXPECT_GE(river, 4);
  EXPECT_GT(size, 5);
  EXPECT_EQ(players.size(), 4u);
}

TEST(Luck, ExpectationIsZeroWhateverJudges) {
  Rng rng(2);
  for (const std::shared_ptr<Evaluator>& values :
       {std::shared_ptr<Evaluator>(new Track), std::shared_ptr<Evaluator>(new Noise)}) {
    LuckMeter meter(values);
    const auto game = Game::create(Rules());
    GameState state = placement_with(*game, 3, 40);
    state.apply(random_action(state, rng));
    state.apply(random_action(state, rng));
    ASSERT_TRUE(state.is_chance_node());
    const Expectation e = expectation(meter, state);
    for (const double mean : e.mean) EXPECT_NEAR(mean, 0, 1e-9);
    EXPECT_GT(e.size, 0.01);
  }
}

TEST(Luck, SumsToZeroOverTheSeats) {
  for (int players = 2; players <= 5; ++players) {
    Rules rules;
    rules.players = players;
    LuckMeter meter;
    for (const DrawLuck& draw : luck_of(some_game(rules, 4), meter)) {
      EXPECT_NEAR(std::accumulate(draw.luck.begin(), draw.luck.end(), 0.0), 0, 1e-9);
      for (auto p = static_cast<std::size_t>(players); p < draw.luck.size(); ++p) EXPECT_EQ(draw.luck[p], 0);
    }
  }
}

TEST(Luck, DependsOnThePositionAndTheTileAlone) {
  const GameRecord record = some_game(Rules(), 5);
  LuckMeter meter;
  const auto draws = luck_of(record, meter);
  // Asked backwards, by another meter, of positions that were read from a record with another future.
  LuckMeter other;
  for (int turn = 60; turn > 0; turn -= 7) {
    GameRecord start(record.game(), record.initial_state());
    for (int i = 0; i < 3 * turn; ++i) start.apply(record.actions()[static_cast<std::size_t>(i)]);
    Rng rng(6);
    while (!start.state().is_terminal()) start.apply(random_action(start.state(), rng));
    const auto branch = luck_of(start, other);
    for (int i = 0; i < turn; ++i) {
      EXPECT_EQ(branch[static_cast<std::size_t>(i)].luck, draws[static_cast<std::size_t>(i)].luck);
      EXPECT_EQ(branch[static_cast<std::size_t>(i)].player, i % 2);
    }
  }
}

TEST(Luck, TileThatFitsNowhereHasNone) {
  Rng rng(7);
  int seen = 0;
  for (int g = 0; g < 40 && seen < 3; ++g) {
    const auto game = Game::create(Rules());
    GameState state(*game);
    LuckMeter meter;
    play_randomly(state, rng, [&](const GameState& s) {
      if (!s.is_chance_node()) return;
      for (const ChanceOutcome& o : s.chance_outcomes()) {
        if (s.can_be_laid(o.tile)) continue;
        EXPECT_EQ(meter.of_draw(s, o.tile), Luck{});
        ++seen;
      }
    });
  }
  EXPECT_GE(seen, 3);
}

TEST(Luck, OnlyTileThatCanComeHasNone) {
  const Play game(Rules(), {"D", "D", "D"});
  LuckMeter meter;
  EXPECT_EQ(meter.of_draw(game.state, game.type("D")), Luck{});
}

TEST(Luck, TileThatClosesACityIsLuckyForItsPlayer) {
  const Play game(Rules(), {"E", "V", "V", "V", "V", "B"});
  LuckMeter meter;
  const double closing = meter.of_draw(game.state, game.type("E"))[0];
  EXPECT_GT(closing, 1);
  EXPECT_LT(meter.of_draw(game.state, game.type("V"))[0], 0);
  EXPECT_EQ(meter.of_draw(game.state, game.type("E"))[1], -closing);
}

TEST(Luck, IsTheSurplusOfThePointsOfTheBestTurn) {
  // Judged by the track: closing the two-tile city pays 4 at once, which one of three tiles can do.
  Rules rules;
  Play game(rules, {"E", "U", "U"});
  LuckMeter meter(std::make_shared<Track>());
  const Luck luck = meter.of_draw(game.state, game.type("E"));
  const Luck other = meter.of_draw(game.state, game.type("U"));
  EXPECT_NEAR(luck[0], 4 * (1 - 1.0 / 3), 1e-6);
  EXPECT_NEAR(other[0], -4 * 1.0 / 3, 1e-6);
}

TEST(Luck, PositionsAfterTheBestTurnsAreJudgedTogether) {
  const auto track = std::make_shared<Track>();
  LuckMeter meter(track);
  const auto game = Game::create(Rules());
  const GameState state(*game);
  meter.of_draw(state, state.chance_outcomes()[0].tile);
  EXPECT_EQ(track->asked, state.chance_outcomes().size());
}

TEST(PlayGames, LuckOfAGameIsThatOfItsRecord) {
  for (const char* preset : {"first_edition_2000", "current_river_abbot"}) {
    Rules rules = Rules::preset(preset);
    rules.players = 3;
    const auto game = Game::create(rules);
    const std::vector<GameSpec> specs = {{1, {0, 1, 1}}, {2, {1, 0, 1}}, {3, {1, 1, 0}}};
    std::map<std::size_t, GameResult> by_threads[2];
    for (const int threads : {1, 3}) {
      PlayOptions options;
      options.threads = threads;
      options.luck = true;
      options.on_result = [&](std::size_t i, const GameResult& result) {
        by_threads[threads / 2].emplace(i, result);
        return true;
      };
      play_games(game, specs, {configure_agent("random"), configure_agent("greedy")}, {"random", "greedy"}, options);
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const GameResult& result = by_threads[0].at(i);
      EXPECT_EQ(result.luck, by_threads[1].at(i).luck);
      const GameRecord record = GameRecord::from_json(result.record);
      LuckMeter meter;
      std::vector<double> sum(3);
      std::size_t draws = 0;
      for (const DrawLuck& draw : luck_of(record, meter)) {
        for (std::size_t s = 0; s < 3; ++s) sum[s] += draw.luck[s];
        ++draws;
      }
      EXPECT_EQ(result.luck, sum);
      EXPECT_EQ(draws, static_cast<std::size_t>(result.turns) + result.discarded.size());
    }
  }
}

TEST(PlayGames, LuckIsMeasuredOnlyWhereItIsAskedFor) {
  const auto game = Game::create(Rules());
  const auto agent = configure_agent("random")();
  EXPECT_TRUE(play_game(game, {1, {0, 0}}, {agent.get()}, {"random"}).luck.empty());
}

}  // namespace
}  // namespace carc
