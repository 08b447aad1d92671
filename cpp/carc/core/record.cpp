#include "carc/core/record.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <sstream>

#include "carc/core/json.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/record_format.hpp"
#include "carc/core/replay.hpp"

namespace carc {
namespace {

constexpr const char* kFormat = "carc-record";
constexpr int kVersion = 1;

std::uint32_t crc32(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
      table[i] = c;
    }
    return table;
  }();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

// Scores without the final count, which is part of no turn.
OrderedJson turn_scores(const GameState& s) {
  OrderedJson out = OrderedJson::array();
  for (int p = 0; p < s.players(); ++p) out.push_back(s.score(p) - s.final_count().total(p));
  return out;
}

OrderedJson hand_list(const GameState& s, bool abbots) {
  OrderedJson out = OrderedJson::array();
  for (int p = 0; p < s.players(); ++p) out.push_back(abbots ? s.abbots(p) : s.meeples(p));
  return out;
}

OrderedJson start_json(const GameState& initial) {
  const LaidTile t = initial.laid_tile(0);
  return {{"tile", initial.game().tile(t.type).id}, {"x", t.cell.x}, {"y", t.cell.y}, {"rot", t.rotation}};
}

}  // namespace

std::string checksum(const Json& json) {
  Json copy = json;
  copy.erase("checksum");
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "crc32:%08x",
                crc32(copy.dump(-1, ' ', true, Json::error_handler_t::replace)));
  return text.data();
}

void check_envelope(const Json& json, const std::string& format, int version) {
  const std::string found = require_string<RecordError>(require_key<RecordError>(json, "format", "document"), "format");
  if (found != format) throw RecordError("format: found " + quote(found) + ", expected '" + format + "'");
  require_int<RecordError>(require_key<RecordError>(json, "version", "document"), version, version, "version");
  const std::string stated =
      require_string<RecordError>(require_key<RecordError>(json, "checksum", "document"), "checksum");
  if (const std::string expected = checksum(json); stated != expected) {
    throw RecordError("checksum: found " + quote(stated) + ", expected '" + expected +
                      "': the document was changed or damaged");
  }
}

bool takes_abbot(const GameState& state, Action back) {
  for (int i = 0; i < state.figures_on_board(); ++i) {
    const Figure f = state.figure(i);
    if (f.figure == FigureKind::kAbbot && state.laid_tile(f.tile).cell == back.cell()) return true;
  }
  return false;
}

OrderedJson spot_json(const GameState& state, Action action) {
  if (action.figure() == Action::Figure::kNone) return nullptr;
  if (action.figure() == Action::Figure::kBack) {
    OrderedJson out{{"return", {action.cell().x, action.cell().y}}};
    if (state.rules().abbot) out["who"] = takes_abbot(state, action) ? "abbot" : "normal";
    return out;
  }
  const TileData& tile = state.game().tile(static_cast<TypeId>(state.drawn_tile()));
  OrderedJson out{{"kind", kFeatureKindNames[static_cast<std::size_t>(tile.type->features[action.feature()].kind)]},
                  {"feature", action.feature()}};
  if (state.rules().abbot) out["who"] = action.figure() == Action::Figure::kAbbot ? "abbot" : "normal";
  return out;
}

GameRecord::GameRecord(std::shared_ptr<const Game> game, const GameState& initial)
    : game_(std::move(game)), initial_(initial), current_(initial) {
  if (initial.laid_tiles() != 1 || initial.discarded_tiles() != 0 || initial.drawn_tile() >= 0) {
    throw RecordError("record: found a state with " + std::to_string(initial.laid_tiles()) + " tiles laid in phase " +
                      kPhaseNames[static_cast<std::size_t>(initial.phase())] +
                      ", expected a new game before its first draw");
  }
}

void GameRecord::apply(Action action) {
  current_.apply_checked(action);
  actions_.push_back(action);
}

GameState GameRecord::replay(int n) const {
  GameState state = initial_;
  const std::size_t end = n < 0 ? actions_.size() : std::min(actions_.size(), static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < end; ++i) state.apply_checked(actions_[i]);
  return state;
}

std::string GameRecord::to_json(bool details) const {
  const Rules& rules = game_->rules();
  if (!agents.empty() && agents.size() != static_cast<std::size_t>(rules.players)) {
    throw RecordError("agents: found " + std::to_string(agents.size()) + " names, expected " +
                      std::to_string(rules.players));
  }
  OrderedJson out;
  out["format"] = kFormat;
  out["version"] = kVersion;
  out["rules"] = rules.to_json();
  out["players"] = rules.players;
  out["river"] = rules.river != River::kOff;
  out["abbots"] = rules.abbot;
  if (!agents.empty()) out["agents"] = agents;
  if (seed) out["seed"] = *seed;
  if (initial_.turn_player() != 0) out["first_player"] = initial_.turn_player();
  out["start"] = start_json(initial_);
  if (initial_.bag() != game_->bag()) {
    OrderedJson bag = OrderedJson::object();
    for (int t = 0; t < game_->types(); ++t) {
      if (const int copies = initial_.tiles_left(static_cast<TypeId>(t)))
        bag[game_->tile(static_cast<TypeId>(t)).id] = copies;
    }
    out["bag"] = bag;
  }
  OrderedJson turns = OrderedJson::array();
  GameState state = initial_;
  for (const Action action : actions_) {
    switch (action.what()) {
      case Action::What::kDraw: {
        const std::string id = game_->tile(action.type()).id;
        const int player = state.turn_player();
        state.apply_checked(action);
        if (state.drawn_tile() >= 0)
          turns.push_back({{"player", player}, {"tile", id}});
        else
          turns.push_back({{"tile", id}, {"discarded", true}});
        break;
      }
      case Action::What::kPlace: {
        OrderedJson& turn = turns.back();
        turn["x"] = action.cell().x;
        turn["y"] = action.cell().y;
        turn["rot"] = action.rotation();
        const int raw = state.placements().count() * 4 / game_->tile(static_cast<TypeId>(state.drawn_tile())).period;
        state.apply_checked(action);
        if (details) {
          turn["n_raw"] = raw;
          turn["spots"] = OrderedJson::array();
          for (int i = 1; i < state.num_legal_actions(); ++i)
            turn["spots"].push_back(spot_json(state, state.legal_action(i)));
        }
        break;
      }
      case Action::What::kFigure: {
        OrderedJson& turn = turns.back();
        turn["meeple"] = spot_json(state, action);
        state.apply_checked(action);
        turn["scores"] = turn_scores(state);
        turn["meeples"] = hand_list(state, false);
        if (rules.abbot) turn["abbots"] = hand_list(state, true);
        break;
      }
    }
  }
  out["turns"] = std::move(turns);
  if (state.is_terminal()) {
    OrderedJson scores = OrderedJson::array(), fields = OrderedJson::array();
    for (int p = 0; p < rules.players; ++p) {
      scores.push_back(state.score(p));
      fields.push_back(
          state.points().by_kind[static_cast<std::size_t>(FeatureKind::kField)][static_cast<std::size_t>(p)]);
    }
    out["final"] = {{"scores", scores}, {"from_fields", fields}};
  }
  try {
    out["checksum"] = checksum(Json::parse(out.dump()));
  } catch (const Json::exception&) {
    throw RecordError("agents: found a name that is not valid UTF-8");
  }
  return out.dump();
}

GameRecord GameRecord::from_json(std::string_view text) {
  const Json json = parse_json<RecordError>(text, "record");
  require_object<RecordError>(json, "record");
  if (json.contains("format")) check_envelope(json, kFormat, kVersion);
  Findings findings;
  GameRecord record = replay_game(json, findings);
  if (!findings.differences.empty()) throw RecordError(findings.differences.front());
  return record;
}

void TurnTexts::follow(const std::vector<Action>& actions) {
  for (; seen_ < actions.size(); ++seen_) {
    const Action action = actions[seen_];
    const std::string text = action_to_string(state_, action);
    state_.apply_checked(action);
    switch (action.what()) {
      case Action::What::kDraw:
        if (state_.drawn_tile() < 0) turns_.push_back(text + "!");
        break;
      case Action::What::kPlace:
        turns_.push_back(text);
        break;
      case Action::What::kFigure:
        turns_.back() += " " + text;
        break;
    }
  }
}

std::string start_text(const GameState& initial) {
  const LaidTile first = initial.laid_tile(0);
  return initial.game().tile(first.type).id + "@" + std::to_string(first.cell.x) + "," + std::to_string(first.cell.y) +
         "r" + std::to_string(first.rotation);
}

bool starts_as_usual(const GameState& initial) {
  const LaidTile first = initial.laid_tile(0);
  return first.type == initial.game().start() && first.cell == Cell{0, 0} && first.rotation == 0;
}

std::string GameRecord::to_text() const {
  std::string out;
  if (!starts_as_usual(initial_)) out += "start " + start_text(initial_) + "\n";
  if (initial_.turn_player() != 0) out += "first_player " + std::to_string(initial_.turn_player()) + "\n";
  if (initial_.bag() != game_->bag()) {
    out += "bag";
    for (int t = 0; t < game_->types(); ++t) {
      const auto type = static_cast<TypeId>(t);
      if (const int n = initial_.tiles_left(type)) out += " " + game_->tile(type).id + "=" + std::to_string(n);
    }
    out += "\n";
  }
  TurnTexts texts(initial_);
  texts.follow(actions_);
  for (const std::string& turn : texts.turns()) out += turn + "\n";
  if (current_.phase() == Phase::kPlace) out += game_->tile(static_cast<TypeId>(current_.drawn_tile())).id + "\n";
  return out;
}

namespace {

struct TextLine {
  int number;
  std::vector<std::string> words;
};

std::vector<TextLine> split_lines(std::string_view text) {
  constexpr std::size_t kLongest = 1 << 16;
  if (text.size() > kLongest)
    throw RecordError("moves: found " + std::to_string(text.size()) + " bytes, expected at most 65536");
  std::vector<TextLine> lines;
  std::istringstream stream{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    TextLine out{number, {}};
    for (std::string word; words >> word;) out.words.push_back(word);
    if (!out.words.empty()) lines.push_back(std::move(out));
  }
  return lines;
}

Start read_start(const Game& game, const std::string& word) {
  const std::size_t at = word.find('@');
  int x = 0, y = 0, rotation = 0, used = 0;
  if (at == std::string::npos || std::sscanf(word.c_str() + at, "@%3d,%3dr%1d%n", &x, &y, &rotation, &used) != 3 ||
      at + static_cast<std::size_t>(used) != word.size() || rotation < 0) {
    throw NotationError("start: found " + quote(word) + ", expected a tile such as R01@0,0r3");
  }
  return {game.require<NotationError>(word.substr(0, at)).type,
          {static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)},
          static_cast<std::uint8_t>(rotation)};
}

// "U=2": copies of a tile to draw.
void read_copies(const Game& game, const std::string& word, std::array<std::uint8_t, kMaxTypes>& bag) {
  const std::size_t equals = word.find('=');
  int copies = 0, used = 0;
  if (equals == std::string::npos || std::sscanf(word.c_str() + equals, "=%3d%n", &copies, &used) != 1 ||
      equals + static_cast<std::size_t>(used) != word.size() || copies < 0 || copies >= kMaxTiles) {
    throw NotationError("bag: found " + quote(word) + ", expected a tile and its copies such as U=2");
  }
  std::uint8_t& all = bag[game.require<NotationError>(word.substr(0, equals)).type];
  all = static_cast<std::uint8_t>(std::min(all + copies, 255));  // garden copies are added to their plain twins
}

}  // namespace

GameRecord GameRecord::from_text(std::string_view text, std::shared_ptr<const Game> game) {
  const std::vector<TextLine> lines = split_lines(text);
  Start start{game->start()};
  auto bag = game->bag();
  int first_player = 0;
  std::vector<std::string> given;
  std::size_t next = 0;
  for (; next < lines.size(); ++next) {
    const auto& [number, words] = lines[next];
    const bool is_pair = words.size() == 2;
    if (std::find(given.begin(), given.end(), words[0]) != given.end()) {
      throw RecordError("line " + std::to_string(number) + ": found another line " + quote(words[0]) +
                        ", expected at most one");
    }
    if (is_pair && words[0] == "start") {
      start = read_start(*game, words[1]);
    } else if (is_pair && words[0] == "first_player" && words[1].size() == 1 && words[1][0] >= '0' &&
               words[1][0] <= '4') {
      first_player = words[1][0] - '0';
    } else if (words[0] == "bag") {
      bag.fill(0);
      std::set<std::string> ids;
      for (std::size_t w = 1; w < words.size(); ++w) {
        if (!ids.insert(words[w].substr(0, words[w].find('='))).second)
          throw RecordError("bag: found " + quote(words[w]) + ", expected each tile once");
        read_copies(*game, words[w], bag);
      }
    } else {
      break;
    }
    given.push_back(words[0]);
  }
  GameRecord record(game, GameState(*game, start, bag, first_player));
  const GameState& state = record.state();
  for (; next < lines.size(); ++next) {
    const auto& [number, words] = lines[next];
    try {
      if (words.size() > 2)
        throw NotationError("found " + std::to_string(words.size()) + " words, expected a placement and a figure");
      const bool is_discard = words[0].ends_with('!');
      record.apply(
          string_to_action(state, words[0].substr(0, std::min(words[0].find('@'), words[0].size() - is_discard))));
      if (is_discard != (state.drawn_tile() < 0)) {
        throw IllegalAction("found " + quote(words[0]) + ", but that tile " +
                            (is_discard ? "can be laid" : "fits nowhere and is discarded"));
      }
      if (words[0].find('@') != std::string::npos) record.apply(string_to_action(state, words[0]));
      if (words.size() == 2) record.apply(string_to_action(state, words[1]));
      const bool is_last = next + 1 == lines.size();
      if (!is_last && state.phase() != Phase::kDraw && state.phase() != Phase::kOver) {
        throw NotationError("the turn is unfinished, expected a placement and a figure (or -)");
      }
    } catch (const Error& e) {
      throw RecordError("line " + std::to_string(number) + ": " + e.what());
    }
  }
  return record;
}

}  // namespace carc
