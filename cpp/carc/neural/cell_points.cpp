#include "carc/neural/cell_points.hpp"

#include <algorithm>
#include <array>

#include "carc/core/features.hpp"
#include "carc/core/scoring.hpp"

namespace carc {
namespace {

constexpr int kFullBuilding = 9;

FigureCounts counts_of(const Feature& feature) {
  FigureCounts counts = 0;
  for (const Figure& f : feature.figures) counts = static_cast<FigureCounts>(counts + one_figure(f.player));
  return counts;
}

// The feature's distinct tiles share the points.
void spread(const GameState& state, const Feature& feature, int player, float points, std::uint16_t turn,
            std::vector<CellPoints>& out) {
  if (points == 0) return;
  int last = -1;
  for (const Segment& s : feature.segments) {
    if (s.tile == last) continue;
    last = s.tile;
    out.push_back({turn, static_cast<std::uint8_t>(player), state.laid_tile(s.tile).cell,
                   points / static_cast<float>(feature.tiles)});
  }
}

void spread_to_owners(const GameState& state, const Feature& feature, FigureCounts figures, int points,
                      std::uint16_t turn, std::vector<CellPoints>& out) {
  const Majority owners = majority(figures);
  for (int p = 0; p < state.players(); ++p) {
    if (owners.players >> p & 1)
      spread(state, feature, p, static_cast<float>(share(state.rules(), points, owners)), turn, out);
  }
}

}  // namespace

void add_completed(const GameState& state, Action figure, std::uint16_t turn, std::vector<CellPoints>& out) {
  const int last = state.laid_tiles() - 1;
  const bool sets = figure.figure() == Action::Figure::kMeeple || figure.figure() == Action::Figure::kAbbot;
  for (const Feature& feature : find_features(state)) {
    FigureCounts figures = counts_of(feature);
    const Segment here{last, static_cast<int>(figure.feature())};
    if (sets && std::find(feature.segments.begin(), feature.segments.end(), here) != feature.segments.end())
      figures = static_cast<FigureCounts>(figures + one_figure(state.turn_player()));
    const bool is_building = feature.kind == FeatureKind::kMonastery || feature.kind == FeatureKind::kGarden;
    if (figure.figure() == Action::Figure::kBack && is_building && !feature.figures.empty() &&
        state.laid_tile(feature.segments[0].tile).cell == figure.cell()) {
      spread(state, feature, state.turn_player(), static_cast<float>(kFullBuilding - feature.open), turn, out);
    } else if (feature.is_complete && feature.kind != FeatureKind::kRiver && figures) {
      spread_to_owners(state, feature, figures, feature.value, turn, out);
    }
  }
}

void add_final_count(const GameState& state, std::uint16_t turn, std::vector<CellPoints>& out) {
  const std::vector<Feature> features = find_features(state);
  for (const Feature& feature : features) {
    if (feature.kind == FeatureKind::kField || feature.kind == FeatureKind::kRiver) continue;
    spread_to_owners(state, feature, counts_of(feature), feature.value, turn, out);
  }
  constexpr auto kField = static_cast<std::size_t>(FeatureKind::kField);
  for (int p = 0; p < state.players(); ++p) {
    const auto points = static_cast<float>(state.final_count().by_kind[kField][static_cast<std::size_t>(p)]);
    const auto weight = [&](const Feature& f) {
      const bool owns = f.kind == FeatureKind::kField && (majority(counts_of(f)).players >> p & 1);
      return owns ? static_cast<float>(f.value) : 0;
    };
    float sum = 0;
    for (const Feature& feature : features) sum += weight(feature);
    if (sum == 0) continue;
    for (const Feature& feature : features) spread(state, feature, p, points * weight(feature) / sum, turn, out);
  }
}

}  // namespace carc
