// The rest of a turn: drawing, figures, scoring, the end of the game; legal actions, comparison and hash.
#include <algorithm>
#include <bit>
#include <bitset>
#include <cassert>

#include "carc/core/error.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"

namespace carc {
namespace {

constexpr int kAbbotBit = 16;     // of figure_mask
constexpr int kFullBuilding = 9;  // the monastery or garden and its eight neighbours
using LineSet = std::bitset<256>;

constexpr bool is_building(FeatureKind kind) { return kind == FeatureKind::kMonastery || kind == FeatureKind::kGarden; }

}  // namespace

// --- Drawing --------------------------------------------------------------------------------------------------------

bool GameState::can_draw(TypeId type) const {
  if (!bag_[type]) return false;
  const auto lake = game_->lake();
  if (!lake) return true;
  if (type == *lake) return river_left_ == 0;
  return game_->tile(type).is_river || (river_left_ == 0 && bag_[*lake] == 0);
}

std::vector<ChanceOutcome> GameState::chance_outcomes() const {
  std::vector<ChanceOutcome> outcomes;
  if (phase_ != Phase::kDraw) return outcomes;
  int total = 0;
  for (int t = 0; t < game_->types(); ++t) {
    if (can_draw(static_cast<TypeId>(t))) total += bag_[static_cast<std::size_t>(t)];
  }
  for (int t = 0; t < game_->types(); ++t) {
    if (!can_draw(static_cast<TypeId>(t))) continue;
    outcomes.push_back({static_cast<TypeId>(t), static_cast<double>(bag_[static_cast<std::size_t>(t)]) / total});
  }
  return outcomes;
}

void GameState::take_from_bag(TypeId type) {
  --bag_[type];
  --tiles_left_;
  if (river_left_ && game_->comes_before_lake(type)) --river_left_;
}

void GameState::draw(TypeId type) {
  take_from_bag(type);
  if (can_be_laid(type)) {
    drawn_ = static_cast<std::int8_t>(type);
    phase_ = Phase::kPlace;
    return;
  }
  types_[static_cast<std::size_t>(kMaxTiles - 1 - discarded_++)] = type;
  if (tiles_left_ == 0) end_game();
}

// --- Figures --------------------------------------------------------------------------------------------------------

void GameState::prepare_figures() {
  const TileData& tile = game_->tile(static_cast<TypeId>(drawn_));
  std::uint32_t monastery = tile.monastery >= 0 ? 1u << tile.monastery : 0;
  std::uint32_t garden = tile.garden >= 0 ? 1u << tile.garden : 0;
  std::uint32_t mask = meeples_[player_] ? free_features_ | monastery : 0;
  if (abbots_[player_]) mask |= (monastery | garden) << kAbbotBit;
  figure_mask_ = mask;
  phase_ = Phase::kFigure;
}

// Cells from which the player may take a figure back now, sorted by y, then x.
int GameState::takebacks(std::array<CellKey, kMeeples + 1>& cells) const {
  const bool abbot_is_out = rules().abbot && !abbots_[player_];
  if (!abbot_is_out && !rules().farmer_recall) return 0;
  std::size_t n = 0;
  if (abbot_is_out) {
    for (int i = figures_; i < figures_on_board(); ++i) {
      const Figure f = figure(i);
      const bool is_complete = f.label == 0;
      if (f.player == player_ && f.figure == FigureKind::kAbbot && !is_complete) cells[n++] = keys_[f.tile];
    }
  }
  if (rules().farmer_recall) {
    for (std::size_t i = 0; i < figures_; ++i) {
      const Figure& f = figure_table_[i];
      if (f.player == player_ && f.kind == FeatureKind::kField) cells[n++] = keys_[f.tile];
    }
  }
  std::sort(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<int>(n);
}

void GameState::set_figure(unsigned feature, FigureKind figure) {
  const auto tile_index = static_cast<std::uint8_t>(laid_ - 1);
  const TileData& tile = tile_data(tile_index);
  Figure f{tile_index, static_cast<std::uint8_t>(feature), player_, figure, tile.type->features[feature].kind, 0};
  if (is_building(f.kind)) {
    f.label = static_cast<std::uint8_t>(missing_neighbours(keys_[tile_index]));
    figure_table_[static_cast<std::size_t>(kMaxFigures - 1 - monks_++)] = f;
  } else {
    const std::size_t local = tile.local_of_feature[feature];
    const bool is_field = f.kind == FeatureKind::kField;
    f.label = is_field ? current_fields_[local] : current_lines_[local];
    (is_field ? field_figures_[f.label] : line_table_[f.label].figures) = one_figure(player_);
    figure_table_[figures_++] = f;
  }
  --(figure == FigureKind::kAbbot ? abbots_ : meeples_)[player_];
  board_hash_ ^= figure_hash(f);
}

int GameState::missing_neighbours(CellKey key) const {
  const Cell c = key_cell(key);
  int around = -1;  // the tile itself
  for (std::size_t i = 0; i < laid_; ++i) {
    const Cell t = key_cell(keys_[i]);
    around += std::abs(t.x - c.x) <= 1 && std::abs(t.y - c.y) <= 1;
  }
  return 8 - around;
}

void GameState::take_back(CellKey key) {
  for (std::size_t i = 0; i < monks_; ++i) {
    const Figure& f = figure_table_[kMaxFigures - 1 - i];
    if (keys_[f.tile] != key || f.player != player_) continue;
    points_.add_to(f.kind, player_, kFullBuilding - f.label);
    remove_monk(i);
    return;
  }
  for (std::size_t i = 0; i < figures_; ++i) {
    const Figure& f = figure_table_[i];
    if (keys_[f.tile] != key) continue;
    field_figures_[f.label] = static_cast<FigureCounts>(field_figures_[f.label] - one_figure(f.player));
    remove_figure(i);
    return;
  }
  assert(false && "no figure to take back");
}

void GameState::remove_monk(std::size_t i) {
  Figure& f = figure_table_[kMaxFigures - 1 - i];
  board_hash_ ^= figure_hash(f);
  ++(f.figure == FigureKind::kAbbot ? abbots_ : meeples_)[f.player];
  f = figure_table_[static_cast<std::size_t>(kMaxFigures - monks_--)];
}

void GameState::remove_figure(std::size_t i) {
  Figure& f = figure_table_[i];
  board_hash_ ^= figure_hash(f);
  ++meeples_[f.player];
  f = figure_table_[--figures_];
}

// --- Scoring --------------------------------------------------------------------------------------------------------

void GameState::score_completed() {
  for (unsigned completed = completed_; completed; completed &= completed - 1) {
    const std::uint8_t id = current_lines_[static_cast<std::size_t>(std::countr_zero(completed))];
    Line& line = line_table_[id];
    if (!line.figures) continue;
    const Majority owners = majority(line.figures);
    points_.add(line.kind, owners,
                share(rules(), line_value(rules(), line.kind, line.tiles, line.shields, true), owners));
    line.figures = 0;
    for (std::size_t i = figures_; i-- > 0;) {
      if (figure_table_[i].kind != FeatureKind::kField && figure_table_[i].label == id) remove_figure(i);
    }
  }
  for (std::size_t i = monks_; i-- > 0;) {
    const Figure& monk = figure_table_[kMaxFigures - 1 - i];
    if (monk.label) continue;
    points_.add_to(monk.kind, monk.player, kFullBuilding);
    remove_monk(i);
  }
}

Points GameState::projected() const {
  Points points;
  if (phase_ == Phase::kOver) return points;
  LineSet seen;
  for (std::size_t i = 0; i < figures_; ++i) {
    const Figure& f = figure_table_[i];
    if (f.kind == FeatureKind::kField || seen[f.label]) continue;
    seen.set(f.label);
    const Line& line = line_table_[f.label];
    const Majority owners = majority(line.figures);
    points.add(f.kind, owners,
               share(rules(), line_value(rules(), f.kind, line.tiles, line.shields, line.open == 0), owners));
  }
  for (std::size_t i = 0; i < monks_; ++i) {
    const Figure& monk = figure_table_[kMaxFigures - 1 - i];
    points.add_to(monk.kind, monk.player, kFullBuilding - monk.label);
  }
  add_field_points(points);
  return points;
}

Points GameState::projected_fields() const {
  Points points;
  if (phase_ != Phase::kOver) add_field_points(points);
  return points;
}

void GameState::add_field_points(Points& points) const {
  constexpr int kPerCity = 3, kPerCity2000 = 4;
  const FieldScoring scoring = rules().field_scoring;
  std::array<FigureCounts, kMaxLines> farmers_at;                        // city_2000
  std::array<std::array<std::uint8_t, kMaxPlayers>, kMaxLines> best_at;  // transitional
  if (scoring == FieldScoring::kCity2000) farmers_at.fill(0);
  if (scoring == FieldScoring::kTransitional) best_at.fill({});
  LineSet seen, paying;  // fields; cities next to some farmer
  for (std::size_t i = 0; i < figures_; ++i) {
    const Figure& f = figure_table_[i];
    if (f.kind != FeatureKind::kField || seen[f.label]) continue;
    seen.set(f.label);
    LineSet cities;
    for_each_city(f.label, [&](std::uint8_t city) {
      if (line_table_[city].open == 0) cities.set(city);
    });
    const FigureCounts farmers = field_figures_[f.label];
    const Majority owners = majority(farmers);
    if (scoring == FieldScoring::kField) {
      points.add(FeatureKind::kField, owners, share(rules(), kPerCity * static_cast<int>(cities.count()), owners));
      continue;
    }
    paying |= cities;
    for (std::size_t c = 0; c < lines_; ++c) {
      if (!cities[c]) continue;
      if (scoring == FieldScoring::kCity2000) {
        farmers_at[c] = static_cast<FigureCounts>(farmers_at[c] + farmers);
      } else {
        for (std::size_t p = 0; p < players_; ++p) {
          const int paid = owners.players >> p & 1 ? share(rules(), kPerCity, owners) : 0;
          best_at[c][p] = std::max(best_at[c][p], static_cast<std::uint8_t>(paid));
        }
      }
    }
  }
  for (std::size_t c = 0; c < lines_; ++c) {
    if (!paying[c]) continue;
    if (scoring == FieldScoring::kCity2000) {
      const Majority owners = majority(farmers_at[c]);
      points.add(FeatureKind::kField, owners, share(rules(), kPerCity2000, owners));
    } else {
      for (int p = 0; p < players_; ++p) points.add_to(FeatureKind::kField, p, best_at[c][static_cast<std::size_t>(p)]);
    }
  }
}

void GameState::end_turn() {
  score_completed();
  player_ = static_cast<std::uint8_t>(player_ + 1 == players_ ? 0 : player_ + 1);
  drawn_ = -1;
  figure_mask_ = 0;
  phase_ = Phase::kDraw;
  if (tiles_left_ == 0) end_game();
}

void GameState::end_game() {
  final_count_ = projected();
  points_ += final_count_;
  phase_ = Phase::kOver;
}

// --- Actions --------------------------------------------------------------------------------------------------------

void GameState::legal_actions(ActionList& out) const {
  out.clear();
  switch (phase_) {
    case Phase::kDraw:
      for (int t = 0; t < game_->types(); ++t) {
        if (can_draw(static_cast<TypeId>(t))) out.push_back(Action::draw(static_cast<TypeId>(t)));
      }
      return;
    case Phase::kPlace:
      placements().for_each([&](Action a) { out.push_back(a); });
      return;
    case Phase::kFigure: {
      const int n = num_legal_actions();
      for (int i = 0; i < n; ++i) out.push_back(legal_action(i));
      return;
    }
    case Phase::kOver:
      return;
  }
}

int GameState::num_legal_actions() const {
  switch (phase_) {
    case Phase::kDraw: {
      int n = 0;
      for (int t = 0; t < game_->types(); ++t) n += can_draw(static_cast<TypeId>(t));
      return n;
    }
    case Phase::kPlace:
      return placements().count();
    case Phase::kFigure: {
      std::array<CellKey, kMeeples + 1> cells;
      return 1 + std::popcount(figure_mask_) + takebacks(cells);
    }
    case Phase::kOver:
      break;
  }
  return 0;
}

Action GameState::legal_action(int i) const {
  assert(i >= 0 && i < num_legal_actions());
  if (phase_ == Phase::kPlace) return placements()[i];
  if (phase_ == Phase::kDraw) {
    for (TypeId t = 0;; ++t) {
      if (can_draw(t) && i-- == 0) return Action::draw(t);
    }
  }
  if (i == 0) return Action::no_figure();
  const int set_choices = std::popcount(figure_mask_);
  if (i <= set_choices) {
    const int bit = nth_bit(figure_mask_, i - 1);
    return bit < kAbbotBit ? Action::meeple(static_cast<unsigned>(bit))
                           : Action::abbot(static_cast<unsigned>(bit - kAbbotBit));
  }
  std::array<CellKey, kMeeples + 1> cells;
  takebacks(cells);
  return Action::back(cells[static_cast<std::size_t>(i - 1 - set_choices)]);
}

bool GameState::is_legal(Action action) const {
  switch (phase_) {
    case Phase::kDraw:
      return action == Action::draw(action.type()) && action.type() < game_->types() && can_draw(action.type());
    case Phase::kPlace: {
      if (action != Action::place(action.key(), action.rotation())) return false;
      return can_place(static_cast<TypeId>(drawn_), action.key(), action.rotation());
    }
    case Phase::kFigure: {
      if (action == Action::no_figure()) return true;
      const unsigned f = action.feature();
      if (action == Action::meeple(f)) return f < kMaxFeatures && (figure_mask_ >> f & 1);
      if (action == Action::abbot(f)) return f < kMaxFeatures && (figure_mask_ >> (kAbbotBit + f) & 1);
      std::array<CellKey, kMeeples + 1> cells;
      const auto end = cells.begin() + takebacks(cells);
      return action == Action::back(action.key()) && std::find(cells.begin(), end, action.key()) != end;
    }
    case Phase::kOver:
      break;
  }
  return false;
}

void GameState::apply(Action action) {
  assert(is_legal(action));
  switch (phase_) {
    case Phase::kDraw:
      draw(action.type());
      return;
    case Phase::kPlace:
      lay(action.key(), action.rotation());
      prepare_figures();
      return;
    case Phase::kFigure:
      switch (action.figure()) {
        case Action::Figure::kNone:
          break;
        case Action::Figure::kMeeple:
          set_figure(action.feature(), FigureKind::kMeeple);
          break;
        case Action::Figure::kAbbot:
          set_figure(action.feature(), FigureKind::kAbbot);
          break;
        case Action::Figure::kBack:
          take_back(action.key());
          break;
      }
      end_turn();
      return;
    case Phase::kOver:
      return;
  }
}

void GameState::apply_checked(Action action) {
  if (!is_legal(action)) throw IllegalAction(illegal_action_message(*this, action));
  apply(action);
}

// --- Reading and comparing ------------------------------------------------------------------------------------------

Player GameState::current_player() const {
  if (phase_ == Phase::kOver) return kTerminalPlayer;
  return phase_ == Phase::kDraw ? kChancePlayer : static_cast<Player>(player_);
}

std::array<double, kMaxPlayers> GameState::returns() const {
  std::array<double, kMaxPlayers> out{};
  if (phase_ != Phase::kOver) return out;
  double sum = 0;
  for (int p = 0; p < players_; ++p) sum += score(p);
  for (int p = 0; p < players_; ++p) {
    out[static_cast<std::size_t>(p)] = score(p) - (sum - score(p)) / (players_ - 1);
  }
  return out;
}

unsigned GameState::leaders() const {
  int best = score(0);
  for (int p = 1; p < players_; ++p) best = std::max(best, score(p));
  unsigned mask = 0;
  for (int p = 0; p < players_; ++p) mask |= static_cast<unsigned>(score(p) == best) << p;
  return mask;
}

// A figure's place does not depend on which of several equal rotations its tile was laid with.
std::uint64_t GameState::figure_hash(const Figure& f) const {
  const std::uint64_t feature = tile_data(f.tile).same_feature[rotations_[f.tile]][f.feature];
  const std::uint64_t who = f.player * 2u + (f.figure == FigureKind::kAbbot);
  return mix64(std::uint64_t{2} << 40 | feature << 24 | who << 16 | keys_[f.tile]);
}

std::uint64_t GameState::hash() const {
  std::uint64_t h = mix64(board_hash_ ^ (static_cast<std::uint64_t>(phase_) << 32 | std::uint64_t{player_} << 24 |
                                         static_cast<std::uint64_t>(drawn_ & 0xFF) << 16));
  if (phase_ == Phase::kFigure) h = mix64(h ^ keys_[laid_ - 1u]);
  for (const auto& kind : points_.by_kind) {
    for (std::size_t p = 0; p < players_; ++p) h = mix64(h ^ static_cast<std::uint16_t>(kind[p]));
  }
  for (int t = 0; t < game_->types(); ++t) h = mix64(h ^ bag_[static_cast<std::size_t>(t)]);
  return h;
}

bool GameState::operator==(const GameState& other) const {
  if (game_ != other.game_ && game_->rules() != other.game_->rules()) return false;
  const auto plain = [](const GameState& s) {
    return std::tuple(s.phase_, s.player_, s.drawn_, s.laid_, s.discarded_, s.figures_, s.monks_, s.tiles_left_,
                      s.bag_);
  };
  if (plain(*this) != plain(other) || points_ != other.points_) return false;
  if (phase_ == Phase::kFigure && keys_[laid_ - 1u] != other.keys_[laid_ - 1u]) return false;
  const auto tiles = [](const GameState& s) {
    std::vector<std::tuple<CellKey, TypeId, std::uint8_t>> out;
    for (std::size_t i = 0; i < s.laid_; ++i) {
      out.emplace_back(s.keys_[i], s.types_[i], s.tile_data(i).canonical_rotation(s.rotations_[i]));
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto figures = [](const GameState& s) {
    std::vector<std::tuple<CellKey, std::uint8_t, std::uint8_t, FigureKind>> out;
    for (int i = 0; i < s.figures_on_board(); ++i) {
      const Figure f = s.figure(i);
      out.emplace_back(s.keys_[f.tile], s.tile_data(f.tile).same_feature[s.rotations_[f.tile]][f.feature], f.player,
                       f.figure);
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  return tiles(*this) == tiles(other) && figures(*this) == figures(other);
}

}  // namespace carc
