#include "carc/search/mcts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/search/gumbel.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/rollout.hpp"
#include "carc/search/solver.hpp"
#include "endgames.hpp"

namespace carc::test {
namespace {

using testing::HasSubstr;

EvaluatorFactory heuristic() {
  return [] { return std::make_unique<HeuristicEvaluator>(); };
}

EvaluatorFactory rollouts() {
  return [] { return std::make_unique<RolloutEvaluator>(RolloutOptions{}, std::make_shared<HeuristicEvaluator>()); };
}

MctsOptions small(std::int64_t simulations, const Json& changes = Json::object()) {
  MctsOptions options;
  Json left = changes;
  take_options(left, options);
  EXPECT_TRUE(left.empty());
  options.simulations = simulations;
  options.memory_mb = 16;
  return options;
}

// Options that differ in every part of the search.
std::vector<Json> variants() {
  return {Json::object(),
          {{"selection", "uct"}, {"first_play", "optimistic"}, {"unknown_deck", "nodes"}, {"trees", 1}},
          {{"selection", "ucb1_tuned"}, {"first_play", "optimistic"}, {"unknown_deck", "open_loop"}, {"trees", 2}},
          {{"selection", "uct"}, {"first_play", "optimistic"}, {"rave", 100}, {"unknown_deck", "nodes"}},
          {{"rave", 50}, {"first_play", "parent"}, {"unknown_deck", "decks"}},
          {{"unknown_deck", "open_loop"}, {"utility", "share"}},
          {{"unknown_deck", "nodes"}, {"utility", "win"}, {"choice", "visits"}},
          {{"widening_factor", 2}, {"progressive_bias", 0.5}, {"utility", "linear"}, {"utility_scale", 50}},
          {{"gumbel_actions", 8}, {"trees", 2}},
          {{"root_noise", 0.25}, {"temperature", 1}},
          {{"selection", "uniform"}, {"max_depth", 1}, {"unknown_deck", "nodes"}}};
}

void expect_same(const SearchResult& a, const SearchResult& b) {
  EXPECT_EQ(a.best, b.best);
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.points, b.points);
  ASSERT_EQ(a.actions.size(), b.actions.size());
  for (std::size_t i = 0; i < a.actions.size(); ++i) {
    EXPECT_EQ(a.actions[i].visits, b.actions[i].visits);
    EXPECT_EQ(a.actions[i].prior, b.actions[i].prior);
    EXPECT_EQ(a.actions[i].utility, b.actions[i].utility);
    EXPECT_EQ(a.actions[i].spread, b.actions[i].spread);
  }
}

// --- What a result holds --------------------------------------------------------------------------------------------

TEST(Mcts, ResultAddsUpForEveryVariant) {
  for (const auto& make : {heuristic(), rollouts()}) {
    for (const Json& variant : variants()) {
      SCOPED_TRACE(variant.dump());
      const auto game = Game::create(rules_of({{"players", 3}, {"abbot", true}, {"river", "2014"}}));
      const GameState state = placement_with(*game, 3, 20);
      const SearchResult r = Mcts(small(300, variant), make).search(state, 7);
      EXPECT_EQ(r.simulations, 300);
      EXPECT_GT(r.nodes, 0);
      ActionList legal;
      state.legal_actions(legal);
      ASSERT_EQ(r.actions.size(), static_cast<std::size_t>(legal.size()));
      std::int64_t visits = 0;
      double prior = 0;
      for (int i = 0; i < legal.size(); ++i) {
        const ActionReport& a = r.actions[static_cast<std::size_t>(i)];
        EXPECT_EQ(a.action, legal[i]);
        visits += a.visits;
        prior += a.prior;
        for (const float u : a.utility) EXPECT_LE(std::abs(u), 1.0001F);
        if (a.visits == 0) {
          EXPECT_EQ(a.value, 0);
        }
      }
      EXPECT_EQ(visits, 300);
      EXPECT_NEAR(prior, 1, 1e-4);
      EXPECT_EQ(r.line.front(), r.actions[static_cast<std::size_t>(r.best)].action);
    }
  }
}

TEST(Mcts, LineCanBePlayed) {
  const auto game = Game::create(Rules());
  GameState state = placement_with(*game, 5, 30);
  const SearchResult r = Mcts(small(2000, {{"unknown_deck", "nodes"}, {"trees", 1}}), heuristic()).search(state, 1);
  EXPECT_GE(r.line.size(), 3u);  // placement, figure, draw
  for (const Action action : r.line) {
    ASSERT_TRUE(state.is_legal(action));
    state.apply(action);
  }
}

// --- Determinism ----------------------------------------------------------------------------------------------------

TEST(Mcts, SameSeedGivesTheSameResultForAnyNumberOfThreads) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  for (const auto& make : {heuristic(), rollouts()}) {
    for (Json variant : variants()) {
      SCOPED_TRACE(variant.dump());
      variant["trees"] = 4;
      Mcts one(small(200, variant), make);
      const SearchResult first = one.search(state, 42);
      expect_same(first, one.search(state, 42));  // nothing is left over from the search before
      variant["threads"] = 3;
      expect_same(first, Mcts(small(200, variant), make).search(state, 42));
    }
  }
}

TEST(Mcts, OtherSeedsGiveOtherSearches) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  Mcts mcts(small(3000), heuristic());
  EXPECT_NE(mcts.search(state, 1).value, mcts.search(state, 2).value);
}

// --- Strength where the truth is known ------------------------------------------------------------------------------

// Values of the solver are points of difference; a linear utility of the same scale is compared with them.
TEST(Mcts, ConvergesToTheSolver) {
  constexpr float kScale = 60;
  int positions = 0;
  Rng rng(77);
  for (int i = 0; positions < 30 && i < 400; ++i) {
    const auto game = Game::create(rules_of({{"players", 2 + i % 3}}));
    GameState state = small_game(*game, 5, rng);
    play_until(state, i % 2, rng);
    if (state.is_terminal() || state.num_legal_actions() < 2) continue;
    const Solution truth = solve(state);
    ASSERT_TRUE(truth.complete);
    const auto mover = static_cast<std::size_t>(state.turn_player());
    for (const char* deck : {"nodes", "decks", "open_loop"}) {
      if (std::string(deck) == "open_loop" && state.tiles_left() > 0) continue;  // shares actions between tiles
      const auto error_after = [&](std::int64_t simulations) {
        const Json changes = {{"unknown_deck", deck}, {"utility", "linear"},        {"utility_scale", kScale},
                              {"trees", 1},           {"first_play", "optimistic"}, {"selection", "uct"},
                              {"exploration", 0.3}};
        const SearchResult r = Mcts(small(simulations, changes), heuristic()).search(state, 5);
        const Values& chosen = truth.values[static_cast<std::size_t>(r.best)];
        return std::pair(
            truth.value[mover] - chosen[mover],
            std::abs(static_cast<float>(r.actions[static_cast<std::size_t>(r.best)].value) * kScale - chosen[mover]));
      };
      const auto [regret, difference] = error_after(20'000);
      EXPECT_LT(regret, 0.05F) << deck << " " << i;
      EXPECT_LT(difference, 1.5F) << deck << " " << i;
    }
    ++positions;
  }
  EXPECT_EQ(positions, 30);
}

// The third player can close a city of his own with the last tile.
TEST(Mcts, FindsAWinInOneMoveWithThreePlayers) {
  Rng rng(31);
  int found = 0;
  for (int i = 0; found < 10 && i < 3000; ++i) {
    const auto game = Game::create(rules_of({{"players", 3}}));
    GameState state = small_game(*game, 8, rng);
    play_until(state, 0, rng);
    if (state.is_terminal() || state.phase() != Phase::kPlace) continue;
    const Solution truth = solve(state);
    const auto mover = static_cast<std::size_t>(state.turn_player());
    // One placement wins, the second best is at least 2 points worse.
    std::vector<float> values;
    for (const Values& v : truth.values) values.push_back(v[mover]);
    std::sort(values.rbegin(), values.rend());
    if (values.size() < 3 || values[0] <= 0 || values[0] - values[1] < 2) continue;
    ++found;
    const SearchResult r = Mcts(small(2000, {{"trees", 2}}), rollouts()).search(state, 3);
    EXPECT_EQ(r.best, truth.best) << i;
    const SearchResult h = Mcts(small(2000, {{"trees", 2}}), heuristic()).search(state, 3);
    EXPECT_EQ(h.best, truth.best) << i;
  }
  EXPECT_EQ(found, 10);
}

TEST(Mcts, SwappingTheSeatsSwapsTheValues) {
  Rng rng(13);
  for (int i = 0; i < 10; ++i) {
    const auto game = Game::create(Rules());
    std::array<std::uint8_t, kMaxTypes> bag = game->bag();
    GameState a(*game, Start{game->start()}, bag, 0), b(*game, Start{game->start()}, bag, 1);
    for (int k = 0; k < 60 || a.phase() != Phase::kPlace; ++k) {
      const Action action = random_action(a, rng);
      a.apply(action);
      b.apply(action);
    }
    const SearchResult x = Mcts(small(400), heuristic()).search(a, 6), y = Mcts(small(400), heuristic()).search(b, 6);
    EXPECT_EQ(x.best, y.best);
    EXPECT_NEAR(x.value[0], y.value[1], 1e-5);
    EXPECT_NEAR(x.points[0], y.points[1], 1e-3);
    EXPECT_NEAR(x.points[1], y.points[0], 1e-3);
  }
}

// --- The rules of the search ----------------------------------------------------------------------------------------

TEST(Mcts, FlatSearchSharesSimulationsEqually) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  const int n = state.num_legal_actions();
  const SearchResult r =
      Mcts(small(10 * n, {{"selection", "uniform"}, {"max_depth", 1}, {"trees", 1}}), rollouts()).search(state, 2);
  for (const ActionReport& a : r.actions) EXPECT_EQ(a.visits, 10);
  EXPECT_EQ(r.nodes, 1);
}

TEST(Mcts, WideningKeepsToTheBestPriors) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  const SearchResult r =
      Mcts(small(400, {{"widening_factor", 1}, {"widening_exponent", 0.2}, {"trees", 1}}), heuristic())
          .search(state, 2);
  double worst_visited = 1, best_unvisited = 0;
  int visited = 0;
  for (const ActionReport& a : r.actions) {
    visited += a.visits > 0;
    if (a.visits > 0) worst_visited = std::min(worst_visited, a.prior);
    if (a.visits == 0) best_unvisited = std::max(best_unvisited, a.prior);
  }
  EXPECT_LE(visited, 4);  // 400^0.2 = 3.3
  EXPECT_GE(worst_visited, best_unvisited);
}

TEST(Mcts, GumbelHalvesTheActions) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  const SearchResult r = Mcts(small(64, {{"gumbel_actions", 8}, {"trees", 1}}), heuristic()).search(state, 2);
  int visited = 0;
  std::int64_t most = 0;
  for (const ActionReport& a : r.actions) {
    visited += a.visits > 0;
    most = std::max(most, a.visits);
  }
  EXPECT_EQ(visited, 8);
  EXPECT_EQ(r.actions[static_cast<std::size_t>(r.best)].visits, most);
}

TEST(Mcts, NoiseChangesThePriorsButKeepsTheirSum) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  const SearchResult plain = Mcts(small(64), heuristic()).search(state, 2);
  const SearchResult noisy = Mcts(small(64, {{"root_noise", 0.5}}), heuristic()).search(state, 2);
  double sum = 0, moved = 0;
  for (std::size_t i = 0; i < noisy.actions.size(); ++i) {
    sum += noisy.actions[i].prior;
    moved += std::abs(noisy.actions[i].prior - plain.actions[i].prior);
  }
  EXPECT_NEAR(sum, 1, 1e-4);
  EXPECT_GT(moved, 0.1);
}

// With temperature 1 actions come up as often as they were visited.
TEST(Mcts, TemperatureSamplesByVisits) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 25);
  std::vector<int> seen(static_cast<std::size_t>(state.num_legal_actions()));
  Mcts mcts(small(64, {{"temperature", 1}}), heuristic());
  for (std::uint64_t seed = 0; seed < 60; ++seed) ++seen[static_cast<std::size_t>(mcts.search(state, seed).best)];
  EXPECT_GT(std::count_if(seen.begin(), seen.end(), [](int n) { return n > 0; }), 2);
}

TEST(Mcts, AFullTreeStopsGrowingAndTheSearchGoesOn) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 40);
  for (const char* deck : {"decks", "nodes", "open_loop"}) {
    MctsOptions options = small(20'000, {{"unknown_deck", deck}, {"trees", 1}});
    options.memory_mb = 0.2F;
    const SearchResult r = Mcts(options, heuristic()).search(state, 1);
    EXPECT_EQ(r.simulations, 20'000);
    EXPECT_LE(r.bytes, 200'000u);
    EXPECT_GT(r.bytes, 150'000u);
  }
}

TEST(Mcts, TimeEndsTheSearch) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 9, 40);
  MctsOptions options = small(std::int64_t{1'000'000'000}, {{"time_ms", 20}});
  const SearchResult r = Mcts(options, heuristic()).search(state, 1);
  EXPECT_GE(r.simulations, options.trees);
  EXPECT_LT(r.simulations, 1'000'000'000);
}

TEST(Mcts, SampledDecksHoldTheBagInAnOrderThatTheRiverAllows) {
  Rng rng(2);
  for (const char* river : {"off", "2014", "2021"}) {
    const auto game = Game::create(rules_of({{"river", river}}));
    GameState state(*game);
    for (int i = 0; i < 9; ++i) state.apply(random_action(state, rng));
    while (!state.is_chance_node()) state.apply(random_action(state, rng));
    const auto deck = sample_deck(state, rng);
    std::array<int, kMaxTypes> copies{};
    for (int i = 0; i < state.tiles_left(); ++i) ++copies[deck[static_cast<std::size_t>(i)]];
    for (int t = 0; t < game->types(); ++t)
      EXPECT_EQ(copies[static_cast<std::size_t>(t)], state.tiles_left(static_cast<TypeId>(t)));
    while (!state.is_terminal()) {
      const Action action = state.is_chance_node()
                                ? Action::draw(deck[static_cast<std::size_t>(state.tiles_left() - 1)])
                                : random_action(state, rng);
      ASSERT_TRUE(state.is_legal(action));
      state.apply(action);
    }
  }
}

// --- Bad input ------------------------------------------------------------------------------------------------------

TEST(Mcts, RefusesWhatContradictsItself) {
  MctsOptions options;
  options.unknown_deck = UnknownDeck::kOpenLoop;
  options.rave = 10;
  EXPECT_THAT(message_of<OptionError>([&] { Mcts(options, heuristic()); }), HasSubstr("rave"));
  options = {};
  options.gumbel_actions = 4;
  options.time_ms = 10;
  EXPECT_THAT(message_of<OptionError>([&] { Mcts(options, heuristic()); }), HasSubstr("gumbel_actions"));
}

TEST(Mcts, RefusesPositionsWithoutADecision) {
  const auto game = Game::create(Rules());
  EXPECT_THAT(message_of<IllegalAction>([&] { Mcts({}, heuristic()).search(GameState(*game), 1); }), HasSubstr("draw"));
}

}  // namespace
}  // namespace carc::test
