#include "carc/neural/examples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "carc/core/parallel.hpp"
#include "carc/core/record.hpp"

namespace carc {
namespace {

constexpr int kFullBuilding = 9;
constexpr std::size_t kSeats = kMaxPlayers;
using Paid = std::array<float, kSeats>;

bool is_building(FeatureKind kind) { return kind == FeatureKind::kMonastery || kind == FeatureKind::kGarden; }

// Roads, cities or fields by id: which have become one, and what it brought.
class Fates {
 public:
  Fates() { std::iota(parent_.begin(), parent_.end(), std::uint8_t{0}); }
  void join(std::uint8_t old, std::uint8_t now) {
    if (old != kNone && now != kNone && find(old) != find(now)) parent_[find(old)] = find(now);
  }
  std::uint8_t find(std::uint8_t id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }
  void pay(std::uint8_t id, const Paid& paid) { paid_[id] = paid; }
  void complete(std::uint8_t id, int tiles_left) { done_[id] = static_cast<std::int16_t>(tiles_left); }
  const Paid& paid(std::uint8_t root) const { return paid_[root]; }
  // Tiles left when it was completed; -1: never.
  int done(std::uint8_t root) const { return done_[root]; }

 private:
  std::array<std::uint8_t, 256> parent_;
  std::array<Paid, 256> paid_{};
  std::array<std::int16_t, 256> done_ = [] {
    std::array<std::int16_t, 256> none{};
    none.fill(-1);
    return none;
  }();
};

struct BuildingFate {
  float paid = 0;
  int done = -1;  // tiles left when the figure went home
  bool complete = false;
};

// A row that was kept, until the game is over.
struct PendingRow {
  RowKind kind;
  std::uint8_t id;  // line, field or laid tile
  float size;
};

struct PendingPosition {
  std::size_t first_row, rows;
};

class GameReader {
 public:
  GameReader(const Game& game, const ExampleOptions& options) : game_(game), options_(options), reader_(game) {
    if (options.bag_average) averager_ = std::make_unique<FeatureEvaluator>(options.bag_average);
  }

  Examples read(const GameArrays& games, std::size_t g, std::size_t first_turn, std::uint64_t number) {
    out_ = {};
    rows_.clear();
    positions_.clear();
    lines_ = fields_ = {};
    buildings_.fill({});
    Rng rng(split(options_.seed, number));
    GameState state(game_);
    const std::size_t turns = games.game_turns[g];
    for (std::size_t t = 0; t < turns; ++t) {
      const std::size_t at = first_turn + t;
      try {
        play_turn(state, games, at);
      } catch (const Error& error) {
        throw RecordError("game " + std::to_string(number) + ", turn " + std::to_string(t) + ": " + error.what());
      }
      if (state.is_terminal() || games.placement[at] == kDiscarded) continue;
      const double share = games.explored[at] ? options_.keep_explored : options_.keep;
      if (rng.uniform() < share) keep(state, static_cast<int>(g), static_cast<int>(t));
    }
    if (!state.is_terminal())
      throw RecordError("game " + std::to_string(number) + ": found " + std::to_string(turns) +
                        " turns, expected more: " + std::to_string(state.tiles_left()) + " tiles are left");
    for (int p = 0; p < state.players(); ++p) {
      const int told = games.final_scores[g * static_cast<std::size_t>(games.players) + static_cast<std::size_t>(p)];
      if (state.score(p) != told)
        throw RecordError("game " + std::to_string(number) + ": found a final score of " + std::to_string(told) +
                          " for player " + std::to_string(p) + ", expected " + std::to_string(state.score(p)));
    }
    pay_at_the_end(state);
    label(state, games, first_turn, turns);
    return std::move(out_);
  }

 private:
  void play_turn(GameState& state, const GameArrays& games, std::size_t at) {
    const auto type = static_cast<TypeId>(games.tile[at]);
    state.apply_checked(Action::draw(type));
    if (games.placement[at] == kDiscarded) {
      if (state.phase() == Phase::kPlace) throw RecordError("the tile was discarded, but it fits");
      return;
    }
    if (state.phase() != Phase::kPlace) throw RecordError("the tile was laid, but it fits nowhere");
    const Action placement = Action::from_bits(games.placement[at]);
    if (!state.is_legal(placement)) throw IllegalAction("illegal placement");
    const GameState before = state;
    state.apply(placement);
    const int cell = before.find_open_cell(placement.cell());
    const TileData& tile = game_.tile(type);
    const TileFace& face = tile.faces[placement.rotation()];
    for (std::size_t s = 0; s < 4; ++s)
      lines_.join(before.line_beside(cell, static_cast<int>(s)), state.line_laid(face.line_of_side[s]));
    for (std::size_t h = 0; h < 8; ++h)
      fields_.join(before.field_beside(cell, static_cast<int>(h)), state.field_laid(face.field_of_half[h]));
    const Action figure = Action::from_bits(games.figure[at]);
    if (!state.is_legal(figure)) throw IllegalAction("illegal figure");
    const GameState placed = state;
    state.apply(figure);
    pay_completed(placed, figure, state);
  }

  // What the turn completed or sent home; `left` tiles remain.
  void pay_completed(const GameState& placed, Action figure, const GameState& after) {
    const TileData& tile = game_.tile(static_cast<TypeId>(placed.drawn_tile()));
    const int left = after.tiles_left();
    for (std::size_t l = 0; l < tile.lines; ++l) {
      const std::uint8_t id = placed.line_laid(l);
      const Line& line = placed.line(id);
      if (line.open) continue;
      FigureCounts figures = line.figures;
      if (figure.figure() == Action::Figure::kMeeple && figure.feature() == tile.line_feature[l])
        figures = one_figure(placed.turn_player());
      lines_.complete(id, left);
      lines_.pay(id, shares(placed, line, figures, true));
    }
    for (int i = placed.spread_figures(); i < placed.figures_on_board(); ++i) {
      const Figure f = placed.figure(i);
      const bool came_back = figure.figure() == Action::Figure::kBack && f.player == placed.turn_player() &&
                             placed.laid_tile(f.tile).cell == figure.cell();
      if (f.label == 0 || came_back)
        buildings_[f.tile] = {static_cast<float>(kFullBuilding - f.label), left, f.label == 0};
    }
  }

  Paid shares(const GameState& state, const Line& line, FigureCounts figures, bool complete) const {
    Paid paid{};
    const Majority owners = majority(figures);
    const int points =
        share(state.rules(), line_value(state.rules(), line.kind, line.tiles, line.shields, complete), owners);
    for (std::size_t p = 0; p < kSeats; ++p) paid[p] = owners.players >> p & 1 ? static_cast<float>(points) : 0;
    return paid;
  }

  void pay_at_the_end(const GameState& state) {
    std::array<int, kSeats> farmed{};  // fields of each player
    std::vector<std::uint8_t> fields;
    for (int i = 0; i < state.figures_on_board(); ++i) {
      const Figure f = state.figure(i);
      if (is_building(f.kind)) {
        buildings_[f.tile].paid = static_cast<float>(kFullBuilding - f.label);
      } else if (f.kind != FeatureKind::kField) {
        const Line& line = state.line(f.label);
        lines_.pay(f.label, shares(state, line, line.figures, line.open == 0));
      } else if (std::find(fields.begin(), fields.end(), f.label) == fields.end()) {
        fields.push_back(f.label);
      }
    }
    const bool is_by_field = state.rules().field_scoring == FieldScoring::kField;
    const auto& field_points = state.final_count().by_kind[static_cast<std::size_t>(FeatureKind::kField)];
    for (const std::uint8_t id : fields) {
      for (std::size_t p = 0; p < kSeats; ++p)
        farmed[p] += figures_of(state.field_figures(id), static_cast<int>(p)) > 0;
    }
    for (const std::uint8_t id : fields) {
      Paid paid{};
      const FigureCounts farmers = state.field_figures(id);
      const Majority owners = majority(farmers);
      std::vector<std::uint8_t> cities;
      state.for_each_city(id, [&](std::uint8_t city) {
        if (state.line(city).open == 0 && std::find(cities.begin(), cities.end(), city) == cities.end())
          cities.push_back(city);
      });
      const int points = share(state.rules(), 3 * static_cast<int>(cities.size()), owners);
      for (std::size_t p = 0; p < kSeats; ++p) {
        if (is_by_field)
          paid[p] = owners.players >> p & 1 ? static_cast<float>(points) : 0;
        else if (figures_of(farmers, static_cast<int>(p)))  // fields share what they bring together
          paid[p] = static_cast<float>(field_points[p]) / static_cast<float>(farmed[p]);
      }
      fields_.pay(id, paid);
    }
  }

  void keep(const GameState& state, int g, int turn) {
    reader_.read_all(state, read_rows_, read_players_);
    const auto position = static_cast<std::int32_t>(out_.game.size());
    out_.game.push_back(g);
    out_.turn.push_back(static_cast<std::uint8_t>(turn));
    out_.players.push_back(static_cast<std::uint8_t>(state.players()));
    out_.next.push_back(static_cast<std::uint8_t>(state.turn_player()));
    out_.tiles_left.push_back(static_cast<std::uint8_t>(state.tiles_left()));
    for (int p = 0; p < kMaxPlayers; ++p)
      out_.score.push_back(static_cast<std::int16_t>(p < state.players() ? state.score(p) : 0));
    positions_.push_back({rows_.size(), read_rows_.size()});
    // read_all lists features in the order of their first figures.
    std::array<bool, 256> seen_lines{}, seen_fields{};
    std::size_t r = 0;
    for (int i = 0; i < state.figures_on_board(); ++i) {
      const Figure f = state.figure(i);
      std::uint8_t id = f.label;
      float size = 1;
      if (is_building(f.kind)) {
        id = f.tile;
      } else if (f.kind == FeatureKind::kField) {
        if (std::exchange(seen_fields[f.label], true)) continue;
        int contacts = 1;
        state.for_each_city(f.label, [&](std::uint8_t) { ++contacts; });
        size = static_cast<float>(contacts);
      } else {
        if (std::exchange(seen_lines[f.label], true)) continue;
        size = static_cast<float>(state.line(f.label).tiles + state.line(f.label).shields);
      }
      const Row& row = read_rows_[r++];
      rows_.push_back({row.kind, id, size});
      Examples::Rows& to = out_.rows[static_cast<std::size_t>(row.kind)];
      to.inputs.insert(to.inputs.end(), row.inputs.begin(),
                       row.inputs.begin() + static_cast<std::ptrdiff_t>(row_inputs(row.kind).size()));
      to.position.push_back(position);
      to.main.push_back(row.main);
      to.rival.push_back(row.rival);
      to.figures.push_back(row.figures_main);
      to.figures.push_back(row.figures_rival);
    }
    for (int p = 0; p < state.players(); ++p) {
      const Inputs& in = read_players_[static_cast<std::size_t>(p)];
      out_.player_inputs.insert(out_.player_inputs.end(), in.begin(), in.begin() + kPlayerInputs);
      out_.player_position.push_back(position);
      out_.player.push_back(static_cast<std::uint8_t>(p));
    }
    if (averager_) {
      Values mean{};
      for (const ChanceOutcome& outcome : state.chance_outcomes()) {
        GameState drawn = state;
        drawn.apply(Action::draw(outcome.tile));
        const Values u = averager_->value(drawn);
        for (std::size_t p = 0; p < kSeats; ++p) mean[p] += static_cast<float>(outcome.probability) * u[p];
      }
      averages_.push_back(mean);
    }
  }

  void label(const GameState& end, const GameArrays& games, std::size_t first_turn, std::size_t turns) {
    const int n = end.players();
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      const auto [first, count] = positions_[i];
      std::array<float, kSeats> from_rows{};
      const int left = out_.tiles_left[i];
      for (std::size_t r = first; r < first + count; ++r) label_row(first, count, r, n, left, from_rows);
      for (int p = 0; p < kMaxPlayers; ++p) {
        const auto seat = static_cast<std::size_t>(p);
        const float total = p < n ? static_cast<float>(end.score(p)) : 0;
        out_.final_scores.push_back(static_cast<std::int16_t>(total));
        out_.target.push_back(averager_ ? averages_[i][seat] : total);
        if (p < n)
          out_.player_targets.push_back(total - static_cast<float>(out_.score[i * kSeats + seat]) - from_rows[seat]);
      }
    }
    averages_.clear();
    if (options_.lambda < 1 && !averager_) mix_targets(games, first_turn, turns, n);
  }

  void label_row(std::size_t first, std::size_t count, std::size_t r, int players, int left,
                 std::array<float, kSeats>& from_rows) {
    const PendingRow& row = rows_[r];
    Examples::Rows& to = out_.rows[static_cast<std::size_t>(row.kind)];
    const std::size_t at = to.targets.size() / 5;
    Paid paid{};
    int done = -1;
    bool complete = false;
    if (row.kind == RowKind::kMonastery) {
      const BuildingFate& fate = buildings_[row.id];
      paid[to.main[at]] = fate.paid;
      done = fate.done;
      complete = fate.complete;
    } else {
      const bool is_field = row.kind == RowKind::kField;
      const Fates& fates = is_field ? fields_ : lines_;
      const std::uint8_t root = fates.find(row.id);
      float together = 0;
      for (std::size_t other = first; other < first + count; ++other) {
        const PendingRow& o = rows_[other];
        const bool is_same = o.kind == row.kind && fates.find(o.id) == root;
        together += is_same ? o.size : 0;
      }
      for (std::size_t p = 0; p < kSeats; ++p) paid[p] = fates.paid(root)[p] * row.size / together;
      done = fates.done(root);
      complete = done >= 0;
    }
    const std::uint8_t main = to.main[at], rival = to.rival[at];
    float others = 0;
    for (int p = 0; p < players; ++p) {
      const auto seat = static_cast<std::size_t>(p);
      from_rows[seat] += paid[seat];
      if (p != main && p != rival) others += paid[seat];
    }
    to.targets.push_back(paid[main]);
    to.targets.push_back(rival == kNone ? std::numeric_limits<float>::quiet_NaN() : paid[rival]);
    to.targets.push_back(others);
    to.targets.push_back(done < 0 ? 1.0F : static_cast<float>(left - done) / static_cast<float>(left));
    to.targets.push_back(complete ? 1.0F : 0.0F);
  }

  // TD(lambda): from the last turn back.
  void mix_targets(const GameArrays& games, std::size_t first_turn, std::size_t turns, int n) {
    std::array<float, kSeats> next{};  // target of the position after turn t
    for (int p = 0; p < n; ++p) {
      next[static_cast<std::size_t>(p)] =
          static_cast<float>(games.final_scores[static_cast<std::size_t>(out_.game.empty() ? 0 : out_.game[0]) *
                                                    static_cast<std::size_t>(n) +
                                                static_cast<std::size_t>(p)]);
    }
    std::size_t i = positions_.size();
    for (std::size_t t = turns; t-- > 0;) {
      while (i > 0 && out_.turn[i - 1] == t) {
        --i;
        for (std::size_t p = 0; p < static_cast<std::size_t>(n); ++p) out_.target[i * kSeats + p] = next[p];
      }
      const std::size_t at = first_turn + t;
      const float trace = games.explored[at] ? 0 : static_cast<float>(options_.lambda);
      for (std::size_t p = 0; p < static_cast<std::size_t>(n); ++p) {
        const float thought = games.value[at * static_cast<std::size_t>(n) + p];
        if (!std::isnan(thought)) next[p] = trace * next[p] + (1 - trace) * thought;
      }
    }
  }

  const Game& game_;
  const ExampleOptions& options_;
  FeatureReader reader_;
  std::unique_ptr<FeatureEvaluator> averager_;
  Examples out_;
  Fates lines_, fields_;
  std::array<BuildingFate, kMaxTiles> buildings_;
  std::vector<PendingRow> rows_;
  std::vector<PendingPosition> positions_;
  std::vector<Values> averages_;
  std::vector<Row> read_rows_;
  std::vector<Inputs> read_players_;
};

template <class T>
void add(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void Examples::append(const Examples& other) {
  const auto offset = static_cast<std::int32_t>(game.size());
  const auto add_shifted = [offset](std::vector<std::int32_t>& to, const std::vector<std::int32_t>& from) {
    for (const std::int32_t p : from) to.push_back(p + offset);
  };
  add(game, other.game), add(turn, other.turn), add(players, other.players), add(next, other.next);
  add(tiles_left, other.tiles_left), add(score, other.score), add(final_scores, other.final_scores);
  add(target, other.target);
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const Rows& from = other.rows[k];
    add(rows[k].inputs, from.inputs), add_shifted(rows[k].position, from.position), add(rows[k].main, from.main);
    add(rows[k].rival, from.rival), add(rows[k].figures, from.figures), add(rows[k].targets, from.targets);
  }
  add(player_inputs, other.player_inputs), add_shifted(player_position, other.player_position);
  add(player, other.player), add(player_targets, other.player_targets);
}

void GameArrays::append(const GameArrays& other) {
  players = other.players;
  add(game_turns, other.game_turns), add(final_scores, other.final_scores), add(tile, other.tile);
  add(placement, other.placement), add(figure, other.figure), add(explored, other.explored), add(value, other.value);
  add(policy_size, other.policy_size), add(policy_action, other.policy_action), add(policy_share, other.policy_share);
}

Examples read_examples(const std::shared_ptr<const Game>& game, const GameArrays& games, std::uint64_t first_game,
                       const ExampleOptions& options, int threads, const std::function<bool()>& interrupted) {
  const std::size_t n = games.games();
  std::vector<std::size_t> first_turn(n);
  std::size_t turns = 0;
  for (std::size_t g = 0; g < n; ++g) first_turn[g] = turns, turns += games.game_turns[g];
  std::vector<std::unique_ptr<GameReader>> readers;
  for (int t = 0; t < threads; ++t) readers.push_back(std::make_unique<GameReader>(*game, options));
  std::vector<Examples> parts(n);
  for_each_in_parallel(n, threads, interrupted, [&](int worker, std::size_t g) {
    parts[g] = readers[static_cast<std::size_t>(worker)]->read(games, g, first_turn[g], first_game + g);
  });
  Examples out;
  for (Examples& part : parts) {
    out.append(part);
    part = {};
  }
  return out;
}

}  // namespace carc
