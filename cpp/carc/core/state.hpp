// The position of one game: a plain value, copied to clone, without heap, hidden order or random generator.
//
// A turn has three decisions: Draw (chance: which tile), Place (where), Figure (which figure, none, or one back). An
// unplaceable tile leaves the game when it is drawn and the same player draws again.
//
// Everything a search asks for is kept incrementally. Roads and cities ("lines") and fields carry small ids; each open
// cell knows for its four sides which line, and for its eight half-edges which field, it would continue. When features
// merge, the few places that hold the lost id are rewritten, so an id never has to be looked up through another.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "carc/core/action.hpp"
#include "carc/core/game.hpp"
#include "carc/core/placements.hpp"
#include "carc/core/scoring.hpp"
#include "carc/core/types.hpp"

namespace carc {

enum class Phase : std::uint8_t { kDraw, kPlace, kFigure, kOver };
inline constexpr std::array<const char*, 4> kPhaseNames = {"draw", "place", "figure", "over"};

// A road or city.
struct Line {
  std::uint8_t tiles = 0;  // each tile once, however many of its segments belong to it
  std::uint8_t shields = 0;
  std::uint8_t open = 0;  // edges without a tile beyond; 0 = complete
  FeatureKind kind = FeatureKind::kRoad;
  FigureCounts figures = 0;
};

struct LaidTile {
  Cell cell;
  TypeId type = 0;
  std::uint8_t rotation = 0;
};

// A figure on the board.
struct Figure {
  std::uint8_t tile = 0;     // index of the laid tile
  std::uint8_t feature = 0;  // index in the tile type's feature list
  std::uint8_t player = 0;
  FigureKind figure = FigureKind::kMeeple;
  FeatureKind kind = FeatureKind::kRoad;  // of the feature
  std::uint8_t label = 0;                 // id of the line or field; for monasteries and gardens the missing neighbours
};

struct ChanceOutcome {
  TypeId tile;
  double probability;
};

// The tile that lies before the first turn.
struct Start {
  TypeId type;
  Cell cell{0, 0};
  std::uint8_t rotation = 0;
};

class GameState {
 public:
  // --- Making -----------------------------------------------------------------------------------------------------
  // `game` must outlive the state.
  explicit GameState(const Game& game) : GameState(game, Start{game.start()}, game.bag(), 0) {}
  // With another start, another bag (copies to draw of each type) or another first player. Throws DeckError or
  // RecordError for more than 84 tiles, a start off the allowed -40..40, or an unknown player.
  GameState(const Game& game, Start start, const std::array<std::uint8_t, kMaxTypes>& bag, int first_player);

  // --- Reading ----------------------------------------------------------------------------------------------------
  const Game& game() const { return *game_; }
  const Rules& rules() const { return game_->rules(); }
  int players() const { return players_; }
  Phase phase() const { return phase_; }
  bool is_terminal() const { return phase_ == Phase::kOver; }
  bool is_chance_node() const { return phase_ == Phase::kDraw; }
  // The player to decide; kChancePlayer while a tile is to be drawn, kTerminalPlayer at the end.
  Player current_player() const;
  int turn_player() const { return player_; }  // whose turn it is, also while a tile is drawn
  int drawn_tile() const { return drawn_; }    // type in phases Place and Figure, else -1

  int score(int player) const { return points_.total(player); }
  const Points& points() const { return points_; }
  const Points& final_count() const { return final_count_; }  // the part of points() paid after the last turn
  int meeples(int player) const { return meeples_[static_cast<std::size_t>(player)]; }
  int abbots(int player) const { return abbots_[static_cast<std::size_t>(player)]; }
  // Score minus the mean of the others' scores: zero-sum, with two players the difference. Zero before the end.
  std::array<double, kMaxPlayers> returns() const;
  // Bit p = player p has most points of all.
  unsigned leaders() const;

  int tiles_left() const { return tiles_left_; }
  int tiles_left(TypeId type) const { return bag_[type]; }
  const std::array<std::uint8_t, kMaxTypes>& bag() const { return bag_; }
  // Whether a tile of this type can come next (the river comes before the other tiles, its lake last).
  bool can_draw(TypeId type) const;
  std::vector<ChanceOutcome> chance_outcomes() const;

  int laid_tiles() const { return laid_; }
  LaidTile laid_tile(int i) const;
  int tile_at(Cell cell) const;  // index of the laid tile, or -1
  int discarded_tiles() const { return discarded_; }
  TypeId discarded_tile(int i) const { return types_[static_cast<std::size_t>(kMaxTiles - 1 - i)]; }
  int figures_on_board() const { return figures_ + monks_; }
  // The first `spread_figures` are on roads, cities and fields, the others in monasteries and gardens.
  int spread_figures() const { return figures_; }
  Figure figure(int i) const {
    return figure_table_[static_cast<std::size_t>(i < figures_ ? i : kMaxFigures - 1 - (i - figures_))];
  }

  // Open cells, sorted by y, then x.
  int open_cells() const { return cells_; }
  Cell open_cell(int i) const { return key_cell(cell_keys_[static_cast<std::size_t>(i)]); }
  // Two bits a side: 0 nothing laid, else EdgeKind; 0 for the cell at the open end of the river.
  unsigned open_cell_code(int i) const { return cell_codes_[static_cast<std::size_t>(i)]; }
  // Id of the road or city that ends at this side of the open cell; kNone.
  std::uint8_t line_beside(int i, int side) const { return border_lines(slot(i))[side]; }
  std::uint8_t field_beside(int i, int half_edge) const { return border_fields(slot(i))[half_edge]; }
  // The same by slot: an open cell keeps its slot until it is filled. Four lines (kNone in free slots) and eight fields
  // (anything in free slots) a slot, which may be read in whole vectors of 32 bytes.
  std::size_t cell_slot(int i) const { return slot(i); }
  std::size_t slots() const { return slots_used_; }  // those in use lie below
  const std::uint8_t* lines_by_slot() const { return border_lines_.data(); }
  const std::uint8_t* fields_by_slot() const { return border_fields_.data(); }
  int find_open_cell(Cell cell) const;  // its index, or -1
  const Line& line(std::uint8_t id) const { return line_table_[id]; }
  FigureCounts field_figures(std::uint8_t id) const { return field_figures_[id]; }
  // Calls visit(line id) for every contact of the field with a city; a city may come several times.
  template <class Visit>
  void for_each_city(std::uint8_t field, Visit visit) const;

  // Ids of the lines and fields of the tile laid last, by local number (TileData::lines, TileData::fields).
  std::uint8_t line_laid(std::size_t local) const { return current_lines_[local]; }
  std::uint8_t field_laid(std::size_t local) const { return current_fields_[local]; }
  // Number of distinct open cells at which a road or city ends.
  int open_cells_of(std::uint8_t line) const;

  // What would be paid if the game ended now. Features that the tile just laid completed count as completed.
  Points projected() const;
  Points projected_fields() const;  // the part of it that farmers get

  // --- Acting -----------------------------------------------------------------------------------------------------
  // Phase Draw: one action for each type that can come; Place: by y, x, rotation, rotations that give the same tile
  // once (the lowest); Figure: none, meeples by feature index, abbot by feature index, figures taken back by y, x.
  void legal_actions(ActionList& out) const;
  int num_legal_actions() const;
  Action legal_action(int i) const;  // the i-th of legal_actions
  bool is_legal(Action action) const;

  // Applies a legal action; undefined for others (asserted).
  void apply(Action action);
  // Applies an action or throws IllegalAction, the state unchanged.
  void apply_checked(Action action);

  // Legal placements of the drawn tile, or of any type as if it were drawn now.
  PlacementSet placements() const { return placements(static_cast<TypeId>(drawn_)); }
  PlacementSet placements(TypeId type) const;
  bool can_place(TypeId type, CellKey cell, unsigned rotation) const;
  bool can_be_laid(TypeId type) const;  // anywhere
  // Bits 0..13: features of the laid tile that take a meeple, bits 16..29: the abbot. Phase Figure.
  std::uint32_t figure_mask() const { return figure_mask_; }

  // --- Comparing --------------------------------------------------------------------------------------------------
  // Equal positions (whatever the order of moves that led to them) have equal hashes.
  std::uint64_t hash() const;
  bool operator==(const GameState& other) const;

  // Recomputes everything from the laid tiles and figures; throws RecordError naming the first difference.
  void check_consistency() const;

 private:
  friend class StateReader;  // builds a state from JSON
  friend class StateChecker;

  // Lists of open cells are read in whole vectors past the last cell. Slot 0 and entry kNone of the tables of lines and
  // fields take writes meant for nobody.
  static constexpr std::size_t kCellCapacity = 240;
  static constexpr std::size_t kSlots = kMaxOpenCells + 2;  // 1..170, and one never given out

  // The open cells round a tile that is being laid, by side: their index in the list.
  struct Ring {
    std::size_t laid;          // index of the cell that is filled
    std::size_t north, south;  // first cell not before the one to the north, to the south
    std::array<bool, 4> is_new;
    std::array<std::size_t, 4> after;
  };

  std::uint8_t* border_lines(std::size_t slot) { return border_lines_.data() + 4 * slot; }
  const std::uint8_t* border_lines(std::size_t slot) const { return border_lines_.data() + 4 * slot; }
  std::uint8_t* border_fields(std::size_t slot) { return border_fields_.data() + 8 * slot; }
  const std::uint8_t* border_fields(std::size_t slot) const { return border_fields_.data() + 8 * slot; }
  std::uint8_t current_line(std::size_t local) const { return current_lines_[local]; }
  std::size_t slot(int i) const { return cell_slots_[static_cast<std::size_t>(i)]; }
  const TileData& tile_data(std::size_t laid) const { return game_->tile(types_[laid]); }
  const TileFace& face(std::size_t laid) const { return tile_data(laid).faces[rotations_[laid]]; }

  // state.cpp
  void lay(CellKey key, unsigned rotation);
  void lay_first(Start start);
  std::size_t cell_index(CellKey key) const;  // of the first open cell not before `key`
  Ring find_ring(CellKey key) const;
  void find_new_cells(Ring& ring, CellKey key, unsigned open_sides) const;
  template <class T>
  void splice(T* list, const Ring& ring) const;
  std::uint8_t take_slot(bool really);
  void join_sides(const TileFace& face, std::size_t border, unsigned closed_sides);
  void merge_lines(std::uint8_t keep, std::uint8_t lose);
  void merge_fields(std::uint8_t keep, std::uint8_t lose);
  void add_segments(const TileData& tile, const TileFace& face, unsigned open_sides);
  void open_cells_round(const TileFace& face, CellKey key, Ring& ring, unsigned open_sides);
  void follow_river(const TileFace& face, CellKey key, CellKey previous_end);
  void update_monks(CellKey key);
  bool continues_river(const TileData& tile, unsigned rotation) const;
  bool joins_rivals(const TileData& tile, unsigned rotation, std::size_t border) const;
  void drop_rival_joins(const TileData& tile, PlacementSet& set) const;
  PlacementSet river_placements(const TileData& tile) const;

  // figures.cpp
  void take_from_bag(TypeId type);
  void draw(TypeId type);
  void prepare_figures();
  int takebacks(std::array<CellKey, kMeeples + 1>& cells) const;
  void set_figure(unsigned feature, FigureKind figure);
  void take_back(CellKey key);
  void score_completed();
  void remove_monk(std::size_t i);
  void remove_figure(std::size_t i);
  void end_turn();
  void end_game();
  int missing_neighbours(CellKey key) const;
  std::uint64_t figure_hash(const Figure& f) const;
  std::uint64_t tile_hash(std::size_t laid) const;
  void add_field_points(Points& points) const;

  // Open cells, sorted by key; past the last, codes are 0 and keys 0xFFFF.
  alignas(32) std::array<std::uint8_t, kCellCapacity> cell_codes_;
  alignas(32) std::array<CellKey, kCellCapacity> cell_keys_;
  std::array<std::uint8_t, kCellCapacity> cell_slots_;
  std::array<std::uint64_t, 3> free_slots_;  // bit set

  const Game* game_;
  std::uint64_t board_hash_ = 0;  // xor over laid tiles and figures
  Points points_;
  Points final_count_;
  std::uint32_t figure_mask_ = 0;
  std::uint32_t free_features_ = 0;  // of the tile laid last: without figures; fields only with farmers
  std::uint8_t completed_ = 0;       // bit l: line l of the tile laid last is complete
  std::array<std::uint8_t, kMaxPlayers> meeples_{};
  std::array<std::uint8_t, kMaxPlayers> abbots_{};
  std::uint8_t players_ = 0;
  std::uint8_t player_ = 0;
  Phase phase_ = Phase::kDraw;
  std::int8_t drawn_ = -1;
  std::uint8_t laid_ = 0;
  std::uint8_t discarded_ = 0;
  std::uint8_t cells_ = 0;
  std::uint8_t slots_used_ = 1;  // slots in use lie below
  std::uint8_t lines_ = 0;       // ids given out so far; ids of merged lines are not used again
  std::uint8_t fields_ = 0;
  std::uint8_t contacts_ = 0;
  std::uint8_t twins_ = 0;
  std::uint8_t figures_ = 0;  // on roads, cities and fields: front of figure_table_
  std::uint8_t monks_ = 0;    // in monasteries and gardens: back of figure_table_
  std::uint8_t tiles_left_ = 0;
  std::uint8_t river_left_ = 0;  // river tiles to draw before the lake
  std::uint8_t river_side_ = 0;  // side of the river's open cell at which it enters
  std::int8_t river_hand_ = 0;   // last river tile: -1 left curve, 0 straight, +1 right curve
  CellKey river_end_ = 0xFFFF;   // cell that must continue the river; 0xFFFF without one

  std::array<std::uint8_t, kMaxTypes> bag_;
  std::array<CellKey, kMaxTiles> keys_;  // laid tiles in the order of play
  std::array<TypeId, kMaxTiles> types_;  // laid from the front, discarded from the back
  std::array<std::uint8_t, kMaxTiles> rotations_;
  std::array<Figure, kMaxFigures> figure_table_;
  std::array<std::array<std::uint8_t, 4>, kMaxTiles> twin_table_;  // lines of tiles with several roads or cities

  // Lines and fields of the tile laid last, by local number; entries kNoLine and kNoField stay kNone.
  std::array<std::uint8_t, kNoLine + 1> current_lines_;
  std::array<std::uint8_t, kNoField + 1> current_fields_;
  // Four lines and eight fields a slot.
  std::array<std::uint8_t, 4 * kSlots + 16> border_lines_;  // read in whole vectors; kNone in slots that are free
  std::array<std::uint8_t, 8 * kSlots> border_fields_;

  std::array<Line, kNone + 1> line_table_;
  std::array<FigureCounts, kNone + 1> field_figures_;
  std::array<std::uint8_t, kNone + 1> field_contacts_;  // one contact of the field's ring, or kNone
  std::array<std::uint8_t, kMaxContacts> contact_city_;
  std::array<std::uint8_t, kMaxContacts> contact_next_;  // rings: merging two fields swaps two links
};

static_assert(std::is_trivially_copyable_v<GameState>);
static_assert(sizeof(GameState) <= 8192);

template <class Visit>
void GameState::for_each_city(std::uint8_t field, Visit visit) const {
  const std::uint8_t first = field_contacts_[field];
  if (first == kNone) return;
  std::uint8_t at = first;
  do {
    visit(contact_city_[at]);
    at = contact_next_[at];
  } while (at != first);
}

}  // namespace carc
