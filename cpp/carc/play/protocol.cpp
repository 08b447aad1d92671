#include "carc/play/protocol.hpp"

#include "carc/core/notation.hpp"

namespace carc {
namespace {

Json read_reply(std::string_view line, const std::string& id) {
  const Json json = parse_json<ProtocolError>(line, "the answer " + quote(std::string(line.substr(0, 200))));
  require_object<ProtocolError>(json, "the answer");
  const Json& found = require_key<ProtocolError>(json, "id", "the answer " + shown(json));
  if (found != Json(id)) throw StaleAnswer("id: found " + shown(found) + ", expected " + shown(Json(id)));
  if (json.contains("error")) {
    const Json& error = json["error"];
    throw ErrorAnswer(error.is_string() ? error.get<std::string>() : shown(error));
  }
  return json;
}

}  // namespace

std::string hello_request(const std::string& id) {
  return OrderedJson{{"id", id}, {"action", "hello"}, {"protocol", kProtocolVersion}, {"game", "carcassonne"}}.dump();
}

GameRequests::GameRequests(const GameRecord& game) : game_(&game), texts_(game.initial_state()) {
  const GameState& initial = game.initial_state();
  fixed_["action"] = "move";
  fixed_["rules"] = game.game()->rules().to_json();
  fixed_["players"] = initial.players();
  if (!starts_as_usual(initial)) fixed_["start"] = start_text(initial);
  if (initial.turn_player() != 0) fixed_["first_player"] = initial.turn_player();
  if (initial.bag() != game.game()->bag()) {
    OrderedJson bag = OrderedJson::object();
    for (int t = 0; t < game.game()->types(); ++t) {
      const auto type = static_cast<TypeId>(t);
      if (const int copies = initial.tiles_left(type)) bag[game.game()->tile(type).id] = copies;
    }
    fixed_["bag"] = bag;
  }
}

std::string GameRequests::move_request(const std::string& id, const Allowance& allowance) {
  const GameState& state = game_->state();
  texts_.follow(game_->actions());
  OrderedJson json{{"id", id}};
  json.update(fixed_);
  json["moves"] = texts_.turns();
  json["phase"] = kPhaseNames[static_cast<std::size_t>(state.phase())];
  json["player"] = state.turn_player();
  json["tile"] = state.game().tile(static_cast<TypeId>(state.drawn_tile())).id;
  OrderedJson& legal = json["legal"] = OrderedJson::array();
  ActionList actions;
  state.legal_actions(actions);
  for (const Action action : actions) legal.push_back(action_to_string(state, action));
  json["maxTime"] = allowance.seconds;
  if (allowance.visits > 0) json["maxVisits"] = allowance.visits;
  json["seed"] = allowance.seed;
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

void read_hello(std::string_view line, const std::string& id) {
  const Json json = read_reply(line, id);
  require_int<ProtocolError>(require_key<ProtocolError>(json, "protocol", "the answer to hello"), kProtocolVersion,
                             kProtocolVersion, "protocol");
}

Answer read_answer(std::string_view line, const std::string& id) {
  const Json json = read_reply(line, id);
  Answer answer;
  answer.move = require_string<ProtocolError>(require_key<ProtocolError>(json, "move", "the answer"), "move");
  const auto root = json.find("rootInfo");
  if (root == json.end() || !root->is_object()) return answer;
  const auto visits = root->find("visits");
  if (visits != root->end() && visits->is_number_unsigned())
    answer.visits = static_cast<std::int64_t>(std::min(visits->get<std::uint64_t>(), std::uint64_t{1} << 53));
  return answer;
}

}  // namespace carc
