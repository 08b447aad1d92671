#include "carc/neural/feature_inputs.hpp"

#include <algorithm>
#include <bit>
#include <bitset>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace carc {
namespace {

constexpr float kFlag = 1;

// --- What the numbers mean ------------------------------------------------------------------------------------------

// Roads and cities. "Cells" are the open cells at which the feature ends, the hardest first: those that fewest tiles
// close the feature at, then those that fewest fit.
enum LineInput : std::uint8_t {
  kTiles,
  kShields,
  kSize,
  kMainFigures,
  kRivalFigures,
  kTied,
  kLeadsByOne,
  kOpenEdges,
  kCells,
  kOneCell,
  kTwoCells,
  kThreeCells,
  kFits1,
  kFits2,
  kFits3,
  kClosers1,
  kClosers2,
  kClosers3,
  kDeadCells,
  kClosersSum,
  kNoCloser,
  kOneCloser,
  kTwoClosers,
  kFixedEdges,
  kExtraEdges,
  kJoinable,
  kJoinMain,
  kJoinOther,
  kJoinSize,
  kJoinGains,
  kJoinLosses,
  kJoiners,
  kTilesLeft,
  kMainWait,
  kRivalWait,
  kMorePlayers,
  kMainTurns,
  kSmallCity,
  kSplitTies,
  kNoJoins,
  kLineInputs
};
constexpr std::array<InputInfo, kLineInputs> kLineInfo = {{
    {"tiles", 0.125F},         {"shields", 0.25F},    {"size", 0.1F},          {"figures_main", 0.5F},
    {"figures_rival", 0.5F},   {"is_tied", kFlag},    {"leads_by_one", kFlag}, {"open_edges", 0.25F},
    {"cells", 0.25F},          {"one_cell", kFlag},   {"two_cells", kFlag},    {"three_cells", kFlag},
    {"fits_1", 0.05F},         {"fits_2", 0.05F},     {"fits_3", 0.05F},       {"closers_1", 0.1F},
    {"closers_2", 0.1F},       {"closers_3", 0.1F},   {"dead_cells", 0.5F},    {"closers_sum", 0.05F},
    {"no_closer", kFlag},      {"one_closer", kFlag}, {"two_closers", kFlag},  {"fixed_edges", 0.33F},
    {"extra_edges", 0.5F},     {"joinable", 0.5F},    {"join_main", 0.5F},     {"join_other", 0.5F},
    {"join_size", 0.1F},       {"join_gains", 0.5F},  {"join_losses", 0.5F},   {"joiners", 0.1F},
    {"tiles_left", 1.0F / 72}, {"main_wait", 0.5F},   {"rival_wait", 0.5F},    {"more_players", 0.33F},
    {"main_turns", 1.0F / 36}, {"small_city", kFlag}, {"split_ties", kFlag},   {"no_joins", kFlag},
}};

// Monasteries and gardens. "Missing" cells are those of the eight round it without a tile; those next to no tile at all
// are out of reach for now.
enum BuildingInput : std::uint8_t {
  kMissing,
  kMissing1,
  kMissing2,
  kMissing3,
  kIsGarden,
  kIsAbbot,
  kReachable,
  kDead,
  kHard,
  kFair,
  kFewest1,
  kFewest2,
  kFewest3,
  kOutOfReach,
  kFitsSum,
  kBuildingTilesLeft,
  kBuildingWait,
  kBuildingMorePlayers,
  kBuildingTurns,
  kFixedMuch,
  kBuildingInputs
};
constexpr std::array<InputInfo, kBuildingInputs> kBuildingInfo = {{
    {"missing", 0.125F},  {"missing_1", kFlag},    {"missing_2", kFlag},      {"missing_3", kFlag},
    {"is_garden", kFlag}, {"is_abbot", kFlag},     {"reachable", 0.125F},     {"dead", 0.5F},
    {"hard", 0.5F},       {"fair", 0.33F},         {"fewest_1", 0.05F},       {"fewest_2", 0.05F},
    {"fewest_3", 0.05F},  {"out_of_reach", 0.25F}, {"fits_sum", 0.02F},       {"tiles_left", 1.0F / 72},
    {"main_wait", 0.5F},  {"more_players", 0.33F}, {"main_turns", 1.0F / 36}, {"fixed_much", 0.33F},
}};

// Fields. Cities are counted once each.
enum FieldInput : std::uint8_t {
  kFieldMain,
  kFieldRival,
  kFieldTied,
  kFieldLeadsByOne,
  kCompleteCities,
  kEasyCities,
  kPossibleCities,
  kBlockedCities,
  kTwoCellCities,
  kThreeCellCities,
  kFarCities,
  kFieldCells,
  kFieldLiveCells,
  kFieldJoinable,
  kFieldRivals,
  kFieldJoinMain,
  kFieldJoinOther,
  kFieldJoinGains,
  kFieldJoinLosses,
  kJoinCities,
  kGainCities,
  kFieldTilesLeft,
  kFieldMainWait,
  kFieldRivalWait,
  kFieldMorePlayers,
  kFieldMainTurns,
  kCity2000,
  kTransitional,
  kFieldSplitTies,
  kFarmerRecall,
  kFieldInputs
};
constexpr std::array<InputInfo, kFieldInputs> kFieldInfo = {{
    {"figures_main", 0.5F},     {"figures_rival", 0.5F},     {"is_tied", kFlag},         {"leads_by_one", kFlag},
    {"complete_cities", 0.25F}, {"easy_cities", 0.5F},       {"possible_cities", 0.5F},  {"blocked_cities", 0.5F},
    {"two_cell_cities", 0.5F},  {"three_cell_cities", 0.5F}, {"far_cities", 0.5F},       {"cells", 0.1F},
    {"live_cells", 0.1F},       {"joinable", 0.25F},         {"joinable_claimed", 0.5F}, {"join_main", 0.5F},
    {"join_other", 0.5F},       {"join_gains", 0.5F},        {"join_losses", 0.5F},      {"join_cities", 0.25F},
    {"gain_cities", 0.25F},     {"tiles_left", 1.0F / 72},   {"main_wait", 0.5F},        {"rival_wait", 0.5F},
    {"more_players", 0.33F},    {"main_turns", 1.0F / 36},   {"city_2000", kFlag},       {"transitional", kFlag},
    {"split_ties", kFlag},      {"farmer_recall", kFlag},
}};

enum PlayerInput : std::uint8_t {
  kHand,
  kHandNone,
  kHandOne,
  kHandTwo,
  kHandTimesLeft,
  kHandAbbot,
  kFarmersOut,
  kPlayerTilesLeft,
  kUndrawnBuildings,
  kPlayerWait,
  kPlayerMorePlayers,
  kPlayerTurns,
  kOthersHand,
  kOthersMost,
  kOthersNone,
  kOthersFarmers,
  kHasFarmers,
  kHasAbbot,
  kOpenCells,
  kOthersHandTimesLeft,
  kPlayerSmallCity,
  kPlayerSplitTies,
  kPlayerNoJoins,
  kAllPlayerInputs
};
constexpr std::array<InputInfo, kAllPlayerInputs> kPlayerInfo = {{
    {"hand", 1.0F / 7},
    {"hand_none", kFlag},
    {"hand_one", kFlag},
    {"hand_two", kFlag},
    {"hand_times_left", 1.0F / 64},
    {"hand_abbot", kFlag},
    {"farmers_out", 0.33F},
    {"tiles_left", 1.0F / 72},
    {"undrawn_buildings", 1.0F / 6},
    {"wait", 0.5F},
    {"more_players", 0.33F},
    {"turns", 1.0F / 36},
    {"others_hand", 1.0F / 28},
    {"others_most", 1.0F / 7},
    {"others_none", kFlag},
    {"others_farmers", 0.33F},
    {"has_farmers", kFlag},
    {"has_abbot", kFlag},
    {"open_cells", 1.0F / 32},
    {"others_hand_times_left", 1.0F / 64},
    {"small_city", kFlag},
    {"split_ties", kFlag},
    {"no_joins", kFlag},
}};
static_assert(kAllPlayerInputs == kPlayerInputs && kLineInputs <= kMostInputs);

// --- Helpers --------------------------------------------------------------------------------------------------------

constexpr int kMostFits = 24, kMostClosers = 12;  // counts above are cut; cells that are not there count as these

std::uint8_t byte(int n) { return static_cast<std::uint8_t>(std::clamp(n, 0, 255)); }
std::uint8_t flag(bool b) { return b ? 1 : 0; }

// Figures of a player in a count, and the most of all players but one.
int most_of_others(FigureCounts figures, int player) {
  int most = 0;
  for (int p = 0; p < kMaxPlayers; ++p) most = p == player ? most : std::max(most, figures_of(figures, p));
  return most;
}

// Keeps the smallest so many.
template <std::size_t N>
struct Smallest {
  std::array<int, N> values;
  explicit Smallest(int none) { values.fill(none); }
  void add(int value) {
    for (int& kept : values) {
      if (value < kept) std::swap(kept, value);
    }
  }
  int operator[](std::size_t i) const { return values[i]; }
};

// What meets across an open cell would change if it were joined.
struct Join {
  int main, other;  // figures of the row's main player and the most of any other beyond
  bool gains, loses;
};
Join join_of(const Row& row, FigureCounts here, FigureCounts beyond) {
  const int main = figures_of(beyond, row.main), other = most_of_others(beyond, row.main);
  FigureCounts both = 0;
  for (int p = 0; p < kMaxPlayers; ++p) {
    const int n = std::min(7, figures_of(here, p) + figures_of(beyond, p));
    both = static_cast<FigureCounts>(both | n << 3 * p);
  }
  const int main_after = figures_of(both, row.main), other_after = most_of_others(both, row.main);
  const int lead_here = row.figures_main - row.figures_rival;
  // Gains: the main player leads alone afterwards and did not on both sides before. Loses: leads alone here, not after.
  return {main, other, main_after > other_after && (lead_here == 0 || main <= other),
          lead_here > 0 && main_after <= other_after};
}

}  // namespace

std::span<const InputInfo> row_inputs(RowKind kind) {
  switch (kind) {
    case RowKind::kCity:
    case RowKind::kRoad:
      return kLineInfo;
    case RowKind::kMonastery:
      return kBuildingInfo;
    case RowKind::kField:
      break;
  }
  return kFieldInfo;
}

std::span<const InputInfo> player_inputs() { return kPlayerInfo; }

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

// --- Rows -----------------------------------------------------------------------------------------------------------

void FeatureReader::set_holders(FigureCounts figures, Row& row) const {
  row.main = row.rival = kNone;
  row.figures_main = row.figures_rival = 0;
  for (int w = 0; w < players_; ++w) {  // in the order of moving
    const int player = next_ + w < players_ ? next_ + w : next_ + w - players_;
    const int n = figures_of(figures, player);
    if (n > row.figures_main) {
      row.rival = row.main, row.figures_rival = row.figures_main;
      row.main = static_cast<std::uint8_t>(player), row.figures_main = static_cast<std::uint8_t>(n);
    } else if (n > row.figures_rival) {
      row.rival = static_cast<std::uint8_t>(player), row.figures_rival = static_cast<std::uint8_t>(n);
    }
  }
}

void FeatureReader::read_line(const GameState& state, std::uint8_t id, Row& row) {
  const Line& line = state.line(id);
  const bool is_city = line.kind == FeatureKind::kCity;
  row.kind = is_city ? RowKind::kCity : RowKind::kRoad;
  const FigureCounts figures = figures_in_line(state, id);
  set_holders(figures, row);
  const LineOutlook& outlook = outlook_of_line(state, id);
  row.id = id;
  row.ends = row.depends = outlook.ends;

  Smallest<3> hardest(kMostClosers * 32 + kMostFits);  // closers and fits as one number
  int dead = 0, closers_sum = 0, fixed = 0, hardest_key = hardest[0] + 1;
  int joinable = 0, join_main = 0, join_other = 0, join_size = 0, gains = 0, losses = 0, most_joiners = 0;
  const std::uint8_t* beside = state.lines_by_slot();
  for (std::size_t e = outlook.first; e < std::size_t{outlook.first} + outlook.cells; ++e) {
    const End end = ends_[e];
    const unsigned code = code_of_slot_[end.slot];
    const int fitting = std::min(kMostFits, fits(code)), closing = std::min(kMostClosers, closers(code, end.sides));
    const int key = closing * 32 + fitting;
    hardest.add(key);
    if (key < hardest_key) hardest_key = key, fixed = std::popcount((code | code >> 1) & 0x55);
    dead += fitting == 0;
    closers_sum += closing;
    for (int t = 0; t < 4; ++t) {
      const std::uint8_t other = beside[4 * end.slot + static_cast<std::size_t>(t)];
      if (other == kNone || other == id) continue;
      const Line& beyond = state.line(other);
      if (beyond.kind != line.kind) continue;
      row.depends.add(outlook_of_line(state, other).ends);
      const int with = joiners(code, std::countr_zero(static_cast<unsigned>(end.sides)), t);
      if (with == 0) continue;
      most_joiners = std::max(most_joiners, with);
      join_size = std::max(join_size, beyond.tiles + beyond.shields);
      const FigureCounts there = figures_in_line(state, other);
      if (!there) continue;
      ++joinable;
      const Join join = join_of(row, figures, there);
      join_main = std::max(join_main, join.main);
      join_other = std::max(join_other, join.other);
      gains += join.gains;
      losses += join.loses;
    }
  }
  const int lead = row.figures_main - row.figures_rival;
  const int closers_1 = hardest[0] / 32;
  const Rules& rules = state.rules();
  Inputs& in = row.inputs;
  in[kTiles] = line.tiles;
  in[kShields] = line.shields;
  in[kSize] = byte(line.tiles + line.shields);
  in[kMainFigures] = row.figures_main;
  in[kRivalFigures] = row.figures_rival;
  in[kTied] = flag(lead == 0);
  in[kLeadsByOne] = flag(lead == 1);
  in[kOpenEdges] = line.open;
  in[kCells] = byte(outlook.cells);
  in[kOneCell] = flag(outlook.cells == 1);
  in[kTwoCells] = flag(outlook.cells == 2);
  in[kThreeCells] = flag(outlook.cells == 3);
  in[kFits1] = byte(hardest[0] % 32);
  in[kFits2] = byte(hardest[1] % 32);
  in[kFits3] = byte(hardest[2] % 32);
  in[kClosers1] = byte(closers_1);
  in[kClosers2] = byte(hardest[1] / 32);
  in[kClosers3] = byte(hardest[2] / 32);
  in[kDeadCells] = byte(dead);
  in[kClosersSum] = byte(closers_sum);
  in[kNoCloser] = flag(closers_1 == 0);
  in[kOneCloser] = flag(closers_1 == 1);
  in[kTwoClosers] = flag(closers_1 == 2);
  in[kFixedEdges] = byte(fixed);
  in[kExtraEdges] = byte(line.open - outlook.cells);
  in[kJoinable] = byte(joinable);
  in[kJoinMain] = byte(join_main);
  in[kJoinOther] = byte(join_other);
  in[kJoinSize] = byte(join_size);
  in[kJoinGains] = byte(gains);
  in[kJoinLosses] = byte(losses);
  in[kJoiners] = byte(most_joiners);
  in[kTilesLeft] = byte(tiles_left_);
  in[kMainWait] = byte(wait(row.main));
  in[kRivalWait] = row.rival == kNone ? std::uint8_t{0} : byte(wait(row.rival));
  in[kMorePlayers] = byte(players_ - 2);
  in[kMainTurns] = byte(turns(row.main));
  in[kSmallCity] = flag(is_city && rules.small_city == 2);
  in[kSplitTies] = flag(rules.split_ties);
  in[kNoJoins] = flag(is_city && !rules.join_cities);
}

void FeatureReader::read_building(const GameState& state, const Figure& figure, Row& row) {
  row.kind = RowKind::kMonastery;
  row.main = figure.player;
  row.rival = kNone;
  row.figures_main = 1;
  row.figures_rival = 0;
  row.id = figure.tile;
  row.ends = row.depends = {};
  const Cell centre = state.laid_tile(figure.tile).cell;
  Smallest<3> fewest(kMostFits);
  int reachable = 0, dead = 0, hard = 0, fair = 0, sum = 0, fixed_much = 0;
  const int cells = state.open_cells();
  for (int i = 0; i < cells; ++i) {
    const Cell cell = state.open_cell(i);
    if (cell.y < centre.y - 1 || std::abs(cell.x - centre.x) > 1) continue;
    if (cell.y > centre.y + 1) break;
    const unsigned code = state.open_cell_code(i);
    const int fitting = std::min(kMostFits, fits(code));
    ++reachable;
    dead += fitting == 0;
    hard += fitting <= 2;
    fair += fitting <= 6;
    sum += fitting;
    fixed_much += std::popcount((code | code >> 1) & 0x55) >= 3;
    fewest.add(fitting);
  }
  const int missing = figure.label;
  Inputs& in = row.inputs;
  in[kMissing] = byte(missing);
  in[kMissing1] = flag(missing == 1);
  in[kMissing2] = flag(missing == 2);
  in[kMissing3] = flag(missing == 3);
  in[kIsGarden] = flag(figure.kind == FeatureKind::kGarden);
  in[kIsAbbot] = flag(figure.figure == FigureKind::kAbbot);
  in[kReachable] = byte(reachable);
  in[kDead] = byte(dead);
  in[kHard] = byte(hard);
  in[kFair] = byte(fair);
  in[kFewest1] = byte(fewest[0]);
  in[kFewest2] = byte(fewest[1]);
  in[kFewest3] = byte(fewest[2]);
  in[kOutOfReach] = byte(missing - reachable);
  in[kFitsSum] = byte(sum);
  in[kBuildingTilesLeft] = byte(tiles_left_);
  in[kBuildingWait] = byte(wait(row.main));
  in[kBuildingMorePlayers] = byte(players_ - 2);
  in[kBuildingTurns] = byte(turns(row.main));
  in[kFixedMuch] = byte(fixed_much);
}

void FeatureReader::read_field(const GameState& state, std::uint8_t id, Row& row) {
  row.kind = RowKind::kField;
  const FigureCounts figures = figures_in_field(state, id);
  set_holders(figures, row);
  const FieldOutlook& outlook = outlook_of_field(state, id);
  row.id = id;
  row.ends = outlook.ends;
  row.depends = outlook.depends;

  int live = 0, joinable = 0, claimed = 0, join_main = 0, join_other = 0, gains = 0, losses = 0;
  int join_cities = 0, gain_cities = 0;
  std::bitset<256> met;
  met.set(id);
  met.set(kNone);
  const std::uint8_t* beside = state.fields_by_slot();
  for (std::size_t e = outlook.first; e < std::size_t{outlook.first} + outlook.cells; ++e) {
    const End end = ends_[e];
    const bool is_live = fits(code_of_slot_[end.slot]) > 0;
    live += is_live;
    for (std::size_t h = 0; h < 8; ++h) {
      const std::uint8_t other = beside[8 * end.slot + h];
      if (other == id || met[other]) continue;
      met.set(other);
      if (!is_live) continue;
      ++joinable;
      const FigureCounts beyond = figures_in_field(state, other);
      const FieldOutlook& far = outlook_of_field(state, other);
      row.depends.add(far.depends);
      const int cities = far.complete;
      join_cities = std::max(join_cities, cities);
      if (!beyond) continue;
      ++claimed;
      const Join join = join_of(row, figures, beyond);
      join_main = std::max(join_main, join.main);
      join_other = std::max(join_other, join.other);
      gains += join.gains;
      losses += join.loses;
      if (join.gains) gain_cities = std::max(gain_cities, cities);
    }
  }
  const int lead = row.figures_main - row.figures_rival;
  const Rules& rules = state.rules();
  Inputs& in = row.inputs;
  in[kFieldMain] = row.figures_main;
  in[kFieldRival] = row.figures_rival;
  in[kFieldTied] = flag(lead == 0);
  in[kFieldLeadsByOne] = flag(lead == 1);
  in[kCompleteCities] = outlook.complete;
  in[kEasyCities] = outlook.easy;
  in[kPossibleCities] = outlook.possible;
  in[kBlockedCities] = outlook.blocked;
  in[kTwoCellCities] = outlook.two;
  in[kThreeCellCities] = outlook.three;
  in[kFarCities] = outlook.far;
  in[kFieldCells] = byte(outlook.cells);
  in[kFieldLiveCells] = byte(live);
  in[kFieldJoinable] = byte(joinable);
  in[kFieldRivals] = byte(claimed);
  in[kFieldJoinMain] = byte(join_main);
  in[kFieldJoinOther] = byte(join_other);
  in[kFieldJoinGains] = byte(gains);
  in[kFieldJoinLosses] = byte(losses);
  in[kJoinCities] = byte(join_cities);
  in[kGainCities] = byte(gain_cities);
  in[kFieldTilesLeft] = byte(tiles_left_);
  in[kFieldMainWait] = byte(wait(row.main));
  in[kFieldRivalWait] = row.rival == kNone ? std::uint8_t{0} : byte(wait(row.rival));
  in[kFieldMorePlayers] = byte(players_ - 2);
  in[kFieldMainTurns] = byte(turns(row.main));
  in[kCity2000] = flag(rules.field_scoring == FieldScoring::kCity2000);
  in[kTransitional] = flag(rules.field_scoring == FieldScoring::kTransitional);
  in[kFieldSplitTies] = flag(rules.split_ties);
  in[kFarmerRecall] = flag(rules.farmer_recall);
}

FigureTally::FigureTally(const GameState& state) {
  for (int p = 0; p < state.players(); ++p) {
    meeples[static_cast<std::size_t>(p)] = static_cast<std::int8_t>(state.meeples(p));
    abbots[static_cast<std::size_t>(p)] = static_cast<std::int8_t>(state.abbots(p));
  }
  for (int i = 0; i < state.spread_figures(); ++i) {
    const Figure f = state.figure(i);
    farmers[f.player] = static_cast<std::int8_t>(farmers[f.player] + (f.kind == FeatureKind::kField));
  }
}

void FeatureReader::read_player(const GameState& state, const FigureTally& figures, int player, Inputs& in) const {
  int sum = 0, most = 0, most_farmers = 0;
  for (int p = 0; p < players_; ++p) {
    if (p == player) continue;
    const auto seat = static_cast<std::size_t>(p);
    sum += figures.meeples[seat];
    most = std::max(most, int{figures.meeples[seat]});
    most_farmers = std::max(most_farmers, int{figures.farmers[seat]});
  }
  const auto own = static_cast<std::size_t>(player);
  const int hand = figures.meeples[own], others = players_ - 1;
  const Rules& rules = state.rules();
  in[kHand] = byte(hand);
  in[kHandNone] = flag(hand == 0);
  in[kHandOne] = flag(hand == 1);
  in[kHandTwo] = flag(hand == 2);
  in[kHandTimesLeft] = byte((hand * tiles_left_ + 2) / 4);
  in[kHandAbbot] = byte(figures.abbots[own]);
  in[kFarmersOut] = byte(figures.farmers[own]);
  in[kPlayerTilesLeft] = byte(tiles_left_);
  in[kUndrawnBuildings] = byte(undrawn_buildings_);
  in[kPlayerWait] = byte(wait(player));
  in[kPlayerMorePlayers] = byte(players_ - 2);
  in[kPlayerTurns] = byte(turns(player));
  in[kOthersHand] = byte((4 * sum + others / 2) / others);
  in[kOthersMost] = byte(most);
  in[kOthersNone] = flag(most == 0);
  in[kOthersFarmers] = byte(most_farmers);
  in[kHasFarmers] = flag(rules.farmers);
  in[kHasAbbot] = flag(rules.abbot);
  in[kOpenCells] = byte(state.open_cells());
  in[kOthersHandTimesLeft] = byte((sum * tiles_left_ / others + 2) / 4);
  in[kPlayerSmallCity] = flag(rules.small_city == 2);
  in[kPlayerSplitTies] = flag(rules.split_ties);
  in[kPlayerNoJoins] = flag(!rules.join_cities);
}

void FeatureReader::read_all(const GameState& state, std::vector<Row>& rows, std::vector<Inputs>& players) {
  start(state, state.turn_player(), state.tiles_left());
  rows.clear();
  players.clear();
  std::bitset<512> seen;  // lines, then fields
  for (int i = 0; i < state.figures_on_board(); ++i) {
    const Figure f = state.figure(i);
    if (f.kind == FeatureKind::kMonastery || f.kind == FeatureKind::kGarden) {
      read_building(state, f, rows.emplace_back());
      continue;
    }
    const bool is_field = f.kind == FeatureKind::kField;
    const std::size_t key = f.label + (is_field ? 256U : 0U);
    if (seen[key]) continue;
    seen.set(key);
    if (is_field)
      read_field(state, f.label, rows.emplace_back());
    else
      read_line(state, f.label, rows.emplace_back());
  }
  const FigureTally figures(state);
  for (int p = 0; p < state.players(); ++p) read_player(state, figures, p, players.emplace_back());
}

}  // namespace carc
