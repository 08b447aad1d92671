// GameState::check_consistency: everything a state keeps, compared with what its tiles and figures say.
#include <algorithm>
#include <map>
#include <set>

#include "carc/core/error.hpp"
#include "carc/core/features.hpp"
#include "carc/core/state.hpp"

namespace carc {

class StateChecker {
 public:
  explicit StateChecker(const GameState& state) : s_(state), features_(find_features(state)) {
    for (int i = 0; i < static_cast<int>(features_.size()); ++i) {
      for (const Segment& segment : features_[static_cast<std::size_t>(i)].segments)
        feature_of_[{segment.tile, segment.feature}] = i;
    }
  }

  void check() {
    check_material();
    check_open_cells();
    check_lines_and_fields();
    check_figures();
    check_current_tile();
    check_hash();
    check_projection();
  }

 private:
  template <class A, class B>
  static void expect(const A& kept, const B& recomputed, const std::string& what) {
    if (static_cast<long>(kept) != static_cast<long>(recomputed)) {
      throw RecordError("inconsistent state: " + what + ": kept " + std::to_string(static_cast<long>(kept)) +
                        ", recomputed " + std::to_string(static_cast<long>(recomputed)));
    }
  }

  void check_material() {
    int left = 0;
    for (const int copies : s_.bag_) left += copies;
    expect(s_.tiles_left_, left, "tiles left");
    std::array<int, kMaxPlayers> meeples{}, abbots{};
    for (int i = 0; i < s_.figures_on_board(); ++i) {
      const Figure f = s_.figure(i);
      ++(f.figure == FigureKind::kAbbot ? abbots : meeples)[f.player];
    }
    for (std::size_t p = 0; p < s_.players_; ++p) {
      expect(s_.meeples_[p], kMeeples - meeples[p], "meeples in hand");
      expect(s_.abbots_[p], s_.rules().abbot - abbots[p], "abbots in hand");
    }
    int river = 0;
    for (int t = 0; t < s_.game_->types(); ++t) {
      const auto type = static_cast<TypeId>(t);
      if (s_.game_->comes_before_lake(type)) river += s_.bag_[type];
    }
    expect(s_.river_left_, river, "river tiles left");
    std::set<CellKey> cells(s_.keys_.begin(), s_.keys_.begin() + s_.laid_);
    expect(s_.laid_, cells.size(), "cells laid");
  }

  void check_open_cells() {
    std::map<CellKey, unsigned> codes;  // of the empty neighbours; 0 at the river's end
    std::set<CellKey> river_ends;
    for (int t = 0; t < s_.laid_; ++t) {
      const CellKey key = s_.keys_[static_cast<std::size_t>(t)];
      const TileFace& face = s_.face(static_cast<std::size_t>(t));
      for (std::size_t side = 0; side < 4; ++side) {
        const auto beyond = static_cast<CellKey>(key + kKeyStep[side]);
        const int other = s_.tile_at(key_cell(beyond));
        if (other >= 0) {
          const EdgeKind theirs = s_.face(static_cast<std::size_t>(other)).edges[side ^ 2];
          expect(static_cast<int>(face.edges[side]), static_cast<int>(theirs), "matching edges");
          continue;
        }
        codes[beyond] |= static_cast<unsigned>(face.edges[side]) << 2 * (side ^ 2);
        if (face.edges[side] == EdgeKind::kRiver) river_ends.insert(beyond);
      }
    }
    expect(s_.cells_, codes.size(), "number of open cells");
    int i = 0;
    for (const auto& [key, code] : codes) {
      const bool is_river_end = river_ends.contains(key);
      expect(s_.cell_keys_[static_cast<std::size_t>(i)], key, "open cell " + std::to_string(i));
      expect(s_.cell_codes_[static_cast<std::size_t>(i)], is_river_end ? 0 : code,
             "code of open cell " + std::to_string(i));
      ++i;
    }
    expect(river_ends.size() <= 1, true, "one end of the river");
    expect(s_.river_end_, river_ends.empty() ? 0xFFFF : *river_ends.begin(), "end of the river");
    std::set<std::size_t> slots;
    for (int c = 0; c < s_.cells_; ++c) slots.insert(s_.slot(c));
    expect(s_.cells_, slots.size(), "slots of open cells");
    for (std::size_t c = s_.cells_; c < GameState::kCellCapacity; ++c) {
      expect(s_.cell_codes_[c], 0, "unused code");
      expect(s_.cell_keys_[c], 0xFFFF, "unused key");
    }
  }

  // Notes that `id` stands for feature `index`; ids and features must correspond one to one.
  void pair(std::map<int, int>& of_id, std::uint8_t id, int index, const std::string& what) {
    const auto [known, is_new] = of_id.try_emplace(id, index);
    expect(known->second, index, what);
  }

  void check_border(std::size_t cell, std::size_t side) {
    const Cell c = key_cell(s_.cell_keys_[cell]);
    const std::size_t slot = s_.cell_slots_[cell];
    const int tile = s_.tile_at(
        {static_cast<std::int16_t>(c.x + kSideStep[side].x), static_cast<std::int16_t>(c.y + kSideStep[side].y)});
    std::uint8_t l = kNoLine;
    std::array<std::uint8_t, 2> f{kNoField, kNoField};
    if (tile >= 0) {
      const TileFace& face = s_.face(static_cast<std::size_t>(tile));
      l = face.line_of_side[side ^ 2];
      f = {face.field_of_half[2 * (side ^ 2) + 1], face.field_of_half[2 * (side ^ 2)]};
    }
    const auto index = [&](std::uint8_t feature) { return feature_of_.at({tile, feature}); };
    const std::uint8_t kept_line = s_.border_lines(slot)[side];
    if (l == kNoLine)
      expect(kept_line, kNone, "line beside an open cell");
    else
      pair(line_index_, kept_line, index(s_.tile_data(static_cast<std::size_t>(tile)).line_feature[l]), "line id");
    for (std::size_t half = 0; half < 2; ++half) {
      const std::uint8_t kept = s_.border_fields(slot)[2 * side + half];
      if (f[half] == kNoField)
        expect(kept, kNone, "field beside an open cell");
      else
        pair(field_index_, kept, index(s_.tile_data(static_cast<std::size_t>(tile)).field_feature[f[half]]),
             "field id");
    }
  }

  void check_lines_and_fields() {
    for (std::size_t c = 0; c < s_.cells_; ++c) {
      for (std::size_t side = 0; side < 4; ++side) check_border(c, side);
    }
    for (int i = 0; i < s_.figures_; ++i) {
      const Figure f = s_.figure(i);
      const bool is_field = f.kind == FeatureKind::kField;
      pair(is_field ? field_index_ : line_index_, f.label, feature_of_.at({f.tile, f.feature}), "feature of a figure");
    }
    check_one_to_one(line_index_, "two ids for one line");
    check_one_to_one(field_index_, "two ids for one field");
    for (const auto& [id, index] : line_index_) {
      const Line& line = s_.line_table_[static_cast<std::size_t>(id)];
      const Feature& f = features_[static_cast<std::size_t>(index)];
      expect(static_cast<int>(line.kind), static_cast<int>(f.kind), "kind of a line");
      expect(line.tiles, f.tiles, "tiles of a line");
      expect(line.shields, f.shields, "shields of a city");
      expect(line.open, f.open, "open edges of a line");
      expect(line.figures, counts(f), "figures on a line");
    }
    for (const auto& [id, index] : field_index_) {
      const Feature& f = features_[static_cast<std::size_t>(index)];
      expect(s_.field_figures_[static_cast<std::size_t>(id)], counts(f), "figures on a field");
      std::set<int> ids;
      s_.for_each_city(static_cast<std::uint8_t>(id), [&](std::uint8_t city) { ids.insert(city); });
      expect(ids.size(), f.cities.size(), "cities of a field");
      int complete = 0, kept_complete = 0;
      for (const int c : f.cities) complete += features_[static_cast<std::size_t>(c)].is_complete;
      for (const int c : ids) kept_complete += s_.line_table_[static_cast<std::size_t>(c)].open == 0;
      expect(kept_complete, complete, "completed cities of a field");
    }
  }

  static void check_one_to_one(const std::map<int, int>& of_id, const std::string& what) {
    std::set<int> indices;
    for (const auto& entry : of_id) indices.insert(entry.second);
    expect(of_id.size(), indices.size(), what);
  }

  static FigureCounts counts(const Feature& f) {
    FigureCounts sum = 0;
    for (const Figure& figure : f.figures) sum = static_cast<FigureCounts>(sum + one_figure(figure.player));
    return sum;
  }

  void check_figures() {
    std::set<int> tiles;
    for (int i = 0; i < s_.figures_on_board(); ++i) {
      const Figure f = s_.figure(i);
      tiles.insert(f.tile);
      const bool in_building = f.kind == FeatureKind::kMonastery || f.kind == FeatureKind::kGarden;
      expect(in_building, i >= s_.figures_, "place of a figure in the table");
      const Feature& feature = features_[static_cast<std::size_t>(feature_of_.at({f.tile, f.feature}))];
      expect(static_cast<int>(f.kind), static_cast<int>(feature.kind), "kind under a figure");
      if (in_building) expect(f.label, feature.open, "missing neighbours of a building");
      const bool just_laid = s_.phase_ == Phase::kFigure;
      if (feature.is_complete && !just_laid) expect(1, 0, "figure on a completed feature");
    }
    expect(s_.figures_on_board(), tiles.size(), "one figure a tile");
  }

  void check_current_tile() {
    if (s_.phase_ != Phase::kFigure) return expect(s_.figure_mask_, 0, "figure choices");
    const TileData& tile = s_.tile_data(s_.laid_ - 1u);
    std::uint32_t free_features = 0;
    for (std::size_t f = 0; f < tile.type->features.size(); ++f) {
      const FeatureKind kind = tile.type->features[f].kind;
      const auto found = feature_of_.find({s_.laid_ - 1, static_cast<int>(f)});
      if (kind == FeatureKind::kRiver || kind == FeatureKind::kGarden || found == feature_of_.end()) continue;
      if (kind == FeatureKind::kField && !s_.rules().farmers) continue;
      free_features |= static_cast<std::uint32_t>(features_[static_cast<std::size_t>(found->second)].figures.empty())
                       << f;
    }
    expect(s_.figure_mask_ & 0xFFFF, s_.meeples_[s_.player_] ? free_features : 0, "features free for a meeple");
    std::uint32_t buildings = 0;
    if (tile.monastery >= 0) buildings |= 1u << tile.monastery;
    if (tile.garden >= 0) buildings |= 1u << tile.garden;
    expect(s_.figure_mask_ >> 16, s_.abbots_[s_.player_] ? buildings : 0, "features free for an abbot");
  }

  void check_hash() {
    std::uint64_t hash = 0;
    for (std::size_t t = 0; t < s_.laid_; ++t) hash ^= s_.tile_hash(t);
    for (int i = 0; i < s_.figures_on_board(); ++i) hash ^= s_.figure_hash(s_.figure(i));
    expect(s_.board_hash_, hash, "hash of the board");
  }

  // Points if the game ended now, feature by feature; fields only as today's rules score them.
  void check_projection() {
    if (s_.phase_ == Phase::kOver) return;
    const Points kept = s_.projected();
    const bool plain_fields = s_.rules().field_scoring == FieldScoring::kField;
    Points points;
    for (const Feature& f : features_) {
      if (f.figures.empty() || (f.kind == FeatureKind::kField && !plain_fields)) continue;
      const Majority owners = majority(counts(f));
      points.add(f.kind, owners, share(s_.rules(), f.value, owners));
    }
    for (std::size_t k = 0; k < kScoringKinds; ++k) {
      if (static_cast<FeatureKind>(k) == FeatureKind::kField && !plain_fields) continue;
      for (std::size_t p = 0; p < s_.players_; ++p) {
        expect(kept.by_kind[k][p], points.by_kind[k][p],
               std::string("projected points of kind ") + kFeatureKindNames[k]);
      }
    }
  }

  const GameState& s_;
  std::vector<Feature> features_;
  std::map<std::pair<int, int>, int> feature_of_;
  std::map<int, int> line_index_, field_index_;
};

void GameState::check_consistency() const { StateChecker(*this).check(); }

}  // namespace carc
