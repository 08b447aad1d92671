#include "carc/search/jcz_ranking.hpp"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstdlib>

namespace carc {
namespace {

constexpr int kFullBuilding = 9;  // points of a finished monastery or garden

bool touches(Cell a, Cell b) { return std::abs(a.x - b.x) <= 1 && std::abs(a.y - b.y) <= 1; }  // or is the same

int neighbours_of_last_tile(const GameState& state) {
  const Cell last = state.laid_tile(state.laid_tiles() - 1).cell;
  int n = -1;  // the tile itself
  for (int i = 0; i < state.laid_tiles(); ++i) n += touches(state.laid_tile(i).cell, last);
  return n;
}

// What one point for each of these players (bit p = player p) is worth to `player`.
int balance(unsigned players, int player) {
  const int own = static_cast<int>(players >> player & 1);
  return own - (std::popcount(players) - own);
}

// Sum over players of sign * value(p), + for `player`, - for the others.
template <class Value>
double balance_of(const GameState& state, int player, Value value) {
  double sum = 0;
  for (int p = 0; p < state.players(); ++p) sum += p == player ? value(p) : -value(p);
  return sum;
}

bool is_line(FeatureKind kind) { return kind == FeatureKind::kRoad || kind == FeatureKind::kCity; }
bool is_building(FeatureKind kind) { return kind == FeatureKind::kMonastery || kind == FeatureKind::kGarden; }

// Calls visit(figure) for one figure of each road, city and field that has some.
template <class Visit>
void for_each_occupied(const GameState& state, Visit visit) {
  std::bitset<256> seen_lines, seen_fields;
  for (int i = 0; i < state.figures_on_board(); ++i) {
    const Figure f = state.figure(i);
    if (is_building(f.kind)) return;  // they come last
    auto& seen = f.kind == FeatureKind::kField ? seen_fields : seen_lines;
    if (seen[f.label]) continue;
    seen.set(f.label);
    visit(f);
  }
}

// A road, city or field that an open cell could merge with another one.
struct Part {
  FeatureKind kind;
  std::uint8_t id;
};

// What leads to the two sides of an open cell that meet in the corner clockwise from `side`.
std::array<Part, 2> parts_at_corner(const GameState& state, int cell, int side, EdgeKind edge) {
  const int next = (side + 1) & 3;
  if (edge == EdgeKind::kField) {
    return {Part{FeatureKind::kField, state.field_beside(cell, 2 * side + 1)},
            Part{FeatureKind::kField, state.field_beside(cell, 2 * next)}};
  }
  const FeatureKind kind = edge == EdgeKind::kRoad ? FeatureKind::kRoad : FeatureKind::kCity;
  return {Part{kind, state.line_beside(cell, side)}, Part{kind, state.line_beside(cell, next)}};
}

FigureCounts figures_in(const GameState& state, Part part) {
  return part.kind == FeatureKind::kField ? state.field_figures(part.id) : state.line(part.id).figures;
}

int present_value(const GameState& state, Part part) {
  if (part.kind == FeatureKind::kField) {
    std::bitset<256> completed;
    state.for_each_city(part.id, [&](std::uint8_t city) { completed[city] = state.line(city).open == 0; });
    const int per_city = state.rules().field_scoring == FieldScoring::kCity2000 ? 4 : 3;
    return per_city * static_cast<int>(completed.count());
  }
  const Line& line = state.line(part.id);
  return line_value(state.rules(), line.kind, line.tiles, line.shields, false);
}

// Whether a tile may make one feature of the two.
bool may_merge(const GameState& state, FeatureKind kind, FigureCounts a, FigureCounts b) {
  if (state.rules().join_cities || kind != FeatureKind::kCity || !a || !b) return true;
  int players = 0;
  for (int p = 0; p < state.players(); ++p) players += figures_of(a, p) > 0 || figures_of(b, p) > 0;
  return players == 1;
}

}  // namespace

JczRanking::JczRanking(const JczWeights& weights, const GameState& state) : weights_(weights), fitting_(state) {}

JczTerms JczRanking::terms(const GameState& after, int player) const {
  JczTerms t;
  t.score = balance_of(after, player, [&](int p) { return after.score(p); });
  t.neighbours = weights_.neighbour * neighbours_;
  if (after.is_terminal()) return t;
  t.features = lines(after, player) + buildings(after, player);
  t.stuck = stuck(after, player);
  t.fields = fields(after, player);
  t.open = open(after, player);
  t.hand = hand(after, player);
  t.merges = merges(after, player);
  return t;
}

// --- Chances --------------------------------------------------------------------------------------------------------

void JczRanking::set_board(const GameState& placed) {
  neighbours_ = neighbours_of_last_tile(placed);
  line_chance_.fill(1);
  for (int i = 0; i < placed.open_cells(); ++i) {
    const double p = fill_chance(placed.open_cell_code(i));
    cell_chance_[static_cast<std::size_t>(i)] = p;
    for (int s = 0; s < 4; ++s) {
      const std::uint8_t line = placed.line_beside(i, s);
      bool counted = false;
      for (int before = 0; before < s; ++before) counted |= placed.line_beside(i, before) == line;
      if (!counted) line_chance_[line] *= p;
    }
  }
}

// P of the road, city, monastery or garden in which a figure stands.
double JczRanking::finish_chance(const GameState& after, const Figure& figure) const {
  if (is_line(figure.kind)) return line_chance_[figure.label];
  const Cell centre = after.laid_tile(figure.tile).cell;
  double chance = 1;
  for (int i = 0; i < after.open_cells(); ++i) {
    if (touches(after.open_cell(i), centre)) chance *= cell_chance_[static_cast<std::size_t>(i)];
  }
  return chance;
}

// --- Terms ----------------------------------------------------------------------------------------------------------

double JczRanking::hoped(double now, double finished, double chance, double share) const {
  return now + share * (chance > weights_.certain ? 1 : chance) * (finished - now);
}

double JczRanking::lines(const GameState& after, int player) const {
  const Rules& rules = after.rules();
  double sum = 0;
  for_each_occupied(after, [&](const Figure& f) {
    if (!is_line(f.kind)) return;
    const Line& line = after.line(f.label);
    const Majority owners = majority(line.figures);
    const int now = share(rules, line_value(rules, f.kind, line.tiles, line.shields, false), owners);
    const int finished = share(rules, line_value(rules, f.kind, line.tiles, line.shields, true), owners);
    sum += balance(owners.players, player) * hoped(now, finished, finish_chance(after, f), weights_.completion);
  });
  return sum;
}

double JczRanking::buildings(const GameState& after, int player) const {
  double sum = 0;
  for (int i = 0; i < after.figures_on_board(); ++i) {
    const Figure f = after.figure(i);
    if (!is_building(f.kind)) continue;
    const double value =
        hoped(kFullBuilding - f.label, kFullBuilding, finish_chance(after, f), weights_.monastery_completion);
    sum += f.player == player ? value : -value;
  }
  return sum;
}

double JczRanking::stuck(const GameState& after, int player) const {
  if (after.tiles_left() <= weights_.stuck_tiles) return 0;
  double sum = 0;
  for (int i = 0; i < after.figures_on_board(); ++i) {
    const Figure f = after.figure(i);
    if (f.kind == FeatureKind::kField || f.figure == FigureKind::kAbbot) continue;
    const double chance = finish_chance(after, f);
    for (std::size_t level = 0; level < weights_.stuck_chance.size(); ++level) {
      if (chance >= weights_.stuck_chance[level]) continue;
      sum += f.player == player ? -weights_.stuck_own[level] : weights_.stuck_other[level];
      break;
    }
  }
  return sum;
}

double JczRanking::fields(const GameState& after, int player) const {
  const Points points = after.projected_fields();
  return weights_.fields * balance_of(after, player, [&](int p) { return points.total(p); });
}

double JczRanking::open(const GameState& after, int player) const {
  std::array<std::array<std::size_t, kScoringKinds>, kMaxPlayers> owned{};  // [player][kind] alone
  for_each_occupied(after, [&](const Figure& f) {
    const Majority owners = majority(figures_in(after, {f.kind, f.label}));
    if (owners.number != 1) return;
    ++owned[static_cast<std::size_t>(std::countr_zero(owners.players))][static_cast<std::size_t>(f.kind)];
  });
  const auto penalty = [&](const std::array<double, 9>& table, int p, FeatureKind kind) {
    return table[std::min<std::size_t>(owned[static_cast<std::size_t>(p)][static_cast<std::size_t>(kind)], 8)];
  };
  return -balance_of(after, player, [&](int p) {
    return penalty(weights_.open_roads, p, FeatureKind::kRoad) + penalty(weights_.open_cities, p, FeatureKind::kCity) +
           penalty(weights_.open_fields, p, FeatureKind::kField);
  });
}

double JczRanking::hand(const GameState& after, int player) const {
  return balance_of(after, player, [&](int p) {
    const int figures = after.meeples(p) + after.abbots(p);
    return figures ? weights_.figure_in_hand * figures : -weights_.empty_hand;
  });
}

double JczRanking::merges(const GameState& after, int player) const {
  const Rules& rules = after.rules();
  double sum = 0;
  for (int i = 0; i < after.open_cells(); ++i) {
    const double p = cell_chance_[static_cast<std::size_t>(i)];
    const unsigned code = after.open_cell_code(i);
    if (p < weights_.merge_chance || std::popcount(code) < 2) continue;
    for (int side = 0; side < 4; ++side) {
      const unsigned edge = code >> 2 * side & 3;
      if (!edge || edge != (code >> 2 * ((side + 1) & 3) & 3)) continue;
      const auto parts = parts_at_corner(after, i, side, static_cast<EdgeKind>(edge));
      const FigureCounts a = figures_in(after, parts[0]), b = figures_in(after, parts[1]);
      if (parts[0].id == parts[1].id || !(a || b) || !may_merge(after, parts[0].kind, a, b)) continue;
      const Majority together = majority(static_cast<FigureCounts>(a + b));
      for (const Part part : parts) {
        const Majority alone = majority(figures_in(after, part));
        if (alone.players == together.players) continue;
        const int value = present_value(after, part);
        const int moved = share(rules, value, together) * balance(together.players, player) -
                          share(rules, value, alone) * balance(alone.players, player);
        sum += weights_.merge * p * moved;
      }
    }
  }
  return sum;
}

}  // namespace carc
