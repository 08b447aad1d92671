#include "carc/neural/planes.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "carc/search/fitting_tiles.hpp"

namespace carc {
namespace {

// --- Classes of tiles -----------------------------------------------------------------------------------------------

constexpr int kPatterns = 81;  // 3 kinds of edge on 4 sides
constexpr int kNecklaces = 24;

// The number of each pattern's class up to rotation, by the pattern's edges as digits of base 3.
constexpr std::array<std::uint8_t, kPatterns> make_necklaces() {
  std::array<std::uint8_t, kPatterns> out{};
  std::uint8_t next = 0;
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    int least = pattern, turned = pattern;
    for (int quarter = 0; quarter < 3; ++quarter) {
      turned = turned / 3 + turned % 3 * 27;
      least = std::min(least, turned);
    }
    const auto at = static_cast<std::size_t>(pattern);
    out[at] = least == pattern ? next++ : out[static_cast<std::size_t>(least)];
  }
  return out;
}
constexpr std::array<std::uint8_t, kPatterns> kNecklaceOf = make_necklaces();
static_assert(*std::max_element(kNecklaceOf.begin(), kNecklaceOf.end()) == kNecklaces - 1);
static_assert(kTileClasses == 2 * kNecklaces);

std::size_t tile_class(const TileData& tile) {
  std::size_t pattern = 0;
  for (const EdgeKind edge : tile.faces[0].edges) {
    pattern = pattern * 3 + (edge == EdgeKind::kCity ? 2u : edge == EdgeKind::kRoad ? 1u : 0u);
  }
  int roads = 0, cities = 0;
  for (std::size_t l = 0; l < tile.lines; ++l) ++(tile.line_kind[l] == FeatureKind::kCity ? cities : roads);
  return kNecklaceOf[pattern] + (roads > 1 || cities > 1 ? std::size_t{kNecklaces} : 0);
}

// --- Features of the board ------------------------------------------------------------------------------------------

// Which segments of the laid tiles belong together. A state keeps that only for its open cells, so it is found afresh:
// union-find over lines (4 a tile) and fields (8 a tile), the lesser number leads.
class Labels {
 public:
  struct LineFacts {
    std::uint8_t tiles = 0, shields = 0, open = 0;
    FigureCounts figures = 0;
    int last_tile = -1;
  };
  struct FieldFacts {
    FigureCounts figures = 0;
    std::uint8_t complete = 0, open = 0;  // cities
  };

  // `grid[y * width + x]`: index of the laid tile or kNone.
  Labels(const GameState& state, const std::vector<std::uint8_t>& grid, const PlaneInput& window) : state_(state) {
    const auto n = static_cast<std::size_t>(state.laid_tiles());
    std::iota(line_root_.begin(), line_root_.begin() + static_cast<std::ptrdiff_t>(4 * n), std::uint16_t{0});
    std::iota(field_root_.begin(), field_root_.begin() + static_cast<std::ptrdiff_t>(8 * n), std::uint16_t{0});
    for (std::size_t t = 0; t < n; ++t) {
      laid_[t] = state.laid_tile(static_cast<int>(t));
      faces_[t] = &tile(t).faces[laid_[t].rotation];
    }
    const auto width = static_cast<std::size_t>(window.width);
    for (std::size_t t = 0; t < n; ++t) {
      const auto x = static_cast<std::size_t>(laid_[t].cell.x - window.origin.x);
      const auto y = static_cast<std::size_t>(laid_[t].cell.y - window.origin.y);
      for (const std::size_t side : {std::size_t{kEast}, std::size_t{kSouth}}) {
        const std::uint8_t other = grid[side == kEast ? y * width + x + 1 : (y + 1) * width + x];
        if (other != kNone) join(t, other, side);
      }
    }
    count_lines(grid, window);
    count_fields();
  }

  const TileData& tile(std::size_t t) const { return state_.game().tile(laid_[t].type); }
  const TileFace& face(std::size_t t) const { return *faces_[t]; }
  // Of the road or city at a side of a tile that has one.
  const LineFacts& line(std::size_t t, std::size_t side) const {
    return lines_[root(line_root_, 4 * t + faces_[t]->line_of_side[side])];
  }
  // Of the field at a half-edge of a tile that has one.
  const FieldFacts& field(std::size_t t, std::size_t half) const {
    return fields_[root(field_root_, 8 * t + faces_[t]->field_of_half[half])];
  }

 private:
  template <std::size_t n>
  static std::uint16_t root(const std::array<std::uint16_t, n>& parents, std::size_t i) {
    while (parents[i] != i) i = parents[i];
    return static_cast<std::uint16_t>(i);
  }
  template <std::size_t n>
  static void unite(std::array<std::uint16_t, n>& parents, std::size_t a, std::size_t b) {
    const std::uint16_t first = root(parents, a), second = root(parents, b);
    parents[std::max(first, second)] = std::min(first, second);
  }

  void join(std::size_t t, std::size_t other, std::size_t side) {
    const TileFace &mine = face(t), &theirs = face(other);
    const std::size_t beyond = side ^ 2;
    if (mine.line_of_side[side] != kNoLine && theirs.line_of_side[beyond] != kNoLine)
      unite(line_root_, 4 * t + mine.line_of_side[side], 4 * other + theirs.line_of_side[beyond]);
    for (std::size_t half = 0; half < 2; ++half) {  // half-edges meet in the opposite order
      const std::uint8_t a = mine.field_of_half[2 * side + half], b = theirs.field_of_half[2 * beyond + 1 - half];
      if (a != kNoField && b != kNoField) unite(field_root_, 8 * t + a, 8 * other + b);
    }
  }

  void count_lines(const std::vector<std::uint8_t>& grid, const PlaneInput& window) {
    for (std::size_t t = 0; t < static_cast<std::size_t>(state_.laid_tiles()); ++t) {
      const TileData& data = tile(t);
      for (std::size_t l = 0; l < data.lines; ++l) {
        LineFacts& facts = lines_[root(line_root_, 4 * t + l)];
        if (facts.last_tile != static_cast<int>(t)) ++facts.tiles, facts.last_tile = static_cast<int>(t);
        facts.shields = static_cast<std::uint8_t>(facts.shields + data.line_shields[l]);
      }
      for (std::size_t side = 0; side < 4; ++side) {
        if (face(t).line_of_side[side] == kNoLine) continue;
        const int x = laid_[t].cell.x - window.origin.x + kSideStep[side].x;
        const int y = laid_[t].cell.y - window.origin.y + kSideStep[side].y;
        const bool is_open = grid[static_cast<std::size_t>(y * window.width + x)] == kNone;
        if (is_open) ++lines_[root(line_root_, 4 * t + face(t).line_of_side[side])].open;
      }
    }
    for (int i = 0; i < state_.spread_figures(); ++i) {
      const Figure f = state_.figure(i);
      const std::uint8_t local = tile(f.tile).local_of_feature[f.feature];
      const bool is_field = f.kind == FeatureKind::kField;
      FigureCounts& counts = is_field ? fields_[root(field_root_, std::size_t{8} * f.tile + local)].figures
                                      : lines_[root(line_root_, std::size_t{4} * f.tile + local)].figures;
      counts = static_cast<FigureCounts>(counts + one_figure(f.player));
    }
  }

  void count_fields() {
    std::vector<std::uint32_t> touching;  // field << 16 | city, each pair once
    for (std::size_t t = 0; t < static_cast<std::size_t>(state_.laid_tiles()); ++t) {
      for (const Contact& contact : tile(t).contacts) {
        touching.push_back(std::uint32_t{root(field_root_, 8 * t + contact.field)} << 16 |
                           root(line_root_, 4 * t + contact.line));
      }
    }
    std::sort(touching.begin(), touching.end());
    touching.erase(std::unique(touching.begin(), touching.end()), touching.end());
    for (const std::uint32_t pair : touching) {
      FieldFacts& field = fields_[pair >> 16];
      ++(lines_[pair & 0xFFFF].open == 0 ? field.complete : field.open);
    }
  }

  const GameState& state_;
  std::array<LaidTile, kMaxTiles> laid_;
  std::array<const TileFace*, kMaxTiles> faces_;
  std::array<std::uint16_t, std::size_t{4} * kMaxTiles> line_root_;
  std::array<std::uint16_t, std::size_t{8} * kMaxTiles> field_root_;
  std::array<LineFacts, std::size_t{4} * kMaxTiles> lines_{};
  std::array<FieldFacts, std::size_t{8} * kMaxTiles> fields_{};
};

// --- Writing the planes ---------------------------------------------------------------------------------------------

class Encoder {
 public:
  Encoder(const GameState& state, PlaneInput& out)
      : state_(state), out_(out), grid_(make_grid(state, out)), labels_(state, grid_, out) {}

  void write() {
    for (std::size_t t = 0; t < static_cast<std::size_t>(state_.laid_tiles()); ++t) write_tile(t);
    write_figures();
    write_open_cells();
    if (state_.phase() == Phase::kPlace) {
      state_.placements().for_each(
          [&](Action a) { put_at(a.cell(), kPlacementPlanes + static_cast<int>(a.rotation()), 1); });
    } else if (state_.phase() == Phase::kFigure) {
      put_at(state_.laid_tile(state_.laid_tiles() - 1).cell, kLastPlane, 1);
    }
  }

 private:
  static std::vector<std::uint8_t> make_grid(const GameState& state, PlaneInput& out) {
    const int tiles = state.laid_tiles();
    Cell low = state.laid_tile(0).cell, high = low;
    for (int i = 1; i < tiles; ++i) {
      const Cell c = state.laid_tile(i).cell;
      low = {std::min(low.x, c.x), std::min(low.y, c.y)};
      high = {std::max(high.x, c.x), std::max(high.y, c.y)};
    }
    out.origin = {static_cast<std::int16_t>(low.x - 1), static_cast<std::int16_t>(low.y - 1)};
    out.width = high.x - low.x + 3;
    out.height = high.y - low.y + 3;
    std::vector<std::uint8_t> grid(static_cast<std::size_t>(out.width * out.height), kNone);
    for (int i = 0; i < tiles; ++i) {
      const Cell c = state.laid_tile(i).cell;
      grid[static_cast<std::size_t>((c.y - out.origin.y) * out.width + c.x - out.origin.x)] =
          static_cast<std::uint8_t>(i);
    }
    return grid;
  }

  void move_to(Cell cell) {
    x_ = static_cast<std::uint8_t>(cell.x - out_.origin.x);
    y_ = static_cast<std::uint8_t>(cell.y - out_.origin.y);
  }
  void put(std::size_t plane, float value) {
    if (value != 0) out_.entries.push_back({static_cast<std::uint8_t>(plane), y_, x_, value});
  }
  void put_at(Cell cell, int plane, float value) {
    move_to(cell);
    put(static_cast<std::size_t>(plane), value);
  }
  // One plane for each player whose figures lead.
  void put_owners(std::size_t first, FigureCounts figures) {
    const unsigned owners = majority(figures).players;
    for (int p = 0; p < out_.players; ++p) {
      if (owners >> p & 1) put(first + static_cast<std::size_t>(out_.relative(p)), 1);
    }
  }

  // What tile `t` shows at its side `from`, on the planes of side `to` of the cell in hand.
  void put_side(std::size_t t, std::size_t from, std::size_t to) {
    const TileFace& face = labels_.face(t);
    put(kEdgePlanes + 4 * to + static_cast<std::size_t>(face.edges[from]) - 1, 1);
    if (face.line_of_side[from] != kNoLine) {
      const Labels::LineFacts& line = labels_.line(t, from);
      put(kLinePlanes + 4 * to, static_cast<float>(line.tiles) / 8);
      put(kLinePlanes + 4 * to + 1, static_cast<float>(line.shields) / 4);
      put(kLinePlanes + 4 * to + 2, static_cast<float>(line.open) / 4);
      put(kLinePlanes + 4 * to + 3, line.open == 0 ? 1 : 0);
      for (int p = 0; p < out_.players && line.figures; ++p) {
        put(kLineFigurePlanes + 5 * to + static_cast<std::size_t>(out_.relative(p)),
            static_cast<float>(figures_of(line.figures, p)) / 2);
      }
      put_owners(kLineOwnerPlanes + 5 * to, line.figures);
    }
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t there = 2 * from + (from == to ? half : 1 - half);
      if (face.field_of_half[there] == kNoField) continue;
      const Labels::FieldFacts& field = labels_.field(t, there);
      put_owners(kFieldOwnerPlanes + 5 * (2 * to + half), field.figures);
      put(kFieldCityPlanes + 2 * to + half, static_cast<float>(field.complete) / 4);
      put(kFieldOpenCityPlanes + 2 * to + half, static_cast<float>(field.open) / 4);
    }
  }

  void write_tile(std::size_t t) {
    move_to(state_.laid_tile(static_cast<int>(t)).cell);
    put(kLaidPlane, 1);
    for (std::size_t side = 0; side < 4; ++side) put_side(t, side, side);
    const TileData& tile = labels_.tile(t);
    if (tile.monastery >= 0) put(kMonasteryPlane, 1);
    if (tile.garden >= 0) put(kGardenPlane, 1);
    if (tile.monastery < 0 && tile.garden < 0) return;
    int missing = 0;
    for (int y = y_ - 1; y <= y_ + 1; ++y) {
      for (int x = x_ - 1; x <= x_ + 1; ++x) missing += grid_[static_cast<std::size_t>(y * out_.width + x)] == kNone;
    }
    put(kMissingPlane, static_cast<float>(missing) / 8);
  }

  void write_figures() {
    for (int i = 0; i < state_.figures_on_board(); ++i) {
      const Figure f = state_.figure(i);
      const auto player = static_cast<std::size_t>(out_.relative(f.player));
      move_to(state_.laid_tile(f.tile).cell);
      put(kFigurePlanes + player, 1);
      if (f.figure == FigureKind::kAbbot) put(kAbbotPlane, 1);
      if (i >= state_.spread_figures()) put(kBuildingOwnerPlanes + player, 1);
    }
  }

  void write_open_cells() {
    FittingTiles fitting(state_);
    for (int i = 0; i < state_.open_cells(); ++i) {
      move_to(state_.open_cell(i));
      put(kOpenPlane, 1);
      for (std::size_t side = 0; side < 4; ++side) {
        const int x = x_ + kSideStep[side].x, y = y_ + kSideStep[side].y;
        if (x < 0 || y < 0 || x >= out_.width || y >= out_.height) continue;
        const std::uint8_t t = grid_[static_cast<std::size_t>(y * out_.width + x)];
        if (t != kNone) put_side(t, side ^ 2, side);
      }
      const unsigned code = state_.open_cell_code(i);
      if (code == 0) put(kRiverEndPlane, 1);
      const int fits = fitting(code);
      put(kFitsPlane, static_cast<float>(std::min(fits, 8)) / 8);
      if (fits > 0) put(kFitSharePlane, static_cast<float>(fits) / static_cast<float>(state_.tiles_left()));
      if (fits == 0) put(kDeadPlane, 1);
    }
  }

  const GameState& state_;
  PlaneInput& out_;
  std::vector<std::uint8_t> grid_;  // index of the laid tile by cell of the window, or kNone
  Labels labels_;
  std::uint8_t y_ = 0, x_ = 0;  // the cell in hand
};

// --- Numbers of the whole position ----------------------------------------------------------------------------------

void add_tile(const TileData& tile, float copies, float* out) {
  out[tile_class(tile)] += copies;
  out[kTileClasses] += tile.monastery >= 0 ? copies : 0;
  out[kTileClasses + 1] += tile.garden >= 0 ? copies : 0;
  out[kTileClasses + 2] += copies * static_cast<float>(tile.shields());
  out[kTileClasses + 3] += tile.is_river ? copies : 0;
}

void write_globals(const GameState& state, PlaneInput& out) {
  out.globals.fill(0);
  float* g = out.globals.data();
  const Points projected = state.projected();
  for (int p = 0; p < state.players(); ++p) {
    const int r = out.relative(p);
    g[kSeatGlobals + r] = 1;
    g[kScoreGlobals + r] = static_cast<float>(state.score(p)) / 50;
    g[kProjectedGlobals + r] = static_cast<float>(projected.total(p)) / 50;
    g[kMeepleGlobals + r] = static_cast<float>(state.meeples(p)) / kMeeples;
    g[kAbbotGlobals + r] = static_cast<float>(state.abbots(p));
    out.base[static_cast<std::size_t>(r)] = static_cast<float>(state.score(p) + projected.total(p));
  }
  g[kTilesLeftGlobal] = static_cast<float>(state.tiles_left()) / kMaxTiles;
  g[kNearEndGlobal] = 1 / static_cast<float>(1 + state.tiles_left());
  g[kPhaseGlobals + static_cast<int>(state.phase())] = 1;
  const Rules& rules = state.rules();
  const std::array<bool, 12> flags = {rules.farmers,
                                      rules.field_scoring == FieldScoring::kCity2000,
                                      rules.field_scoring == FieldScoring::kTransitional,
                                      rules.small_city == 2,
                                      rules.river == River::k2021,
                                      rules.river == River::k2014,
                                      rules.river_turns == RiverTurns::kNoDoubleCurve,
                                      rules.start_tile_shuffled,
                                      rules.abbot,
                                      rules.join_cities,
                                      rules.farmer_recall,
                                      rules.split_ties};
  for (std::size_t i = 0; i < flags.size(); ++i) g[kRuleGlobals + static_cast<int>(i)] = flags[i] ? 1 : 0;

  for (int t = 0; t < state.game().types(); ++t) {
    const int copies = state.tiles_left(static_cast<TypeId>(t));
    if (copies) add_tile(state.game().tile(static_cast<TypeId>(t)), static_cast<float>(copies), g + kBagGlobals);
  }
  for (int c = 0; c < kTileClasses; ++c) g[kBagGlobals + c] /= 8;
  constexpr std::array<float, 4> kMost = {6, 8, 8, 12};
  for (std::size_t i = 0; i < 4; ++i) g[kBagGlobals + kTileClasses + static_cast<int>(i)] /= kMost[i];
  if (state.drawn_tile() >= 0)
    add_tile(state.game().tile(static_cast<TypeId>(state.drawn_tile())), 1, g + kHandGlobals);
}

}  // namespace

void encode_planes(const GameState& state, PlaneInput& out) {
  assert(!state.is_terminal());
  out.players = state.players();
  out.perspective = state.turn_player();
  out.entries.clear();
  out.base.fill(0);
  Encoder(state, out).write();
  write_globals(state, out);
}

void PlaneBatch::assign(std::span<const PlaneInput* const> inputs) {
  const auto padded = [](int n) { return (n + kWindowStep - 1) / kWindowStep * kWindowStep; };
  size = static_cast<int>(inputs.size());
  height = width = 0;
  for (const PlaneInput* input : inputs) {
    height = std::max(height, padded(input->height));
    width = std::max(width, padded(input->width));
  }
  const auto row = static_cast<std::size_t>(width), cells = row * static_cast<std::size_t>(height);
  planes.assign(inputs.size() * kPlanes * cells, 0);
  mask.assign(inputs.size() * cells, 0);
  globals.resize(inputs.size() * kPlaneGlobals);
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    const PlaneInput& input = *inputs[b];
    float* own = planes.data() + b * kPlanes * cells;
    for (const PlaneEntry& e : input.entries) own[(e.y * row + e.x) * kPlanes + e.plane] = e.value;
    for (int y = 0; y < input.height; ++y)
      std::fill_n(mask.data() + b * cells + static_cast<std::size_t>(y) * row, input.width, 1.0F);
    std::copy(input.globals.begin(), input.globals.end(), globals.data() + b * kPlaneGlobals);
  }
}

std::size_t PolicyPlace::index(int height, int width) const {
  if (plane < 0) return static_cast<std::size_t>(kPolicyPlanes * height * width);
  return static_cast<std::size_t>((plane * height + y) * width + x);
}

PolicyPlace policy_place(const GameState& state, const PlaneInput& input, Action action) {
  const auto at = [&](int plane, Cell cell) {
    return PolicyPlace{static_cast<std::int16_t>(plane), static_cast<std::int16_t>(cell.y - input.origin.y),
                       static_cast<std::int16_t>(cell.x - input.origin.x)};
  };
  if (action.what() == Action::What::kPlace)
    return at(kPlacePolicy + static_cast<int>(action.rotation()), action.cell());
  assert(action.what() == Action::What::kFigure && state.laid_tiles() > 0);
  const LaidTile laid = state.laid_tile(state.laid_tiles() - 1);
  const TileData& tile = state.game().tile(laid.type);
  switch (action.figure()) {
    case Action::Figure::kNone:
      return {};
    case Action::Figure::kBack:
      return at(kBackPolicy, action.cell());
    case Action::Figure::kAbbot: {
      const bool in_garden = static_cast<int>(action.feature()) == tile.garden;
      return at(in_garden ? kAbbotGardenPolicy : kAbbotMonasteryPolicy, laid.cell);
    }
    case Action::Figure::kMeeple:
      break;
  }
  if (static_cast<int>(action.feature()) == tile.monastery) return at(kMonasteryPolicy, laid.cell);
  const TileFace& face = tile.faces[laid.rotation];
  const std::uint8_t local = tile.local_of_feature[action.feature()];
  if (tile.type->features[action.feature()].kind != FeatureKind::kField)
    return at(kLinePolicy + std::countr_zero(face.sides_of_line[local]), laid.cell);
  const auto half = std::find(face.field_of_half.begin(), face.field_of_half.end(), local);
  return at(kFieldPolicy + static_cast<int>(half - face.field_of_half.begin()), laid.cell);
}

}  // namespace carc
