#include "carc/play/mcts_agent.hpp"

#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/search/solver.hpp"

namespace carc::test {
namespace {

MctsAgentOptions quick() {
  MctsAgentOptions options;
  options.mcts.simulations = 200;
  options.mcts.memory_mb = 4;
  return options;
}

TEST(MctsAgent, PlaysTheBestOfItsAnalysis) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 1, 30);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    MctsAgent a(quick()), b(quick());
    Rng x(seed), y(seed);
    const SearchResult result = *a.analyse(state, x);
    EXPECT_EQ(b.choose(state, y), result.actions[static_cast<std::size_t>(result.best)].action);
    EXPECT_EQ(x.next(), y.next());
    EXPECT_EQ(a.simulations(), 200);
  }
}

TEST(MctsAgent, SolvesTheLastTiles) {
  const auto game = Game::create(Rules());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const GameState state = placement_with(*game, seed, 1);
    MctsAgent agent(quick());
    Rng rng(seed);
    const SearchResult result = *agent.analyse(state, rng);
    const Solution truth = solve(state);
    EXPECT_TRUE(result.exact);
    EXPECT_EQ(result.best, truth.best);
    EXPECT_EQ(result.value, truth.value);
    EXPECT_EQ(agent.simulations(), 0);
  }
}

TEST(MctsAgent, SearchesWhereTheSolverGivesUp) {
  const auto game = Game::create(Rules());
  const GameState state = placement_with(*game, 3, 1);
  MctsAgentOptions options = quick();
  options.solver_nodes = 1;
  MctsAgent agent(options);
  Rng rng(1);
  EXPECT_FALSE(agent.analyse(state, rng)->exact);
}

TEST(MctsAgent, PartsTiesTheSameWayEveryTime) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  int parted = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const GameState state = placement_with(*game, seed, 20);
    MctsAgentOptions options = quick();
    MctsAgent plain(options);
    options.tie_decks = 6;
    MctsAgent a(options), b(options);
    Rng x(seed), y(seed), z(seed);
    const Action first = a.choose(state, x);
    EXPECT_EQ(first, b.choose(state, y));
    EXPECT_TRUE(state.is_legal(first));
    parted += first != plain.choose(state, z);
  }
  EXPECT_GT(parted, 0);
}

TEST(MctsAgent, DecidesAtOnceWhatIsForced) {
  const auto game = Game::create(Rules());
  Rng rng(2);
  GameState state(*game);
  while (state.is_chance_node() || state.num_legal_actions() > 1) {
    ASSERT_FALSE(state.is_terminal());
    state.apply(random_action(state, rng));
  }
  MctsAgent agent(quick());
  EXPECT_EQ(agent.choose(state, rng), state.legal_action(0));
  EXPECT_EQ(agent.simulations(), 0);
}

}  // namespace
}  // namespace carc::test
