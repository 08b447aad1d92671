// A game's rules compiled for play: tile types in all rotations, matching tables, the bag. Immutable; shared by states.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "carc/core/error.hpp"
#include "carc/core/rules.hpp"
#include "carc/core/types.hpp"

namespace carc {

// A tile type as it lies in one rotation. "Line" = road or city of the tile, numbered 0..3; fields 0..7. The numbers
// for "none" are chosen so that they can index an array with one entry more, which spares the hot path its branches.
inline constexpr std::uint8_t kNoLine = 4;
inline constexpr std::uint8_t kNoField = 8;

struct TileFace {
  std::array<EdgeKind, 4> edges{};              // by board side
  std::array<std::uint8_t, 4> line_of_side{};   // line ending at the side, or kNoLine
  std::array<std::uint8_t, 8> field_of_half{};  // field at the half-edge, or kNoField
  std::array<std::uint8_t, 4> sides_of_line{};  // bit s: the line ends at side s
  std::array<std::uint8_t, 4> code_beyond{};    // what the side adds to the code of the open cell beyond; river: 0
};

struct Contact {
  std::uint8_t field;  // local field that touches
  std::uint8_t line;   // this local line, a city
};

struct TileData {
  std::string id;
  const TileType* type = nullptr;  // the description this was compiled from

  // Rotations of this tile that fit an open cell with edge code `c`: fits_low[c & 15] & fits_high[c >> 4], one bit a
  // rotation, only the lowest of rotations that give the same tile. Code 0 never occurs for a cell that can be filled.
  alignas(16) std::array<std::uint8_t, 16> fits_low{};
  alignas(16) std::array<std::uint8_t, 16> fits_high{};

  std::array<TileFace, 4> faces{};
  std::uint8_t lines = 0;
  std::uint8_t fields = 0;
  std::array<FeatureKind, 4> line_kind{};
  std::array<std::uint8_t, 4> line_shields{};
  std::array<std::uint8_t, 4> line_feature{};  // index in type->features
  std::array<std::uint8_t, 8> field_feature{};
  std::array<std::uint8_t, kMaxFeatures> local_of_feature{};  // local number of a road, city or field
  std::vector<Contact> contacts;
  std::int8_t monastery = -1;   // feature index or -1
  std::int8_t garden = -1;      // feature index or -1; -1 also while gardens do not count
  bool has_twin_lines = false;  // several separate roads, or several separate cities
  bool is_river = false;
  std::uint8_t most_new_fields = 0;  // fields it can add to the board when it is laid beside another tile
  std::uint8_t period = 4;           // 4, 2 or 1 rotations give different tiles
  // Feature f of the tile laid with rotation r is feature same_feature[r][f] of it laid with rotation r % period.
  std::array<std::array<std::uint8_t, kMaxFeatures>, 4> same_feature{};

  int shields() const { return line_shields[0] + line_shields[1] + line_shields[2] + line_shields[3]; }
  // The lowest of the rotations that give the same tile.
  std::uint8_t canonical_rotation(unsigned rotation) const {
    return static_cast<std::uint8_t>(rotation & (period - 1u));
  }
};

class Game {
 public:
  // Throws RulesError or TileSetError.
  static std::shared_ptr<const Game> create(const Rules& rules);

  // Another number for every game compiled in this process, so that what was worked out for one is not used for another
  // at the same address.
  std::uint64_t serial() const { return serial_; }
  const Rules& rules() const { return rules_; }
  int types() const { return static_cast<int>(tiles_.size()); }
  const TileData& tile(TypeId type) const { return tiles_[type]; }

  // A tile named in text. Garden copies are their plain twins while gardens do not count: `feature[f]` then translates
  // an index in the named tile's feature list to the type's own list (kNone: no such feature).
  struct Named {
    TypeId type;
    std::array<std::uint8_t, kMaxFeatures> feature;
    std::array<std::uint8_t, kMaxFeatures> feature_back;  // the other way round
  };
  std::optional<Named> find(const std::string& id) const;
  // The same; throws Error type E with the nearest id.
  template <class E>
  Named require(const std::string& id) const;
  std::string nearest_id(const std::string& id) const;

  TypeId start() const { return start_; }  // the tile that lies before the first turn
  std::optional<TypeId> lake() const { return lake_; }
  bool comes_before_lake(TypeId type) const { return tiles_[type].is_river && lake_ != type; }
  const std::array<std::uint8_t, kMaxTypes>& bag() const { return bag_; }  // copies to draw at the start of the game
  int tiles_to_draw() const { return tiles_to_draw_; }

  // The arrays of a state are sized for any 84 tiles that people would make; tiles cut into very many fields could need
  // more. Empty if a game with this start and bag always fits, else what was found and what is expected.
  std::string limit_exceeded(TypeId start, const std::array<std::uint8_t, kMaxTypes>& bag) const;

 private:
  explicit Game(const Rules& rules);
  void add_type(const TileType& type, int copies);

  std::uint64_t serial_;
  Rules rules_;
  std::vector<TileData> tiles_;
  std::vector<std::pair<std::string, Named>> names_;
  std::array<std::uint8_t, kMaxTypes> bag_{};
  TypeId start_ = 0;
  std::optional<TypeId> lake_;
  int tiles_to_draw_ = 0;
};

template <class E>
Game::Named Game::require(const std::string& id) const {
  if (const auto found = find(id)) return *found;
  throw E("unknown tile " + quote(id) + ", did you mean '" + nearest_id(id) + "'?");
}

}  // namespace carc
