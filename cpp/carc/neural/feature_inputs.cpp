#include "carc/neural/feature_inputs.hpp"

#include <algorithm>
#include <bit>
#include <bitset>

#include "carc/neural/feature_names.hpp"

namespace carc {
namespace {

using namespace feature_names;

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
