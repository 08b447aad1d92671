#include "carc/core/features.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace carc {
namespace {

// Segments joined across touching edges, by union-find over (tile, feature) numbered tile * kMaxFeatures + feature.
class Joined {
 public:
  explicit Joined(int tiles) : parent_(static_cast<std::size_t>(tiles) * kMaxFeatures) {
    for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = i;
  }
  static std::size_t number(int tile, int feature) {
    return static_cast<std::size_t>(tile) * kMaxFeatures + static_cast<std::size_t>(feature);
  }
  std::size_t find(std::size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void unite(std::size_t a, std::size_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// The feature of a laid tile at a board side or half-edge, or -1.
int feature_at_side(const GameState& state, int tile, std::size_t side) {
  const LaidTile t = state.laid_tile(tile);
  const auto& features = state.game().tile(t.type).type->features;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (features[f].sides >> ((side + 4 - t.rotation) % 4) & 1) return static_cast<int>(f);
  }
  return -1;
}

int feature_at_half(const GameState& state, int tile, std::size_t half) {
  const LaidTile t = state.laid_tile(tile);
  const auto& features = state.game().tile(t.type).type->features;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (features[f].half_edges >> ((half + 8 - 2 * t.rotation) % 8) & 1) return static_cast<int>(f);
  }
  return -1;
}

int neighbour(const std::map<std::pair<int, int>, int>& at, Cell c, int dx, int dy) {
  const auto found = at.find({c.x + dx, c.y + dy});
  return found == at.end() ? -1 : found->second;
}

int present_value(const Rules& rules, const Feature& f, const std::vector<Feature>& all) {
  switch (f.kind) {
    case FeatureKind::kRoad:
    case FeatureKind::kCity:
      return line_value(rules, f.kind, f.tiles, f.shields, f.is_complete);
    case FeatureKind::kMonastery:
    case FeatureKind::kGarden:
      return 9 - f.open;
    case FeatureKind::kField: {
      int completed = 0;
      for (const int c : f.cities) completed += all[static_cast<std::size_t>(c)].is_complete;
      return 3 * completed;
    }
    case FeatureKind::kRiver:
      break;
  }
  return 0;
}

}  // namespace

std::vector<Feature> find_features(const GameState& state) {
  std::map<std::pair<int, int>, int> at;
  for (int t = 0; t < state.laid_tiles(); ++t) at[{state.laid_tile(t).cell.x, state.laid_tile(t).cell.y}] = t;

  Joined joined(state.laid_tiles());
  for (int t = 0; t < state.laid_tiles(); ++t) {
    for (std::size_t s : {std::size_t{kEast}, std::size_t{kSouth}}) {
      const int other = neighbour(at, state.laid_tile(t).cell, kSideStep[s].x, kSideStep[s].y);
      if (other < 0) continue;
      const auto join = [&](int mine, int theirs) {
        if (mine >= 0 && theirs >= 0) joined.unite(Joined::number(t, mine), Joined::number(other, theirs));
      };
      join(feature_at_side(state, t, s), feature_at_side(state, other, s ^ 2));
      // Our half-edges clockwise meet theirs in the opposite order.
      join(feature_at_half(state, t, 2 * s), feature_at_half(state, other, 2 * (s ^ 2) + 1));
      join(feature_at_half(state, t, 2 * s + 1), feature_at_half(state, other, 2 * (s ^ 2)));
    }
  }

  std::vector<Feature> features;
  std::map<std::size_t, int> index_of;
  const auto index = [&](int tile, int f) { return index_of.at(joined.find(Joined::number(tile, f))); };
  for (int t = 0; t < state.laid_tiles(); ++t) {
    const LaidTile laid = state.laid_tile(t);
    const auto& own = state.game().tile(laid.type).type->features;
    for (int f = 0; f < static_cast<int>(own.size()); ++f) {
      const TileFeature& description = own[static_cast<std::size_t>(f)];
      if (description.kind == FeatureKind::kGarden && !state.rules().abbot) continue;
      const auto [found, is_new] =
          index_of.try_emplace(joined.find(Joined::number(t, f)), static_cast<int>(features.size()));
      if (is_new) features.push_back({description.kind, {}, 0, 0, 0, false, {}, {}, 0});
      Feature& feature = features[static_cast<std::size_t>(found->second)];
      if (feature.segments.empty() || feature.segments.back().tile != t) ++feature.tiles;
      feature.segments.push_back({t, f});
      feature.shields += description.shields;
      for (std::size_t s = 0; s < 4; ++s) {
        const bool ends_here = description.sides >> ((s + 4 - laid.rotation) % 4) & 1;
        feature.open += ends_here && neighbour(at, laid.cell, kSideStep[s].x, kSideStep[s].y) < 0;
      }
      if (description.kind == FeatureKind::kMonastery || description.kind == FeatureKind::kGarden) {
        for (int dx = -1; dx <= 1; ++dx) {
          for (int dy = -1; dy <= 1; ++dy) feature.open += neighbour(at, laid.cell, dx, dy) < 0;
        }
      }
    }
  }
  for (Feature& feature : features) {
    feature.is_complete = feature.kind != FeatureKind::kField && feature.open == 0;
    if (feature.kind != FeatureKind::kField) continue;
    std::set<int> cities;
    for (const Segment& s : feature.segments) {
      const auto& own = state.game().tile(state.laid_tile(s.tile).type).type->features;
      for (int c = 0; c < static_cast<int>(own.size()); ++c) {
        if (own[static_cast<std::size_t>(s.feature)].cities >> c & 1) cities.insert(index(s.tile, c));
      }
    }
    feature.cities.assign(cities.begin(), cities.end());
  }
  for (int i = 0; i < state.figures_on_board(); ++i) {
    const Figure f = state.figure(i);
    features[static_cast<std::size_t>(index(f.tile, f.feature))].figures.push_back(f);
  }
  for (Feature& feature : features) {
    std::sort(feature.figures.begin(), feature.figures.end(),
              [](const Figure& a, const Figure& b) { return a.tile < b.tile; });
    feature.value = present_value(state.rules(), feature, features);
  }
  return features;
}

}  // namespace carc
