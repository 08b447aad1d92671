#include "carc/search/heuristic.hpp"

#include <bitset>
#include <cmath>
#include <optional>

#include "carc/search/fitting_tiles.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

constexpr int kHopeless = 4;  // cells to fill from which on nothing is hoped for

// What the features on the board give to each player, in three blocks that change apart from each other.
struct Terms {
  Values lines{}, line_hope{};    // roads and cities
  Values monks{}, monk_hope{};    // monasteries and gardens
  Values fields{}, field_hope{};  // fields, and cities that their farmers wait for
  std::bitset<256> farmed;        // cities at fields with farmers
};

// A few ids without repetition.
class IdSet {
 public:
  void add(std::uint8_t id) {
    if (id == kNone) return;
    for (std::size_t i = 0; i < n_; ++i) {
      if (ids_[i] == id) return;
    }
    ids_[n_++] = id;
  }
  const std::uint8_t* begin() const { return ids_.data(); }
  const std::uint8_t* end() const { return ids_.data() + n_; }

 private:
  std::size_t n_ = 0;
  std::array<std::uint8_t, kMaxFigures> ids_;  // lines with figures, or the at most 20 round a tile
};

class Judge {
 public:
  Judge(const HeuristicWeights& weights, const GameState& state)
      : weights_(weights), rules_(state.rules()), players_(static_cast<std::size_t>(state.players())) {
    if (weights.bag_aware) fitting_.emplace(state);
  }

  Terms terms(const GameState& state) {
    Terms t;
    IdSet seen;
    for (int i = 0; i < state.spread_figures(); ++i) {
      const Figure f = state.figure(i);
      if (f.kind != FeatureKind::kField) add_once(seen, state, f.label, t);
    }
    add_monks(state, t);
    add_fields(state, t);
    return t;
  }

  // Whether a tile at open cell `cell` can change what a road, a city or a field gives to anyone.
  bool concerns_spread_figures(const Terms& terms, const GameState& state, int cell) const {
    if (fitting_) return true;  // the cells around it ask for other tiles then
    bool concerns = false;
    for (int s = 0; s < 4; ++s) {
      const std::uint8_t line = state.line_beside(cell, s);
      concerns |= line != kNone && (state.line(line).figures || terms.farmed[line]);
    }
    for (int h = 0; h < 8; ++h) {
      const std::uint8_t field = state.field_beside(cell, h);
      concerns |= field != kNone && state.field_figures(field);
    }
    return concerns;
  }

  // The terms after any tile at open cell `cell` if it concerns no figure on a road, a city or a field.
  Terms with_neighbour(const Terms& terms, const GameState& state, int cell) {
    Terms t = terms;
    t.monks = t.monk_hope = {};
    add_monks(state, t, state.open_cell(cell));
    return t;
  }

  // The terms after a placement at open cell `cell` of `before` or after a figure action, which led to `after`.
  Terms changed(const Terms& terms, const GameState& before, int cell, const GameState& after) {
    Terms t = terms;
    IdSet old_lines, new_lines;
    bool fields_changed = false;
    const TileData& tile = before.game().tile(static_cast<TypeId>(before.drawn_tile()));
    for (std::size_t l = 0; l < tile.lines; ++l) new_lines.add(after.line_laid(l));
    for (std::size_t f = 0; f < tile.fields; ++f) fields_changed |= after.field_figures(after.field_laid(f)) != 0;
    if (cell >= 0) {
      for (int s = 0; s < 4; ++s) old_lines.add(before.line_beside(cell, s));
    } else {
      old_lines = new_lines;
      fields_changed |= farmers_of(after) < farmers_of(before);  // one was taken back
    }
    if (fitting_ && cell >= 0) {  // cells next to the tile ask for other tiles now
      add_lines_round(before, before.open_cell(cell), old_lines);
      add_lines_round(after, before.open_cell(cell), new_lines);
      fields_changed |= farmers_of(after) > 0;
    }
    for (const std::uint8_t id : old_lines) {
      add_line(before, id, -1, t);
      fields_changed |= cell >= 0 && terms.farmed[id];
    }
    for (const std::uint8_t id : new_lines) add_line(after, id, 1, t);
    t.monks = t.monk_hope = {};
    add_monks(after, t);
    if (fields_changed) {
      t.fields = t.field_hope = {};
      t.farmed.reset();
      add_fields(after, t);
    }
    return t;
  }

  Values value(const GameState& state, const Terms& t) const {
    Values u{};
    if (state.is_terminal()) {
      for (std::size_t p = 0; p < players_; ++p) u[p] = static_cast<float>(state.score(static_cast<int>(p)));
      return u;
    }
    for (std::size_t p = 0; p < players_; ++p) {
      const int player = static_cast<int>(p);
      const float hope = t.line_hope[p] + t.monk_hope[p] + t.field_hope[p];
      u[p] = static_cast<float>(state.score(player)) + t.lines[p] + t.monks[p] + t.fields[p] +
             std::min(weights_.hope_cap, hope) + weights_.hand[static_cast<std::size_t>(state.meeples(player))] +
             weights_.abbot * static_cast<float>(state.abbots(player));
    }
    return u;
  }

 private:
  static int farmers_of(const GameState& state) {
    int n = 0;
    for (int i = 0; i < state.spread_figures(); ++i) n += state.figure(i).kind == FeatureKind::kField;
    return n;
  }

  static bool are_neighbours(Cell a, Cell b) { return std::abs(a.x - b.x) <= 1 && std::abs(a.y - b.y) <= 1; }

  void add_once(IdSet& seen, const GameState& state, std::uint8_t line, Terms& t) {
    for (const std::uint8_t id : seen) {
      if (id == line) return;
    }
    seen.add(line);
    add_line(state, line, 1, t);
  }

  static void add_lines_round(const GameState& state, Cell centre, IdSet& lines) {
    for (int i = 0; i < state.open_cells(); ++i) {
      const Cell c = state.open_cell(i);
      if (std::abs(c.x - centre.x) + std::abs(c.y - centre.y) != 1) continue;
      for (int s = 0; s < 4; ++s) lines.add(state.line_beside(i, s));
    }
  }

  void add_line(const GameState& state, std::uint8_t id, int sign, Terms& t) {
    const Line& line = state.line(id);
    if (!line.figures) return;
    const Majority owners = majority(line.figures);
    const int points =
        share(rules_, line_value(rules_, line.kind, line.tiles, line.shields, line.open == 0), owners) * sign;
    const float hope =
        line.kind == FeatureKind::kCity && line.open
            ? closing(state, id) * weights_.hope_city * static_cast<float>((line.tiles + line.shields) * sign)
            : 0;
    for (std::size_t p = 0; p < players_; ++p) {
      t.lines[p] += owners.players >> p & 1 ? static_cast<float>(points) : 0;
      t.line_hope[p] += figures_of(line.figures, static_cast<int>(p)) ? hope : 0;
    }
  }

  // With a tile at `filled`, if given.
  void add_monks(const GameState& state, Terms& t, std::optional<Cell> filled = {}) {
    for (int i = state.spread_figures(); i < state.figures_on_board(); ++i) {
      const Figure f = state.figure(i);
      const int missing = f.label - (filled && are_neighbours(state.laid_tile(f.tile).cell, *filled));
      t.monks[f.player] += static_cast<float>(9 - missing);
      if (missing == 0 || missing >= kHopeless) continue;
      float chance = weights_.hope[static_cast<std::size_t>(missing - 1)];
      if (fitting_) chance *= filling_round(state, state.laid_tile(f.tile).cell);
      t.monk_hope[f.player] += chance * weights_.hope_monastery * static_cast<float>(missing);
    }
  }

  void add_fields(const GameState& state, Terms& t) {
    if (farmers_of(state) == 0) return;
    const Points points = state.projected_fields();
    for (std::size_t p = 0; p < players_; ++p) {
      t.fields[p] = points.by_kind[static_cast<std::size_t>(FeatureKind::kField)][p];
    }
    // Which players wait for each unfinished city.
    std::array<std::uint8_t, 256> waiting;
    std::array<std::uint8_t, kMaxLines> cities;
    std::size_t n = 0;
    for (int i = 0; i < state.spread_figures(); ++i) {
      const Figure f = state.figure(i);
      if (f.kind != FeatureKind::kField) continue;
      state.for_each_city(f.label, [&](std::uint8_t city) {
        if (!t.farmed[city]) {
          t.farmed.set(city);
          waiting[city] = 0;
          if (state.line(city).open) cities[n++] = city;
        }
        waiting[city] = static_cast<std::uint8_t>(waiting[city] | 1u << f.player);
      });
    }
    for (std::size_t c = 0; c < n; ++c) {
      const float hope = closing(state, cities[c]) * weights_.hope_field;
      for (std::size_t p = 0; p < players_; ++p) t.field_hope[p] += waiting[cities[c]] >> p & 1 ? hope : 0;
    }
  }

  // Chance that an unfinished city is closed.
  float closing(const GameState& state, std::uint8_t city) {
    const int cells = state.open_cells_of(city);
    if (cells >= kHopeless) return 0;
    float chance = weights_.hope[static_cast<std::size_t>(cells - 1)];
    if (!fitting_) return chance;
    for (int i = 0; i < state.open_cells(); ++i) {
      bool ends_here = false;
      for (int s = 0; s < 4; ++s) ends_here |= state.line_beside(i, s) == city;
      if (ends_here) chance *= filling(state.open_cell_code(i));
    }
    return chance;
  }

  float filling(unsigned code) { return static_cast<float>(fitting_->fill_chance(code)); }

  // Chance that all open cells next to `centre` are filled; empty cells that touch nothing yet count as certain.
  float filling_round(const GameState& state, Cell centre) {
    float chance = 1;
    for (int i = 0; i < state.open_cells(); ++i) {
      const Cell c = state.open_cell(i);
      if (are_neighbours(c, centre)) chance *= filling(state.open_cell_code(i));
    }
    return chance;
  }

  const HeuristicWeights& weights_;
  const Rules& rules_;
  std::size_t players_;
  std::optional<FittingTiles> fitting_;
};

}  // namespace

void softmax(const float* values, int n, float scale, float* out) {
  const float most = *std::max_element(values, values + n);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += out[i] = std::exp((values[i] - most) / scale);
  for (int i = 0; i < n; ++i) out[i] /= sum;
}

Values HeuristicEvaluator::value(const GameState& state) const {
  Judge judge(weights_, state);
  return judge.value(state, judge.terms(state));
}

void HeuristicEvaluator::values_after(const GameState& state, const ActionList& actions, Values* after) const {
  if (state.phase() == Phase::kPlace) return values_after_placements(state, actions, after);
  Judge judge(weights_, state);
  const Terms terms = judge.terms(state);
  for (int i = 0; i < actions.size(); ++i) {
    GameState next = state;
    next.apply(actions[i]);
    after[i] = state.is_chance_node() || next.is_terminal() ? value(next)  // with another bag
                                                            : judge.value(next, judge.changed(terms, state, -1, next));
  }
}

void HeuristicEvaluator::values_after_placements(const GameState& state, const ActionList& actions,
                                                 Values* after) const {
  Judge judge(weights_, state);
  const Terms terms = judge.terms(state);
  // Actions are in the order of the cells, and what holds for a cell holds for all rotations of the tile there.
  int cell = -1;
  bool concerns = true;
  Values unconcerned{};
  for (int i = 0; i < actions.size(); ++i) {
    if (cell < 0 || state.open_cell(cell) != actions[i].cell()) {
      do ++cell;
      while (state.open_cell(cell) != actions[i].cell());
      concerns = judge.concerns_spread_figures(terms, state, cell);
      if (!concerns) unconcerned = judge.value(state, judge.with_neighbour(terms, state, cell));
    }
    if (!concerns) {
      after[i] = unconcerned;
      continue;
    }
    GameState next = state;
    next.apply(actions[i]);
    after[i] = judge.value(next, judge.changed(terms, state, cell, next));
  }
}

void HeuristicEvaluator::evaluate(std::span<const Evaluation> batch, Rng&) {
  for (const Evaluation& e : batch) {
    if (e.value) *e.value = value(*e.state);
    if (!e.priors && !e.after) continue;
    std::array<Values, ActionList::kCapacity> own;
    Values* after = e.after ? e.after : own.data();
    values_after(*e.state, *e.actions, after);
    if (!e.priors) continue;
    // The evaluation before is the same for all actions, so it falls out.
    std::array<float, ActionList::kCapacity> gain;
    for (int i = 0; i < e.actions->size(); ++i) {
      gain[static_cast<std::size_t>(i)] = lead(after[i], e.state->turn_player(), e.state->players());
    }
    softmax(gain.data(), e.actions->size(), weights_.prior_scale, e.priors);
  }
}

}  // namespace carc
