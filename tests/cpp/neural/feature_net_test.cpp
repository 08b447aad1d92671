#include "carc/neural/feature_net.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/search/utility.hpp"
#include "nets.hpp"

namespace carc::test {
namespace {

using testing::HasSubstr;

// --- Inputs ---------------------------------------------------------------------------------------------------------

int input(const Row& row, const std::string& name) {
  const auto inputs = row_inputs(row.kind);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return row.inputs[i];
  }
  ADD_FAILURE() << "no input " << name;
  return -1;
}

std::vector<Row> rows_of(const GameState& state) {
  FeatureReader reader(state.game());
  std::vector<Row> rows;
  std::vector<Inputs> players;
  reader.read_all(state, rows, players);
  return rows;
}

// A city of one tile, open to the south, where only two of the tiles that are left could close it.
TEST(FeatureInputs, CityCountsTilesThatCloseIt) {
  const Play game = play(Rules(), {"E@0,1r2 city:N"}, {"V", "E", "E", "N"});
  const auto rows = rows_of(game.state);
  ASSERT_EQ(rows.size(), 1U);
  const Row& row = rows[0];
  EXPECT_EQ(row.kind, RowKind::kCity);
  EXPECT_EQ(row.main, 0);
  EXPECT_EQ(row.rival, kNone);
  EXPECT_EQ(input(row, "tiles"), 1);
  EXPECT_EQ(input(row, "one_cell"), 1);
  EXPECT_EQ(input(row, "fits_1"), 3);
  EXPECT_EQ(input(row, "closers_1"), 2);
  EXPECT_EQ(input(row, "dead_cells"), 0);
  EXPECT_EQ(input(row, "tiles_left"), 4);
  EXPECT_EQ(input(row, "main_wait"), 1);  // the other player is to move
}

TEST(FeatureInputs, CellThatNothingFitsIsDead) {
  const Play game = play(Rules(), {"E@0,1r2 city:N"}, {"V", "V"});
  const Row row = rows_of(game.state)[0];
  EXPECT_EQ(input(row, "fits_1"), 0);
  EXPECT_EQ(input(row, "no_closer"), 1);
  EXPECT_EQ(input(row, "dead_cells"), 1);
}

TEST(FeatureInputs, MonasteryKnowsItsMissingCells) {
  const Play game = play(Rules(), {"B@0,1r0 monastery"}, {"V", "V", "E"});
  const auto rows = rows_of(game.state);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].kind, RowKind::kMonastery);
  EXPECT_EQ(input(rows[0], "missing"), 7);
  EXPECT_EQ(input(rows[0], "reachable"), 5);
  EXPECT_EQ(input(rows[0], "out_of_reach"), 2);
}

TEST(FeatureInputs, EveryInputIsFelt) {
  std::array<std::vector<int>, kRowKinds> least, most;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    least[k].assign(row_inputs(static_cast<RowKind>(k)).size(), 255);
    most[k].assign(least[k].size(), 0);
  }
  Rng rng(3);
  for (int g = 0; g < 60; ++g) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.phase() != Phase::kDraw) return;
      for (const Row& row : rows_of(s)) {
        const auto k = static_cast<std::size_t>(row.kind);
        for (std::size_t i = 0; i < least[k].size(); ++i) {
          least[k][i] = std::min(least[k][i], int{row.inputs[i]});
          most[k][i] = std::max(most[k][i], int{row.inputs[i]});
        }
      }
    });
  }
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    for (std::size_t i = 0; i < least[k].size(); ++i) {
      const std::string name = row_inputs(static_cast<RowKind>(k))[i].name;
      const bool is_of_cities = name == "shields" || name == "small_city" || name == "no_joins";
      const bool is_third_end = name == "three_cells" || name == "fits_3" || name == "closers_3";
      if (k == static_cast<std::size_t>(RowKind::kRoad) && (is_of_cities || is_third_end)) continue;
      EXPECT_LT(least[k][i], most[k][i]) << kRowKindNames[k] << ": " << name;
    }
  }
}

// Two players change their places: main and rival stay who they are.
TEST(FeatureInputs, MainHoldsMostFigures) {
  Rng rng(5);
  int rivals = 0;
  for (int g = 0; g < 20; ++g) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.phase() != Phase::kDraw) return;
      for (const Row& row : rows_of(s)) {
        EXPECT_GE(row.figures_main, row.figures_rival);
        EXPECT_EQ(row.rival == kNone, row.figures_rival == 0);
        rivals += row.rival != kNone;
      }
    });
  }
  EXPECT_GT(rivals, 100);
}

// --- The network ----------------------------------------------------------------------------------------------------

TEST(FeatureNet, RefusesWhatIsNoFeatureNet) {
  const auto message_after = [](const auto& change) {
    Weights weights = random_feature_weights(1);
    change(weights);
    return message_of<WeightsError>([&] { const FeatureNet net(weights); });
  };
  EXPECT_THAT(message_after([](Weights& w) { w.tensors.erase("road.1.bias"); }), HasSubstr("road.1.bias"));
  EXPECT_THAT(message_after([](Weights& w) { w.tensors.erase("city.0.weight"); }), HasSubstr("city.0.weight"));
  EXPECT_THAT(message_after([](Weights& w) { w.tensors["city.0.weight"].shape = {8, 80}; }),
              HasSubstr("city.0.weight"));
  EXPECT_THAT(message_after([](Weights& w) { w.tensors["field.0.weight"].shape = {0, 30}; }), HasSubstr("hidden"));
  EXPECT_THAT(message_after([](Weights& w) { w.tensors["global.2.weight"] = w.tensors["global.0.weight"]; }),
              HasSubstr("global.2.weight"));
  EXPECT_THAT(message_after([](Weights& w) { w.tensors["more"] = w.tensors["global.0.bias"]; }), HasSubstr("more"));
}

// One perceptron computed plainly.
std::vector<double> plain_mlp(const Weights& weights, const std::string& name, std::vector<double> x) {
  for (int layer = 0; layer < 3; ++layer) {
    const Tensor& w = weights.tensors.at(name + "." + std::to_string(layer) + ".weight");
    const Tensor& b = weights.tensors.at(name + "." + std::to_string(layer) + ".bias");
    std::vector<double> y;
    for (std::size_t o = 0; o < b.values.size(); ++o) {
      double sum = static_cast<double>(b.values[o]);
      for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(w.values[o * x.size() + i]) * x[i];
      y.push_back(layer < 2 ? std::max(0.0, sum) : sum);
    }
    x = y;
  }
  return x;
}

// The sum over features and players, computed as the formula says.
std::vector<double> plain_value(const Weights& weights, const GameState& state) {
  FeatureReader reader(state.game());
  std::vector<Row> rows;
  std::vector<Inputs> players;
  reader.read_all(state, rows, players);
  const int n = state.players();
  std::vector<double> u, returns(static_cast<std::size_t>(n));
  for (int p = 0; p < n; ++p) u.push_back(state.score(p));
  for (const Row& row : rows) {
    std::vector<double> x;
    const auto inputs = row_inputs(row.kind);
    for (std::size_t i = 0; i < inputs.size(); ++i) x.push_back(row.inputs[i] * static_cast<double>(inputs[i].scale));
    const auto heads = plain_mlp(weights, kRowKindNames[static_cast<std::size_t>(row.kind)], x);
    const int rest = n - 1 - (row.rival != kNone);
    for (int p = 0; p < n; ++p) {
      double part = rest ? heads[2] / rest : 0;
      if (p == row.main) part = heads[0];
      if (p == row.rival) part = heads[1];
      u[static_cast<std::size_t>(p)] += 10 * (part + (p == row.main ? heads[3] : -heads[3] / (n - 1)));
    }
    const double home = (1 - std::clamp(heads[4], 0.0, 1.0)) * state.tiles_left();
    returns[row.main] += home * row.figures_main;
    if (row.rival != kNone) returns[row.rival] += home * row.figures_rival;
  }
  for (std::size_t p = 0; p < static_cast<std::size_t>(n); ++p) {
    std::vector<double> x;
    for (std::size_t i = 0; i < kPlayerInputs; ++i)
      x.push_back(players[p][i] * static_cast<double>(player_inputs()[i].scale));
    x.push_back(returns[p] * static_cast<double>(kReturnsScale));
    const auto heads = plain_mlp(weights, "global", x);
    u[p] += 10 * (heads[0] + heads[1]);
  }
  return u;
}

TEST(FeatureNet, ValueIsTheSumOverFeaturesAndPlayers) {
  const Weights weights = random_feature_weights(2, 32, 16);
  FeatureEvaluator evaluator(std::make_shared<const FeatureNet>(weights));
  Rng rng(6);
  int compared = 0;
  for (int g = 0; g < 40; ++g) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.phase() != Phase::kDraw || rng.below(6) != 0) return;
      const Values u = evaluator.value(s);
      const auto expected = plain_value(weights, s);
      for (std::size_t p = 0; p < expected.size(); ++p) EXPECT_NEAR(static_cast<double>(u[p]), expected[p], 1e-3);
      ++compared;
    });
  }
  EXPECT_GT(compared, 300);
}

TEST(FeatureNet, FinishedGamesHaveTheirScores) {
  FeatureEvaluator evaluator(random_feature_net(3));
  Rng rng(7);
  const auto game = Game::create(Rules());
  GameState state(*game);
  play_randomly(state, rng, [](const GameState&) {});
  EXPECT_EQ(evaluator.value(state), final_points(state));
}

// --- All turns together ---------------------------------------------------------------------------------------------

// What is read again after a turn must be all that the turn changed: the value of the position read afresh, but for
// sums in another order.
TEST(FeatureNet, TurnsJudgedTogetherHaveTheValuesOfTheirPositions) {
  FeatureEvaluator together(random_feature_net(4)), alone(random_feature_net(4));
  Rng rng(8);
  int compared = 0;
  for (int g = 0; g < 20; ++g) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.is_chance_node() || s.is_terminal() || rng.below(4) != 0) return;
      const auto judged = together.judge_turns(s);
      ASSERT_EQ(judged.turns.size(), judged.values.size());
      for (std::size_t t = 0; t < judged.turns.size(); ++t) {
        GameState after = s;
        if (s.phase() == Phase::kPlace) after.apply(judged.turns[t].placement);
        after.apply(judged.turns[t].figure);
        const Values expected = alone.value(after);
        for (int p = 0; p < s.players(); ++p) {
          ASSERT_NEAR(judged.values[t][static_cast<std::size_t>(p)], expected[static_cast<std::size_t>(p)], 1e-4)
              << "game " << g << ", tiles left " << s.tiles_left() << ", turn " << t;
        }
        ++compared;
      }
    });
  }
  EXPECT_GT(compared, 8'000);
}

TEST(FeatureNet, ActionsAreJudgedByTheirBestTurn) {
  FeatureEvaluator evaluator(random_feature_net(5)), turns(random_feature_net(5));
  Rng rng(9);
  const auto game = Game::create(rules_of({{"players", 3}, {"abbot", true}}));
  GameState state(*game);
  int compared = 0;
  play_randomly(state, rng, [&](const GameState& s) {
    if (s.is_chance_node() || s.is_terminal()) return;
    ActionList actions;
    s.legal_actions(actions);
    std::vector<Values> after(static_cast<std::size_t>(actions.size()));
    std::vector<float> priors(after.size());
    Values value{};
    evaluator.evaluate({&s, &actions, &value, priors.data(), after.data(), nullptr}, rng);
    const auto judged = turns.judge_turns(s);
    float most = -1e9F;
    for (int a = 0; a < actions.size(); ++a) {
      float best = -1e9F;
      for (std::size_t t = 0; t < judged.turns.size(); ++t) {
        if (judged.turns[t].placement == actions[a])
          best = std::max(best, lead(judged.values[t], s.turn_player(), s.players()));
      }
      EXPECT_EQ(lead(after[static_cast<std::size_t>(a)], s.turn_player(), s.players()), best);
      most = std::max(most, best);
    }
    EXPECT_EQ(lead(value, s.turn_player(), s.players()), most);
    EXPECT_NEAR(std::accumulate(priors.begin(), priors.end(), 0.0F), 1, 1e-4);
    ++compared;
  });
  EXPECT_GT(compared, 100);
}

// 84 tiles in one row: more open cells than any real game has.
TEST(FeatureNet, LongBoardsAreRead) {
  std::vector<std::string> turns;
  for (int i = 1; i <= 39; ++i) turns.push_back("U@" + std::to_string(i) + ",0r1" + (i == 1 ? " field:0" : " -"));
  const Play game = play(Rules(), turns, copies(40, "U"));
  FeatureEvaluator together(random_feature_net(6)), alone(random_feature_net(6));
  GameState state = game.state;
  state.apply(state.legal_action(0));
  const auto judged = together.judge_turns(state);
  for (std::size_t t = 0; t < judged.turns.size(); ++t) {
    GameState after = state;
    after.apply(judged.turns[t].placement);
    after.apply(judged.turns[t].figure);
    EXPECT_EQ(judged.values[t][0], alone.value(after)[0]);
  }
}

}  // namespace
}  // namespace carc::test
