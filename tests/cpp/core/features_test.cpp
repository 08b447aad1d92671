#include "carc/core/features.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support.hpp"

namespace carc {
namespace {

using namespace test;
using testing::ElementsAre;

TEST(Features, OfTheStartTileAreItsOwn) {
  const Play game(Rules(), {"B"});
  const auto features = find_features(game.state);
  ASSERT_EQ(features.size(), 4u);
  EXPECT_EQ(features[0].kind, FeatureKind::kCity);
  EXPECT_EQ(features[0].open, 1);
  EXPECT_EQ(features[0].value, 1);
  EXPECT_EQ(features[1].kind, FeatureKind::kRoad);
  EXPECT_EQ(features[1].open, 2);
  EXPECT_THAT(features[2].cities, ElementsAre(0));
  EXPECT_TRUE(features[3].cities.empty());
  for (const Feature& f : features) {
    EXPECT_EQ(f.tiles, 1);
    EXPECT_FALSE(f.is_complete);
    EXPECT_EQ(f.segments.size(), 1u);
  }
}

TEST(Features, JoinAcrossTouchingSides) {
  Play game(Rules(), {"N", "A", "B"});
  game.turns({"N@0,-1r1 city:N", "A@1,0r1 monastery"});
  const auto features = find_features(game.state);
  ASSERT_EQ(features.size(), 5u);
  EXPECT_THAT(features[0].segments, ElementsAre(Segment{0, 0}, Segment{1, 0}));
  EXPECT_EQ(features[0].tiles, 2);
  EXPECT_EQ(features[0].open, 1);
  EXPECT_EQ(features[0].value, 2);
  ASSERT_EQ(features[0].figures.size(), 1u);
  EXPECT_EQ(features[0].figures[0].player, 0);
  // Round the end of the road at the monastery both sides of it are one field.
  EXPECT_THAT(features[2].segments, ElementsAre(Segment{0, 2}, Segment{0, 3}, Segment{2, 2}));
  EXPECT_EQ(features[2].tiles, 2);
}

TEST(Features, MonasteryCountsItsMissingNeighbours) {
  Play game(Rules(), {"B", "B"});
  game.turn("B@0,1r0 monastery");
  for (const Feature& f : find_features(game.state)) {
    if (f.kind != FeatureKind::kMonastery) continue;
    EXPECT_EQ(f.open, 7);
    EXPECT_EQ(f.value, 2);
    EXPECT_FALSE(f.is_complete);
  }
}

TEST(Features, CompletedCityIsWorthItsFullPoints) {
  Play game(rules_of({{"small_city", 2}}), {"E", "B"});
  game.lay("E@0,-1r2");
  const auto features = find_features(game.state);
  EXPECT_TRUE(features[0].is_complete);
  EXPECT_EQ(features[0].value, 2);
  EXPECT_EQ(features[2].value, 3);  // the field beside it
}

TEST(Features, GardensAreLeftOutWithoutAbbots) {
  for (const bool abbot : {false, true}) {
    Play game(rules_of({{"abbot", abbot}}), {"Vg", "B"});
    game.turn("Vg@0,1r0");
    int gardens = 0;
    for (const Feature& f : find_features(game.state)) gardens += f.kind == FeatureKind::kGarden;
    EXPECT_EQ(gardens, abbot);
  }
}

FigureCounts figure_counts(const Feature& f) {
  FigureCounts sum = 0;
  for (const Figure& figure : f.figures) sum = static_cast<FigureCounts>(sum + one_figure(figure.player));
  return sum;
}

// The features found afresh agree with what the state keeps: by the open cells beside them, by the figures in them, and
// by the points if the game ended now.
void compare_with_kept(const GameState& s) {
  const auto features = find_features(s);
  std::set<std::pair<int, int>> segments;
  for (const Feature& f : features) {
    for (const Segment& segment : f.segments) ASSERT_TRUE(segments.emplace(segment.tile, segment.feature).second);
    for (const Figure& figure : f.figures) {
      if (f.kind == FeatureKind::kCity || f.kind == FeatureKind::kRoad) {
        const Line& line = s.line(figure.label);
        ASSERT_EQ(line.kind, f.kind);
        ASSERT_EQ(line.tiles, f.tiles);
        ASSERT_EQ(line.shields, f.shields);
        ASSERT_EQ(line.open, f.open);
        ASSERT_EQ(line.figures, figure_counts(f));
      } else if (f.kind == FeatureKind::kField) {
        ASSERT_EQ(s.field_figures(figure.label), figure_counts(f));
        std::set<int> cities;
        s.for_each_city(figure.label, [&](std::uint8_t city) { cities.insert(city); });
        ASSERT_EQ(cities.size(), f.cities.size());
      } else {
        ASSERT_EQ(figure.label, f.open);
        ASSERT_EQ(f.figures.size(), 1u);
      }
    }
  }
  int figures = 0;
  for (const Feature& f : features) figures += static_cast<int>(f.figures.size());
  ASSERT_EQ(figures, s.figures_on_board());
}

TEST(Features, AgreeWithWhatTheStateKeeps) {
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const auto game = Game::create(random_rules(rng));
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (rng.below(6) == 0) compare_with_kept(s);
    });
  }
}

// With today's fields everything that would be paid can be read off the features.
TEST(Features, ValuesAddUpToTheProjectedPoints) {
  Rng rng(2);
  for (int i = 0; i < 20; ++i) {
    Rules rules = random_rules(rng);
    rules.field_scoring = FieldScoring::kField;
    const auto game = Game::create(rules);
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.is_terminal() || rng.below(6)) return;
      Points points;
      for (const Feature& f : find_features(s)) {
        const Majority owners = majority(figure_counts(f));
        if (owners.number) points.add(f.kind, owners, share(rules, f.value, owners));
      }
      ASSERT_TRUE(points == s.projected());
    });
  }
}

}  // namespace
}  // namespace carc
