// What the feature net sees: small whole numbers about every claimed feature, and about every player's figures.
//
// A row is a feature that holds a figure, seen from its `main` player, who has most figures there (ties: who moves
// first); the next holder is the `rival`. Rows are read between turns: "next" is the player to move, and the tiles that
// "fit" and "close" are counted over the undrawn ones.
//
// A row depends on what lies round a few open cells. `Row::depends` names them by their slots (GameState::cell_slot),
// so that after a placement only the rows near the tile have to be read again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carc/core/state.hpp"

namespace carc {

// Changes whenever the same position would give other inputs: weights name the encoder they were trained with.
inline constexpr int kFeatureEncoder = 1;

enum class RowKind : std::uint8_t { kCity, kRoad, kMonastery, kField };
inline constexpr int kRowKinds = 4;
inline constexpr std::array<const char*, kRowKinds> kRowKindNames = {"city", "road", "monastery", "field"};

// An input: its name and the factor that brings its number to about 0 to 1.
struct InputInfo {
  const char* name;
  float scale;
};

// Inputs of each kind of row, and of a player.
std::span<const InputInfo> row_inputs(RowKind kind);
std::span<const InputInfo> player_inputs();
inline constexpr int kMostInputs = 40;
inline constexpr int kPlayerInputs = 23;
inline constexpr float kReturnsScale = 1.0F / 64;  // of figures times tiles left, the computed input of a player

using Inputs = std::array<std::uint8_t, kMostInputs>;

// A set of slots of open cells.
struct SlotSet {
  std::array<std::uint64_t, 3> words{};
  void add(std::size_t slot) { words[slot / 64] |= std::uint64_t{1} << slot % 64; }
  void add(const SlotSet& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
  }
  bool has(std::size_t slot) const { return words[slot / 64] >> slot % 64 & 1; }
  bool meets(const SlotSet& other) const {
    return ((words[0] & other.words[0]) | (words[1] & other.words[1]) | (words[2] & other.words[2])) != 0;
  }
};

struct Row {
  RowKind kind;
  std::uint8_t main;
  std::uint8_t rival;  // kNone: nobody else holds figures there
  std::uint8_t figures_main;
  std::uint8_t figures_rival;
  std::uint8_t id;  // of the line or field; of a monastery or garden the laid tile
  SlotSet ends;     // the open cells at which the line or field ends
  SlotSet depends;  // of monasteries and gardens nothing: they depend on the tiles at most two cells away
  Inputs inputs;
};

// Whose figures are where, off the board too.
struct FigureTally {
  explicit FigureTally(const GameState& state);
  std::array<std::int8_t, kMaxPlayers> meeples{}, abbots{}, farmers{};  // in hand, in hand, on fields
};

// Which tile types of a game fit an open cell, close a road or city there, or join two sides of it.
class FittingTypes {
 public:
  using Types = std::array<std::uint64_t, 2>;  // bit t: tile type t
  explicit FittingTypes(const Game& game);

  const Game& game() const { return *game_; }
  // By GameState::open_cell_code. Code 0, the end of the river, is fitted by river tiles.
  const Types& fitting(unsigned code) const { return fitting_[code]; }
  // Those that fit and leave no open edge of the line that ends at these sides of the cell.
  const Types& closing(unsigned code, unsigned sides) const { return closing_[code * 16 + sides]; }
  // Those that fit and connect two sides.
  const Types& joining(unsigned code, int a, int b) const { return joining_[code * 8 + pair_of(a, b)]; }

 private:
  static std::size_t pair_of(int a, int b) {
    static constexpr std::array<std::uint8_t, 16> kPairs = {0, 0, 1, 2, 0, 0, 3, 4, 1, 3, 0, 5, 2, 4, 5, 0};
    return kPairs[static_cast<std::size_t>(a * 4 + b)];
  }
  const Game* game_;
  std::vector<Types> fitting_, closing_, joining_;
};

// Reads the rows of positions that share a bag, a next player and a number of tiles left: all turns of one position.
class FeatureReader {
 public:
  explicit FeatureReader(const Game& game) : types_(game) {}

  const Game& game() const { return types_.game(); }

  // Counts are those of `state` from now on; `next` moves first, with `tiles_left` tiles to draw.
  void start(const GameState& state, int next, int tiles_left);
  // Where the open cells are: those of `placed`, a placement after `state` that changed what lies round the slots
  // `near`, until the next call. Figures may differ.
  void look_at(const GameState& placed, const SlotSet& near);

  // Until the next claim: one more figure stands in a line or field that has none. Then rows and players may be read
  // from a position that differs from the one meant by this figure alone.
  void claim(FeatureKind kind, std::uint8_t id, int player);
  void claim_nothing() { claim_ = {}; }

  // Rows of a road or city, of a field, of the i-th figure, which stands in a monastery or garden.
  void read_line(const GameState& state, std::uint8_t line, Row& row);
  void read_field(const GameState& state, std::uint8_t field, Row& row);
  void read_building(const GameState& state, const Figure& figure, Row& row);
  // Inputs of a player but the last, which is computed from the rows.
  void read_player(const GameState& state, const FigureTally& figures, int player, Inputs& inputs) const;

  // All rows of a position between turns, in the order of their first figures, and the inputs of every player.
  void read_all(const GameState& state, std::vector<Row>& rows, std::vector<Inputs>& players);

  // The open cells at which a line or a field ends.
  const SlotSet& ends_of_line(const GameState& state, std::uint8_t line) { return outlook_of_line(state, line).ends; }
  const SlotSet& ends_of_field(const GameState& state, std::uint8_t field) {
    return outlook_of_field(state, field).ends;
  }

 private:
  struct End {
    std::uint8_t slot;
    std::uint8_t sides;  // bits: sides of a line, half-edges of a field
  };
  // What does not depend on figures, found out when it is first asked for: of the position, and of the present
  // placement where that changed it.
  struct LineOutlook {
    std::uint32_t stamp = 0;
    std::uint16_t first, cells;  // its ends in ends_
    int closers;                 // with one cell to fill
    SlotSet ends;
  };
  struct FieldOutlook {
    std::uint32_t stamp = 0;
    std::uint16_t first, cells;
    // Cities, once each: complete ones, and others by what it takes to close them.
    std::uint8_t complete, easy, possible, blocked, two, three, far;
    SlotSet ends;
    SlotSet depends;  // its open cells and those of its unfinished cities
  };
  template <class Outlook>
  struct Known {
    std::array<Outlook, 256> before, placed;
  };

  const LineOutlook& outlook_of_line(const GameState& state, std::uint8_t line);
  const FieldOutlook& outlook_of_field(const GameState& state, std::uint8_t field);
  void find_line(const GameState& state, std::uint8_t line, LineOutlook& out);
  void find_field(const GameState& state, std::uint8_t field, FieldOutlook& out);
  void find_cells(const GameState& state);
  int count(const FittingTypes::Types& types) const;
  int fits(unsigned code);
  int closers(unsigned code, unsigned sides);
  int joiners(unsigned code, int a, int b);
  FigureCounts figures_in_line(const GameState& state, std::uint8_t line) const {
    return line == claim_.line ? claim_.figures : state.line(line).figures;
  }
  FigureCounts figures_in_field(const GameState& state, std::uint8_t field) const {
    return field == claim_.field ? claim_.figures : state.field_figures(field);
  }
  void set_holders(FigureCounts figures, Row& row) const;
  int wait(int player) const { return (player - next_ + players_) % players_; }
  int turns(int player) const { return (tiles_left_ - wait(player) + players_ - 1) / players_; }

  struct Claim {
    std::uint8_t line = kNone, field = kNone;
    FigureCounts figures = 0;
  };

  FittingTypes types_;
  Claim claim_;
  int players_ = 2, next_ = 0, tiles_left_ = 0, undrawn_buildings_ = 0;
  std::array<std::uint8_t, kMaxTypes> bag_{};
  std::array<std::uint8_t, 256> code_of_slot_{};  // of open slots
  SlotSet open_slots_;
  // Counts known already, -1 for others.
  std::array<std::int16_t, 256> fits_;
  std::array<std::int16_t, 4096> closers_;
  std::array<std::int16_t, 4096> joiners_;
  std::uint32_t start_stamp_ = 0, stamp_ = 0;
  bool is_placed_ = false;  // look_at was called since start
  SlotSet near_;
  Known<LineOutlook> lines_;
  Known<FieldOutlook> fields_;
  std::vector<End> ends_;
  std::size_t ends_before_ = 0;  // entries of ends_ that belong to the position
};

}  // namespace carc
