#include "carc/neural/plane_examples.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "carc/core/error.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

void require_size(const std::string& name, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  throw RecordError("games: " + name + ": found " + std::to_string(found) + " numbers, expected " +
                    std::to_string(expected));
}

}  // namespace

PlaneExamples::PlaneExamples(std::shared_ptr<const Game> game, GameArrays games)
    : game_(std::move(game)), games_(std::move(games)) {
  const auto players = static_cast<std::size_t>(game_->rules().players);
  first_turn_.push_back(0);
  for (const std::uint16_t turns : games_.game_turns) first_turn_.push_back(first_turn_.back() + turns);
  const std::size_t turns = first_turn_.back();
  require_size("final", games_.final_scores.size(), players * games_.game_turns.size());
  require_size("tile", games_.tile.size(), turns);
  require_size("placement", games_.placement.size(), turns);
  require_size("figure", games_.figure.size(), turns);
  if (games_.value.empty()) games_.value.assign(turns * players, std::numeric_limits<float>::quiet_NaN());
  require_size("value", games_.value.size(), turns * players);
  if (games_.policy_size.empty()) games_.policy_size.assign(2 * turns, 0);
  require_size("policy_size", games_.policy_size.size(), 2 * turns);
  first_policy_.push_back(0);
  for (const std::uint16_t size : games_.policy_size) first_policy_.push_back(first_policy_.back() + size);
  require_size("policy_action", games_.policy_action.size(), first_policy_.back());
  require_size("policy_share", games_.policy_share.size(), first_policy_.back());
  cell_points_.resize(games_.game_turns.size());
  for (std::size_t g = 0; g < games_.game_turns.size(); ++g) replay(g);
}

void PlaneExamples::replay(std::size_t g) {
  GameState state(*game_);
  const std::size_t first = first_turn_[g];
  const std::uint16_t turns = games_.game_turns[g];
  std::vector<CellPoints>& paid = cell_points_[g];
  for (std::uint16_t t = 0; t < turns; ++t) {
    const std::size_t at = first + t;
    const auto add = [&](Phase phase) {
      const bool has_policy = phase != Phase::kDraw && games_.policy_size[2 * at + (phase == Phase::kFigure)] > 0;
      examples_.push_back({static_cast<std::uint32_t>(g), t, phase, has_policy});
    };
    try {
      state.apply_checked(Action::draw(games_.tile[at]));
      if (games_.placement[at] == kDiscarded) {
        if (state.drawn_tile() >= 0) throw RecordError("found a discarded tile that fits");
        continue;
      }
      add(Phase::kDraw);
      add(Phase::kPlace);
      state.apply_checked(Action::from_bits(games_.placement[at]));
      add(Phase::kFigure);
      const GameState before = state;
      const Action figure = Action::from_bits(games_.figure[at]);
      state.apply_checked(figure);
      if (!(state.points() == before.points())) add_completed(before, figure, t, paid);
    } catch (const Error& error) {
      throw RecordError("games: game " + std::to_string(g) + ", turn " + std::to_string(t) + ": " + error.what());
    }
  }
  const std::string where = "games: game " + std::to_string(g) + ": ";
  if (!state.is_terminal()) throw RecordError(where + "found no end after its turns");
  for (int p = 0; p < state.players(); ++p) {
    const std::int16_t found =
        games_.final_scores[g * static_cast<std::size_t>(state.players()) + static_cast<std::size_t>(p)];
    if (found != state.score(p)) {
      throw RecordError(where + "found " + std::to_string(found) + " points of player " + std::to_string(p) +
                        ", expected " + std::to_string(state.score(p)) + " by its turns");
    }
  }
  add_final_count(state, turns, paid);
}

GameState PlaneExamples::state_at(const PlaneExample& example) const {
  GameState state(*game_);
  const std::size_t first = first_turn_[example.game];
  for (std::size_t at = first; at < first + example.turn; ++at) {
    state.apply(Action::draw(games_.tile[at]));
    if (games_.placement[at] == kDiscarded) continue;
    state.apply(Action::from_bits(games_.placement[at]));
    state.apply(Action::from_bits(games_.figure[at]));
  }
  const std::size_t at = first + example.turn;
  if (example.phase != Phase::kDraw) state.apply(Action::draw(games_.tile[at]));
  if (example.phase == Phase::kFigure) state.apply(Action::from_bits(games_.placement[at]));
  return state;
}

void PlaneExamples::add_policy(const PlaneExample& example, const GameState& state, const PlaneInput& input,
                               std::int64_t row, PlaneTargets& out) const {
  if (!example.has_policy) return;
  const std::size_t decision = 2 * (first_turn_[example.game] + example.turn) + (example.phase == Phase::kFigure);
  for (std::size_t i = first_policy_[decision]; i < first_policy_[decision + 1]; ++i) {
    const Action action = Action::from_bits(games_.policy_action[i]);
    if (!state.is_legal(action)) {
      throw RecordError("games: game " + std::to_string(example.game) + ", turn " + std::to_string(example.turn) +
                        ": found an illegal action in its policy");
    }
    const PolicyPlace place = policy_place(state, input, action);
    out.policy_row.push_back(row);
    out.policy_index.push_back(static_cast<std::int64_t>(place.index(out.batch.height, out.batch.width)));
    out.policy_share.push_back(games_.policy_share[i]);
  }
}

PlaneTargets PlaneExamples::batch(std::span<const std::int64_t> indices) const {
  const std::size_t n = indices.size();
  std::vector<PlaneInput> inputs(n);
  std::vector<const PlaneInput*> pointers;
  std::vector<GameState> states;
  states.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (indices[i] < 0 || static_cast<std::size_t>(indices[i]) >= examples_.size()) {
      throw Error("indices: found " + std::to_string(indices[i]) + ", expected 0 to " +
                  std::to_string(static_cast<std::int64_t>(examples_.size()) - 1));
    }
    states.push_back(state_at(examples_[static_cast<std::size_t>(indices[i])]));
    encode_planes(states.back(), inputs[i]);
    pointers.push_back(&inputs[i]);
  }
  PlaneTargets out;
  out.batch.assign(pointers);
  out.base.assign(n * kMaxPlayers, 0);
  out.final = out.searched = out.base;
  out.lead.resize(n);
  const auto width = static_cast<std::size_t>(out.batch.width),
             cells = width * static_cast<std::size_t>(out.batch.height);
  out.cells.assign(n * kMaxPlayers * cells, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const PlaneExample& example = examples_[static_cast<std::size_t>(indices[i])];
    const PlaneInput& input = inputs[i];
    const auto players = static_cast<std::size_t>(input.players);
    Values by_player{};
    for (std::size_t p = 0; p < players; ++p) {
      const std::size_t at = i * kMaxPlayers + static_cast<std::size_t>(input.relative(static_cast<int>(p)));
      by_player[p] = static_cast<float>(games_.final_scores[example.game * players + p]);
      out.final[at] = by_player[p];
      out.searched[at] = games_.value[(first_turn_[example.game] + example.turn) * players + p];
    }
    std::copy(input.base.begin(), input.base.end(), out.base.begin() + static_cast<std::ptrdiff_t>(i * kMaxPlayers));
    out.lead[i] = lead(by_player, input.perspective, input.players);
    for (const CellPoints& paid : cell_points_[example.game]) {
      if (paid.turn < example.turn) continue;
      const int y = paid.cell.y - input.origin.y, x = paid.cell.x - input.origin.x;
      if (y < 0 || x < 0 || y >= input.height || x >= input.width) continue;
      const std::size_t plane = i * kMaxPlayers + static_cast<std::size_t>(input.relative(paid.player));
      out.cells[plane * cells + static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] += paid.points;
    }
    add_policy(example, states[i], input, static_cast<std::int64_t>(i), out);
  }
  return out;
}

}  // namespace carc
