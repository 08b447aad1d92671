// Laying tiles: the list of open cells, joining and merging of features.
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

// Whether these are two features. One condition instead of three, since each alone is a coin toss for the processor.
bool differ(std::uint8_t a, std::uint8_t b) { return (a != kNone) & (b != kNone) & (a != b); }

// Half-edge of the neighbour beyond side `s` that touches our half-edge 2 s (its other half touches 2 s + 1).
constexpr std::size_t facing_half(std::size_t s) { return 2 * (s ^ 2) + 1; }

}  // namespace

// --- Making ---------------------------------------------------------------------------------------------------------

GameState::GameState(const Game& game, Start start, const std::array<std::uint8_t, kMaxTypes>& bag, int first_player)
    : game_(&game), bag_(bag) {
  constexpr int kFarthestStart = 40;  // leaves room for 84 tiles in a row in every direction
  if (start.type >= game.types()) {
    throw RecordError("start tile: found type " + std::to_string(start.type) + ", expected less than " +
                      std::to_string(game.types()));
  }
  if (std::abs(start.cell.x) > kFarthestStart || std::abs(start.cell.y) > kFarthestStart || start.rotation > 3) {
    throw RecordError("start: found (" + std::to_string(start.cell.x) + ", " + std::to_string(start.cell.y) +
                      ") rotation " + std::to_string(start.rotation) +
                      ", expected coordinates from -40 to 40 and a rotation from 0 to 3");
  }
  const auto& edges = game.tile(start.type).type->edges;
  if (std::count(edges.begin(), edges.end(), EdgeKind::kRiver) > 1) {
    throw RecordError("start: found tile " + game.tile(start.type).id +
                      ", through which a river runs, expected a spring or a tile without river");
  }
  if (first_player < 0 || first_player >= game.rules().players) {
    throw RecordError("first_player: found " + std::to_string(first_player) + ", expected 0 to " +
                      std::to_string(game.rules().players - 1));
  }
  int total = 0;
  for (std::size_t t = 0; t < bag.size(); ++t) {
    if (bag[t] && static_cast<int>(t) >= game.types())
      throw DeckError("bag: found copies of tile type " + std::to_string(t) + ", which this game does not have");
    total += bag[t];
    if (bag[t] && game.comes_before_lake(static_cast<TypeId>(t)))
      river_left_ = static_cast<std::uint8_t>(river_left_ + bag[t]);
  }
  if (bag != game.bag() || start.type != game.start()) {
    if (const std::string problem = game.limit_exceeded(start.type, bag); !problem.empty())
      throw DeckError("bag: " + problem);
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
  free_slots_ = {~std::uint64_t{1}, ~std::uint64_t{0}, (std::uint64_t{1} << (kSlots - 128)) - 1};
  border_lines_.fill(kNone);
  current_lines_.fill(kNone);
  current_fields_.fill(kNone);
  lay_first(start);
  phase_ = tiles_left_ ? Phase::kDraw : Phase::kOver;
}

// The first tile is laid on an open cell without neighbours.
void GameState::lay_first(Start start) {
  cells_ = 1;
  cell_keys_[0] = cell_key(start.cell);
  cell_slots_[0] = take_slot(true);
  std::fill_n(border_lines(cell_slots_[0]), 4, kNone);
  std::fill_n(border_fields(cell_slots_[0]), 8, kNone);
  drawn_ = static_cast<std::int8_t>(start.type);
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
  return static_cast<std::size_t>(std::lower_bound(cell_keys_.begin(), cell_keys_.begin() + cells_, key) -
                                  cell_keys_.begin());
#endif
}

int GameState::find_open_cell(Cell cell) const {
  if (!cell_in_range(cell.x, cell.y)) return -1;
  const CellKey key = cell_key(cell);
  const std::size_t i = cell_index(key);
  return i < cells_ && cell_keys_[i] == key ? static_cast<int>(i) : -1;
}

GameState::Ring GameState::find_ring(CellKey key) const {
  const auto north = static_cast<CellKey>(key + kKeyStep[kNorth]), south = static_cast<CellKey>(key + kKeyStep[kSouth]);
  Ring ring;
#if defined(__AVX2__)
  // Counts the smaller keys for three keys in one pass; the sign flip turns signed comparisons into unsigned ones.
  const __m256i flip = _mm256_set1_epi16(static_cast<short>(0x8000));
  const auto flipped = [&](CellKey k) { return _mm256_xor_si256(_mm256_set1_epi16(static_cast<short>(k)), flip); };
  const __m256i limit_north = flipped(north), limit = flipped(key), limit_south = flipped(south);
  __m256i less_north = _mm256_setzero_si256(), less = less_north, less_south = less_north;
  for (std::size_t i = 0; i < cells_; i += 16) {
    const __m256i keys =
        _mm256_xor_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(cell_keys_.data() + i)), flip);
    less_north = _mm256_sub_epi16(less_north, _mm256_cmpgt_epi16(limit_north, keys));
    less = _mm256_sub_epi16(less, _mm256_cmpgt_epi16(limit, keys));
    less_south = _mm256_sub_epi16(less_south, _mm256_cmpgt_epi16(limit_south, keys));
  }
  // Sums of 16 lanes, each at most 11: first pairs of lanes, then bytes.
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i pairs = _mm256_hadd_epi32(_mm256_madd_epi16(less_north, ones), _mm256_madd_epi16(less, ones));
  const __m256i sums =
      _mm256_hadd_epi32(pairs, _mm256_hadd_epi32(_mm256_madd_epi16(less_south, ones), _mm256_setzero_si256()));
  const __m128i total = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  ring.north = static_cast<std::size_t>(_mm_extract_epi32(total, 0));
  ring.laid = static_cast<std::size_t>(_mm_extract_epi32(total, 1));
  ring.south = static_cast<std::size_t>(_mm_extract_epi32(total, 2));
#else
  ring.north = cell_index(north);
  ring.laid = cell_index(key);
  ring.south = cell_index(south);
#endif
  return ring;
}

void GameState::find_new_cells(Ring& ring, CellKey key, unsigned open_sides) const {
  const auto north = static_cast<CellKey>(key + kKeyStep[kNorth]), south = static_cast<CellKey>(key + kKeyStep[kSouth]);
  const bool has_west = ring.laid > 0 && cell_keys_[ring.laid - 1] == key - 1;
  ring.is_new = {(open_sides & 1) && cell_keys_[ring.north] != north,
                 (open_sides & 2) && cell_keys_[ring.laid + 1] != key + 1,
                 (open_sides & 4) && cell_keys_[ring.south] != south, (open_sides & 8) && !has_west};
  // The filled cell leaves; new ones come in before, instead of, and after it.
  const std::size_t to_north = ring.is_new[kNorth], to_west = to_north + ring.is_new[kWest],
                    to_east = to_west + ring.is_new[kEast];
  ring.after = {ring.north, ring.laid + to_west, ring.south + to_east - 1, ring.laid + to_west - 1};
}

// Makes room in one of the sorted lists: the stretch from north to the filled cell, that from there to south, and the
// rest move by at most three places. New entries are left to the caller.
template <class T>
void GameState::splice(T* list, const Ring& ring) const {
  const std::size_t first = ring.laid - ring.north, second = ring.south - ring.laid - 1, rest = cells_ - ring.south;
  T* const to_first = list + ring.north + ring.is_new[kNorth];
  T* const to_second = list + ring.after[kEast] + ring.is_new[kEast];
  T* const to_rest = list + ring.after[kSouth] + ring.is_new[kSouth];
  constexpr std::size_t kShort = 16, kLong = 64;
  if (first <= kShort && second <= kShort && rest < kLong) [[likely]] {
    // All is read before anything is written; what is written too far is written over by the next stretch. The rest
    // takes at least one unused entry with it, should the list shrink.
    using Bytes [[gnu::vector_size(32)]] = std::uint8_t;
    using HalfBytes [[gnu::vector_size(16 * sizeof(T))]] = std::uint8_t;
    constexpr std::size_t kParts = kLong * sizeof(T) / 32;
    HalfBytes a, b;
    std::array<Bytes, kParts> c;
    std::memcpy(&a, list + ring.north, sizeof a);
    std::memcpy(&b, list + ring.laid + 1, sizeof b);
    for (std::size_t i = 0; i < kParts; ++i)
      std::memcpy(&c[i], reinterpret_cast<const char*>(list + ring.south) + 32 * i, 32);
    std::memcpy(to_first, &a, sizeof a);
    std::memcpy(to_second, &b, sizeof b);
    for (std::size_t i = 0; i < kParts; ++i) std::memcpy(reinterpret_cast<char*>(to_rest) + 32 * i, &c[i], 32);
    return;
  }
  std::array<T, kCellCapacity> old;
  std::memcpy(old.data(), list, sizeof old);
  std::memcpy(to_first, &old[ring.north], first * sizeof(T));
  std::memcpy(to_second, &old[ring.laid + 1], second * sizeof(T));
  std::memcpy(to_rest, &old[ring.south], (rest + 1) * sizeof(T));  // with one unused entry, should the list shrink
}

// The lowest free slot; given out only if `really`.
std::uint8_t GameState::take_slot(bool really) {
  std::size_t word = 0;
  while (!free_slots_[word]) ++word;
  const auto slot =
      static_cast<std::uint8_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(free_slots_[word])));
  free_slots_[word] &= free_slots_[word] - really;
  slots_used_ = std::max<std::uint8_t>(slots_used_, static_cast<std::uint8_t>(slot + 1));
  return slot;
}

// --- Laying a tile --------------------------------------------------------------------------------------------------

void GameState::lay(CellKey key, unsigned rotation) {
  const TileData& tile = game_->tile(static_cast<TypeId>(drawn_));
  const TileFace& face = tile.faces[rotation];

  keys_[laid_] = key;
  types_[laid_] = static_cast<TypeId>(drawn_);
  rotations_[laid_] = static_cast<std::uint8_t>(rotation);
  board_hash_ ^= tile_hash(laid_);
  ++laid_;

  Ring ring = find_ring(key);
  assert(ring.laid < cells_ && cell_keys_[ring.laid] == key);
  const std::size_t border = cell_slots_[ring.laid];
  unsigned open_sides = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    open_sides |= static_cast<unsigned>((border_lines(border)[s] & border_fields(border)[2 * s]) == kNone) << s;
  }
  join_sides(face, border, ~open_sides & 0xF);
  add_segments(tile, face, open_sides);
  open_cells_round(face, key, ring, open_sides);
  if (monks_) update_monks(key);
  if (tile.is_river) follow_river(face, key, river_end_);
}

// Gives the tile's segments the ids of what they continue, merging where one segment joins several. Where there is
// nothing of the kind, the ids are kNone on both sides and nothing changes.
void GameState::join_sides(const TileFace& face, std::size_t border, unsigned closed_sides) {
  current_lines_.fill(kNone);
  current_fields_.fill(kNone);
  for (; closed_sides; closed_sides &= closed_sides - 1) {
    const auto s = static_cast<std::size_t>(std::countr_zero(closed_sides));
    std::uint8_t& line = current_lines_[face.line_of_side[s]];
    const std::uint8_t line_beyond = border_lines(border)[s];
    if (differ(line, line_beyond))
      merge_lines(line, line_beyond);
    else
      line &= line_beyond;  // the one that is not kNone
    --line_table_[line].open;
    for (std::size_t h = 2 * s; h < 2 * s + 2; ++h) {
      std::uint8_t& field = current_fields_[face.field_of_half[h]];
      const std::uint8_t field_beyond = border_fields(border)[h];
      if (differ(field, field_beyond))
        merge_fields(field, field_beyond);
      else
        field &= field_beyond;
    }
  }
}

void GameState::merge_lines(std::uint8_t keep, std::uint8_t lose) {
  relabel(border_lines_.data(), std::size_t{slots_used_} * 4, lose, keep);
  relabel(current_lines_.data(), kNoLine, lose, keep);
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
  relabel(current_fields_.data(), kNoField, lose, keep);
  if (field_figures_[lose]) {
    for (std::size_t i = 0; i < figures_; ++i) {
      Figure& f = figure_table_[i];
      if (f.kind == FeatureKind::kField && f.label == lose) f.label = keep;
    }
    field_figures_[keep] = static_cast<FigureCounts>(field_figures_[keep] + field_figures_[lose]);
  }
  const std::uint8_t a = field_contacts_[keep], b = field_contacts_[lose];
  if (a == kNone)
    field_contacts_[keep] = b;
  else if (b != kNone)
    std::swap(contact_next_[a], contact_next_[b]);
}

// Makes features of the segments that continue nothing, counts the tile in each of its features, and notes which of
// them are complete and which are free.
void GameState::add_segments(const TileData& tile, const TileFace& face, unsigned open_sides) {
  free_features_ = 0;
  completed_ = 0;
  for (std::size_t l = 0; l < tile.lines; ++l) {
    std::uint8_t& id = current_lines_[l];
    const bool is_new = id == kNone;
    id = is_new ? lines_ : id;
    lines_ = static_cast<std::uint8_t>(lines_ + is_new);
    line_table_[is_new ? id : kNone] = Line{0, 0, 0, tile.line_kind[l], 0};
    bool counted = false;
    if (tile.has_twin_lines) {
      for (std::size_t other = 0; other < l; ++other) counted |= current_lines_[other] == id;
    }
    Line& line = line_table_[id];
    line.tiles = static_cast<std::uint8_t>(line.tiles + !counted);
    line.shields = static_cast<std::uint8_t>(line.shields + tile.line_shields[l]);
    line.open = static_cast<std::uint8_t>(line.open + std::popcount(face.sides_of_line[l] & open_sides));
    free_features_ |= static_cast<std::uint32_t>(line.figures == 0) << tile.line_feature[l];
  }
  for (std::size_t l = 0; l < tile.lines; ++l)
    completed_ |= static_cast<std::uint8_t>((line_table_[current_lines_[l]].open == 0) << l);
  if (tile.has_twin_lines) std::copy_n(current_lines_.begin(), 4, twin_table_[twins_++].begin());
  const std::uint32_t farmers = rules().farmers;
  for (std::size_t f = 0; f < tile.fields; ++f) {
    std::uint8_t& id = current_fields_[f];
    const bool is_new = id == kNone;
    id = is_new ? fields_ : id;
    fields_ = static_cast<std::uint8_t>(fields_ + is_new);
    field_figures_[is_new ? id : kNone] = 0;
    field_contacts_[is_new ? id : kNone] = kNone;
    free_features_ |= (farmers & (field_figures_[id] == 0)) << tile.field_feature[f];
  }
  for (const Contact& contact : tile.contacts) {
    std::uint8_t& ring = field_contacts_[current_fields_[contact.field]];
    const std::uint8_t node = contacts_++;
    contact_city_[node] = current_lines_[contact.line];
    if (ring == kNone)
      ring = contact_next_[node] = node;
    else
      contact_next_[node] = std::exchange(contact_next_[ring], node);
  }
}

// Takes the filled cell out of the list and tells the open cells round it what they now touch.
void GameState::open_cells_round(const TileFace& face, CellKey key, Ring& ring, unsigned open_sides) {
  find_new_cells(ring, key, open_sides);
  const std::uint8_t freed = cell_slots_[ring.laid];
  free_slots_[freed / 64] |= std::uint64_t{1} << freed % 64;
  std::memset(border_lines(freed), kNone, 4);
  splice(cell_codes_.data(), ring);
  splice(cell_keys_.data(), ring);
  splice(cell_slots_.data(), ring);
  --cells_;
  for (; open_sides; open_sides &= open_sides - 1) {
    const auto s = static_cast<std::size_t>(std::countr_zero(open_sides));
    const std::size_t at = ring.after[s], opposite = s ^ 2;
    const bool is_new = ring.is_new[s];
    const std::uint8_t taken = take_slot(is_new);
    const std::uint8_t slot = is_new ? taken : cell_slots_[at];
    // Code 0 marks the cell that must continue the river: no other tile fits there, now or later.
    const std::uint8_t code = is_new ? std::uint8_t{0} : cell_codes_[at];
    const bool is_blocked = face.edges[s] == EdgeKind::kRiver || (!is_new && code == 0);
    cell_codes_[at] = is_blocked ? std::uint8_t{0} : static_cast<std::uint8_t>(code | face.code_beyond[s]);
    cell_keys_[at] = static_cast<CellKey>(key + kKeyStep[s]);
    cell_slots_[at] = slot;
    cells_ = static_cast<std::uint8_t>(cells_ + is_new);

    const std::size_t cleared = is_new ? slot : 0;
    std::memset(border_lines(cleared), kNone, 4);
    std::memset(border_fields(cleared), kNone, 8);
    border_lines(slot)[opposite] = current_lines_[face.line_of_side[s]];
    border_fields(slot)[facing_half(s)] = current_fields_[face.field_of_half[2 * s]];
    border_fields(slot)[facing_half(s) - 1] = current_fields_[face.field_of_half[2 * s + 1]];
  }
}

int GameState::open_cells_of(std::uint8_t line) const {
  const int edges = line_table_[line].open;
  if (edges <= 1) return edges;
  int n = 0;
#if defined(__AVX2__)
  const __m256i wanted = _mm256_set1_epi8(static_cast<char>(line));
  for (std::size_t slot = 0; slot < slots_used_; slot += 8) {
    const __m256i sides = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(border_lines(slot)));
    auto hits = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(sides, wanted)));
    hits |= hits >> 1;  // any of the four sides
    hits |= hits >> 2;
    n += std::popcount(hits & 0x11111111U);
  }
#else
  for (std::size_t slot = 0; slot < slots_used_; ++slot) {
    const std::uint8_t* sides = border_lines(slot);
    n += sides[0] == line || sides[1] == line || sides[2] == line || sides[3] == line;
  }
#endif
  return n;
}

void GameState::update_monks(CellKey key) {
  for (std::size_t i = 0; i < monks_; ++i) {
    Figure& monk = figure_table_[kMaxFigures - 1 - i];
    const unsigned apart = key + 0x0101u - keys_[monk.tile];  // bytes 0..2 for neighbours in x and y
    monk.label = static_cast<std::uint8_t>(monk.label - (((apart & 0xFF) <= 2) & ((apart >> 8) <= 2)));
  }
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
  return mix64(std::uint64_t{1} << 40 | std::uint64_t{types_[laid]} << 24 | std::uint64_t{rotation} << 16 |
               keys_[laid]);
}

}  // namespace carc
