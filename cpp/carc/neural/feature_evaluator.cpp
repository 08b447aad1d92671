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
  std::uint8_t main, rival, figures_main, figures_rival;
  std::int32_t at;  // among the rows of its kind
  SlotSet depends;
};

struct TurnEntry {
  std::int32_t first_row, rows;  // in row_lists
  bool is_over;
  Values score;
};

}  // namespace

struct FeatureEvaluator::Scratch {
  std::unique_ptr<FeatureReader> reader;
  std::uint64_t game = 0;  // whose reader it is: Game::serial
  std::vector<RowEntry> rows;
  std::array<std::vector<Inputs>, kRowKinds> inputs;
  std::array<std::vector<FeatureNet::Heads>, kRowKinds> heads;
  std::vector<RowIndex> row_lists;
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
    if (f.kind == FeatureKind::kField) {
      reader->read_field(state, f.label, row);
    } else if (is_building(f)) {
      reader->read_building(state, f, row);
    } else {
      reader->read_line(state, f.label, row);
    }
    auto& of_kind = inputs[static_cast<std::size_t>(row.kind)];
    rows.push_back({row.kind, row.main, row.rival, row.figures_main, row.figures_rival,
                    static_cast<std::int32_t>(of_kind.size()), row.depends});
    of_kind.push_back(row.inputs);
    return static_cast<RowIndex>(rows.size() - 1);
  }

  // Adds a judged position: rows by `row_of`, each feature once, and the inputs of the players.
  template <class RowOf>
  void add_position(const GameState& state, RowOf row_of) {
    TurnEntry entry{static_cast<std::int32_t>(row_lists.size()), 0, state.is_terminal(), {}};
    for (int p = 0; p < state.players(); ++p)
      entry.score[static_cast<std::size_t>(p)] = static_cast<float>(state.score(p));
    if (!entry.is_over) {
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
      entry.rows = static_cast<std::int32_t>(row_lists.size()) - entry.first_row;
      Inputs in;
      for (int p = 0; p < state.players(); ++p) {
        reader->read_player(state, p, in);
        auto& floats = players.emplace_back();
        for (int i = 0; i < kPlayerInputs; ++i)
          floats[static_cast<std::size_t>(i)] = static_cast<float>(in[static_cast<std::size_t>(i)]);
      }
    }
    entries.push_back(entry);
  }

  // Runs the network over everything that was added.
  void judge(const FeatureNet& net, int n) {
    for (std::size_t k = 0; k < kRowKinds; ++k) {
      heads[k].resize(inputs[k].size());
      if (!inputs[k].empty())
        net.judge(static_cast<RowKind>(k), inputs[k].data(), static_cast<int>(inputs[k].size()), heads[k].data());
    }
    values.resize(entries.size());
    const int tiles_left = reader_tiles_left;
    const float others = static_cast<float>(n - 1);
    std::size_t player_row = 0;
    for (std::size_t t = 0; t < entries.size(); ++t) {
      const TurnEntry& entry = entries[t];
      Values& u = values[t] = entry.score;
      if (entry.is_over) continue;
      Values returns{};
      float shared = 0;  // what every player gets
      for (int r = 0; r < entry.rows; ++r) {
        const RowEntry& row = rows[static_cast<std::size_t>(row_lists[static_cast<std::size_t>(entry.first_row + r)])];
        const FeatureNet::Heads& h = heads[static_cast<std::size_t>(row.kind)][static_cast<std::size_t>(row.at)];
        const float fine = h.correction / others;
        const float free = 1 - std::clamp(h.bound, 0.0F, 1.0F);
        returns[row.main] += free * static_cast<float>(row.figures_main);
        if (row.rival == kNone) {
          const float each = h.others / others - fine;
          shared += each;
          u[row.main] += h.main - each;
        } else {
          const float each = n > 2 ? h.others / (others - 1) - fine : 0;
          shared += each;
          u[row.main] += h.main - each;
          u[row.rival] += h.rival - fine - each;
          returns[row.rival] += free * static_cast<float>(row.figures_rival);
        }
      }
      for (int p = 0; p < n; ++p) {
        u[static_cast<std::size_t>(p)] += shared;
        players[player_row++][kPlayerInputs] = returns[static_cast<std::size_t>(p)] * static_cast<float>(tiles_left);
      }
    }
    player_points.resize(players.size());
    if (players.empty()) return;
    net.judge_players(players.front().data(), static_cast<int>(players.size()), player_points.data());
    player_row = 0;
    for (std::size_t t = 0; t < entries.size(); ++t) {
      if (entries[t].is_over) continue;
      for (int p = 0; p < n; ++p) values[t][static_cast<std::size_t>(p)] += player_points[player_row++];
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
    const int choices = placed.num_legal_actions();
    for (int i = 0; i < choices; ++i) {
      const Action figure = placed.legal_action(i);
      GameState after = placed;
      after.apply(figure);
      s.turns.push_back({placement ? *placement : figure, figure});
      if (i == 0) {  // no figure
        s.add_position(after, [&](const Figure& f) {
          RowIndex at = s.table.placed(f);
          const bool is_stale =
              at == kNoRow || (is_building(f) ? is_near(after.laid_tile(f.tile).cell, cell)
                                              : s.rows[static_cast<std::size_t>(at)].depends.meets(near));
          if (is_stale) s.table.set_placed(f, at = s.read(after, f));
          return at;
        });
        continue;
      }
      if (figure.figure() == Action::Figure::kBack) {
        s.add_position(after, [&](const Figure& f) { return s.read(after, f); });
        continue;
      }
      // The claimed feature is new, and features of its kind that meet it across an open cell see it claimed.
      const TileData& tile = placed.game().tile(static_cast<TypeId>(placed.drawn_tile()));
      const std::size_t feature = figure.feature();
      const FeatureKind kind = tile.type->features[feature].kind;
      const std::size_t local = tile.local_of_feature[feature];
      SlotSet ends;
      if (kind == FeatureKind::kField) {
        ends = reader.ends_of_field(after, placed.field_laid(local));
      } else if (kind == FeatureKind::kRoad || kind == FeatureKind::kCity) {
        ends = reader.ends_of_line(after, placed.line_laid(local));
      }
      s.add_position(after, [&](const Figure& f) {
        const RowIndex at = s.table.placed(f);
        const bool is_new = f.tile == after.laid_tiles() - 1;
        if (at == kNoRow || is_new || (f.kind == kind && s.rows[static_cast<std::size_t>(at)].depends.meets(ends)))
          return s.read(after, f);
        return at;
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
