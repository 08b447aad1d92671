#include "carc/neural/plane_examples.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "../support.hpp"
#include "carc/core/deck.hpp"

namespace carc {
namespace {

using namespace test;

// Games of random decisions, with a policy that is uniform for every second placement.
GameArrays random_games(const Game& game, int games, std::uint64_t seed) {
  GameArrays out;
  for (int g = 0; g < games; ++g) {
    Rng rng(split(seed, static_cast<std::uint64_t>(g)));
    const Deck deck(game, rng.next());
    GameState state(game);
    std::uint16_t turns = 0;
    for (const TypeId tile : deck.order()) {
      if (state.is_terminal()) break;
      ++turns;
      state.apply(Action::draw(tile));
      out.tile.push_back(tile);
      out.policy_size.insert(out.policy_size.end(), 2, 0);
      out.explored.push_back(0);
      if (state.drawn_tile() < 0) {
        out.placement.push_back(kDiscarded);
        out.figure.push_back(kDiscarded);
        continue;
      }
      ActionList actions;
      state.legal_actions(actions);
      if (turns % 2) {
        out.policy_size[out.policy_size.size() - 2] = static_cast<std::uint16_t>(actions.size());
        for (const Action a : actions) {
          out.policy_action.push_back(a.bits());
          out.policy_share.push_back(1 / static_cast<float>(actions.size()));
        }
      }
      for (auto* column : {&out.placement, &out.figure}) {
        const Action action = random_action(state, rng);
        column->push_back(action.bits());
        state.apply(action);
      }
    }
    out.game_turns.push_back(turns);
    for (int p = 0; p < state.players(); ++p) out.final_scores.push_back(static_cast<std::int16_t>(state.score(p)));
  }
  return out;
}

// What a tile brings from now on, summed over all tiles, is what a player gets from now on, if nothing is left out: so
// for the position after the last placement, whose window holds all tiles.
TEST(PlaneExamples, PointsByCellAddUpToTheRestOfTheGame) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Rng rng(seed);
    const auto game = Game::create(random_rules(rng));
    const PlaneExamples examples(game, random_games(*game, 3, seed));
    std::vector<std::int64_t> last;
    for (std::size_t i = 0; i < examples.examples().size(); ++i) {
      const bool ends =
          i + 1 == examples.examples().size() || examples.examples()[i + 1].game != examples.examples()[i].game;
      if (ends) last.push_back(static_cast<std::int64_t>(i));
    }
    ASSERT_EQ(last.size(), 3u);
    const PlaneTargets out = examples.batch(last);
    const auto cells = static_cast<std::ptrdiff_t>(out.batch.height * out.batch.width);
    for (std::ptrdiff_t row = 0; row < 3; ++row) {
      for (std::ptrdiff_t r = 0; r < game->rules().players; ++r) {
        const auto begin = out.cells.begin() + (row * kMaxPlayers + r) * cells;
        const float now = 50 * out.batch.globals[static_cast<std::size_t>(row * kPlaneGlobals + kScoreGlobals + r)];
        EXPECT_NEAR(std::accumulate(begin, begin + cells, 0.0F),
                    out.final[static_cast<std::size_t>(row * kMaxPlayers + r)] - now, 1e-3F)
            << seed;
      }
    }
  }
}

TEST(PlaneExamples, TargetsAreFromTheViewOfWhoDecides) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  const GameArrays games = random_games(*game, 2, 5);
  const PlaneExamples examples(game, games);
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < examples.examples().size(); i += 7) some.push_back(static_cast<std::int64_t>(i));
  const PlaneTargets out = examples.batch(some);
  for (std::size_t row = 0; row < some.size(); ++row) {
    const PlaneExample& example = examples.examples()[static_cast<std::size_t>(some[row])];
    int discarded = 0;
    const std::size_t first = example.game == 0 ? 0 : games.game_turns[0];
    for (std::size_t t = first; t < first + example.turn; ++t) discarded += games.placement[t] == kDiscarded;
    const auto mover = static_cast<std::size_t>((example.turn - discarded) % 3);
    float others = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      const auto expected = static_cast<float>(games.final_scores[example.game * 3 + (mover + r) % 3]);
      EXPECT_EQ(out.final[row * kMaxPlayers + r], expected);
      if (r > 0) others += expected;
    }
    EXPECT_FLOAT_EQ(out.lead[row], out.final[row * kMaxPlayers] - others / 2);
    EXPECT_TRUE(std::isnan(out.searched[row * kMaxPlayers]));
  }
}

TEST(PlaneExamples, PoliciesKeepTheirShares) {
  const auto game = Game::create(Rules());
  const PlaneExamples examples(game, random_games(*game, 1, 3));
  std::vector<std::int64_t> all(examples.examples().size());
  std::iota(all.begin(), all.end(), 0);
  const PlaneTargets out = examples.batch(all);
  std::map<std::int64_t, float> sums;
  for (std::size_t i = 0; i < out.policy_row.size(); ++i) sums[out.policy_row[i]] += out.policy_share[i];
  std::size_t with_policy = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PlaneExample& example = examples.examples()[i];
    EXPECT_EQ(example.has_policy, example.phase == Phase::kPlace && example.turn % 2 == 0);
    if (!example.has_policy) continue;
    ++with_policy;
    EXPECT_NEAR(sums[static_cast<std::int64_t>(i)], 1, 1e-5F);
  }
  EXPECT_EQ(sums.size(), with_policy);
}

TEST(PlaneExamples, GamesThatTheRulesDoNotAllowAreRefused) {
  const auto game = Game::create(Rules());
  const GameArrays good = random_games(*game, 2, 3);
  const auto refused = [&](auto change) {
    GameArrays games = good;
    change(games);
    return message_of<RecordError>([&] { PlaneExamples(game, games); });
  };
  EXPECT_NE(refused([](GameArrays& g) { ++g.final_scores[1]; }).find("points of player 1, expected"),
            std::string::npos);
  EXPECT_NE(refused([](GameArrays& g) { g.placement[5] ^= 1u << 20; }).find("game 0, turn 5"), std::string::npos);
  EXPECT_NE(refused([](GameArrays& g) { g.placement[5] = kDiscarded; }).find("a discarded tile that fits"),
            std::string::npos);
  EXPECT_NE(refused([](GameArrays& g) { g.figure.pop_back(); }).find("figure: found"), std::string::npos);
  EXPECT_NE(refused([](GameArrays& g) {
              --g.game_turns[1], g.tile.pop_back(), g.placement.pop_back(), g.figure.pop_back(),
                  g.policy_size.resize(g.policy_size.size() - 2);
            }).find("policy_action: found"),
            std::string::npos);
  const PlaneExamples examples(game, good);
  const std::vector<std::int64_t> beyond = {static_cast<std::int64_t>(examples.examples().size())};
  EXPECT_NE(message_of<Error>([&] { examples.batch(beyond); }).find("expected 0 to"), std::string::npos);
}

}  // namespace
}  // namespace carc
