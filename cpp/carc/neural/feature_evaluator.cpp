#include <algorithm>
#include <cmath>
#include <limits>

#include "carc/neural/feature_net.hpp"
#include "carc/search/heuristic.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

using RowIndex = std::int32_t;
constexpr RowIndex kNoRow = -1;

// Where to find the row of a feature of the board: that of the position before, unless the placement gave it a new one.
class RowTable {
 public:
  void clear() { before_.fill(kNoRow), stamps_.fill(0), stamp_ = 0; }
  void next_placement() { ++stamp_; }
  RowIndex before(const Figure& f) const { return before_[key(f)]; }
  void set_before(const Figure& f, RowIndex row) { before_[key(f)] = row; }
  RowIndex placed(const Figure& f) const { return stamps_[key(f)] == stamp_ ? placed_[key(f)] : before_[key(f)]; }
  void set_placed(const Figure& f, RowIndex row) { placed_[key(f)] = row, stamps_[key(f)] = stamp_; }

 private:
  static constexpr std::size_t kKeys = 512 + kMaxTiles;  // lines, fields, laid tiles
  static std::size_t key(const Figure& f) {
    if (f.kind == FeatureKind::kField) return 256U + f.label;
    if (f.kind == FeatureKind::kRoad || f.kind == FeatureKind::kCity) return f.label;
    return 512U + f.tile;
  }
  std::array<RowIndex, kKeys> before_, placed_;
  std::array<std::uint32_t, kKeys> stamps_;
  std::uint32_t stamp_ = 0;
};

bool is_building(const Figure& f) { return f.kind == FeatureKind::kMonastery || f.kind == FeatureKind::kGarden; }

bool is_near(Cell a, Cell b) { return std::abs(a.x - b.x) <= 2 && std::abs(a.y - b.y) <= 2; }

// The row of a figure's feature, where its heads lie, and who holds it.
struct RowEntry {
  RowKind kind;
  std::uint8_t main, rival, figures_main, figures_rival, id;
  std::int32_t at;  // among the rows of its kind
  SlotSet ends, depends;
};

// A row that is another one after a claim.
struct RowChange {
  RowIndex old;  // kNoRow: the claimed feature itself
  RowIndex now;
};

// A position after a turn: with rows of its own, or those of the same turn without a figure but for some changes.
struct TurnEntry {
  std::int32_t first = 0, count = 0;  // in row_lists, or in changes
  std::int32_t parent = -1;
  std::int32_t first_player = 0;
  bool is_over = false;
  // Points of each player, and expected returns of figures, after `Scratch::sum_rows`.
  Values points{}, returns{};
};

RowKind row_kind(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kCity:
      return RowKind::kCity;
    case FeatureKind::kRoad:
      return RowKind::kRoad;
    case FeatureKind::kField:
      return RowKind::kField;
    default:
      return RowKind::kMonastery;
  }
}

}  // namespace

struct FeatureEvaluator::Scratch {
  std::unique_ptr<FeatureReader> reader;
  std::uint64_t game = 0;  // whose reader it is: Game::serial
  std::vector<RowEntry> rows;
  std::array<std::vector<Inputs>, kRowKinds> inputs;
  std::array<std::vector<FeatureNet::Heads>, kRowKinds> heads;
  std::vector<RowIndex> row_lists;
  std::vector<RowChange> changes;
  std::vector<TurnEntry> entries;
  std::vector<Turn> turns;
  std::vector<Values> values;
  std::vector<std::array<float, kPlayerInputs + 1>> players;
  std::vector<float> player_points;
  RowTable table;
  Row row;

  void clear() {
    rows.clear();
    for (auto& kind : inputs) kind.clear();
    row_lists.clear();
    changes.clear();
    entries.clear();
    turns.clear();
    players.clear();
    table.clear();
  }

  FeatureReader& reader_for(const GameState& state) {
    if (!reader || game != state.game().serial()) {
      reader = std::make_unique<FeatureReader>(state.game());
      game = state.game().serial();
    }
    return *reader;
  }

  RowIndex read(const GameState& state, const Figure& f) {
    if (is_building(f)) {
      reader->read_building(state, f, row);
      return add_row();
    }
    return read(state, f.kind == FeatureKind::kField, f.label);
  }
  RowIndex read(const GameState& state, bool is_field, std::uint8_t id) {
    if (is_field)
      reader->read_field(state, id, row);
    else
      reader->read_line(state, id, row);
    return add_row();
  }
  RowIndex add_row() {
    auto& of_kind = inputs[static_cast<std::size_t>(row.kind)];
    rows.push_back({row.kind, row.main, row.rival, row.figures_main, row.figures_rival, row.id,
                    static_cast<std::int32_t>(of_kind.size()), row.ends, row.depends});
    of_kind.push_back(row.inputs);
    return static_cast<RowIndex>(rows.size() - 1);
  }
  const RowEntry& entry_of(RowIndex at) const { return rows[static_cast<std::size_t>(at)]; }

  void add_players(const GameState& state, const FigureTally& figures) {
    entries.back().first_player = static_cast<std::int32_t>(players.size());
    Inputs in;
    for (int p = 0; p < state.players(); ++p) {
      reader->read_player(state, figures, p, in);
      auto& floats = players.emplace_back();
      for (std::size_t i = 0; i < kPlayerInputs; ++i) floats[i] = static_cast<float>(in[i]);
    }
  }

  // Adds a position to judge, with rows by `row_of`, each feature once.
  template <class RowOf>
  void add_position(const GameState& state, RowOf row_of) {
    TurnEntry& entry = entries.emplace_back();
    entry.first = static_cast<std::int32_t>(row_lists.size());
    entry.is_over = state.is_terminal();
    entry.points = final_points(state);
    if (entry.is_over) return;
    std::array<std::uint64_t, 8> seen{};  // lines, then fields
    for (int i = 0; i < state.figures_on_board(); ++i) {
      const Figure f = state.figure(i);
      if (!is_building(f)) {
        const unsigned bit = f.label + (f.kind == FeatureKind::kField ? 256U : 0U);
        const std::uint64_t mask = std::uint64_t{1} << bit % 64;
        if (seen[bit / 64] & mask) continue;
        seen[bit / 64] |= mask;
      }
      row_lists.push_back(row_of(f));
    }
    entry.count = static_cast<std::int32_t>(row_lists.size()) - entry.first;
    add_players(state, FigureTally(state));
  }

  // Adds the position `unclaimed`, that of entry `parent`, with a meeple of `player` in a line or field besides.
  void add_claim(const GameState& unclaimed, std::int32_t parent, FigureTally figures, FeatureKind kind,
                 std::uint8_t id, int player) {
    const bool is_field = kind == FeatureKind::kField;
    const auto first = static_cast<std::int32_t>(changes.size());
    reader->claim(kind, id, player);
    const RowIndex claimed = read(unclaimed, is_field, id);
    const SlotSet ends = entry_of(claimed).ends;
    changes.push_back({kNoRow, claimed});
    // Features of its kind that meet it across an open cell see it claimed.
    const TurnEntry before = entries[static_cast<std::size_t>(parent)];
    for (std::int32_t r = before.first; r < before.first + before.count; ++r) {
      const RowIndex old = row_lists[static_cast<std::size_t>(r)];
      if (entry_of(old).kind != row_kind(kind) || !entry_of(old).ends.meets(ends)) continue;
      const RowIndex now = read(unclaimed, is_field, entry_of(old).id);
      changes.push_back({old, now});
    }
    reader->claim_nothing();
    TurnEntry& entry = entries.emplace_back();
    entry.first = first;
    entry.count = static_cast<std::int32_t>(changes.size()) - first;
    entry.parent = parent;
    const auto seat = static_cast<std::size_t>(player);
    --figures.meeples[seat];
    figures.farmers[seat] = static_cast<std::int8_t>(figures.farmers[seat] + is_field);
    add_players(unclaimed, figures);
  }

  // Adds what a row gives, `sign` times, to the points and returns of a position of n players.
  void add_heads(const RowEntry& row, float sign, int n, TurnEntry& entry) const {
    const FeatureNet::Heads& h = heads[static_cast<std::size_t>(row.kind)][static_cast<std::size_t>(row.at)];
    const auto others = static_cast<float>(n - 1);
    const float fine = h.correction / others, home = sign * (1 - std::clamp(h.bound, 0.0F, 1.0F));
    const bool has_rival = row.rival != kNone;
    // What each player gets who is neither main nor rival.
    const float each = has_rival ? (n > 2 ? h.others / (others - 1) : 0) - fine : h.others / others - fine;
    for (std::size_t p = 0; p < static_cast<std::size_t>(n); ++p) {
      const float part = p == row.main ? h.main : has_rival && p == row.rival ? h.rival - fine : each;
      entry.points[p] += sign * part;
    }
    entry.returns[row.main] += home * static_cast<float>(row.figures_main);
    if (has_rival) entry.returns[row.rival] += home * static_cast<float>(row.figures_rival);
  }

  void sum_rows(TurnEntry& entry, int n) {
    if (entry.parent < 0) {
      for (std::int32_t r = entry.first; r < entry.first + entry.count; ++r)
        add_heads(entry_of(row_lists[static_cast<std::size_t>(r)]), 1, n, entry);
      return;
    }
    const TurnEntry& parent = entries[static_cast<std::size_t>(entry.parent)];
    entry.points = parent.points;
    entry.returns = parent.returns;
    for (std::int32_t c = entry.first; c < entry.first + entry.count; ++c) {
      const RowChange change = changes[static_cast<std::size_t>(c)];
      if (change.old != kNoRow) add_heads(entry_of(change.old), -1, n, entry);
      add_heads(entry_of(change.now), 1, n, entry);
    }
  }

  // Runs the network over everything that was added.
  void judge(const FeatureNet& net, int n) {
    for (std::size_t k = 0; k < kRowKinds; ++k) {
      heads[k].resize(inputs[k].size());
      if (!inputs[k].empty())
        net.judge(static_cast<RowKind>(k), inputs[k].data(), static_cast<int>(inputs[k].size()), heads[k].data());
    }
    const auto seats = static_cast<std::size_t>(n);
    for (TurnEntry& entry : entries) {
      if (entry.is_over) continue;
      sum_rows(entry, n);
      for (std::size_t p = 0; p < seats; ++p)
        players[static_cast<std::size_t>(entry.first_player) + p][kPlayerInputs] =
            entry.returns[p] * static_cast<float>(reader_tiles_left);
    }
    player_points.resize(players.size());
    if (!players.empty())
      net.judge_players(players.front().data(), static_cast<int>(players.size()), player_points.data());
    values.resize(entries.size());
    for (std::size_t t = 0; t < entries.size(); ++t) {
      values[t] = entries[t].points;
      if (entries[t].is_over) continue;
      for (std::size_t p = 0; p < seats; ++p)
        values[t][p] += player_points[static_cast<std::size_t>(entries[t].first_player) + p];
    }
  }

  int reader_tiles_left = 0;
  void start(const GameState& state, int next) {
    clear();
    reader_tiles_left = state.tiles_left();
    reader_for(state).start(state, next, reader_tiles_left);
  }
};

FeatureEvaluator::FeatureEvaluator(std::shared_ptr<const FeatureNet> net, float prior_scale)
    : net_(std::move(net)), prior_scale_(prior_scale), scratch_(std::make_unique<Scratch>()) {}
FeatureEvaluator::~FeatureEvaluator() = default;

Values FeatureEvaluator::value(const GameState& state) {
  if (state.is_terminal()) return final_points(state);
  if (!state.is_chance_node()) return best_value(state);
  Scratch& s = *scratch_;
  s.start(state, state.turn_player());
  s.add_position(state, [&](const Figure& f) { return s.read(state, f); });
  s.judge(*net_, state.players());
  return s.values[0];
}

FeatureEvaluator::Turns FeatureEvaluator::judge_turns(const GameState& state) {
  Scratch& s = *scratch_;
  const int mover = state.turn_player(), players = state.players();
  s.start(state, mover + 1 == players ? 0 : mover + 1);
  FeatureReader& reader = *s.reader;

  // The rows of the position itself, for placements far from them. Completed features, in phase Figure, have none.
  for (int i = 0; i < state.figures_on_board(); ++i) {
    const Figure f = state.figure(i);
    const bool is_open = is_building(f) || f.kind == FeatureKind::kField || state.line(f.label).open;
    if (is_open && s.table.before(f) == kNoRow) s.table.set_before(f, s.read(state, f));
  }

  // All turns with one placement; `near` is what the placement changed round it, `cell` where it was.
  const auto judge_placed = [&](const GameState& placed, const Action* placement, const SlotSet& near, Cell cell) {
    reader.look_at(placed, near);
    s.table.next_placement();
    GameState unclaimed = placed;
    unclaimed.apply(Action::no_figure());
    s.turns.push_back({placement ? *placement : Action::no_figure(), Action::no_figure()});
    const auto parent = static_cast<std::int32_t>(s.entries.size());
    s.add_position(unclaimed, [&](const Figure& f) {
      RowIndex at = s.table.placed(f);
      const bool is_stale = at == kNoRow || (is_building(f) ? is_near(unclaimed.laid_tile(f.tile).cell, cell)
                                                            : s.entry_of(at).depends.meets(near));
      if (is_stale) s.table.set_placed(f, at = s.read(unclaimed, f));
      return at;
    });
    const int choices = placed.num_legal_actions();
    if (choices == 1) return;
    const FigureTally figures(unclaimed);
    const TileData& tile = placed.game().tile(static_cast<TypeId>(placed.drawn_tile()));
    for (int i = 1; i < choices; ++i) {
      const Action figure = placed.legal_action(i);
      s.turns.push_back({placement ? *placement : figure, figure});
      if (figure.figure() == Action::Figure::kMeeple && !unclaimed.is_terminal()) {
        const FeatureKind kind = tile.type->features[figure.feature()].kind;
        const std::size_t local = tile.local_of_feature[figure.feature()];
        const bool is_field = kind == FeatureKind::kField;
        const bool is_line = kind == FeatureKind::kRoad || kind == FeatureKind::kCity;
        if (is_field || (is_line && placed.line(placed.line_laid(local)).open)) {
          const std::uint8_t id = is_field ? placed.field_laid(local) : placed.line_laid(local);
          s.add_claim(unclaimed, parent, figures, kind, id, mover);
          continue;
        }
      }
      // What completes a feature, buildings, figures taken back: the position itself.
      GameState after = placed;
      after.apply(figure);
      const bool is_back = figure.figure() == Action::Figure::kBack;
      s.add_position(after, [&](const Figure& f) {
        const RowIndex at = s.table.placed(f);
        return is_back || at == kNoRow || f.tile == after.laid_tiles() - 1 ? s.read(after, f) : at;
      });
    }
  };

  if (state.phase() == Phase::kFigure) {
    judge_placed(state, nullptr, {}, {127, 127});
  } else {
    state.placements().for_each([&](Action placement) {
      GameState placed = state;
      placed.apply(placement);
      const Cell cell = placement.cell();
      SlotSet near;
      near.add(state.cell_slot(state.find_open_cell(cell)));
      for (const Cell step : kSideStep) {
        const int i = placed.find_open_cell(
            {static_cast<std::int16_t>(cell.x + step.x), static_cast<std::int16_t>(cell.y + step.y)});
        if (i >= 0) near.add(placed.cell_slot(i));
      }
      judge_placed(placed, &placement, near, cell);
    });
  }
  s.judge(*net_, players);
  return {s.turns, s.values};
}

Values FeatureEvaluator::best_value(const GameState& state) {
  const Turns judged = judge_turns(state);
  const int mover = state.turn_player(), n = state.players();
  return *std::max_element(judged.values.begin(), judged.values.end(),
                           [&](const Values& a, const Values& b) { return lead(a, mover, n) < lead(b, mover, n); });
}

void FeatureEvaluator::evaluate(std::span<const Evaluation> batch, Rng&) {
  for (const Evaluation& e : batch) {
    const GameState& state = *e.state;
    if (state.is_chance_node() || (!e.priors && !e.after)) {
      if (e.value) *e.value = value(state);
      if (e.after) {
        for (int i = 0; i < e.actions->size(); ++i) {
          GameState next = state;
          next.apply((*e.actions)[i]);
          e.after[i] = value(next);
        }
      }
      if (e.priors) std::fill_n(e.priors, e.actions->size(), 1 / static_cast<float>(e.actions->size()));
      continue;
    }
    // By action the best turn: turns come in the order of actions.
    const Turns judged = judge_turns(state);
    const int mover = state.turn_player(), n = state.players();
    std::array<float, ActionList::kCapacity> best;
    int action = -1;
    float most = -std::numeric_limits<float>::infinity();
    Values best_overall{};
    for (std::size_t t = 0; t < judged.turns.size(); ++t) {
      const float advantage = lead(judged.values[t], mover, n);
      const bool is_new = action < 0 || judged.turns[t].placement != (*e.actions)[action];
      if (is_new) ++action;
      const auto a = static_cast<std::size_t>(action);
      if (!is_new && advantage <= best[a]) continue;
      best[a] = advantage;
      if (e.after) e.after[a] = judged.values[t];
      if (advantage > most) most = advantage, best_overall = judged.values[t];
    }
    if (e.value) *e.value = best_overall;
    if (e.priors) softmax(best.data(), e.actions->size(), prior_scale_, e.priors);
  }
}

}  // namespace carc
