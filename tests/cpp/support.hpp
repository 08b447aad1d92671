// What the C++ tests share: rules and tiles made in a line, games played from text, random play, a key of a position.
#pragma once

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "carc/core/deck.hpp"
#include "carc/core/error.hpp"
#include "carc/core/json.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"
#include "carc/core/tile_data.hpp"

namespace carc::test {

// --- Rules and tiles ------------------------------------------------------------------------------------------------

// Rules from option names and values, as in {"players", 3}.
inline Rules rules_of(std::initializer_list<std::pair<const char*, Json>> options) {
  Rules rules;
  for (const auto& [name, value] : options) rules.set(name, value);
  return rules;
}

inline Json standard_json() { return Json::parse(kTilesJson); }

// A tile in the format of tiles.json; `edges` has one letter a side (F, R, C, W = river), N E S W.
inline Json tile(const std::string& id, int count, const std::string& edges, const std::vector<Json>& features) {
  const auto name = [](char c) { return c == 'F' ? "field" : c == 'R' ? "road" : c == 'C' ? "city" : "river"; };
  Json sides;
  for (std::size_t s = 0; s < 4; ++s) sides[std::string(1, kSideLetters[s])] = name(edges[s]);
  return {{"id", id}, {"count", count}, {"edges", sides}, {"features", features}};
}

// Features; a side is a letter.
inline Json on_sides(const char* kind, const std::string& sides) {
  Json edges = Json::array();
  for (const char side : sides) edges.push_back(std::string(1, side));
  return {{"kind", kind}, {"edges", edges}};
}
inline Json city(const std::string& sides, int shields = 0) {
  Json out = on_sides("city", sides);
  out["shields"] = shields;
  return out;
}
inline Json road(const std::string& sides) { return on_sides("road", sides); }
inline Json river(const std::string& sides) { return on_sides("river", sides); }
inline Json building(const char* kind) { return on_sides(kind, ""); }
inline Json field(const std::vector<int>& half_edges, const std::vector<int>& cities = {}) {
  return {{"kind", "field"}, {"half_edges", half_edges}, {"cities", cities}};
}

inline Json tile_set(const std::vector<Json>& base, const std::string& start) {
  return {{"name", "test"}, {"base", base}, {"start", start}};
}
inline std::shared_ptr<const TileSet> read(const Json& set) { return TileSet::from_json(set, "test"); }

// The standard tiles with more base tiles.
inline std::shared_ptr<const TileSet> standard_and(const std::vector<Json>& more) {
  Json set = standard_json();
  set["name"] = "standard and more";
  for (const Json& t : more) set["base"].push_back(t);
  return read(set);
}

inline std::vector<std::string> copies(std::size_t n, const std::string& id) { return std::vector<std::string>(n, id); }

// --- Games played from text -----------------------------------------------------------------------------------------

// A game that is told what to draw. A turn is written "D@0,-1r2 city:N"; the figure may be left out for none.
class Play {
 public:
  // The bag holds `tiles`, in any order.
  Play(const Rules& rules, const std::vector<std::string>& tiles, int first_player = 0)
      : Play(rules, tiles, "", Cell{}, 0, first_player) {}
  // With another start tile ("" = the rules' own).
  Play(const Rules& rules, const std::vector<std::string>& tiles, const std::string& start, Cell cell, unsigned rotation,
       int first_player = 0)
      : game_(Game::create(rules)),
        state(*game_, Start{start.empty() ? game_->start() : type(start), cell, static_cast<std::uint8_t>(rotation)},
              Deck::from_ids(*game_, tiles).bag(), first_player) {}

  const std::shared_ptr<const Game>& game() const { return game_; }
  TypeId type(const std::string& id) const { return game_->require<Error>(id).type; }

  // Draws and lays the tile; the figure is still to be decided.
  void lay(const std::string& placement) {
    state.apply_checked(Action::draw(type(placement.substr(0, placement.find('@')))));
    state.apply_checked(string_to_action(state, placement));
  }
  void figure(const std::string& text) { state.apply_checked(string_to_action(state, text)); }
  void turn(const std::string& text) {
    const std::size_t space = text.find(' ');
    lay(text.substr(0, space));
    figure(space == std::string::npos ? "-" : text.substr(space + 1));
  }
  void turns(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) turn(text);
  }
  // Draws a tile that must fit nowhere.
  void discard(const std::string& id) {
    state.apply_checked(Action::draw(type(id)));
    if (state.drawn_tile() >= 0) throw std::logic_error("tile " + id + " fits");
  }

  std::vector<int> scores() const { return each([&](int p) { return state.score(p); }); }
  std::vector<int> meeples() const { return each([&](int p) { return state.meeples(p); }); }
  std::vector<int> abbots() const { return each([&](int p) { return state.abbots(p); }); }
  std::vector<int> points(FeatureKind kind) const { return of(state.points(), kind); }
  // What would be paid if the game ended now.
  std::vector<int> projected(FeatureKind kind) const { return of(state.projected(), kind); }
  std::vector<std::string> legal() const {
    std::vector<std::string> out;
    for (int i = 0; i < state.num_legal_actions(); ++i) out.push_back(action_to_string(state, state.legal_action(i)));
    return out;
  }

 private:
  template <class Get>
  std::vector<int> each(Get get) const {
    std::vector<int> out;
    for (int p = 0; p < state.players(); ++p) out.push_back(get(p));
    return out;
  }
  std::vector<int> of(const Points& points, FeatureKind kind) const {
    return each([&](int p) { return points.by_kind[static_cast<std::size_t>(kind)][static_cast<std::size_t>(p)]; });
  }

  std::shared_ptr<const Game> game_;

 public:
  GameState state;
};

// A game whose bag holds exactly the tiles of `turns`, played to its end.
inline Play play(const Rules& rules, const std::vector<std::string>& turns, const std::vector<std::string>& more = {}) {
  std::vector<std::string> tiles = more;
  for (const std::string& turn : turns) tiles.push_back(turn.substr(0, turn.find('@')));
  Play game(rules, tiles);
  game.turns(turns);
  return game;
}

// --- Random play ----------------------------------------------------------------------------------------------------

template <class T>
const T& pick(const std::vector<T>& items, Rng& rng) {
  return items[rng.below(static_cast<std::uint32_t>(items.size()))];
}

// Every option (but the tiles) takes each of its values with equal probability.
inline Rules random_rules(Rng& rng) {
  Rules rules;
  for (const RulesOption& option : rules_options()) {
    if (option.name != "tiles") rules.set(option.name, Json::parse(pick(option.values, rng)));
  }
  return rules;
}

// A tile by its share of the bag, or any legal placement or figure decision with equal probability.
inline Action random_action(const GameState& state, Rng& rng) {
  if (state.phase() != Phase::kDraw) {
    return state.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(state.num_legal_actions()))));
  }
  const auto outcomes = state.chance_outcomes();
  int total = 0;
  for (const ChanceOutcome& o : outcomes) total += state.tiles_left(o.tile);
  auto n = static_cast<int>(rng.below(static_cast<std::uint32_t>(total)));
  for (const ChanceOutcome& o : outcomes) {
    if ((n -= state.tiles_left(o.tile)) < 0) return Action::draw(o.tile);
  }
  throw std::logic_error("no tile can be drawn");
}

// Plays random actions to the end; visit(state) sees every state, the last one included.
template <class Visit>
void play_randomly(GameState& state, Rng& rng, Visit visit) {
  visit(state);
  while (!state.is_terminal()) {
    state.apply(random_action(state, rng));
    visit(state);
  }
}

// A placement to decide in a game of random play, with at most `left` tiles in the bag.
inline GameState placement_with(const Game& game, std::uint64_t seed, int left) {
  Rng rng(seed);
  GameState state(game);
  while (state.tiles_left() > left || state.phase() != Phase::kPlace) state.apply(random_action(state, rng));
  return state;
}

// --- Files and errors -----------------------------------------------------------------------------------------------

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The message of the Error E that `call` throws; an empty text if it throws nothing.
template <class E, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

// --- A position as text ---------------------------------------------------------------------------------------------

// Everything that makes positions different, as seen on the table: what each side and half-edge of each cell belongs
// to (not how the tile was turned to show it), figures by where they stand, points, bag and whose decision it is.
inline std::string position_key(const GameState& state) {
  const auto turned = [](unsigned mask, unsigned by, unsigned width) {
    return (mask << by | mask >> (width - by)) & ((1u << width) - 1);
  };
  const auto place = [&](const LaidTile& t, const TileFeature& f) {
    return std::string(kFeatureKindNames[static_cast<std::size_t>(f.kind)]) + std::to_string(turned(f.sides, t.rotation, 4)) + "/" +
           std::to_string(turned(f.half_edges, 2u * t.rotation, 8)) + "*" + std::to_string(f.shields);
  };
  std::vector<std::string> parts;
  for (int i = 0; i < state.laid_tiles(); ++i) {
    const LaidTile t = state.laid_tile(i);
    const TileData& data = state.game().tile(t.type);
    std::vector<std::string> features;
    for (const TileFeature& f : data.type->features) {
      if (f.kind == FeatureKind::kGarden && !state.rules().abbot) continue;
      std::vector<std::string> cities;
      for (std::size_t c = 0; c < data.type->features.size(); ++c) {
        if (f.cities >> c & 1) cities.push_back(place(t, data.type->features[c]));
      }
      std::sort(cities.begin(), cities.end());
      std::string text = place(t, f);
      for (const std::string& c : cities) text += "+" + c;
      features.push_back(text);
    }
    std::sort(features.begin(), features.end());
    std::string text = "tile " + std::to_string(t.cell.x) + "," + std::to_string(t.cell.y) + " " + data.id;
    for (const std::string& f : features) text += " " + f;
    parts.push_back(text);
  }
  for (int i = 0; i < state.figures_on_board(); ++i) {
    const Figure f = state.figure(i);
    const LaidTile t = state.laid_tile(f.tile);
    parts.push_back("figure " + std::to_string(t.cell.x) + "," + std::to_string(t.cell.y) + " " +
                    place(t, state.game().tile(t.type).type->features[f.feature]) + " of " + std::to_string(f.player) +
                    (f.figure == FigureKind::kAbbot ? " abbot" : ""));
  }
  std::sort(parts.begin(), parts.end());
  std::string key;
  for (const std::string& part : parts) key += part + "\n";
  for (int t = 0; t < state.game().types(); ++t) key += std::to_string(state.tiles_left(static_cast<TypeId>(t))) + " ";
  for (const auto& kind : state.points().by_kind) {
    for (int p = 0; p < state.players(); ++p) key += std::to_string(kind[static_cast<std::size_t>(p)]) + " ";
  }
  key += std::string(kPhaseNames[static_cast<std::size_t>(state.phase())]) + " " + std::to_string(state.turn_player()) + " " +
         std::to_string(state.drawn_tile());
  if (state.phase() == Phase::kFigure) {
    const Cell last = state.laid_tile(state.laid_tiles() - 1).cell;
    key += " at " + std::to_string(last.x) + "," + std::to_string(last.y);
  }
  return key;
}

}  // namespace carc::test
