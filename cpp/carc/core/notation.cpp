#include "carc/core/notation.hpp"

#include <charconv>

#include "carc/core/error.hpp"
#include "carc/core/state.hpp"

namespace carc {
namespace {

std::string cell_text(Cell c) { return std::to_string(c.x) + "," + std::to_string(c.y); }

// Reads an integer at the front of `text` and drops it; false if there is none.
bool take_int(std::string_view& text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

// "x,y"; throws naming the whole text.
Cell take_cell(std::string_view& rest, std::string_view text) {
  int x = 0, y = 0;
  if (!take_int(rest, x) || !take(rest, ",") || !take_int(rest, y) || !cell_in_range(x, y)) {
    throw NotationError("found " + quote(std::string(text)) + ", expected coordinates x,y from -128 to 127");
  }
  return {static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
}

Action read_draw(const GameState& state, std::string_view text) {
  return Action::draw(state.game().require<NotationError>(std::string(text)).type);
}

Action read_placement(const GameState& state, std::string_view text) {
  const Game& game = state.game();
  std::string_view rest = text;
  const std::size_t at = rest.find('@');
  if (at == std::string_view::npos) {
    throw NotationError("found " + quote(std::string(text)) + ", expected a placement such as D@0,-1r2");
  }
  const std::string id(rest.substr(0, at));
  const TypeId type = game.require<NotationError>(id).type;
  if (static_cast<int>(type) != state.drawn_tile()) {
    throw IllegalAction("found a placement of tile " + id + ", expected the drawn tile " +
                        game.tile(static_cast<TypeId>(state.drawn_tile())).id);
  }
  rest.remove_prefix(at + 1);
  const Cell cell = take_cell(rest, text);
  int rotation = -1;
  if (!take(rest, "r") || !take_int(rest, rotation) || rotation < 0 || rotation > 3 || !rest.empty()) {
    throw NotationError("found " + quote(std::string(text)) + ", expected a rotation r0, r1, r2 or r3 at the end");
  }
  return Action::place(cell_key(cell), static_cast<unsigned>(rotation));
}

unsigned read_feature(const TileType& tile, std::string_view name, std::string_view text) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view part = colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  bool known_kind = false;
  for (std::size_t f = 0; f < tile.features.size(); ++f) {
    const TileFeature& feature = tile.features[f];
    if (kind != kFeatureKindNames[static_cast<std::size_t>(feature.kind)]) continue;
    known_kind = true;
    if (feature.kind == FeatureKind::kMonastery || feature.kind == FeatureKind::kGarden) {
      if (colon == std::string_view::npos) return static_cast<unsigned>(f);
    } else if (part.size() == 1) {
      if (feature.half_edges && part[0] >= '0' && part[0] <= '7' && (feature.half_edges >> (part[0] - '0') & 1)) {
        return static_cast<unsigned>(f);
      }
      for (std::size_t s = 0; s < 4; ++s) {
        if ((feature.sides >> s & 1) && part[0] == kSideLetters[s]) return static_cast<unsigned>(f);
      }
    }
  }
  std::string names;
  for (unsigned f = 0; f < tile.features.size(); ++f) names += (f ? ", " : "") + feature_name(tile, f);
  throw NotationError("found " + quote(std::string(text)) + ", expected " + (known_kind ? "a feature" : "one") +
                      " of tile " + tile.id + ": " + names);
}

Action read_figure(const GameState& state, std::string_view text) {
  if (text == "-") return Action::no_figure();
  std::string_view rest = text;
  if (take(rest, "back:")) {
    const Cell cell = take_cell(rest, text);
    if (!rest.empty()) throw NotationError("found " + quote(std::string(text)) + ", expected back:x,y");
    return Action::back(cell_key(cell));
  }
  const bool is_abbot = take(rest, "abbot:");
  const TileType& tile = *state.game().tile(static_cast<TypeId>(state.drawn_tile())).type;
  const unsigned f = read_feature(tile, rest, text);
  return is_abbot ? Action::abbot(f) : Action::meeple(f);
}

}  // namespace

std::string feature_name(const TileType& tile, unsigned f) {
  const TileFeature& feature = tile.features[f];
  const std::string kind = kFeatureKindNames[static_cast<std::size_t>(feature.kind)];
  if (feature.half_edges) return kind + ":" + std::to_string(std::countr_zero(feature.half_edges));
  if (feature.sides) return kind + ":" + kSideLetters[static_cast<std::size_t>(std::countr_zero(feature.sides))];
  return kind;
}

std::string action_to_string(const GameState& state, Action action) {
  const Game& game = state.game();
  switch (action.what()) {
    case Action::What::kDraw:
      return action.type() < game.types() ? game.tile(action.type()).id : "?";
    case Action::What::kPlace: {
      const int drawn = state.drawn_tile();
      return (drawn < 0 ? "?" : game.tile(static_cast<TypeId>(drawn)).id) + "@" + cell_text(action.cell()) + "r" +
             std::to_string(action.rotation());
    }
    case Action::What::kFigure:
      break;
  }
  switch (action.figure()) {
    case Action::Figure::kNone:
      return "-";
    case Action::Figure::kBack:
      return "back:" + cell_text(action.cell());
    default:
      break;
  }
  const std::string prefix = action.figure() == Action::Figure::kAbbot ? "abbot:" : "";
  const int drawn = state.drawn_tile();
  if (drawn < 0) return prefix + "feature " + std::to_string(action.feature());
  const TileType& tile = *game.tile(static_cast<TypeId>(drawn)).type;
  if (action.feature() >= tile.features.size()) return prefix + "feature " + std::to_string(action.feature());
  return prefix + feature_name(tile, action.feature());
}

Action string_to_action(const GameState& state, std::string_view text) {
  Action action = Action::no_figure();
  switch (state.phase()) {
    case Phase::kDraw:
      action = read_draw(state, text);
      break;
    case Phase::kPlace:
      action = read_placement(state, text);
      break;
    case Phase::kFigure:
      action = read_figure(state, text);
      break;
    case Phase::kOver:
      throw IllegalAction("found " + quote(std::string(text)) + ", expected no action: the game is over");
  }
  if (!state.is_legal(action)) throw IllegalAction(illegal_action_message(state, action));
  return action;
}

std::string illegal_action_message(const GameState& state, Action action) {
  constexpr int kMostShown = 6;
  std::string message = "found " + action_to_string(state, action) + " in phase " +
                        kPhaseNames[static_cast<std::size_t>(state.phase())] + ", expected ";
  const int n = state.num_legal_actions();
  if (n == 0) return message + "no action: the game is over";
  message += "one of " + std::to_string(n) + " legal actions: ";
  for (int i = 0; i < n && i < kMostShown; ++i)
    message += (i ? " " : "") + action_to_string(state, state.legal_action(i));
  return message + (n > kMostShown ? " ..." : "");
}

}  // namespace carc
