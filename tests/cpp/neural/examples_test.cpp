#include "carc/neural/examples.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/play/self_play.hpp"
#include "nets.hpp"

namespace carc::test {
namespace {

using testing::HasSubstr;

// --- Games written by hand ------------------------------------------------------------------------------------------

// Turns in the notation of `Play` as columns; the rest of the game sets no figure.
GameArrays arrays_of(const std::shared_ptr<const Game>& game, const std::vector<std::string>& turns) {
  GameState state(*game);
  GameArrays arrays;
  arrays.players = state.players();
  const auto add = [&](TypeId tile, const auto& placement_of, const auto& figure_of) {
    state.apply_checked(Action::draw(tile));
    arrays.tile.push_back(tile);
    arrays.placement.push_back(kDiscarded);
    arrays.figure.push_back(Action::no_figure().bits());
    arrays.explored.push_back(0);
    if (state.phase() != Phase::kPlace) return;  // it fits nowhere
    const Action placement = placement_of();
    state.apply_checked(placement);
    const Action figure = figure_of();
    state.apply_checked(figure);
    arrays.placement.back() = placement.bits();
    arrays.figure.back() = figure.bits();
  };
  for (const std::string& turn : turns) {
    const std::size_t space = turn.find(' ');
    add(
        game->require<Error>(turn.substr(0, turn.find('@'))).type,
        [&] { return string_to_action(state, turn.substr(0, space)); },
        [&] { return string_to_action(state, space == std::string::npos ? "-" : turn.substr(space + 1)); });
  }
  while (!state.is_terminal())
    add(
        state.chance_outcomes().front().tile, [&] { return state.legal_action(0); },
        [] { return Action::no_figure(); });
  arrays.value.assign(arrays.turns() * static_cast<std::size_t>(arrays.players), 0);
  arrays.game_turns = {static_cast<std::uint16_t>(arrays.turns())};
  for (int p = 0; p < arrays.players; ++p) arrays.final_scores.push_back(static_cast<std::int16_t>(state.score(p)));
  return arrays;
}

ExampleOptions all_positions() {
  ExampleOptions options;
  options.keep = options.keep_explored = 1;
  return options;
}

GameArrays some_games(const Rules& rules, std::size_t n, std::uint64_t seed) {
  SelfPlayOptions options;
  options.uniform_rate = 0.3F;
  return self_play(Game::create(rules), options, seed, 0, n, 1);
}

// --- Labels ---------------------------------------------------------------------------------------------------------

// The labels of a position add up to what every player still got: nothing is lost or counted twice.
TEST(Examples, LabelsAddUpToThePointsStillToCome) {
  Rng rng(1);
  for (int round = 0; round < 12; ++round) {
    const Rules rules = random_rules(rng);
    const auto game = Game::create(rules);
    const Examples e = read_examples(game, some_games(rules, 4, rng.next()), 0, all_positions(), 1);
    const std::size_t positions = e.game.size();
    ASSERT_GT(positions, 100U);
    std::vector<std::array<double, kMaxPlayers>> sums(positions);
    std::vector<double> rest(positions);  // of players who are neither main nor rival
    for (const Examples::Rows& rows : e.rows) {
      for (std::size_t r = 0; r < rows.main.size(); ++r) {
        const auto at = static_cast<std::size_t>(rows.position[r]);
        sums[at][rows.main[r]] += static_cast<double>(rows.targets[5 * r]);
        if (rows.rival[r] != kNone) sums[at][rows.rival[r]] += static_cast<double>(rows.targets[5 * r + 1]);
        rest[at] += static_cast<double>(rows.targets[5 * r + 2]);
        EXPECT_GE(rows.targets[5 * r + 3], 0);
        EXPECT_LE(rows.targets[5 * r + 3], 1);
      }
    }
    for (std::size_t q = 0; q < e.player.size(); ++q) {
      EXPECT_GE(e.player_targets[q], -1e-3F);
      sums[static_cast<std::size_t>(e.player_position[q])][e.player[q]] += static_cast<double>(e.player_targets[q]);
    }
    for (std::size_t i = 0; i < positions; ++i) {
      double labelled = rest[i], got = 0;
      for (std::size_t p = 0; p < kMaxPlayers; ++p) {
        labelled += sums[i][p];
        got += e.final_scores[i * kMaxPlayers + p] - e.score[i * kMaxPlayers + p];
      }
      EXPECT_NEAR(labelled, got, 1e-2);
    }
  }
}

// The city of player 0 is closed by the second tile.
TEST(Examples, FiguresAreBoundUntilTheirFeatureIsComplete) {
  const auto game = Game::create(Rules());
  const GameArrays arrays = arrays_of(game, {"E@0,1r2 city:N", "E@0,2r0", "V@1,0r0", "V@1,1r2"});
  const Examples e = read_examples(game, arrays, 0, all_positions(), 1);
  const Examples::Rows& cities = e.rows[static_cast<std::size_t>(RowKind::kCity)];
  ASSERT_EQ(cities.main.size(), 1U);
  EXPECT_EQ(cities.position[0], 0);
  EXPECT_EQ(cities.main[0], 0);
  EXPECT_EQ(cities.targets[0], 4);
  EXPECT_TRUE(std::isnan(cities.targets[1]));
  EXPECT_EQ(cities.targets[2], 0);
  EXPECT_FLOAT_EQ(cities.targets[3], 1.0F / 70);  // one of the 70 tiles left
  EXPECT_EQ(cities.targets[4], 1);
}

// Cities of both players become one of four tiles, which pays 8 points to each.
TEST(Examples, MergedFeaturesShareTheirPointsBySize) {
  const auto game = Game::create(Rules());
  const GameArrays arrays = arrays_of(game, {"E@0,1r2 city:N", "E@1,1r2 city:N", "N@0,2r0", "N@1,2r3", "V@1,0r1"});
  const Examples e = read_examples(game, arrays, 0, all_positions(), 1);
  const Examples::Rows& cities = e.rows[static_cast<std::size_t>(RowKind::kCity)];
  ASSERT_EQ(cities.position, (std::vector<std::int32_t>{0, 1, 1, 2, 2}));
  EXPECT_EQ(cities.main, (std::vector<std::uint8_t>{0, 0, 1, 0, 1}));
  const auto main = [&](std::size_t r) { return cities.targets[5 * r]; };
  const auto others = [&](std::size_t r) { return cities.targets[5 * r + 2]; };
  EXPECT_EQ(main(0), 8);
  EXPECT_EQ(others(0), 8);
  EXPECT_EQ(main(1), 4);
  EXPECT_EQ(main(2), 4);
  EXPECT_FLOAT_EQ(main(3), 16.0F / 3);  // two tiles of three by then
  EXPECT_FLOAT_EQ(others(3), 16.0F / 3);
  EXPECT_FLOAT_EQ(main(4), 8.0F / 3);
}

// --- Targets --------------------------------------------------------------------------------------------------------

TEST(Examples, LambdaMixesWhatWasThought) {
  const auto game = Game::create(Rules());
  GameArrays games = some_games(Rules(), 1, 3);
  std::fill(games.explored.begin(), games.explored.end(), std::uint8_t{0});
  for (std::size_t t = 0; t < games.turns(); ++t) games.value[2 * t] = 50, games.value[2 * t + 1] = 10;
  ExampleOptions options = all_positions();
  options.lambda = 0;
  const Examples td = read_examples(game, games, 0, options, 1);
  EXPECT_EQ(td.target[0], 50);
  EXPECT_EQ(td.target[1], 10);
  options.lambda = 0.5;
  const Examples half = read_examples(game, games, 0, options, 1);
  const std::size_t last = half.game.size() - 1;  // the position before the last turn
  EXPECT_FLOAT_EQ(half.target[last * kMaxPlayers], 0.5F * 50 + 0.5F * games.final_scores[0]);
  options.lambda = 1;
  const Examples outcome = read_examples(game, games, 0, options, 1);
  EXPECT_EQ(outcome.target[0], games.final_scores[0]);
}

TEST(Examples, BagAverageIsTheMeanOverTheDraws) {
  const auto game = Game::create(Rules());
  const GameArrays games = some_games(Rules(), 1, 4);
  ExampleOptions options;
  options.keep = 0.05;
  options.bag_average = random_feature_net(2);
  const Examples e = read_examples(game, games, 0, options, 1);
  ASSERT_GT(e.game.size(), 1U);
  // The first position kept, played again.
  GameState state(*game);
  for (int t = 0; t <= e.turn[0]; ++t) {
    state.apply(Action::draw(games.tile[static_cast<std::size_t>(t)]));
    state.apply(Action::from_bits(games.placement[static_cast<std::size_t>(t)]));
    state.apply(Action::from_bits(games.figure[static_cast<std::size_t>(t)]));
  }
  FeatureEvaluator evaluator(options.bag_average);
  double mean = 0;
  for (const ChanceOutcome& outcome : state.chance_outcomes()) {
    GameState drawn = state;
    drawn.apply(Action::draw(outcome.tile));
    mean += outcome.probability * static_cast<double>(evaluator.value(drawn)[0]);
  }
  EXPECT_NEAR(static_cast<double>(e.target[0]), mean, 1e-3);
}

// --- Threads and errors ---------------------------------------------------------------------------------------------

TEST(Examples, ThreadsAndPartsGiveTheSame) {
  const auto game = Game::create(rules_of({{"players", 3}, {"abbot", true}}));
  const GameArrays games = some_games(game->rules(), 12, 5);
  ExampleOptions options;
  const Examples one = read_examples(game, games, 100, options, 1), two = read_examples(game, games, 100, options, 2);
  EXPECT_EQ(one.rows[0].inputs, two.rows[0].inputs);
  EXPECT_EQ(one.target, two.target);
  EXPECT_EQ(one.player_targets, two.player_targets);
  // Other numbers: other positions are kept.
  EXPECT_NE(read_examples(game, games, 200, options, 1).turn, one.turn);
}

TEST(Examples, IllegalGamesAreRefusedByTheirTurn) {
  const auto game = Game::create(Rules());
  const GameArrays games = some_games(Rules(), 2, 6);
  const auto message_after = [&](const auto& change) {
    GameArrays broken = games;
    change(broken);
    return message_of<Error>([&] { read_examples(game, broken, 40, {}, 2); });
  };
  EXPECT_THAT(message_after([](GameArrays& g) { g.placement[5] ^= 1U << 20; }), HasSubstr("game 40, turn 5"));
  EXPECT_THAT(message_after([](GameArrays& g) { g.tile[3] = 200; }), HasSubstr("game 40, turn 3"));
  EXPECT_THAT(message_after([](GameArrays& g) { g.figure[7] = 0xFFFFFFFF; }), HasSubstr("game 40, turn 7"));
  EXPECT_THAT(message_after([](GameArrays& g) { g.placement[9] = kDiscarded; }), HasSubstr("game 40, turn 9"));
  EXPECT_THAT(message_after([](GameArrays& g) { ++g.final_scores[2]; }), HasSubstr("game 41"));
  EXPECT_THAT(message_after([&](GameArrays& g) {
                --g.game_turns[1];
                g.tile.pop_back();
              }),
              HasSubstr("game 41"));
}

}  // namespace
}  // namespace carc::test
