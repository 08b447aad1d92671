#include "carc/search/solver.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <unordered_map>

namespace carc {
namespace {

// Expected points to come of each player, times the state's denominator.
using Gains = std::array<std::int64_t, kMaxPlayers>;

constexpr int kMostTiles = 15;  // in the bag: 15! times the points of a game fits 64 bits

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;  // more than any utility

struct OutOfNodes {};

class Solver {
 public:
  Solver(const GameState& root, std::int64_t nodes)
      : players_(root.players()), first_tile_(root.laid_tiles()), left_(nodes) {
    refutation_.fill(Action::no_figure());
    // How many tiles can come at each draw depends only on how many are left, so any one way to the end tells it.
    std::array<std::int64_t, kMostTiles + 1> drawable{};
    for (GameState state = root; !state.is_terminal(); state.apply(state.legal_action(0))) {
      if (state.phase() != Phase::kDraw) continue;
      for (TypeId t = 0; t < state.game().types(); ++t) {
        if (state.can_draw(t)) drawable[static_cast<std::size_t>(state.tiles_left())] += state.tiles_left(t);
      }
    }
    denominators_[0] = 1;
    for (std::size_t t = 1; t < drawable.size() && drawable[t]; ++t)
      denominators_[t] = denominators_[t - 1] * drawable[t];
  }

  // The points to come if `action` is taken now, times the denominator of the state after it. The last turn may be cut
  // short when it brings `enough` to its player (see best_action).
  Gains after(const GameState& before, Action action, std::int64_t enough = kNever) {
    visit();
    GameState next = before;
    next.apply(action);
    Gains made{};
    for (int p = 0; p < players_; ++p)
      made[index(p)] = denominator(next.tiles_left()) * (next.score(p) - before.score(p));
    if (enough != kNever && before.phase() == Phase::kFigure) enough -= utility(made, next.turn_player());
    Gains gains = future(next, enough);
    for (std::size_t p = 0; p < gains.size(); ++p) gains[p] += made[p];
    return gains;
  }

  // What a player wants: the difference to the mean of the others, times players - 1.
  std::int64_t utility(const Gains& gains, int player) const {
    std::int64_t sum = 0;
    for (const std::int64_t g : gains) sum += g;
    return players_ * gains[index(player)] - sum;
  }

  std::int64_t denominator(int tiles_left) const { return denominators_[index(tiles_left)]; }
  std::int64_t left() const { return left_; }

 private:
  struct Key {
    std::uint64_t a = 0, b = 0;
    void add(std::uint64_t item) {
      item = mix64(item);
      a += item;
      b += mix64(item ^ 0xC2B2AE3D27D4EB4Fu);
    }
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.a; }
  };

  // The best of several actions for a player; the first of equals.
  struct Best {
    Gains gains{};
    std::int64_t utility = -kNever;
    void offer(const Gains& g, std::int64_t u) {
      if (u > utility) gains = g, utility = u;
    }
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void visit() {
    if (left_-- <= 0) throw OutOfNodes();
  }

  Gains future(const GameState& state, std::int64_t enough) {
    switch (state.phase()) {
      case Phase::kDraw:
        return before_draw(state, enough);
      case Phase::kPlace:
        return state.tiles_left() ? best_action(state, enough) : last_turn(state, enough);
      case Phase::kFigure:
        return best_action(state, enough);
      case Phase::kOver:
        break;
    }
    return {};
  }

  Gains before_draw(const GameState& state, std::int64_t enough) {
    const Key key = board_key(state);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    Gains sum{};
    for (TypeId t = 0; t < state.game().types(); ++t) {
      if (!state.can_draw(t)) continue;
      const Gains gains = after(state, Action::draw(t), enough);
      for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += state.tiles_left(t) * gains[p];
    }
    if (enough == kNever || utility(sum, state.turn_player()) < enough) known_.emplace(key, sum);
    return sum;
  }

  // With two players the last turn but one prunes as alpha-beta does: once the last turn brings its player so much that
  // the other would not have gone there, how much more does not matter. The result is then at most as good for the
  // other as what he has, so the best value stays exact. Draws in between are certain.
  Gains best_action(const GameState& state, std::int64_t enough) {
    const bool prunes = players_ == 2 && state.tiles_left() == 1;
    const int mover = state.turn_player();
    Best best;
    ActionList actions;
    state.legal_actions(actions);
    for (const Action action : actions) {
      const Gains gains = after(state, action, prunes ? std::min(enough, -best.utility) : kNever);
      best.offer(gains, utility(gains, mover));
    }
    return best.gains;
  }

  // The last tile is in hand. Taking a figure back brings nothing any more, and setting one takes from nobody, except
  // where farmers compete for a city across fields.
  Gains last_turn(const GameState& state, std::int64_t enough) {
    const Rules& rules = state.rules();
    if (rules.farmers && rules.field_scoring != FieldScoring::kField) return best_action(state, kNever);
    Best best;
    const auto offer = [&](Action placement) {
      const Gains gains = last_placement(state, placement);
      best.offer(gains, utility(gains, state.turn_player()));
      return best.utility >= enough;
    };
    // What was enough on a board like this one often is again.
    Action& first = refutation_[index(state.drawn_tile())];
    if (enough != kNever && first.what() == Action::What::kPlace && state.is_legal(first) && offer(first))
      return best.gains;
    const PlacementSet placements = state.placements();
    for (int i = 0, n = placements.count(); i < n; ++i) {
      if (!offer(placements[i])) continue;
      first = placements[i];
      break;
    }
    return best.gains;
  }

  // The last tile laid here, with its best figure.
  Gains last_placement(const GameState& state, Action placement) {
    visit();
    GameState placed = state;
    placed.apply(placement);
    const Points points = placed.projected();
    Gains gains{};
    for (int p = 0; p < players_; ++p) gains[index(p)] = points.total(p);
    gains[index(state.turn_player())] += best_figure(placed);
    return gains;
  }

  // Most points that a figure on the tile just laid is worth at the end of the game.
  static int best_figure(const GameState& placed) {
    const TileData& tile = placed.game().tile(static_cast<TypeId>(placed.drawn_tile()));
    const std::uint32_t mask = placed.figure_mask();
    int best = 0;
    for (std::uint32_t features = (mask | mask >> 16) & 0xFFFF; features; features &= features - 1) {
      const auto f = static_cast<std::size_t>(std::countr_zero(features));
      best = std::max(best, present_points(placed, tile, f));
    }
    return best;
  }

  static int present_points(const GameState& placed, const TileData& tile, std::size_t feature) {
    const std::size_t local = tile.local_of_feature[feature];
    switch (tile.type->features[feature].kind) {
      case FeatureKind::kRoad:
      case FeatureKind::kCity: {
        const Line& line = placed.line(placed.line_laid(local));
        return line_value(placed.rules(), line.kind, line.tiles, line.shields, line.open == 0);
      }
      case FeatureKind::kField:
        return 3 * complete_cities(placed, placed.field_laid(local));
      case FeatureKind::kMonastery:
      case FeatureKind::kGarden:
        return tiles_round_last(placed);
      case FeatureKind::kRiver:
        break;
    }
    return 0;
  }

  static int complete_cities(const GameState& state, std::uint8_t field) {
    std::array<std::uint8_t, kMaxContacts> cities;
    std::size_t n = 0;
    state.for_each_city(field, [&](std::uint8_t city) {
      if (state.line(city).open) return;
      for (std::size_t i = 0; i < n; ++i) {
        if (cities[i] == city) return;
      }
      cities[n++] = city;
    });
    return static_cast<int>(n);
  }

  // The tile laid last and its neighbours.
  static int tiles_round_last(const GameState& state) {
    const Cell centre = state.laid_tile(state.laid_tiles() - 1).cell;
    int n = 0;
    for (int i = 0; i < state.laid_tiles(); ++i) {
      const Cell c = state.laid_tile(i).cell;
      n += std::abs(c.x - centre.x) <= 1 && std::abs(c.y - centre.y) <= 1;
    }
    return n;
  }

  // Of a board before a draw: the tiles laid or discarded since the root, in any order, and all figures. Who is to move
  // and what is in the bag follows from them.
  Key board_key(const GameState& state) const {
    Key key;
    for (int i = first_tile_; i < state.laid_tiles(); ++i) {
      const LaidTile t = state.laid_tile(i);
      key.add(std::uint64_t{1} << 32 | std::uint64_t{cell_key(t.cell)} << 16 | static_cast<unsigned>(t.type) << 8 |
              t.rotation);
    }
    for (int i = 0; i < state.discarded_tiles(); ++i) key.add(std::uint64_t{2} << 32 | state.discarded_tile(i));
    for (int i = 0; i < state.figures_on_board(); ++i) {
      const Figure f = state.figure(i);
      key.add(std::uint64_t{3} << 32 | std::uint64_t{cell_key(state.laid_tile(f.tile).cell)} << 16 |
              static_cast<unsigned>(f.feature) << 8 | static_cast<unsigned>(f.player) << 1 |
              (f.figure == FigureKind::kAbbot));
    }
    return key;
  }

  int players_;
  int first_tile_;  // number of tiles laid at the root
  std::int64_t left_;
  std::array<std::int64_t, kMostTiles + 1> denominators_{};  // [tiles in the bag]
  std::unordered_map<Key, Gains, KeyHash> known_;            // positions before a draw
  std::array<Action, kMaxTypes> refutation_;                 // [tile type] last placement that brought enough
};

}  // namespace

Solution solve(const GameState& state, const SolverOptions& options) {
  if (state.tiles_left() > kMostTiles) {
    Solution none;
    none.players = state.players();
    return none;
  }
  Solver solver(state, options.nodes);
  const int players = state.players();
  Gains now{}, to_come{};
  for (int p = 0; p < players; ++p) now[static_cast<std::size_t>(p)] = state.score(p);
  const auto values_of = [&](const Gains& gains, std::int64_t denominator) {
    Values values{};
    for (int p = 0; p < players; ++p) {
      const double gained = static_cast<double>(solver.utility(gains, p)) / static_cast<double>(denominator);
      values[static_cast<std::size_t>(p)] =
          static_cast<float>((static_cast<double>(solver.utility(now, p)) + gained) / (players - 1));
    }
    return values;
  };

  Solution out;
  out.players = state.players();
  ActionList actions;
  state.legal_actions(actions);
  out.actions.assign(actions.begin(), actions.end());
  const bool is_draw = state.phase() == Phase::kDraw;
  try {
    for (int i = 0; i < actions.size(); ++i) {
      const Gains gains = solver.after(state, actions[i]);
      out.values.push_back(values_of(gains, solver.denominator(state.tiles_left() - is_draw)));
      if (is_draw) {
        for (std::size_t p = 0; p < gains.size(); ++p) to_come[p] += state.tiles_left(actions[i].type()) * gains[p];
      } else if (out.best < 0 ||
                 solver.utility(gains, state.turn_player()) > solver.utility(to_come, state.turn_player())) {
        out.best = i;
        to_come = gains;
      }
    }
  } catch (const OutOfNodes&) {
    Solution none;
    none.players = state.players();
    none.nodes = options.nodes;
    return none;
  }
  out.complete = true;
  out.value = values_of(to_come, solver.denominator(state.tiles_left()));
  out.nodes = options.nodes - solver.left();
  return out;
}

}  // namespace carc
