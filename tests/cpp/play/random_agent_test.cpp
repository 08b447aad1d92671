#include "carc/play/random_agent.hpp"

#include <map>

#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

// Chi-square of how often each action was chosen against its share.
double chi_square(const GameState& state, const std::map<std::string, double>& shares, int draws) {
  RandomAgent agent;
  Rng rng(5);
  std::map<std::string, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[action_to_string(state, agent.choose(state, rng))];
  EXPECT_EQ(counts.size(), shares.size());
  double chi = 0;
  for (const auto& [text, share] : shares) {
    const double expected = share * draws;
    chi += (counts[text] - expected) * (counts[text] - expected) / expected;
  }
  return chi;
}

// Six placements: 5 degrees of freedom, above 35.9 with probability 1e-6.
TEST(RandomAgent, PlacesUniformly) {
  Play game(Rules(), {"V", "B"});
  game.state.apply(Action::draw(game.type("V")));
  std::map<std::string, double> shares;
  for (const std::string& text : game.legal()) shares[text] = 1.0 / 6;
  EXPECT_LT(chi_square(game.state, shares, 12'000), 35.9);
}

// Nothing with probability one half, else one of four figures: 4 degrees of freedom, above 33.4 with probability 1e-6.
TEST(RandomAgent, SetsAFigureInEverySecondTurnOnAnyLegalSpot) {
  Play game(Rules(), {"D", "B"});
  game.lay("D@0,1r2");
  std::map<std::string, double> shares;
  for (const std::string& text : game.legal()) shares[text] = text == "-" ? 0.5 : 0.125;
  ASSERT_EQ(shares.size(), 5u);
  EXPECT_LT(chi_square(game.state, shares, 16'000), 33.4);
}

TEST(RandomAgent, DoesNothingWhereNothingElseIsLegal) {
  Rules rules = rules_of({{"farmers", false}});
  rules.tiles = standard_and({tile("p", 1, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})});
  Play game(rules, {"p", "B"});
  game.lay("p@0,1r0");
  RandomAgent agent;
  Rng rng(1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(agent.choose(game.state, rng), Action::no_figure());
}

TEST(RandomAgent, SameNumbersGiveTheSameAction) {
  Play game(Rules(), {"V", "B"});
  game.state.apply(Action::draw(game.type("V")));
  Rng a(9), b(9);
  RandomAgent agent;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(agent.choose(game.state, a), agent.choose(game.state, b));
}

}  // namespace
}  // namespace carc
