#include "carc/play/greedy_agent.hpp"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;

// What greedy does in its turn with the tile: placement, then figure, with the random numbers of `seed`.
std::string turn_of(Play game, const std::string& tile, std::uint64_t seed) {
  GreedyAgent greedy;
  Rng rng(seed);
  game.state.apply_checked(Action::draw(game.type(tile)));
  std::string text;
  for (int i = 0; i < 2; ++i) {
    const Action action = greedy.choose(game.state, rng);
    text += (i ? " " : "") + action_to_string(game.state, action);
    game.state.apply_checked(action);
  }
  return text;
}

std::set<std::string> turns_of(const Play& game, const std::string& tile, int seeds = 60) {
  std::set<std::string> out;
  for (int seed = 0; seed < seeds; ++seed) out.insert(turn_of(game, tile, static_cast<std::uint64_t>(seed)));
  return out;
}

// The value of each complete turn as the header defines it, from the projected points of every position after it.
std::set<std::string> best_turns(const Play& game, const std::string& tile) {
  GameState drawn = game.state;
  drawn.apply_checked(Action::draw(game.type(tile)));
  const int me = drawn.turn_player();
  double best = -1e9;
  std::set<std::string> turns;
  for (int i = 0; i < drawn.num_legal_actions(); ++i) {
    GameState placed = drawn;
    placed.apply(drawn.legal_action(i));
    for (int j = 0; j < placed.num_legal_actions(); ++j) {
      GameState after = placed;
      after.apply(placed.legal_action(j));
      const Points extra = after.projected();
      double value = 0;
      for (int p = 0; p < after.players(); ++p) {
        const double points = after.score(p) + extra.total(p);
        value += p == me ? points : -points / (after.players() - 1);
      }
      bool stands = false;
      for (int f = 0; f < after.figures_on_board(); ++f) stands |= after.figure(f).tile == after.laid_tiles() - 1;
      if (stands) value -= 0.5;
      if (value > best + 1e-9) best = value, turns.clear();
      if (value > best - 1e-9)
        turns.insert(action_to_string(drawn, drawn.legal_action(i)) + " " +
                     action_to_string(placed, placed.legal_action(j)));
    }
  }
  return turns;
}

TEST(Greedy, ClosesTheOpenCityWithAFigureThatComesHome) {
  const Play game(Rules(), {"E", "B"});
  EXPECT_EQ(turns_of(game, "E"), (std::set<std::string>{"E@0,-1r2 city:N"}));
}

TEST(Greedy, CompletesItsOwnCityRatherThanStartingAnother) {
  Play game(Rules(), {"C", "E", "E", "E", "E", "B", "B", "B"});
  game.turns({"C@0,-1r0 city:N", "E@1,-1r3", "E@-1,-1r1", "B@0,1r0"});
  EXPECT_EQ(turns_of(game, "E"), (std::set<std::string>{"E@0,-2r2 field:2"}));
}

TEST(Greedy, SetsAMonkWhereMostNeighboursLie) {
  Play game(Rules(), {"B", "B", "B", "B", "B", "B"});
  game.turns({"B@0,1r0", "B@1,1r0", "B@-1,1r0", "B@0,2r0"});
  // Beside 0,2 a monastery has five neighbours at once: 0,1 1,1 0,2 ... as many as any cell.
  EXPECT_EQ(turns_of(game, "B"), best_turns(game, "B"));
}

TEST(Greedy, EquallyGoodTurnsAreAllPlayed) {
  Rng rng(1);
  for (int i = 0; i < 12; ++i) {
    const auto game_rules = random_rules(rng);
    Play game(game_rules, game_rules.river == River::kOff
                              ? std::vector<std::string>{"D", "E", "V", "U", "K", "L", "B", "W"}
                              : std::vector<std::string>{"R04", "R07", "R05", "R12", "D", "E", "V", "B"});
    while (!game.state.is_terminal() && game.state.tiles_left() > 2) game.state.apply(random_action(game.state, rng));
    while (game.state.phase() != Phase::kDraw && !game.state.is_terminal())
      game.state.apply(random_action(game.state, rng));
    if (game.state.is_terminal()) continue;
    const std::string tile = game.game()->tile(game.state.chance_outcomes()[0].tile).id;
    if (game.state.placements(game.type(tile)).empty()) continue;
    const auto best = best_turns(game, tile);
    const auto played = turns_of(game, tile, 40 * static_cast<int>(best.size()));
    EXPECT_EQ(played, best) << i;
  }
}

TEST(Greedy, SameNumbersGiveTheSameTurn) {
  const Play game(Rules(), {"V", "B"});
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(turn_of(game, "V", seed), turn_of(game, "V", seed));
}

TEST(Greedy, NoiseIsTheShareOfRandomDecisions) {
  // Of one tile with a single best placement; the share of other placements is that of random ones that miss it.
  const Play game(Rules(), {"E", "B"});
  GameState state = game.state;
  state.apply(Action::draw(game.type("E")));
  const Action best = string_to_action(state, "E@0,-1r2");
  const int choices = state.num_legal_actions();
  GreedyAgent noisy(GreedyOptions{0.4F});
  int others = 0;
  const int n = 4000;
  for (std::uint64_t seed = 0; seed < n; ++seed) {
    Rng rng(seed);
    others += noisy.choose(state, rng) != best;
  }
  const double expected = 0.4 * (choices - 1) / choices;
  EXPECT_NEAR(static_cast<double>(others) / n, expected, 4 * std::sqrt(expected * (1 - expected) / n));
}

TEST(Greedy, LessNoiseChangesOnlyDecisionsThatMoreNoiseMadeRandom) {
  const Play game(Rules(), {"V", "B"});
  GameState state = game.state;
  state.apply(Action::draw(game.type("V")));
  const auto choice = [&](float noise, std::uint64_t seed) {
    Rng rng(seed);
    return GreedyAgent(GreedyOptions{noise}).choose(state, rng);
  };
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Action none = choice(0, seed), some = choice(0.2F, seed), more = choice(0.6F, seed);
    EXPECT_TRUE(some == none || some == more) << seed;
  }
}

TEST(Greedy, LeavesTheStateAsItIs) {
  Play game(Rules(), {"V", "B"});
  game.state.apply(Action::draw(game.type("V")));
  const std::string before = position_key(game.state);
  Rng rng(1);
  GreedyAgent().choose(game.state, rng);
  EXPECT_EQ(position_key(game.state), before);
}

TEST(Greedy, DoesNotSpendAMeepleOnNothing) {
  // A farmer beside no city is worth nothing and costs half a point.
  Rules rules;
  rules.tiles = standard_and({tile("p", 1, "FFFF", {field({0, 1, 2, 3, 4, 5, 6, 7})})});
  const Play game(rules, {"p", "B"});
  EXPECT_EQ(turns_of(game, "p"), (std::set<std::string>{"p@0,1r0 -"}));
}

}  // namespace
}  // namespace carc
