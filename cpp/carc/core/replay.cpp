#include "carc/core/replay.hpp"

#include <algorithm>
#include <set>

#include "carc/core/json.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/record_format.hpp"

namespace carc {
namespace {

Rules golden_rules(const Json& json) {
  if (json.contains("rules")) {
    Rules rules = Rules::from_json(json["rules"]);
    if (json.contains("players") && json["players"] != rules.players) {
      throw RecordError("players: found " + shown(json["players"]) + ", expected " + std::to_string(rules.players) +
                        " as in the rules");
    }
    const auto check = [&](const char* key, bool expected, const char* option) {
      if (!json.contains(key) || require_bool<RecordError>(json[key], key) == expected) return;
      throw RecordError(std::string(key) + ": found " + shown(json[key]) + ", expected " + shown(expected) +
                        " as in the rules, whose " + option + " is " + rules.to_json()[option].dump());
    };
    check("river", rules.river != River::kOff, "river");
    check("abbots", rules.abbot, "abbot");
    return rules;
  }
  Rules rules;
  rules.players =
      require_int<RecordError>(require_key<RecordError>(json, "players", "game"), kMinPlayers, kMaxPlayers, "players");
  if (json.contains("river") && require_bool<RecordError>(json["river"], "river")) rules.river = River::k2014;
  if (json.contains("abbots")) rules.abbot = require_bool<RecordError>(json["abbots"], "abbots");
  return rules;
}

Start read_start(const Game& game, const Json& json) {
  Start start{game.start()};
  if (!json.contains("start")) return start;
  const Json& s = require_object<RecordError>(json["start"], "start");
  start.type =
      game.require<RecordError>(require_string<RecordError>(require_key<RecordError>(s, "tile", "start"), "start tile"))
          .type;
  const auto coordinate = [&](const char* key) {
    return static_cast<std::int16_t>(
        require_int<RecordError>(require_key<RecordError>(s, key, "start"), -40, 40, std::string("start ") + key));
  };
  start.cell = {coordinate("x"), coordinate("y")};
  start.rotation = static_cast<std::uint8_t>(
      require_int<RecordError>(require_key<RecordError>(s, "rot", "start"), 0, 3, "start rot"));
  return start;
}

std::array<std::uint8_t, kMaxTypes> read_bag(const Game& game, const Json& json) {
  if (!json.contains("bag")) return game.bag();
  std::array<std::uint8_t, kMaxTypes> bag{};
  for (const auto& [id, copies] : require_object<RecordError>(json["bag"], "bag").items()) {
    std::uint8_t& all = bag[game.require<RecordError>(id).type];  // garden copies are added to their plain twins
    all = static_cast<std::uint8_t>(
        std::min(all + require_int<RecordError>(copies, 0, kMaxTiles, "bag " + quote(id)), 255));
  }
  return bag;
}

// Replays turns one by one and notes every stated value that differs.
class Replayer {
 public:
  Replayer(std::shared_ptr<const Game> game, const GameState& initial, Findings& findings)
      : record(std::move(game), initial), findings_(findings) {}

  GameRecord record;

  const GameState& state() const { return record.state(); }

  void compare(const std::string& what, const Json& found, const Json& expected) {
    ++findings_.values;
    if (found != expected) note(what + ": found " + shown(found) + ", the engine says " + shown(expected));
  }
  void note(const std::string& difference) { findings_.differences.push_back(where_ + difference); }
  void at(std::string where) { where_ = std::move(where); }

  void apply(Action action) {
    try {
      record.apply(action);
    } catch (const Error& e) {
      throw RecordError(where_ + e.what());
    }
  }

  // Draws the turn's tile. False if it left the game.
  bool draw(const Json& turn) {
    ++findings_.turns;
    if (state().is_terminal()) throw RecordError(where_ + "found another turn, expected none: the game is over");
    const std::string id =
        require_string<RecordError>(require_key<RecordError>(turn, "tile", where_ + "turn"), where_ + "tile");
    named_ = state().game().require<RecordError>(id);
    if (turn.contains("player")) compare("player", turn["player"], state().turn_player());
    apply(Action::draw(named_.type));
    const bool says_discarded =
        turn.contains("discarded") && require_bool<RecordError>(turn["discarded"], where_ + "discarded");
    ++findings_.values;
    if (says_discarded != (state().drawn_tile() < 0)) {
      throw RecordError(where_ + "found tile " + id +
                        (says_discarded ? " discarded, but it can be laid" : " laid, but it fits nowhere"));
    }
    return !says_discarded;
  }

  void place(const Json& turn) {
    const int x = coordinate(turn, "x"), y = coordinate(turn, "y");
    const int rotation =
        require_int<RecordError>(require_key<RecordError>(turn, "rot", where_ + "turn"), 0, 3, where_ + "rot");
    if (turn.contains("n_raw")) compare("n_raw", turn["n_raw"], raw_placements(named_.type));
    apply(Action::place(cell_key({static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)}),
                        static_cast<unsigned>(rotation)));
    if (turn.contains("spots")) compare("spots", sorted(turn["spots"]), spots());
  }

  int raw_placements(TypeId type) const {
    return state().placements(type).count() * 4 / state().game().tile(type).period;
  }

  void figure(const Json& turn) {
    apply(turn.contains("return_abbot") ? returned_abbot(turn)
                                        : read_figure(require_key<RecordError>(turn, "meeple", where_ + "turn")));
  }

  void compare_values(const Json& turn) {
    for (const char* key : {"scores", "meeples", "abbots"}) {
      if (turn.contains(key)) compare(key, turn[key], values(key));
    }
  }

  // The action that a golden turn's or case's figure object names.
  Action read_figure(const Json& meeple) {
    if (meeple.is_null()) return Action::no_figure();
    require_object<RecordError>(meeple, where_ + "meeple");
    if (meeple.contains("return")) {
      const Json& cell = require_array<RecordError>(meeple["return"], where_ + "return");
      if (cell.size() != 2) throw RecordError(where_ + "return: found " + shown(cell) + ", expected [x, y]");
      const auto part = [&](std::size_t i) {
        return static_cast<std::int16_t>(require_int<RecordError>(cell[i], -128, 127, where_ + "return"));
      };
      return Action::back(cell_key({part(0), part(1)}));
    }
    bool is_abbot = false;
    for (const char* key : {"who", "figure"}) {
      if (!meeple.contains(key)) continue;
      const std::string who = require_string<RecordError>(meeple[key], where_ + key);
      if (who != "abbot" && who != "normal")
        throw RecordError(where_ + key + ": found " + quote(who) + ", expected normal or abbot");
      is_abbot = who == "abbot";
    }
    const unsigned feature = read_feature(meeple);
    return is_abbot ? Action::abbot(feature) : Action::meeple(feature);
  }

  // The only way to take the abbot back, or an illegal action where there is none.
  Action returned_abbot(const Json& turn) {
    if (!require_bool<RecordError>(turn["return_abbot"], where_ + "return_abbot"))
      return read_figure(turn.value("meeple", Json()));
    for (int i = 0; i < state().num_legal_actions(); ++i) {
      const Action a = state().legal_action(i);
      if (a.figure() == Action::Figure::kBack && takes_abbot(state(), a)) return a;
    }
    throw RecordError(where_ + "found the abbot taken back, expected something else: that is not legal here");
  }
  Json values(const std::string& key) const {
    Json out = Json::array();
    for (int p = 0; p < state().players(); ++p) {
      out.push_back(key == "scores"    ? state().score(p) - state().final_count().total(p)
                    : key == "meeples" ? state().meeples(p)
                                       : state().abbots(p));
    }
    return out;
  }

  // Scores, or points from fields, of the finished game or if it ended now.
  Json final_values(bool fields_only) const {
    const Points extra = state().projected();
    Json out = Json::array();
    for (int p = 0; p < state().players(); ++p) {
      constexpr auto kField = static_cast<std::size_t>(FeatureKind::kField);
      const auto q = static_cast<std::size_t>(p);
      out.push_back(fields_only ? state().points().by_kind[kField][q] + extra.by_kind[kField][q]
                                : state().score(p) + extra.total(p));
    }
    return out;
  }

  const Game::Named& named() const { return named_; }
  const std::string& where() const { return where_; }

 private:
  int coordinate(const Json& turn, const char* key) {
    return require_int<RecordError>(require_key<RecordError>(turn, key, where_ + "turn"), -128, 127, where_ + key);
  }

  // A feature by its index in the named tile's list ("feature") or by its edges or half-edges.
  unsigned read_feature(const Json& meeple) {
    const std::string kind =
        require_string<RecordError>(require_key<RecordError>(meeple, "kind", where_ + "meeple"), where_ + "kind");
    const TileType& tile = *state().game().tile(named_.type).type;
    const auto is_kind = [&](std::size_t f) {
      return f < tile.features.size() && kind == kFeatureKindNames[static_cast<std::size_t>(tile.features[f].kind)];
    };
    if (meeple.contains("feature")) {
      const int index = require_int<RecordError>(meeple["feature"], 0, kMaxFeatures - 1, where_ + "feature");
      const std::uint8_t f = named_.feature[static_cast<std::size_t>(index)];
      if (!is_kind(f))
        throw RecordError(where_ + "meeple: found feature " + std::to_string(index) + " as " + quote(kind) +
                          ", which it is not on this tile");
      return f;
    }
    unsigned sides = 0, halves = 0;
    if (meeple.contains("edges")) {
      for (const Json& side : require_array<RecordError>(meeple["edges"], where_ + "edges")) {
        for (std::size_t s = 0; s < 4; ++s)
          sides |= static_cast<unsigned>(side == std::string(1, kSideLetters[s])) << s;
      }
    }
    if (meeple.contains("half_edges")) {
      for (const Json& h : require_array<RecordError>(meeple["half_edges"], where_ + "half_edges")) {
        halves |= 1u << require_int<RecordError>(h, 0, 7, where_ + "half_edges");
      }
    }
    for (std::size_t f = 0; f < tile.features.size(); ++f) {
      if (is_kind(f) && tile.features[f].sides == sides && tile.features[f].half_edges == halves)
        return static_cast<unsigned>(f);
    }
    throw RecordError(where_ + "meeple: found " + shown(meeple) + ", which names no feature of tile " + tile.id);
  }

  static Json sorted(const Json& list) {
    Json out = list;
    if (out.is_array())
      std::sort(out.begin(), out.end(), [](const Json& a, const Json& b) { return a.dump() < b.dump(); });
    return out;
  }

  Json spots() const {
    Json out = Json::array();
    for (int i = 1; i < state().num_legal_actions(); ++i) {
      Json spot = Json::parse(spot_json(state(), state().legal_action(i)).dump());
      if (spot.contains("feature")) spot["feature"] = named_.feature_back[spot["feature"].get<std::size_t>()];
      out.push_back(std::move(spot));
    }
    return sorted(out);
  }

  Findings& findings_;
  std::string where_;
  Game::Named named_{};
};

void compare_final(Replayer& replayer, const Json& final) {
  require_object<RecordError>(final, replayer.where() + "final");
  if (final.contains("scores")) replayer.compare("final scores", final["scores"], replayer.final_values(false));
  if (final.contains("from_fields"))
    replayer.compare("final from_fields", final["from_fields"], replayer.final_values(true));
  if (!final.contains("winners")) return;
  const Json scores = replayer.final_values(false);
  Json winners = Json::array();
  for (std::size_t p = 0; p < scores.size(); ++p) {
    if (scores[p] == *std::max_element(scores.begin(), scores.end())) winners.push_back(p);
  }
  replayer.compare("final winners", final["winners"], winners);
}

// --- Cases ----------------------------------------------------------------------------------------------------------

Rules case_rules(const Json& json, const Json& options) {
  Rules rules;
  rules.players =
      require_int<RecordError>(require_key<RecordError>(json, "players", "case"), kMinPlayers, kMaxPlayers, "players");
  if (json.contains("river") && require_bool<RecordError>(json["river"], "river")) {
    const Json set = json.value("river_set", Json("river"));
    if (set != "river" && set != "river_c2")
      throw RecordError("river_set: found " + shown(set) + ", expected river or river_c2");
    rules.river = set == "river" ? River::k2021 : River::k2014;
  }
  for (const auto& [key, value] : require_object<RecordError>(options, "rules").items()) {
    if (key == "two_tile_city") {
      if (value != "half" && value != "full")
        throw RecordError("two_tile_city: found " + shown(value) + ", expected half or full");
      rules.small_city = value == "half" ? 2 : 4;
    } else if (key == "farm_scoring") {
      rules.set("field_scoring", value == "first_edition" ? Json("city_2000")
                                 : value == "current"     ? Json("field")
                                                          : value);
    } else {
      rules.set(key, value);
    }
  }
  return rules;
}

// River tiles that the case does not lay are taken out of the bag, so that it may stop the river early.
std::array<std::uint8_t, kMaxTypes> case_bag(const Game& game, const Json& turns, int& ignored) {
  auto bag = game.bag();
  std::set<std::string> laid;
  for (const Json& turn : turns) {
    if (turn.is_object() && turn.contains("tile") && turn["tile"].is_string())
      laid.insert(turn["tile"].get<std::string>());
  }
  ignored = 0;
  for (int t = 0; t < game.types(); ++t) {
    const TileData& tile = game.tile(static_cast<TypeId>(t));
    if (!tile.is_river || laid.contains(tile.id)) continue;
    ignored += bag[static_cast<std::size_t>(t)];
    bag[static_cast<std::size_t>(t)] = 0;
  }
  return bag;
}

// The entries of expect[key] that speak of turn `turn`.
std::vector<Json> expected_at(const Json& expect, const char* key, const char* turn_key, std::size_t turn) {
  std::vector<Json> out;
  if (!expect.contains(key)) return out;
  for (const Json& entry : require_array<RecordError>(expect[key], key)) {
    if (require_key<RecordError>(entry, turn_key, key) == turn) out.push_back(entry);
  }
  return out;
}

void ask_before(Replayer& r, const Json& expect, std::size_t turn, int ignored) {
  const GameState& state = r.state();
  const auto type_of = [&](const Json& e) {
    return state.game()
        .require<RecordError>(require_string<RecordError>(require_key<RecordError>(e, "tile", "question"), "tile"))
        .type;
  };
  for (const Json& e : expected_at(expect, "placeable", "before_turn", turn)) {
    r.compare("placeable " + shown(e.at("tile")), e.at("n_raw"), r.raw_placements(type_of(e)));
  }
  for (const Json& e : expected_at(expect, "placement", "before_turn", turn)) {
    const int x = require_int<RecordError>(e.at("x"), -128, 127, "x"),
              y = require_int<RecordError>(e.at("y"), -128, 127, "y");
    const int rotation = require_int<RecordError>(e.at("rot"), 0, 3, "rot");
    const CellKey key = cell_key({static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)});
    r.compare("placement " + shown(e), e.at("legal"),
              state.can_place(type_of(e), key, static_cast<unsigned>(rotation)));
  }
  for (const Json& e : expected_at(expect, "deck", "before_turn", turn)) {
    r.compare("deck left", e.at("left"), state.tiles_left() + ignored);
    if (!e.contains("of")) continue;
    for (const auto& [id, n] : require_object<RecordError>(e["of"], "of").items()) {
      r.compare("deck of " + id, n, state.tiles_left(state.game().require<RecordError>(id).type));
    }
  }
}

void ask_figure(Replayer& r, const Json& expect, std::size_t turn) {
  const GameState& state = r.state();
  for (const Json& e : expected_at(expect, "meeple", "turn", turn)) {
    if (e.contains("player")) r.compare("meeple player", e["player"], state.turn_player());
    bool legal = false;
    const Json& meeple = require_key<RecordError>(e, "meeple", "question");
    const Json kind = meeple.is_object() ? meeple.value("kind", Json()) : Json();
    const bool is_no_place = kind == "river" || (kind == "garden" && !state.rules().abbot);
    if (!is_no_place) legal = state.is_legal(r.read_figure(meeple));
    r.compare("meeple " + shown(meeple), e.at("legal"), legal);
  }
  for (const Json& e : expected_at(expect, "abbot_return", "turn", turn)) {
    bool legal = false;
    for (int i = 0; i < state.num_legal_actions(); ++i) {
      const Action a = state.legal_action(i);
      legal |= a.figure() == Action::Figure::kBack && takes_abbot(state, a);
    }
    r.compare("abbot_return", e.at("legal"), legal);
  }
}

// Every question must be of a known kind and speak of a turn that exists.
void check_questions(const Json& expect, int turns) {
  constexpr std::array<const char*, 3> kAfterTurn = {"after", "meeple", "abbot_return"};
  constexpr std::array<const char*, 3> kBeforeTurn = {"placement", "placeable", "deck"};
  for (const auto& [key, entries] : expect.items()) {
    const bool is_after = std::find(kAfterTurn.begin(), kAfterTurn.end(), key) != kAfterTurn.end();
    const bool is_before = std::find(kBeforeTurn.begin(), kBeforeTurn.end(), key) != kBeforeTurn.end();
    if (key == "final") continue;
    if (!is_after && !is_before) {
      throw RecordError("expect: found " + quote(key) +
                        ", expected after, meeple, abbot_return, placement, placeable, deck or final");
    }
    const char* turn = is_after ? "turn" : "before_turn";
    for (const Json& e : require_array<RecordError>(entries, key)) {
      require_int<RecordError>(require_key<RecordError>(e, turn, key), 0, is_after ? turns - 1 : turns,
                               key + " " + turn);
    }
  }
}

void replay_variant(const Json& json, const Json& options, const Json& expect, const std::string& name,
                    Findings& findings) {
  require_object<RecordError>(expect, "expect");
  const auto game = Game::create(case_rules(json, options));
  const Json& turns = require_array<RecordError>(require_key<RecordError>(json, "turns", "case"), "turns");
  int ignored = 0;
  const auto bag = case_bag(*game, turns, ignored);
  const int first = json.contains("first_player")
                        ? require_int<RecordError>(json["first_player"], 0, kMaxPlayers - 1, "first_player")
                        : 0;
  Replayer r(game, GameState(*game, read_start(*game, json), bag, first), findings);
  check_questions(expect, static_cast<int>(turns.size()));
  for (std::size_t t = 0; t <= turns.size(); ++t) {
    r.at(name + "turn " + std::to_string(t) + ": ");
    ask_before(r, expect, t, ignored);
    if (t == turns.size()) break;
    require_object<RecordError>(turns[t], "turn");
    if (r.draw(turns[t])) {
      r.place(turns[t]);
      ask_figure(r, expect, t);
      r.figure(turns[t]);
    }
    for (const Json& e : expected_at(expect, "after", "turn", t)) r.compare_values(e);
  }
  r.at(name);
  if (expect.contains("final")) compare_final(r, expect["final"]);
}

}  // namespace

GameRecord replay_game(const Json& json, Findings& findings) {
  require_object<RecordError>(json, "game");
  const auto game = Game::create(golden_rules(json));
  const int first = json.contains("first_player")
                        ? require_int<RecordError>(json["first_player"], 0, game->rules().players - 1, "first_player")
                        : 0;
  Replayer r(game, GameState(*game, read_start(*game, json), read_bag(*game, json), first), findings);
  if (json.contains("agents")) {
    for (const Json& a : require_array<RecordError>(json["agents"], "agents"))
      r.record.agents.push_back(require_string<RecordError>(a, "agents"));
    if (r.record.agents.size() != static_cast<std::size_t>(game->rules().players)) {
      throw RecordError("agents: found " + std::to_string(r.record.agents.size()) + " names, expected " +
                        std::to_string(game->rules().players));
    }
  }
  if (json.contains("seed")) {
    if (!json["seed"].is_number_unsigned())
      throw RecordError("seed: found " + shown(json["seed"]) + ", expected an integer from 0 to 2^64 - 1");
    r.record.seed = json["seed"].get<std::uint64_t>();
  }
  const Json& turns = require_array<RecordError>(require_key<RecordError>(json, "turns", "game"), "turns");
  ++findings.games;
  for (std::size_t t = 0; t < turns.size(); ++t) {
    const Json& turn = turns[t];
    r.at("turn " + std::to_string(t) + ": ");
    require_object<RecordError>(turn, r.where() + "turn");
    if (!r.draw(turn)) continue;
    // A record may end inside a turn.
    const bool is_last = t + 1 == turns.size();
    if (is_last && !turn.contains("x")) break;
    r.place(turn);
    if (is_last && !turn.contains("meeple")) break;
    require_key<RecordError>(turn, "meeple", r.where() + "turn");
    r.figure(turn);
    r.compare_values(turn);
  }
  r.at("");
  if (json.contains("final") && !json["final"].is_null()) {
    if (!r.state().is_terminal()) {
      r.note("final: found a final count, but the game is not over: " + std::to_string(r.state().tiles_left()) +
             " tiles are left");
    }
    compare_final(r, json["final"]);
  }
  return r.record;
}

void replay_case(const Json& json, Findings& findings) {
  require_object<RecordError>(json, "case");
  ++findings.games;
  const Json options = json.value("rules", Json::object());
  replay_variant(json, options, require_key<RecordError>(json, "expect", "case"), "", findings);
  if (!json.contains("variants")) return;
  for (const Json& variant : require_array<RecordError>(json["variants"], "variants")) {
    Json merged = options;
    merged.update(require_object<RecordError>(require_key<RecordError>(variant, "rules", "variant"), "variant rules"));
    replay_variant(json, merged, require_key<RecordError>(variant, "expect", "variant"),
                   "variant " + shown(variant["rules"]) + ": ", findings);
  }
}

Findings verify_document(std::string_view text) {
  Findings findings;
  try {
    const Json json = parse_json<RecordError>(text, "document");
    if (json.is_object() && json.contains("format")) check_envelope(json, "carc-record", 1);
    if (json.is_object() && json.contains("expect"))
      replay_case(json, findings);
    else
      replay_game(json, findings);
    if (findings.values == 0) findings.differences.push_back("found no value to compare, expected at least one");
  } catch (const Error& e) {
    findings.differences.push_back(e.what());
  } catch (const Json::exception& e) {
    findings.differences.push_back(std::string("the document lacks something: ") + e.what());
  }
  return findings;
}

}  // namespace carc
