// What FeatureReader knows of a board without its figures: which tiles fit where, and where lines and fields end.
#include <bit>
#include <bitset>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "carc/neural/feature_inputs.hpp"

namespace carc {

// --- Tables of a game -----------------------------------------------------------------------------------------------

FittingTypes::FittingTypes(const Game& game) : game_(&game), fitting_(256), closing_(256 * 16), joining_(256 * 8) {
  static_assert(kMaxTypes <= 128);
  for (int t = 0; t < game.types(); ++t) {
    const TileData& tile = game.tile(static_cast<TypeId>(t));
    const auto put = [t](Types& types) { types[static_cast<std::size_t>(t / 64)] |= std::uint64_t{1} << t % 64; };
    if (tile.is_river) put(fitting_[0]);
    if (tile.is_river) continue;
    for (unsigned code = 1; code < 256; ++code) {
      const unsigned rotations = tile.fits_low[code & 15] & tile.fits_high[code >> 4];
      if (!rotations) continue;
      put(fitting_[code]);
      for (unsigned r = 0; r < 4; ++r) {
        if (!(rotations >> r & 1)) continue;
        const TileFace& face = tile.faces[r];
        for (unsigned sides = 1; sides < 16; ++sides) {
          bool closes = true;
          for (std::size_t s = 0; s < 4; ++s) {
            if (!(sides >> s & 1)) continue;
            const std::uint8_t line = face.line_of_side[s];
            closes &= line != kNoLine && (face.sides_of_line[line] & ~sides) == 0;
          }
          if (closes) put(closing_[code * 16 + sides]);
        }
        for (int a = 0; a < 4; ++a) {
          for (int b = a + 1; b < 4; ++b) {
            const std::uint8_t line = face.line_of_side[static_cast<std::size_t>(a)];
            if (line != kNoLine && line == face.line_of_side[static_cast<std::size_t>(b)])
              put(joining_[code * 8 + pair_of(a, b)]);
          }
        }
      }
    }
  }
}

// --- Where we look --------------------------------------------------------------------------------------------------

void FeatureReader::start(const GameState& state, int next, int tiles_left) {
  players_ = state.players();
  next_ = next;
  tiles_left_ = tiles_left;
  bag_ = state.bag();
  fits_.fill(-1);
  closers_.fill(-1);
  joiners_.fill(-1);
  undrawn_buildings_ = 0;
  for (int t = 0; t < game().types(); ++t) {
    const TileData& tile = game().tile(static_cast<TypeId>(t));
    if (tile.monastery >= 0 || tile.garden >= 0) undrawn_buildings_ += bag_[static_cast<std::size_t>(t)];
  }
  claim_nothing();
  start_stamp_ = ++stamp_;
  is_placed_ = false;
  ends_.clear();
  find_cells(state);
}

void FeatureReader::look_at(const GameState& placed, const SlotSet& near) {
  if (!is_placed_) ends_before_ = ends_.size();
  is_placed_ = true;
  ends_.resize(ends_before_);
  ++stamp_;
  near_ = near;
  find_cells(placed);
}

void FeatureReader::claim(FeatureKind kind, std::uint8_t id, int player) {
  claim_ = {};
  (kind == FeatureKind::kField ? claim_.field : claim_.line) = id;
  claim_.figures = one_figure(player);
}

void FeatureReader::find_cells(const GameState& state) {
  open_slots_ = {};
  for (int i = 0; i < state.open_cells(); ++i) {
    code_of_slot_[state.cell_slot(i)] = static_cast<std::uint8_t>(state.open_cell_code(i));
    open_slots_.add(state.cell_slot(i));
  }
}

void FeatureReader::find_line(const GameState& state, std::uint8_t line, LineOutlook& out) {
  out.stamp = stamp_;
  out.first = static_cast<std::uint16_t>(ends_.size());
  out.ends = {};
  const auto put = [&](std::size_t slot, unsigned sides) {
    ends_.push_back({static_cast<std::uint8_t>(slot), static_cast<std::uint8_t>(sides)});
    out.ends.add(slot);
  };
  const std::uint8_t* lines = state.lines_by_slot();
  const std::size_t slots = state.slots();
#if defined(__AVX2__)
  const __m256i wanted = _mm256_set1_epi8(static_cast<char>(line));
  for (std::size_t slot = 0; slot < slots; slot += 8) {
    const __m256i sides = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lines + 4 * slot));
    auto hits = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(sides, wanted)));
    while (hits) {
      const int first = std::countr_zero(hits) & ~3;
      put(slot + static_cast<std::size_t>(first) / 4, hits >> first & 15);
      hits &= ~(15U << first);
    }
  }
#else
  for (std::size_t slot = 0; slot < slots; ++slot) {
    unsigned sides = 0;
    for (unsigned s = 0; s < 4; ++s) sides |= static_cast<unsigned>(lines[4 * slot + s] == line) << s;
    if (sides) put(slot, sides);
  }
#endif
  out.cells = static_cast<std::uint16_t>(ends_.size() - out.first);
  out.closers = out.cells == 1 ? closers(code_of_slot_[ends_.back().slot], ends_.back().sides) : 0;
}

void FeatureReader::find_field(const GameState& state, std::uint8_t field, FieldOutlook& out) {
  out = {stamp_, static_cast<std::uint16_t>(ends_.size()), 0, 0, 0, 0, 0, 0, 0, 0, {}, {}};
  const std::uint8_t* fields = state.fields_by_slot();
  const std::size_t slots = state.slots();
  const auto put = [&](std::size_t slot, unsigned halves) {
    if (!open_slots_.has(slot)) return;
    ends_.push_back({static_cast<std::uint8_t>(slot), static_cast<std::uint8_t>(halves)});
    out.ends.add(slot);
  };
  std::size_t slot = 0;
#if defined(__AVX2__)
  const __m256i wanted = _mm256_set1_epi8(static_cast<char>(field));
  for (; slot + 4 <= slots; slot += 4) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(fields + 8 * slot));
    auto hits = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(halves, wanted)));
    while (hits) {
      const auto k = static_cast<std::size_t>(std::countr_zero(hits)) / 8;
      put(slot + k, hits >> 8 * k & 255);
      hits &= ~(255U << 8 * k);
    }
  }
#endif
  for (; slot < slots; ++slot) {
    unsigned halves = 0;
    for (unsigned h = 0; h < 8; ++h) halves |= static_cast<unsigned>(fields[8 * slot + h] == field) << h;
    if (halves) put(slot, halves);
  }
  out.cells = static_cast<std::uint16_t>(ends_.size() - out.first);
  out.depends = out.ends;

  std::bitset<256> seen;
  state.for_each_city(field, [&](std::uint8_t city) {
    if (seen[city]) return;
    seen.set(city);
    if (state.line(city).open == 0) {
      ++out.complete;
      return;
    }
    const LineOutlook& outlook = outlook_of_line(state, city);
    out.depends.add(outlook.ends);
    if (outlook.cells == 1) {
      ++(outlook.closers >= 4 ? out.easy : outlook.closers > 0 ? out.possible : out.blocked);
    } else {
      ++(outlook.cells == 2 ? out.two : outlook.cells == 3 ? out.three : out.far);
    }
  });
}

const FeatureReader::LineOutlook& FeatureReader::outlook_of_line(const GameState& state, std::uint8_t line) {
  LineOutlook& before = lines_.before[line];
  if (!is_placed_) {
    if (before.stamp != start_stamp_) find_line(state, line, before);
    return before;
  }
  if (before.stamp == start_stamp_ && !before.ends.meets(near_)) return before;
  LineOutlook& placed = lines_.placed[line];
  if (placed.stamp != stamp_) find_line(state, line, placed);
  return placed;
}

const FeatureReader::FieldOutlook& FeatureReader::outlook_of_field(const GameState& state, std::uint8_t field) {
  FieldOutlook& before = fields_.before[field];
  if (!is_placed_) {
    if (before.stamp != start_stamp_) find_field(state, field, before);
    return before;
  }
  if (before.stamp == start_stamp_ && !before.depends.meets(near_)) return before;
  FieldOutlook& placed = fields_.placed[field];
  if (placed.stamp != stamp_) find_field(state, field, placed);
  return placed;
}

// --- Counting tiles -------------------------------------------------------------------------------------------------

int FeatureReader::count(const FittingTypes::Types& types) const {
  int n = 0;
  for (std::size_t w = 0; w < types.size(); ++w) {
    for (std::uint64_t bits = types[w]; bits; bits &= bits - 1) {
      n += bag_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
    }
  }
  return n;
}

int FeatureReader::fits(unsigned code) {
  std::int16_t& known = fits_[code];
  if (known < 0) known = static_cast<std::int16_t>(count(types_.fitting(code)));
  return known;
}

int FeatureReader::closers(unsigned code, unsigned sides) {
  std::int16_t& known = closers_[code * 16 + sides];
  if (known < 0) known = static_cast<std::int16_t>(count(types_.closing(code, sides)));
  return known;
}

int FeatureReader::joiners(unsigned code, int a, int b) {
  std::int16_t& known = joiners_[code * 16 + static_cast<unsigned>(a * 4 + b)];
  if (known < 0) known = static_cast<std::int16_t>(count(types_.joining(code, a, b)));
  return known;
}

}  // namespace carc
