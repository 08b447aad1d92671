#include "carc/neural/planes.hpp"

#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "../random_tiles.hpp"
#include "../support.hpp"
#include "carc/core/features.hpp"

namespace carc {
namespace {

using namespace test;

PlaneInput encoded(const GameState& state) {
  PlaneInput out;
  encode_planes(state, out);
  return out;
}

// The planes of a position, each place once.
class Planes {
 public:
  explicit Planes(const PlaneInput& input) : input_(input) {
    for (const PlaneEntry& e : input.entries) {
      EXPECT_TRUE(values_.emplace(std::tuple(e.plane, e.y, e.x), e.value).second) << plane_names()[e.plane];
      EXPECT_LT(e.y, input.height);
      EXPECT_LT(e.x, input.width);
      EXPECT_LT(e.plane, kPlanes);
    }
  }
  float at(std::size_t plane, Cell cell) const {
    const auto found =
        values_.find(std::tuple(static_cast<std::uint8_t>(plane), static_cast<std::uint8_t>(cell.y - input_.origin.y),
                                static_cast<std::uint8_t>(cell.x - input_.origin.x)));
    return found == values_.end() ? 0 : found->second;
  }
  int count(std::size_t plane) const {
    return static_cast<int>(
        std::count_if(input_.entries.begin(), input_.entries.end(), [&](const auto& e) { return e.plane == plane; }));
  }

 private:
  const PlaneInput& input_;
  std::map<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>, float> values_;
};

// The planes of a feature say what find_features finds, wherever it shows: at the sides of laid tiles.
void expect_features(const GameState& state, const PlaneInput& input) {
  const Planes planes(input);
  const std::vector<Feature> features = find_features(state);
  const auto figures_in = [](const Feature& f, int player) {
    return static_cast<float>(
        std::count_if(f.figures.begin(), f.figures.end(), [&](const Figure& g) { return g.player == player; }));
  };
  for (const Feature& feature : features) {
    float most = 1;
    for (int p = 0; p < state.players(); ++p) most = std::max(most, figures_in(feature, p));
    int complete = 0;
    for (const int c : feature.cities) complete += features[static_cast<std::size_t>(c)].is_complete;
    for (const Segment& s : feature.segments) {
      const LaidTile laid = state.laid_tile(s.tile);
      const TileFeature& here = state.game().tile(laid.type).type->features[static_cast<std::size_t>(s.feature)];
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t side = (i + laid.rotation) % 4, half = (i + 2u * laid.rotation) % 8;
        if (i < 4 && here.sides >> i & 1 && feature.kind != FeatureKind::kRiver) {
          EXPECT_FLOAT_EQ(planes.at(kLinePlanes + 4 * side, laid.cell), static_cast<float>(feature.tiles) / 8);
          EXPECT_FLOAT_EQ(planes.at(kLinePlanes + 4 * side + 1, laid.cell), static_cast<float>(feature.shields) / 4);
          EXPECT_FLOAT_EQ(planes.at(kLinePlanes + 4 * side + 2, laid.cell), static_cast<float>(feature.open) / 4);
          EXPECT_EQ(planes.at(kLinePlanes + 4 * side + 3, laid.cell), feature.is_complete ? 1 : 0);
        }
        for (int p = 0; p < state.players(); ++p) {
          const auto r = static_cast<std::size_t>(input.relative(p));
          const float n = figures_in(feature, p), owns = n == most ? 1 : 0;
          if (i < 4 && here.sides >> i & 1 && feature.kind != FeatureKind::kRiver) {
            EXPECT_FLOAT_EQ(planes.at(kLineFigurePlanes + 5 * side + r, laid.cell), n / 2);
            EXPECT_EQ(planes.at(kLineOwnerPlanes + 5 * side + r, laid.cell), owns);
          }
          if (here.half_edges >> i & 1) {
            EXPECT_EQ(planes.at(kFieldOwnerPlanes + 5 * half + r, laid.cell), owns);
          }
        }
        if (here.half_edges >> i & 1) {
          EXPECT_FLOAT_EQ(planes.at(kFieldCityPlanes + half, laid.cell), static_cast<float>(complete) / 4);
          EXPECT_FLOAT_EQ(planes.at(kFieldOpenCityPlanes + half, laid.cell),
                          static_cast<float>(static_cast<int>(feature.cities.size()) - complete) / 4);
        }
      }
      if (feature.kind == FeatureKind::kMonastery) {
        EXPECT_FLOAT_EQ(planes.at(kMissingPlane, laid.cell), static_cast<float>(feature.open) / 8);
      }
    }
  }
}

// Every open cell lies in the window and shows on its sides what the tiles beyond show there.
void expect_open_cells(const GameState& state, const PlaneInput& input) {
  const Planes planes(input);
  EXPECT_EQ(planes.count(kOpenPlane), state.open_cells());
  EXPECT_EQ(planes.count(kLaidPlane), state.laid_tiles());
  for (int i = 0; i < state.open_cells(); ++i) {
    const Cell cell = state.open_cell(i);
    EXPECT_EQ(planes.at(kOpenPlane, cell), 1);
    for (std::size_t side = 0; side < 4; ++side) {
      const Cell beyond = {static_cast<std::int16_t>(cell.x + kSideStep[side].x),
                           static_cast<std::int16_t>(cell.y + kSideStep[side].y)};
      if (state.tile_at(beyond) < 0) continue;
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(planes.at(kEdgePlanes + 4 * side + k, cell), planes.at(kEdgePlanes + 4 * (side ^ 2) + k, beyond));
        EXPECT_EQ(planes.at(kLinePlanes + 4 * side + k, cell), planes.at(kLinePlanes + 4 * (side ^ 2) + k, beyond));
      }
      const std::size_t half = 2 * side, theirs = 2 * (side ^ 2) + 1;
      for (std::size_t r = 0; r < 5; ++r) {
        EXPECT_EQ(planes.at(kFieldOwnerPlanes + 5 * half + r, cell),
                  planes.at(kFieldOwnerPlanes + 5 * theirs + r, beyond));
      }
    }
  }
}

void expect_policy(const GameState& state, const PlaneInput& input) {
  ActionList actions;
  state.legal_actions(actions);
  std::set<std::size_t> places;
  const Planes planes(input);
  for (const Action a : actions) {
    const PolicyPlace place = policy_place(state, input, a);
    EXPECT_LT(place.plane, kPolicyPlanes);
    EXPECT_TRUE(place.y >= 0 && place.y < input.height && place.x >= 0 && place.x < input.width);
    EXPECT_TRUE(places.insert(place.index(input.height, input.width)).second) << action_to_string(state, a);
    if (a.what() == Action::What::kPlace) {
      EXPECT_EQ(planes.at(kPlacementPlanes + a.rotation(), a.cell()), 1);
    }
  }
  int placements = 0;
  for (std::size_t r = 0; r < 4; ++r) placements += planes.count(kPlacementPlanes + r);
  EXPECT_EQ(placements, state.phase() == Phase::kPlace ? actions.size() : 0);
}

TEST(Planes, SayWhatTheBoardShowsUnderAllRules) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Rng rng(seed);
    Rules rules = random_rules(rng);
    if (seed % 2) rules.tiles = random_tile_set(rules, rng);
    const auto game = Game::create(rules);
    GameState state(*game);
    play_randomly(state, rng, [&](const GameState& s) {
      if (s.is_terminal() || rng.below(8)) return;
      const PlaneInput input = encoded(s);
      expect_features(s, input);
      expect_open_cells(s, input);
      if (!s.is_chance_node()) expect_policy(s, input);
    });
  }
}

TEST(Planes, NamesAreAsManyAsPlanes) {
  EXPECT_EQ(plane_names().size(), static_cast<std::size_t>(kPlanes));
  EXPECT_EQ(plane_global_names().size(), static_cast<std::size_t>(kPlaneGlobals));
  EXPECT_EQ(plane_names()[kRiverEndPlane], "river_end");
  EXPECT_EQ(plane_names()[kFieldOwnerPlanes + 5 * 7 + 4], "field_owner.7.4");
  EXPECT_EQ(plane_global_names()[kHandGlobals + kTileClasses], "hand.monasteries");
}

TEST(Planes, WindowHoldsARowOf84Tiles) {
  Play game(Rules(), copies(83, "U"), "U", Cell{-40, 0}, 1);
  for (int i = 1; i < 83; ++i) game.turn("U@" + std::to_string(i - 40) + ",0r1");
  game.lay("U@43,0r1");
  const PlaneInput input = encoded(game.state);
  EXPECT_EQ(input.width, 86);
  EXPECT_EQ(input.height, 3);
  expect_features(game.state, input);
  expect_open_cells(game.state, input);
  EXPECT_EQ(Planes(input).at(kLinePlanes + 4 * kEast, Cell{43, 0}), 84.0F / 8);
}

TEST(Planes, PlayersCountFromWhoDecides) {
  const auto game = Game::create(rules_of({{"players", 3}}));
  Rng rng(5);
  GameState state(*game);
  play_randomly(state, rng, [&](const GameState& s) {
    if (s.is_terminal()) return;
    const PlaneInput input = encoded(s);
    EXPECT_EQ(input.perspective, s.turn_player());
    for (int p = 0; p < 3; ++p) {
      const int r = input.relative(p);
      EXPECT_EQ(input.seat(r), p);
      EXPECT_FLOAT_EQ(input.globals[static_cast<std::size_t>(kScoreGlobals + r)], static_cast<float>(s.score(p)) / 50);
      EXPECT_FLOAT_EQ(input.base[static_cast<std::size_t>(r)], static_cast<float>(s.score(p) + s.projected().total(p)));
    }
    EXPECT_EQ(input.globals[kSeatGlobals + 2], 1);
    EXPECT_EQ(input.globals[kSeatGlobals + 3], 0);
  });
}

TEST(Planes, BagIsCountedByClass) {
  const auto game = Game::create(Rules());
  const GameState state(*game);
  const PlaneInput input = encoded(state);
  float tiles = 0;
  std::set<int> classes;
  for (int c = 0; c < kTileClasses; ++c) {
    tiles += 8 * input.globals[static_cast<std::size_t>(kBagGlobals + c)];
    if (input.globals[static_cast<std::size_t>(kBagGlobals + c)] > 0) classes.insert(c);
  }
  EXPECT_FLOAT_EQ(tiles, 71);
  EXPECT_EQ(classes.size(), 19u);  // of the 24 kinds, those alike but for shields, monasteries or a gate are one
  EXPECT_FLOAT_EQ(input.globals[kBagGlobals + kTileClasses], 1);  // 6 monasteries
}

TEST(Planes, BatchPadsWithCellsThatAreMaskedOut) {
  const auto game = Game::create(Rules());
  const GameState small(*game), large = placement_with(*game, 3, 20);
  const PlaneInput a = encoded(small), b = encoded(large);
  PlaneBatch batch;
  batch.assign(std::vector<const PlaneInput*>{&a, &b});
  EXPECT_GE(batch.height, b.height);
  EXPECT_LT(batch.height, b.height + kWindowStep);
  const auto cells = static_cast<std::size_t>(batch.height * batch.width);
  const auto masked = [&](std::size_t n) {
    return std::count(batch.mask.begin() + static_cast<std::ptrdiff_t>(n * cells),
                      batch.mask.begin() + static_cast<std::ptrdiff_t>((n + 1) * cells), 1.0F);
  };
  EXPECT_EQ(masked(0), 9);
  EXPECT_EQ(masked(1), b.height * b.width);
  double in_batch = 0, own = 0;
  for (std::size_t i = kPlanes * cells; i < 2 * kPlanes * cells; ++i) in_batch += static_cast<double>(batch.planes[i]);
  for (const PlaneEntry& e : b.entries) own += static_cast<double>(e.value);
  EXPECT_NEAR(in_batch, own, 1e-3);
}

}  // namespace
}  // namespace carc
