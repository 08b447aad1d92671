#include "carc/play/luck.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "carc/search/utility.hpp"

namespace carc {
namespace {

constexpr std::size_t kPlaces = 2;  // whose figures are looked at

}  // namespace

LuckMeter::Turn LuckMeter::best_turn(const GameState& drawn) {
  const int player = drawn.turn_player(), players = drawn.players();
  ActionList actions;
  std::array<Values, ActionList::kCapacity> after;
  drawn.legal_actions(actions);
  heuristic_.values_after(drawn, actions, after.data());
  // The most promising places, best first; of equal ones the first.
  struct Place {
    float lead = -std::numeric_limits<float>::infinity();
    int index = 0;
  };
  std::array<Place, kPlaces + 1> places;
  for (int i = 0; i < actions.size(); ++i) {
    std::size_t at = kPlaces;
    places[at] = {lead(after[static_cast<std::size_t>(i)], player, players), i};
    for (; at > 0 && places[at].lead > places[at - 1].lead; --at) std::swap(places[at], places[at - 1]);
  }
  const std::size_t looked_at = std::min(kPlaces, static_cast<std::size_t>(actions.size()));
  Turn best{drawn, {}};
  float most = -std::numeric_limits<float>::infinity();
  ActionList figures;
  for (std::size_t p = 0; p < looked_at; ++p) {
    GameState placed = drawn;
    placed.apply(actions[places[p].index]);
    placed.legal_actions(figures);
    heuristic_.values_after(placed, figures, after.data());
    int chosen = -1;
    for (int i = 0; i < figures.size(); ++i) {
      const float u = lead(after[static_cast<std::size_t>(i)], player, players);
      if (u > most) most = u, chosen = i;
    }
    if (chosen < 0) continue;
    best.values = after[static_cast<std::size_t>(chosen)];
    if (!values_) continue;
    best.after = placed;
    best.after.apply(figures[chosen]);
  }
  return best;
}

Luck LuckMeter::of_draw(const GameState& state, TypeId tile) {
  assert(state.is_chance_node() && state.can_draw(tile));
  if (!state.can_be_laid(tile)) return {};
  std::vector<TypeId> types;
  for (int t = 0; t < state.game().types(); ++t) {
    const auto type = static_cast<TypeId>(t);
    if (state.can_draw(type) && state.can_be_laid(type)) types.push_back(type);
  }
  if (types.size() == 1) return {};
  std::vector<Values> values(types.size());
  std::vector<GameState> open;  // positions after the turns that do not end the game, where `values_` judges
  std::vector<Evaluation> batch;
  open.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    GameState drawn = state;
    drawn.apply(Action::draw(types[i]));
    const Turn turn = best_turn(drawn);
    values[i] = turn.values;
    if (!values_ || turn.after.is_terminal()) continue;
    Evaluation& asked = batch.emplace_back();
    asked.state = &open.emplace_back(turn.after);
    asked.value = &values[i];
  }
  if (!batch.empty()) {
    Rng rng(0);  // the same for every draw: V is a function of the state and the tile
    values_->evaluate(batch, rng);
  }
  const auto players = static_cast<std::size_t>(state.players());
  std::array<double, kMaxPlayers> surplus{};  // l(s, x) by player
  double copies = 0, sum = 0;
  for (const TypeId type : types) copies += state.tiles_left(type);
  for (std::size_t p = 0; p < players; ++p) {
    double mean = 0, own = 0;
    for (std::size_t i = 0; i < types.size(); ++i) {
      mean += state.tiles_left(types[i]) / copies * static_cast<double>(values[i][p]);
      if (types[i] == tile) own = static_cast<double>(values[i][p]);
    }
    sum += surplus[p] = own - mean;
  }
  Luck luck{};
  for (std::size_t p = 0; p < players; ++p)
    luck[p] = surplus[p] - (sum - surplus[p]) / static_cast<double>(players - 1);
  return luck;
}

std::vector<DrawLuck> luck_of(const GameRecord& record, LuckMeter& meter) {
  std::vector<DrawLuck> draws;
  GameState state = record.initial_state();
  for (const Action action : record.actions()) {
    if (state.is_chance_node())
      draws.push_back({action.type(), state.turn_player(), meter.of_draw(state, action.type())});
    state.apply(action);
  }
  return draws;
}

}  // namespace carc
