#include "carc/core/state_json.hpp"

#include <algorithm>

#include "carc/core/json.hpp"
#include "carc/core/record_format.hpp"

namespace carc {
namespace {

constexpr const char* kFormat = "carc-state";
constexpr int kVersion = 1;
constexpr int kMostPoints = 9999;

OrderedJson points_json(const Points& points, int players) {
  OrderedJson out;
  for (std::size_t k = 0; k < kScoringKinds; ++k) {
    OrderedJson list = OrderedJson::array();
    for (std::size_t p = 0; p < static_cast<std::size_t>(players); ++p) list.push_back(points.by_kind[k][p]);
    out[kFeatureKindNames[k]] = list;
  }
  return out;
}

Points read_points(const Json& json, int players, const std::string& what) {
  Points points;
  for (std::size_t k = 0; k < kScoringKinds; ++k) {
    const std::string where = what + " " + kFeatureKindNames[k];
    const Json& list = require_array<RecordError>(require_key<RecordError>(json, kFeatureKindNames[k], what), where);
    if (list.size() != static_cast<std::size_t>(players)) {
      throw RecordError(where + ": found " + std::to_string(list.size()) + " values, expected " +
                        std::to_string(players));
    }
    for (std::size_t p = 0; p < list.size(); ++p) {
      points.by_kind[k][p] = static_cast<std::int16_t>(require_int<RecordError>(list[p], 0, kMostPoints, where));
    }
  }
  return points;
}

}  // namespace

// Lays the stated tiles one after the other, each with its figure, as the game did.
class StateReader {
 public:
  static LoadedState read(const Json& json) {
    const auto game = Game::create(Rules::from_json(key(json, "rules")));
    StateReader reader{json, *game, make(json, *game)};
    reader.lay_tiles();
    reader.finish();
    return {game, reader.state_};
  }

 private:
  StateReader(const Json& json, const Game& game, GameState state) : json_(json), game_(game), state_(state) {}

  static const Json& key(const Json& json, const char* name) { return require_key<RecordError>(json, name, "state"); }
  static const Json& list(const Json& json, const char* name) {
    return require_array<RecordError>(key(json, name), name);
  }
  static TypeId type(const Game& game, const Json& id, const std::string& what) {
    return game.require<RecordError>(require_string<RecordError>(id, what)).type;
  }

  struct Laid {
    TypeId type;
    Cell cell;
    std::uint8_t rotation;
  };
  static Laid laid(const Game& game, const Json& t, const std::string& what) {
    const auto coordinate = [&](const char* name) {
      return static_cast<std::int16_t>(
          require_int<RecordError>(require_key<RecordError>(t, name, what), -127, 126, what + " " + name));
    };
    return {type(game, require_key<RecordError>(t, "tile", what), what),
            {coordinate("x"), coordinate("y")},
            static_cast<std::uint8_t>(
                require_int<RecordError>(require_key<RecordError>(t, "rot", what), 0, 3, what + " rot"))};
  }

  static GameState make(const Json& json, const Game& game) {
    const Json& tiles = list(json, "tiles");
    if (tiles.empty()) throw RecordError("tiles: found none, expected at least the start tile");
    // The bag the game started with: what is left, drawn, laid and discarded.
    std::array<int, kMaxTypes> copies{};
    for (const auto& [id, n] : require_object<RecordError>(key(json, "bag"), "bag").items()) {
      copies[game.require<RecordError>(id).type] += require_int<RecordError>(n, 0, kMaxTiles, "bag " + quote(id));
    }
    for (std::size_t i = 1; i < tiles.size(); ++i) ++copies[laid(game, tiles[i], "tile " + std::to_string(i)).type];
    for (const Json& id : list(json, "discarded")) ++copies[type(game, id, "discarded")];
    if (key(json, "phase") == "place") ++copies[type(game, key(json, "drawn"), "drawn")];
    int total = 0;
    std::array<std::uint8_t, kMaxTypes> bag{};
    for (std::size_t t = 0; t < copies.size(); ++t) {
      total += copies[t];
      bag[t] = static_cast<std::uint8_t>(std::min(copies[t], 255));
    }
    if (total >= kMaxTiles)
      throw RecordError("state: found " + std::to_string(total + 1) + " tiles, expected at most " +
                        std::to_string(kMaxTiles));
    const int player = require_int<RecordError>(key(json, "player"), 0, game.rules().players - 1, "player");
    const Laid first = laid(game, tiles[0], "tile 0");
    return GameState(game, Start{first.type, first.cell, first.rotation}, bag, player);
  }

  void lay_tiles() {
    const Json& tiles = list(json_, "tiles");
    bool river_is_over = false;
    for (std::size_t i = 1; i < tiles.size(); ++i) {
      const std::string what = "tile " + std::to_string(i);
      const Laid t = laid(game_, tiles[i], what);
      const bool is_river = game_.tile(t.type).is_river;
      if (is_river && river_is_over)
        throw RecordError(what + ": found a river tile after another tile, expected the river first");
      river_is_over |= !is_river;
      if (!state_.can_place(t.type, cell_key(t.cell), t.rotation)) {
        throw RecordError(what + ": found " + game_.tile(t.type).id + " at " + std::to_string(t.cell.x) + "," +
                          std::to_string(t.cell.y) + " rotation " + std::to_string(t.rotation) +
                          ", which does not fit there");
      }
      state_.take_from_bag(t.type);
      state_.drawn_ = static_cast<std::int8_t>(t.type);
      state_.lay(cell_key(t.cell), t.rotation);
      set_figure(static_cast<int>(i), what);
    }
    for (const Json& id : list(json_, "discarded")) {
      const TypeId t = type(game_, id, "discarded");
      state_.take_from_bag(t);
      state_.types_[static_cast<std::size_t>(kMaxTiles - 1 - state_.discarded_++)] = t;
    }
  }

  void set_figure(int tile, const std::string& what) {
    const std::size_t before = figures_set_;
    for (const Json& f : list(json_, "figures")) {
      if (require_int<RecordError>(require_key<RecordError>(f, "tile", "figure"), 1, kMaxTiles - 1, "figure tile") !=
          tile)
        continue;
      if (figures_set_ != before) throw RecordError("figures: found two on " + what + ", expected at most one");
      const int feature = require_int<RecordError>(require_key<RecordError>(f, "feature", "figure"), 0,
                                                   kMaxFeatures - 1, "figure feature");
      const int player = require_int<RecordError>(require_key<RecordError>(f, "player", "figure"), 0,
                                                  state_.players_ - 1, "figure player");
      const std::string kind = require_string<RecordError>(require_key<RecordError>(f, "figure", "figure"), "figure");
      if (kind != "meeple" && kind != "abbot")
        throw RecordError("figure: found " + quote(kind) + ", expected meeple or abbot");
      const Player turn = static_cast<Player>(state_.player_);
      state_.player_ = static_cast<std::uint8_t>(player);
      state_.prepare_figures();
      const Action action = kind == "abbot" ? Action::abbot(static_cast<unsigned>(feature))
                                            : Action::meeple(static_cast<unsigned>(feature));
      if (!state_.is_legal(action)) {
        throw RecordError("figure on " + what + ": a " + kind + " of player " + std::to_string(player) +
                          " cannot stand on feature " + std::to_string(feature));
      }
      state_.set_figure(static_cast<unsigned>(feature), kind == "abbot" ? FigureKind::kAbbot : FigureKind::kMeeple);
      state_.player_ = static_cast<std::uint8_t>(turn);
      ++figures_set_;
    }
  }

  void finish() {
    if (figures_set_ != list(json_, "figures").size())
      throw RecordError("figures: found figures on tiles that are not laid, or several on one tile");
    state_.points_ = read_points(key(json_, "points"), state_.players_, "points");
    state_.figure_mask_ = 0;
    state_.drawn_ = -1;
    const std::string phase = require_string<RecordError>(key(json_, "phase"), "phase");
    const auto found = std::find(kPhaseNames.begin(), kPhaseNames.end(), phase);
    if (found == kPhaseNames.end())
      throw RecordError("phase: found " + quote(phase) + ", expected draw, place, figure or over");
    const Phase stated = static_cast<Phase>(found - kPhaseNames.begin());
    check_completed(stated);
    if ((state_.tiles_left_ == 0 && stated == Phase::kDraw) || (state_.tiles_left_ != 0 && stated == Phase::kOver)) {
      throw RecordError("phase: found " + quote(phase) + " with " + std::to_string(state_.tiles_left_) +
                        " tiles left to draw");
    }
    switch (stated) {
      case Phase::kDraw:
        break;
      case Phase::kPlace: {
        const TypeId drawn = type(game_, key(json_, "drawn"), "drawn");
        state_.take_from_bag(drawn);
        if (state_.placements(drawn).empty())
          throw RecordError("drawn: found tile " + game_.tile(drawn).id + ", which fits nowhere");
        state_.drawn_ = static_cast<std::int8_t>(drawn);
        break;
      }
      case Phase::kFigure:
        if (state_.laid_ < 2) throw RecordError("phase: found 'figure' before any tile was laid");
        if (state_.figures_on_board() && last_tile_has_figure())
          throw RecordError("figures: found one on the last tile, expected none in phase figure");
        state_.drawn_ = static_cast<std::int8_t>(state_.types_[state_.laid_ - 1u]);
        if (const TypeId drawn = type(game_, key(json_, "drawn"), "drawn"); drawn != state_.drawn_) {
          throw RecordError("drawn: found tile " + game_.tile(drawn).id + ", expected the last tile laid, " +
                            game_.tile(static_cast<TypeId>(state_.drawn_)).id);
        }
        state_.prepare_figures();
        break;
      case Phase::kOver:
        state_.final_count_ = read_points(key(json_, "final_count"), state_.players_, "final_count");
        break;
    }
    state_.phase_ = stated;
  }

  bool last_tile_has_figure() const {
    for (int i = 0; i < state_.figures_on_board(); ++i) {
      if (state_.figure(i).tile == state_.laid_ - 1) return true;
    }
    return false;
  }

  // Completed features have been paid, but for those that the last tile completed in phase Figure.
  void check_completed(Phase phase) const {
    const Cell last = key_cell(state_.keys_[state_.laid_ - 1u]);
    for (int i = 0; i < state_.figures_on_board(); ++i) {
      const Figure f = state_.figure(i);
      const bool is_line = f.kind == FeatureKind::kRoad || f.kind == FeatureKind::kCity;
      const bool is_building = f.kind == FeatureKind::kMonastery || f.kind == FeatureKind::kGarden;
      bool by_last = false;
      if (is_line && state_.line_table_[f.label].open == 0) {
        for (std::size_t l = 0; l < state_.tile_data(state_.laid_ - 1u).lines; ++l)
          by_last |= state_.current_line(l) == f.label;
      } else if (is_building && f.label == 0) {
        const Cell c = key_cell(state_.keys_[f.tile]);
        by_last = std::abs(c.x - last.x) <= 1 && std::abs(c.y - last.y) <= 1;
      } else {
        continue;
      }
      if (phase != Phase::kFigure || !by_last)
        throw RecordError("figures: found one on a completed feature (tile " + std::to_string(f.tile) +
                          "), expected it paid and home");
    }
  }

  const Json& json_;
  const Game& game_;
  GameState state_;
  std::size_t figures_set_ = 0;
};

std::string state_to_json(const GameState& state) {
  const Game& game = state.game();
  OrderedJson out{{"format", kFormat}, {"version", kVersion}, {"rules", state.rules().to_json()}};
  out["phase"] = kPhaseNames[static_cast<std::size_t>(state.phase())];
  out["player"] = state.turn_player();
  if (state.drawn_tile() >= 0) out["drawn"] = game.tile(static_cast<TypeId>(state.drawn_tile())).id;
  out["tiles"] = OrderedJson::array();
  for (int i = 0; i < state.laid_tiles(); ++i) {
    const LaidTile t = state.laid_tile(i);
    out["tiles"].push_back({{"tile", game.tile(t.type).id}, {"x", t.cell.x}, {"y", t.cell.y}, {"rot", t.rotation}});
  }
  std::vector<Figure> figures;
  for (int i = 0; i < state.figures_on_board(); ++i) figures.push_back(state.figure(i));
  std::sort(figures.begin(), figures.end(), [](const Figure& a, const Figure& b) { return a.tile < b.tile; });
  out["figures"] = OrderedJson::array();
  for (const Figure& f : figures) {
    out["figures"].push_back({{"tile", f.tile},
                              {"feature", f.feature},
                              {"player", f.player},
                              {"figure", f.figure == FigureKind::kAbbot ? "abbot" : "meeple"}});
  }
  out["discarded"] = OrderedJson::array();
  for (int i = 0; i < state.discarded_tiles(); ++i) out["discarded"].push_back(game.tile(state.discarded_tile(i)).id);
  out["bag"] = OrderedJson::object();
  for (int t = 0; t < game.types(); ++t) {
    if (const int n = state.tiles_left(static_cast<TypeId>(t))) out["bag"][game.tile(static_cast<TypeId>(t)).id] = n;
  }
  out["points"] = points_json(state.points(), state.players());
  if (state.is_terminal()) out["final_count"] = points_json(state.final_count(), state.players());
  out["checksum"] = checksum(Json::parse(out.dump()));
  return out.dump();
}

LoadedState state_from_json(std::string_view text) {
  const Json json = parse_json<RecordError>(text, "state");
  require_object<RecordError>(json, "state");
  check_envelope(json, kFormat, kVersion);
  return StateReader::read(json);
}

std::string board_text(const GameState& state) {
  constexpr int kWide = 6, kHigh = 3;
  constexpr std::array<char, 5> kGlyph = {' ', '.', '#', 'C', '~'};
  int left = 0, right = 0, top = 0, bottom = 0;
  for (int i = 0; i < state.laid_tiles(); ++i) {
    const Cell c = state.laid_tile(i).cell;
    left = i ? std::min<int>(left, c.x) : c.x, right = i ? std::max<int>(right, c.x) : c.x;
    top = i ? std::min<int>(top, c.y) : c.y, bottom = i ? std::max<int>(bottom, c.y) : c.y;
  }
  constexpr std::size_t kMargin = 5;
  std::vector<std::string> rows(static_cast<std::size_t>((bottom - top + 1) * kHigh + 1),
                                std::string(kMargin + static_cast<std::size_t>((right - left + 1) * kWide), ' '));
  const auto write = [&](std::size_t row, std::size_t column, const std::string& text) {
    rows[row].replace(column, text.size(), text);
  };
  for (int x = left; x <= right; ++x)
    write(0, kMargin + static_cast<std::size_t>((x - left) * kWide + 2), std::to_string(x).substr(0, 4));
  for (int y = top; y <= bottom; ++y) write(static_cast<std::size_t>((y - top) * kHigh + 2), 0, std::to_string(y));
  for (int i = 0; i < state.laid_tiles(); ++i) {
    const LaidTile t = state.laid_tile(i);
    const TileFace& face = state.game().tile(t.type).faces[t.rotation];
    const auto glyph = [&](Side s) { return kGlyph[static_cast<std::size_t>(face.edges[s])]; };
    const auto row = static_cast<std::size_t>((t.cell.y - top) * kHigh + 1);
    const std::size_t column = kMargin + static_cast<std::size_t>((t.cell.x - left) * kWide);
    std::string figure;
    for (int j = 0; j < state.figures_on_board(); ++j) {
      const Figure f = state.figure(j);
      if (f.tile != i) continue;
      const char letter = kFeatureKindNames[static_cast<std::size_t>(f.kind)][0];
      figure =
          std::to_string(f.player) + static_cast<char>(f.figure == FigureKind::kAbbot ? letter - 'a' + 'A' : letter);
    }
    std::string middle = state.game().tile(t.type).id.substr(0, figure.empty() ? 4 : 2);
    middle.resize(2 + (figure.empty() ? 2 : 0), ' ');
    write(row, column, '+' + std::string(4, glyph(kNorth)) + '+');
    write(row + 1, column, glyph(kWest) + middle + figure + glyph(kEast));
    write(row + 2, column, '+' + std::string(4, glyph(kSouth)) + '+');
  }
  std::string out;
  for (std::string& row : rows) {
    row.resize(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  for (int p = 0; p < state.players(); ++p) {
    out += "player " + std::to_string(p) + ": " + std::to_string(state.score(p)) + " points, " +
           std::to_string(state.meeples(p)) + " meeples";
    if (state.rules().abbot) out += state.abbots(p) ? ", abbot" : ", no abbot";
    out += "\n";
  }
  out +=
      std::to_string(state.tiles_left()) + " tiles left, phase " + kPhaseNames[static_cast<std::size_t>(state.phase())];
  if (state.phase() != Phase::kOver) out += " of player " + std::to_string(state.turn_player());
  if (state.drawn_tile() >= 0) out += ", tile " + state.game().tile(static_cast<TypeId>(state.drawn_tile())).id;
  return out + "\n";
}

}  // namespace carc
