// Laying tiles: open cells, joining and merging of features, the river, and which placements are legal.
#include "carc/core/state.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "carc/core/error.hpp"
#include "carc/core/rng.hpp"

namespace carc {
namespace {

// Replaces every `lose` among `n` labels; written to vectorise.
void relabel(std::uint8_t* labels, std::size_t n, std::uint8_t lose, std::uint8_t keep) {
  for (std::size_t i = 0; i < n; ++i) labels[i] = labels[i] == lose ? keep : labels[i];
}

// Half-edge of the neighbour beyond side `s` that touches our half-edge 2 s (its other half touches 2 s + 1).
constexpr std::size_t facing_half(std::size_t s) { return 2 * (s ^ 2) + 1; }

}  // namespace

// --- Making ---------------------------------------------------------------------------------------------------------

GameState::GameState(const Game& game, Start start, const std::array<std::uint8_t, kMaxTypes>& bag, int first_player)
    : game_(&game), bag_(bag) {
  constexpr int kFarthestStart = 40;  // leaves room for 84 tiles in a row in every direction
  if (start.type >= game.types()) {
    throw RecordError("start tile: found type " + std::to_string(start.type) + ", expected less than " + std::to_string(game.types()));
  }
  if (std::abs(start.cell.x) > kFarthestStart || std::abs(start.cell.y) > kFarthestStart || start.rotation > 3) {
    throw RecordError("start: found (" + std::to_string(start.cell.x) + ", " + std::to_string(start.cell.y) + ") rotation " +
                      std::to_string(start.rotation) + ", expected coordinates from -40 to 40 and a rotation from 0 to 3");
  }
  if (first_player < 0 || first_player >= game.rules().players) {
    throw RecordError("first_player: found " + std::to_string(first_player) + ", expected 0 to " + std::to_string(game.rules().players - 1));
  }
  int total = 0;
  for (std::size_t t = 0; t < bag.size(); ++t) {
    if (bag[t] && static_cast<int>(t) >= game.types()) throw DeckError("bag: found copies of tile type " + std::to_string(t) + ", which this game does not have");
    total += bag[t];
    const bool before_lake = bag[t] && game.tile(static_cast<TypeId>(t)).is_river && game.lake() != static_cast<TypeId>(t);
    if (before_lake) river_left_ = static_cast<std::uint8_t>(river_left_ + bag[t]);
  }
  if (total + 1 > kMaxTiles) {
    throw DeckError("bag: found " + std::to_string(total) + " tiles to draw, expected at most " + std::to_string(kMaxTiles - 1));
  }
  players_ = static_cast<std::uint8_t>(game.rules().players);
  player_ = static_cast<std::uint8_t>(first_player);
  tiles_left_ = static_cast<std::uint8_t>(total);
  for (std::size_t p = 0; p < players_; ++p) {
    meeples_[p] = kMeeples;
    abbots_[p] = game.rules().abbot;
  }
  cell_codes_.fill(0);
  cell_keys_.fill(0xFFFF);
  for (std::size_t i = 0; i < cell_slots_.size(); ++i) cell_slots_[i] = static_cast<std::uint8_t>(i + 1);
  lay_first(start);
  phase_ = tiles_left_ ? Phase::kDraw : Phase::kOver;
}

void GameState::lay_first(Start start) {
  drawn_ = static_cast<std::int8_t>(start.type);
  const std::size_t index = insert_cell(0, cell_key(start.cell));
  clear_border(cell_slots_[index]);
  lay(cell_key(start.cell), start.rotation);
  drawn_ = -1;
}

// --- Open cells -----------------------------------------------------------------------------------------------------

std::size_t GameState::cell_index(CellKey key) const {
#if defined(__AVX2__)
  // Counts the smaller keys; the sign flip turns the signed comparison into an unsigned one.
  const __m256i flip = _mm256_set1_epi16(static_cast<short>(0x8000));
  const __m256i limit = _mm256_xor_si256(_mm256_set1_epi16(static_cast<short>(key)), flip);
  int smaller = 0;
  for (std::size_t i = 0; i < cells_; i += 16) {
    const __m256i keys = _mm256_load_si256(reinterpret_cast<const __m256i*>(cell_keys_.data() + i));
    const __m256i less = _mm256_cmpgt_epi16(limit, _mm256_xor_si256(keys, flip));
    smaller += std::popcount(static_cast<unsigned>(_mm256_movemask_epi8(less)));
  }
  return static_cast<std::size_t>(smaller) / 2;
#else
  return static_cast<std::size_t>(std::lower_bound(cell_keys_.begin(), cell_keys_.begin() + cells_, key) - cell_keys_.begin());
#endif
}

std::size_t GameState::insert_cell(std::size_t index, CellKey key) {
  assert(cells_ < kMaxOpenCells);
  const std::size_t tail = cells_ - index;
  const std::uint8_t free_slot = cell_slots_[cells_];
  std::memmove(&cell_codes_[index + 1], &cell_codes_[index], tail);
  std::memmove(&cell_keys_[index + 1], &cell_keys_[index], tail * sizeof(CellKey));
  std::memmove(&cell_slots_[index + 1], &cell_slots_[index], tail);
  cell_codes_[index] = 0;
  cell_keys_[index] = key;
  cell_slots_[index] = free_slot;
  ++cells_;
  slots_used_ = std::max<std::uint8_t>(slots_used_, static_cast<std::uint8_t>(free_slot + 1));
  return index;
}

void GameState::clear_border(std::size_t slot) {
  std::fill_n(border_lines(slot), 4, kNone);
  std::fill_n(border_fields(slot), 8, kNone);
}

void GameState::remove_cell(std::size_t index) {
  const std::uint8_t freed = cell_slots_[index];
  --cells_;
  const std::size_t tail = cells_ - index;
  std::memmove(&cell_codes_[index], &cell_codes_[index + 1], tail);
  std::memmove(&cell_keys_[index], &cell_keys_[index + 1], tail * sizeof(CellKey));
  std::memmove(&cell_slots_[index], &cell_slots_[index + 1], tail);
  cell_codes_[cells_] = 0;
  cell_keys_[cells_] = 0xFFFF;
  cell_slots_[cells_] = freed;
}

// --- Laying a tile --------------------------------------------------------------------------------------------------

void GameState::lay(CellKey key, unsigned rotation) {
  const TileData& tile = game_->tile(static_cast<TypeId>(drawn_));
  const TileFace& face = tile.faces[rotation];
  const std::size_t index = cell_index(key);
  assert(index < cells_ && cell_keys_[index] == key);
  const std::size_t border = cell_slots_[index];

  unsigned closed = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    closed |= static_cast<unsigned>((border_lines(border)[s] & border_fields(border)[2 * s]) != kNone) << s;
  }
  clear_border(kCurrent);
  join_sides(face, border, closed);
  remove_cell(index);

  keys_[laid_] = key;
  types_[laid_] = static_cast<TypeId>(drawn_);
  rotations_[laid_] = static_cast<std::uint8_t>(rotation);
  board_hash_ ^= tile_hash(laid_);
  ++laid_;
  add_segments(tile, face, ~closed & 0xF);
  open_sides(face, key, ~closed & 0xF);
  if (monks_) update_monks(key);
  if (tile.is_river) follow_river(face, key, river_end_);
}

// Gives the tile's segments on touching sides the ids of what they continue, merging where one segment joins several.
void GameState::join_sides(const TileFace& face, std::size_t border, unsigned closed) {
  std::uint8_t* lines = border_lines(kCurrent);
  std::uint8_t* fields = border_fields(kCurrent);
  for (; closed; closed &= closed - 1) {
    const std::size_t s = static_cast<std::size_t>(std::countr_zero(closed));
    if (const std::uint8_t l = face.line_of_side[s]; l != kNone) {
      const std::uint8_t beyond = border_lines(border)[s];
      if (lines[l] == kNone) lines[l] = beyond;
      else if (lines[l] != beyond) merge_lines(lines[l], beyond);
      --line_table_[lines[l]].open;
    }
    for (std::size_t h = 2 * s; h < 2 * s + 2; ++h) {
      const std::uint8_t f = face.field_of_half[h];
      if (f == kNone) continue;
      const std::uint8_t beyond = border_fields(border)[h];
      if (fields[f] == kNone) fields[f] = beyond;
      else if (fields[f] != beyond) merge_fields(fields[f], beyond);
    }
  }
}

void GameState::merge_lines(std::uint8_t keep, std::uint8_t lose) {
  relabel(border_lines_.data(), std::size_t{slots_used_} * 4, lose, keep);
  int shared_tiles = 0;
  for (std::size_t t = 0; t < twins_; ++t) {
    bool has_keep = false, has_lose = false;
    for (std::uint8_t& line : twin_table_[t]) {
      has_keep |= line == keep;
      has_lose |= line == lose;
      if (line == lose) line = keep;
    }
    shared_tiles += has_keep && has_lose;
  }
  Line& to = line_table_[keep];
  const Line& from = line_table_[lose];
  if (from.kind == FeatureKind::kCity) relabel(contact_city_.data(), contacts_, lose, keep);
  if (from.figures) {
    for (std::size_t i = 0; i < figures_; ++i) {
      Figure& f = figure_table_[i];
      if (f.kind != FeatureKind::kField && f.label == lose) f.label = keep;
    }
  }
  to.tiles = static_cast<std::uint8_t>(to.tiles + from.tiles - shared_tiles);
  to.shields = static_cast<std::uint8_t>(to.shields + from.shields);
  to.open = static_cast<std::uint8_t>(to.open + from.open);
  to.figures = static_cast<FigureCounts>(to.figures + from.figures);
}

void GameState::merge_fields(std::uint8_t keep, std::uint8_t lose) {
  relabel(border_fields_.data(), std::size_t{slots_used_} * 8, lose, keep);
  if (field_figures_[lose]) {
    for (std::size_t i = 0; i < figures_; ++i) {
      Figure& f = figure_table_[i];
      if (f.kind == FeatureKind::kField && f.label == lose) f.label = keep;
    }
    field_figures_[keep] = static_cast<FigureCounts>(field_figures_[keep] + field_figures_[lose]);
  }
  const std::uint8_t a = field_contacts_[keep], b = field_contacts_[lose];
  if (a == kNone) field_contacts_[keep] = b;
  else if (b != kNone) std::swap(contact_next_[a], contact_next_[b]);
}

// Makes features of the segments that continue nothing, and counts the tile in each of its features.
void GameState::add_segments(const TileData& tile, const TileFace& face, unsigned open_sides) {
  std::uint8_t* lines = border_lines(kCurrent);
  std::uint8_t* fields = border_fields(kCurrent);
  for (std::size_t l = 0; l < tile.lines; ++l) {
    bool counted = false;
    if (lines[l] == kNone) {
      lines[l] = lines_++;
      line_table_[lines[l]] = Line{0, 0, 0, tile.line_kind[l], 0};
    } else {
      for (std::size_t other = 0; other < l; ++other) counted |= lines[other] == lines[l];
    }
    Line& line = line_table_[lines[l]];
    line.tiles = static_cast<std::uint8_t>(line.tiles + !counted);
    line.shields = static_cast<std::uint8_t>(line.shields + tile.line_shields[l]);
    line.open = static_cast<std::uint8_t>(line.open + std::popcount(face.sides_of_line[l] & open_sides));
  }
  if (tile.has_twin_lines) std::copy_n(lines, 4, twin_table_[twins_++].begin());
  for (std::size_t f = 0; f < tile.fields; ++f) {
    if (fields[f] != kNone) continue;
    fields[f] = fields_++;
    field_figures_[fields[f]] = 0;
    field_contacts_[fields[f]] = kNone;
  }
  for (const Contact& contact : tile.contacts) {
    std::uint8_t& ring = field_contacts_[fields[contact.field]];
    const std::uint8_t node = contacts_++;
    contact_city_[node] = lines[contact.line];
    if (ring == kNone) ring = contact_next_[node] = node;
    else contact_next_[node] = std::exchange(contact_next_[ring], node);
  }
}

// Tells the open cells round the new tile what they now touch.
void GameState::open_sides(const TileFace& face, CellKey key, unsigned open_sides) {
  std::uint8_t* lines = border_lines(kCurrent);
  std::uint8_t* fields = border_fields(kCurrent);
  const auto label = [](const std::uint8_t* ids, std::uint8_t local) { return local == kNone ? kNone : ids[local]; };
  for (; open_sides; open_sides &= open_sides - 1) {
    const std::size_t s = static_cast<std::size_t>(std::countr_zero(open_sides)), opposite = s ^ 2;
    const auto beyond = static_cast<CellKey>(key + kKeyStep[s]);
    const std::size_t index = cell_index(beyond);
    const bool is_new = cell_keys_[index] != beyond;
    if (is_new) insert_cell(index, beyond);
    const std::size_t border = cell_slots_[index];
    if (is_new) clear_border(border);
    border_lines(border)[opposite] = label(lines, face.line_of_side[s]);
    border_fields(border)[facing_half(s)] = label(fields, face.field_of_half[2 * s]);
    border_fields(border)[facing_half(s) - 1] = label(fields, face.field_of_half[2 * s + 1]);
    // Code 0 marks the cell that must continue the river: no other tile fits there, now or later.
    std::uint8_t& code = cell_codes_[index];
    if (face.edges[s] == EdgeKind::kRiver) code = 0;
    else if (is_new || code) code = static_cast<std::uint8_t>(code | static_cast<unsigned>(face.edges[s]) << 2 * opposite);
  }
}

void GameState::update_monks(CellKey key) {
  const Cell c = key_cell(key);
  for (std::size_t i = 0; i < monks_; ++i) {
    Figure& monk = figure_table_[kMaxFigures - 1 - i];
    const Cell m = key_cell(keys_[monk.tile]);
    monk.label = static_cast<std::uint8_t>(monk.label - (std::abs(m.x - c.x) <= 1 && std::abs(m.y - c.y) <= 1));
  }
}

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
    const Cell beside{static_cast<std::int16_t>(end.x + kSideStep[s].x), static_cast<std::int16_t>(end.y + kSideStep[s].y)};
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
    // 32 cells at once: both nibbles of the codes look up their rotation masks, then two masks are packed to a byte.
    const __m256i low = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(tile.fits_low.data())));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(tile.fits_high.data())));
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    for (std::size_t i = 0; i < cells_; i += 32) {
      const __m256i codes = _mm256_load_si256(reinterpret_cast<const __m256i*>(cell_codes_.data() + i));
      const __m256i fit_low = _mm256_shuffle_epi8(low, _mm256_and_si256(codes, nibble));
      const __m256i fit_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(codes, 4), nibble));
      const __m256i blocked = _mm256_cmpeq_epi8(codes, _mm256_setzero_si256());
      const __m256i masks = _mm256_andnot_si256(blocked, _mm256_and_si256(fit_low, fit_high));
      const __m256i pairs = _mm256_maddubs_epi16(masks, _mm256_set1_epi16(0x1001));
      const __m128i packed = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(set.bits_.data() + i / 16), packed);
    }
#else
    for (std::size_t w = 0; w < static_cast<std::size_t>(set.words_); ++w) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < 16; ++i) {
        const std::uint8_t code = cell_codes_[w * 16 + i];
        const std::uint64_t mask = code ? tile.fits_low[code & 15] & tile.fits_high[code >> 4] : 0;
        word |= mask << 4 * i;
      }
      set.bits_[w] = word;
    }
#endif
  }
  if (!rules().join_cities) drop_rival_joins(tile, set);
  return set;
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
    return l != kNone && tile.line_kind[l] == FeatureKind::kCity ? border_lines(border)[s] : kNone;
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

// --- Reading --------------------------------------------------------------------------------------------------------

LaidTile GameState::laid_tile(int i) const {
  const auto n = static_cast<std::size_t>(i);
  return {key_cell(keys_[n]), types_[n], rotations_[n]};
}

int GameState::tile_at(Cell cell) const {
  if (!cell_in_range(cell.x, cell.y)) return -1;
  const CellKey key = cell_key(cell);
  for (int i = 0; i < laid_; ++i) {
    if (keys_[static_cast<std::size_t>(i)] == key) return i;
  }
  return -1;
}

std::uint64_t GameState::tile_hash(std::size_t laid) const {
  const unsigned rotation = tile_data(laid).canonical_rotation(rotations_[laid]);
  return mix64(std::uint64_t{1} << 40 | std::uint64_t{types_[laid]} << 24 | std::uint64_t{rotation} << 16 | keys_[laid]);
}

}  // namespace carc
