// Which placements are legal: matching edges, the course of the river, and the house rule about joining cities.
#include <algorithm>
#include <bit>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "carc/core/state.hpp"

namespace carc {
namespace {

#if defined(__AVX2__)
// Looks up the fitting rotations of 32 open cells at once by both nibbles of their codes.
class FitTables {
 public:
  explicit FitTables(const TileData& tile) : low_(load(tile.fits_low)), high_(load(tile.fits_high)) {}

  // One byte a cell: bit r = the tile fits with rotation r.
  __m256i fits(const std::uint8_t* codes_of_32_cells) const {
    const __m256i codes = _mm256_load_si256(reinterpret_cast<const __m256i*>(codes_of_32_cells));
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    const __m256i by_low = _mm256_shuffle_epi8(low_, _mm256_and_si256(codes, nibble));
    const __m256i by_high = _mm256_shuffle_epi8(high_, _mm256_and_si256(_mm256_srli_epi16(codes, 4), nibble));
    const __m256i blocked = _mm256_cmpeq_epi8(codes, _mm256_setzero_si256());
    return _mm256_andnot_si256(blocked, _mm256_and_si256(by_low, by_high));
  }

 private:
  static __m256i load(const std::array<std::uint8_t, 16>& table) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table.data())));
  }

  __m256i low_, high_;
};
#else
unsigned fits(const TileData& tile, std::uint8_t code) {
  return code ? tile.fits_low[code & 15] & tile.fits_high[code >> 4] : 0u;
}
#endif

}  // namespace

// --- The river ------------------------------------------------------------------------------------------------------

void GameState::follow_river(const TileFace& face, CellKey key, CellKey previous_end) {
  river_end_ = 0xFFFF;
  for (std::size_t s = 0; s < 4; ++s) {
    const bool is_entry = previous_end != 0xFFFF && s == river_side_;
    if (face.edges[s] != EdgeKind::kRiver || is_entry) continue;
    river_end_ = static_cast<CellKey>(key + kKeyStep[s]);
    if (previous_end != 0xFFFF) {
      // Entering at side e the flow heads for e + 2; leaving at e + 1 it turns left, at e + 3 right.
      const std::size_t turn = (s + 4 - river_side_) % 4;
      river_hand_ = static_cast<std::int8_t>(turn == 1 ? -1 : turn == 3 ? 1 : 0);
    }
    river_side_ = static_cast<std::uint8_t>(s ^ 2);
    return;
  }
}

bool GameState::continues_river(const TileData& tile, unsigned rotation) const {
  const TileFace& face = tile.faces[rotation];
  if (face.edges[river_side_] != EdgeKind::kRiver) return false;
  const Cell end = key_cell(river_end_);
  int hand = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    const Cell beside{static_cast<std::int16_t>(end.x + kSideStep[s].x),
                      static_cast<std::int16_t>(end.y + kSideStep[s].y)};
    const int neighbour = tile_at(beside);
    if (neighbour >= 0 && this->face(static_cast<std::size_t>(neighbour)).edges[s ^ 2] != face.edges[s]) return false;
    if (s == river_side_ || face.edges[s] != EdgeKind::kRiver) continue;
    const std::size_t turn = (s + 4 - river_side_) % 4;
    hand = turn == 1 ? -1 : turn == 3 ? 1 : 0;
  }
  if (hand == 0 || river_hand_ == 0) return true;
  return rules().river_turns == RiverTurns::kNoUTurn && hand != river_hand_;
}

PlacementSet GameState::river_placements(const TileData& tile) const {
  PlacementSet set;
  set.keys_ = cell_keys_.data();
  set.words_ = (cells_ + 15) / 16;
  set.bits_.fill(0);
  if (river_end_ == 0xFFFF) return set;
  const std::size_t index = cell_index(river_end_);
  if (index >= cells_ || cell_keys_[index] != river_end_) return set;
  for (unsigned r = 0; r < tile.period; ++r) {
    if (continues_river(tile, r)) set.bits_[index / 16] |= std::uint64_t{1} << (index % 16 * 4 + r);
  }
  return set;
}

// --- Legal placements -----------------------------------------------------------------------------------------------

PlacementSet GameState::placements(TypeId type) const {
  const TileData& tile = game_->tile(type);
  PlacementSet set;
  if (tile.is_river) {
    set = river_placements(tile);
  } else {
    set.keys_ = cell_keys_.data();
    set.words_ = (cells_ + 15) / 16;
#if defined(__AVX2__)
    const FitTables tables(tile);
    for (std::size_t i = 0; i < cells_; i += 32) {
      // Two masks of four rotations go into one byte.
      const __m256i pairs = _mm256_maddubs_epi16(tables.fits(cell_codes_.data() + i), _mm256_set1_epi16(0x1001));
      const __m128i packed = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(set.bits_.data() + i / 16), packed);
    }
#else
    for (std::size_t w = 0; w < static_cast<std::size_t>(set.words_); ++w) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < 16; ++i) word |= std::uint64_t{fits(tile, cell_codes_[w * 16 + i])} << 4 * i;
      set.bits_[w] = word;
    }
#endif
  }
  if (!rules().join_cities) drop_rival_joins(tile, set);
  return set;
}

bool GameState::can_be_laid(TypeId type) const {
  const TileData& tile = game_->tile(type);
  if (tile.is_river || !rules().join_cities) return !placements(type).empty();
#if defined(__AVX2__)
  const FitTables tables(tile);
  for (std::size_t i = 0; i < cells_; i += 32) {
    const __m256i fits = tables.fits(cell_codes_.data() + i);
    if (!_mm256_testz_si256(fits, fits)) return true;
  }
  return false;
#else
  return std::any_of(cell_codes_.begin(), cell_codes_.begin() + cells_,
                     [&](std::uint8_t code) { return fits(tile, code) != 0; });
#endif
}

void GameState::drop_rival_joins(const TileData& tile, PlacementSet& set) const {
  for (std::size_t w = 0; w < static_cast<std::size_t>(set.words_); ++w) {
    for (std::uint64_t word = set.bits_[w]; word; word &= word - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(word));
      if (joins_rivals(tile, bit & 3, cell_slots_[w * 16 + bit / 4])) set.bits_[w] &= ~(std::uint64_t{1} << bit);
    }
  }
}

// Whether laying the tile would unite cities in which figures of different players stand.
bool GameState::joins_rivals(const TileData& tile, unsigned rotation, std::size_t border) const {
  const TileFace& face = tile.faces[rotation];
  std::array<std::uint8_t, 4> group{0, 1, 2, 3};  // of the tile's lines: united through a common city beyond
  const auto beyond = [&](std::size_t s) {
    const std::uint8_t l = face.line_of_side[s];
    return l != kNoLine && tile.line_kind[l] == FeatureKind::kCity ? border_lines(border)[s] : kNone;
  };
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (beyond(a) == kNone || beyond(a) != beyond(b)) continue;
      const std::uint8_t from = group[face.line_of_side[a]], to = group[face.line_of_side[b]];
      std::replace(group.begin(), group.end(), from, to);
    }
  }
  for (std::uint8_t g = 0; g < tile.lines; ++g) {
    std::array<std::uint8_t, 4> seen{kNone, kNone, kNone, kNone};
    unsigned players = 0;
    int occupied_cities = 0;
    for (std::size_t s = 0; s < 4; ++s) {
      const std::uint8_t city = beyond(s);
      if (city == kNone || group[face.line_of_side[s]] != g) continue;
      if (std::find(seen.begin(), seen.end(), city) != seen.end()) continue;
      seen[s] = city;
      const FigureCounts figures = line_table_[city].figures;
      occupied_cities += figures != 0;
      for (int p = 0; p < players_; ++p) players |= static_cast<unsigned>(figures_of(figures, p) > 0) << p;
    }
    if (occupied_cities > 1 && std::popcount(players) > 1) return true;
  }
  return false;
}

bool GameState::can_place(TypeId type, CellKey cell, unsigned rotation) const {
  const std::size_t index = cell_index(cell);
  return index < cells_ && cell_keys_[index] == cell &&
         placements(type).contains(static_cast<int>(index), game_->tile(type).canonical_rotation(rotation));
}

}  // namespace carc
