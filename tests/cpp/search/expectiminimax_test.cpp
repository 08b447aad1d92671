#include "carc/search/expectiminimax.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "carc/play/expectiminimax_agent.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/solver.hpp"
#include "endgames.hpp"

namespace carc {
namespace {

using namespace test;

constexpr std::array<Pruning, 4> kAll = {Pruning::kNone, Pruning::kStar1, Pruning::kStar2, Pruning::kStar25};
constexpr float kScale = 4096;  // points: differences are exact in utilities and never cut

// Any numbers for any positions: what pruning must not mind.
class HashEvaluator final : public Evaluator {
 public:
  explicit HashEvaluator(bool judges) : judges_(judges) {}

  void evaluate(std::span<const Evaluation> batch, Rng&) override {
    for (const Evaluation& e : batch) {
      if (e.value) *e.value = value(*e.state);
      for (int i = 0; e.after && i < e.actions->size(); ++i) {
        GameState next = *e.state;
        next.apply((*e.actions)[i]);
        e.after[i] = value(next);
      }
    }
  }
  using Evaluator::evaluate;
  bool judges_actions() const override { return judges_; }

 private:
  static Values value(const GameState& state) {
    Values out{};
    Rng rng(state.hash());
    for (float& v : out) v = static_cast<float>(40 * rng.uniform());
    return out;
  }

  bool judges_;
};

std::shared_ptr<Evaluator> heuristic() { return std::make_shared<HeuristicEvaluator>(); }

ExpectiminimaxResult search(const GameState& state, const ExpectiminimaxOptions& options,
                            std::shared_ptr<Evaluator> evaluator) {
  Rng rng(1);
  return Expectiminimax(options, std::move(evaluator)).search(state, rng);
}

// Searches a two-player position with and without pruning; adds the nodes of each.
void compare(const GameState& state, ExpectiminimaxOptions options, const std::shared_ptr<Evaluator>& evaluator,
             std::array<std::int64_t, 4>& nodes) {
  const auto mover = static_cast<std::size_t>(state.turn_player());
  options.pruning = Pruning::kNone;
  const ExpectiminimaxResult plain = search(state, options, evaluator);
  for (std::size_t k = 0; k < kAll.size(); ++k) {
    options.pruning = kAll[k];
    const ExpectiminimaxResult result = search(state, options, evaluator);
    nodes[k] += result.nodes;
    ASSERT_NEAR(result.value[mover], plain.value[mover], 1e-6);
    ASSERT_EQ(result.actions.size(), plain.actions.size());
    for (std::size_t i = 0; i < plain.actions.size(); ++i) {
      const RootAction &found = result.actions[i], &expected = plain.actions[i];
      ASSERT_EQ(found.action, expected.action);
      if (found.exact) {
        ASSERT_NEAR(found.value[mover], expected.value[mover], 1e-6);
      } else {  // an upper bound, below the best
        ASSERT_GE(found.value[mover], expected.value[mover] - 1e-6F);
        ASSERT_LT(found.value[mover], plain.value[mover]);
      }
    }
    ASSERT_EQ(result.best, plain.best);
  }
}

// Positions of two players with a few tiles left, enough that leaves lie before the end.
template <class Visit>
void for_each_position(int games, int least, int most, std::uint64_t seed, Visit visit) {
  Rng rng(seed);
  for (int i = 0; i < games; ++i) {
    Rules rules = random_rules(rng);
    rules.players = 2;
    const auto game = Game::create(rules);
    GameState state = small_game(*game, most + 4, rng);
    play_until(state, least + static_cast<int>(rng.below(static_cast<std::uint32_t>(most - least + 1))), rng);
    if (rng.below(3) == 0 && !state.is_terminal()) state.apply(random_action(state, rng));
    if (state.phase() == Phase::kPlace || state.phase() == Phase::kFigure) visit(state);
  }
}

void expect_fewer_and_fewer(const std::array<std::int64_t, 4>& nodes) {
  for (std::size_t k = 0; k < kAll.size(); ++k) {
    testing::Test::RecordProperty(std::string("nodes_") + enum_names(static_cast<Pruning*>(nullptr))[k],
                                  std::to_string(nodes[k]));
  }
  EXPECT_LT(nodes[1], nodes[0]);
  EXPECT_LT(nodes[2], nodes[1]);
  EXPECT_LT(nodes[3], nodes[1]);
}

TEST(Expectiminimax, PruningKeepsTheValueTwoTurnsDeep) {
  std::array<std::int64_t, 4> nodes{};
  for_each_position(60, 3, 6, 1, [&](const GameState& state) { compare(state, {.depth = 2}, heuristic(), nodes); });
  expect_fewer_and_fewer(nodes);
}

TEST(Expectiminimax, PruningKeepsTheValueThreeTurnsDeep) {
  std::array<std::int64_t, 4> nodes{};
  for_each_position(12, 2, 3, 2, [&](const GameState& state) { compare(state, {.depth = 3}, heuristic(), nodes); });
  expect_fewer_and_fewer(nodes);
}

TEST(Expectiminimax, PruningKeepsTheValueOfAnyNumbers) {
  for (const bool judges : {false, true}) {
    for (const UtilityKind kind : {UtilityKind::kTanh, UtilityKind::kLinear, UtilityKind::kShare, UtilityKind::kWin}) {
      std::array<std::int64_t, 4> nodes{};
      for_each_position(12, 1, 4, 3, [&](const GameState& state) {
        compare(state, {.depth = 2, .probing_factor = 2, .utility = {kind, 20}},
                std::make_shared<HashEvaluator>(judges), nodes);
      });
    }
  }
}

TEST(Expectiminimax, AnyProbingFactorKeepsTheValue) {
  for (const int factor : {1, 3, 680}) {
    std::array<std::int64_t, 4> nodes{};
    for_each_position(8, 2, 4, 4, [&](const GameState& state) {
      compare(state, {.depth = 2, .probing_factor = factor}, heuristic(), nodes);
    });
    if (factor == 1) {
      EXPECT_EQ(nodes[2], nodes[3]);
    }
  }
}

TEST(Expectiminimax, AgreesWithTheSolverToTheEnd) {
  Rng rng(5);
  int positions = 0;
  for (int i = 0; i < 150; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state = small_game(*game, 3 + static_cast<int>(rng.below(4)), rng);
    play_until(state, static_cast<int>(rng.below(3)), rng);
    for (; !state.is_terminal(); state.apply(random_action(state, rng))) {
      if (state.is_chance_node()) continue;
      const Solution solution = solve(state, {5'000});
      if (!solution.complete) continue;
      ++positions;
      const ExpectiminimaxResult result =
          search(state, {.depth = 84, .utility = {UtilityKind::kLinear, kScale}}, heuristic());
      EXPECT_EQ(result.depth, state.tiles_left() + 1);
      for (int p = 0; p < state.players(); ++p) {
        const auto at = static_cast<std::size_t>(p);
        ASSERT_NEAR(result.value[at] * kScale, solution.value[at], 2e-3) << i << " " << game->rules().to_json().dump();
        for (std::size_t a = 0; a < result.actions.size(); ++a) {
          if (!result.actions[a].exact) continue;
          ASSERT_NEAR(result.actions[a].value[at] * kScale, solution.values[a][at], 2e-3);
        }
      }
    }
  }
  EXPECT_GT(positions, 300);
}

TEST(Expectiminimax, FindsTheWinThatOneMoveMakes) {
  for (const int players : {2, 3}) {
    Play game(rules_of({{"players", players}}), {"E"});
    game.state.apply(Action::draw(game.type("E")));
    for (const Pruning pruning : kAll) {
      const ExpectiminimaxResult result =
          search(game.state, {.depth = 2, .pruning = pruning, .utility = {UtilityKind::kWin}}, heuristic());
      EXPECT_EQ(result.value[0], 1);
      EXPECT_EQ(result.value[1], -1);
      EXPECT_EQ(result.depth, 1);
    }
  }
}

TEST(Expectiminimax, SwappedSeatsSwapTheValues) {
  Play a(Rules(), {"E", "U", "B", "V"}, 0), b(Rules(), {"E", "U", "B", "V"}, 1);
  for (Play* game : {&a, &b}) {
    game->turn("U@1,0r1 road:N");
    game->state.apply(Action::draw(game->type("B")));
  }
  for (const Pruning pruning : kAll) {
    const auto first = search(a.state, {.depth = 2, .pruning = pruning}, heuristic());
    const auto second = search(b.state, {.depth = 2, .pruning = pruning}, heuristic());
    EXPECT_EQ(first.value[0], second.value[1]);
    EXPECT_EQ(first.value[1], second.value[0]);
    EXPECT_EQ(first.best, second.best);
  }
}

GameState some_position() {
  static const auto game = Game::create(Rules());
  Rng rng(6);
  GameState state = small_game(*game, 12, rng);
  play_until(state, 6, rng);
  return state;
}

TEST(Expectiminimax, DeepeningWithoutNeedOfTheLimitGivesTheSameValue) {
  const GameState state = some_position();
  const auto mover = static_cast<std::size_t>(state.turn_player());
  for (const Pruning pruning : kAll) {
    const auto direct = search(state, {.depth = 2, .pruning = pruning}, heuristic());
    const auto deepened = search(state, {.depth = 2, .pruning = pruning, .node_limit = 100'000'000}, heuristic());
    EXPECT_EQ(deepened.depth, 2);
    EXPECT_NEAR(direct.value[mover], deepened.value[mover], 1e-6);
    EXPECT_EQ(direct.best, deepened.best);
  }
}

TEST(Expectiminimax, NodeLimitEndsTheSearchAndKeepsTheTurnThatIsComplete) {
  const GameState state = some_position();
  for (const Pruning pruning : kAll) {
    const auto one = search(state, {.depth = 1, .pruning = pruning}, heuristic());
    const auto limited = search(state, {.depth = 9, .pruning = pruning, .node_limit = 1}, heuristic());
    EXPECT_EQ(limited.depth, 1);
    EXPECT_EQ(limited.best, one.best);
    EXPECT_EQ(limited.value, one.value);
    for (const std::int64_t limit : {1'000, 5'000, 20'000}) {
      const ExpectiminimaxOptions options{.depth = 9, .pruning = pruning, .node_limit = limit};
      const auto a = search(state, options, heuristic()), b = search(state, options, heuristic());
      EXPECT_LE(a.nodes, limit + 100);  // one batch of leaves more
      EXPECT_TRUE(state.is_legal(a.best));
      EXPECT_EQ(a.best, b.best);
      EXPECT_EQ(a.value, b.value);
      EXPECT_EQ(a.nodes, b.nodes);
    }
  }
}

TEST(ExpectiminimaxAgent, ChoosesEveryOneOfEquallyGoodActions) {
  Play game(Rules(), {"B"});  // a monastery alone is worth the same below either field of D, with its figure
  game.state.apply(Action::draw(game.type("B")));
  const ExpectiminimaxOptions options{.depth = 1};
  const auto result = search(game.state, options, heuristic());
  std::set<std::uint32_t> best, chosen;
  for (const RootAction& root : result.actions) {
    if (root.exact && root.value[0] >= result.value[0] - Expectiminimax::kTie) best.insert(root.action.bits());
  }
  ExpectiminimaxAgent agent({options, {}});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    chosen.insert(agent.choose(game.state, rng).bits());
  }
  EXPECT_EQ(chosen, best);
}

TEST(ExpectiminimaxAgent, PlaysAWholeGame) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  Rng rng(7);
  GameState state = small_game(*game, 8, rng);
  ExpectiminimaxAgent agent({{.depth = 1}, {}});
  while (!state.is_terminal())
    state.apply_checked(state.is_chance_node() ? random_action(state, rng) : agent.choose(state, rng));
  EXPECT_TRUE(state.is_terminal());
}

TEST(ExpectiminimaxOptions, AreReadByTheirNames) {
  Json json = {{"depth", 3},   {"pruning", "star1"}, {"probing_factor", 2},
               {"time_ms", 5}, {"node_limit", 7},    {"utility", "win"}};
  ExpectiminimaxOptions options;
  take_options(json, options);
  EXPECT_TRUE(json.empty());
  EXPECT_EQ(options.depth, 3);
  EXPECT_EQ(options.pruning, Pruning::kStar1);
  EXPECT_EQ(options.probing_factor, 2);
  EXPECT_EQ(options.time_ms, 5);
  EXPECT_EQ(options.node_limit, 7);
  EXPECT_EQ(options.utility.kind, UtilityKind::kWin);
}

}  // namespace
}  // namespace carc
