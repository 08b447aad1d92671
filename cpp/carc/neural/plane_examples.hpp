// Self-play games as examples for the network on board planes, rebuilt by replay when they are asked for: the planes of
// all positions of some thousand games would fill any memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carc/neural/cell_points.hpp"
#include "carc/neural/game_arrays.hpp"
#include "carc/neural/planes.hpp"

namespace carc {

// What a position was in its game.
struct PlaneExample {
  std::uint32_t game = 0;
  std::uint16_t turn = 0;
  Phase phase = Phase::kDraw;  // of the turn: before the draw, the placement or the figure
  bool has_policy = false;
};

// Inputs and targets of some examples; players are relative, as in planes.hpp, and unused seats zero.
struct PlaneTargets {
  PlaneBatch batch;
  std::vector<float> base;      // [N, 5] PlaneInput::base
  std::vector<float> final;     // [N, 5] points at the end
  std::vector<float> searched;  // [N, 5] points that the search foresaw; NaN: not known
  std::vector<float> lead;      // [N] final lead of relative player 0 in points
  std::vector<float> cells;     // [N, 5, height, width] points paid from now on, by the tile they came from
  // The policy as entries: row of the batch, place in a row of logits (PolicyPlace::index), share.
  std::vector<std::int64_t> policy_row, policy_index;
  std::vector<float> policy_share;
};

class PlaneExamples {
 public:
  // Replays all games. Throws RecordError naming the game and turn that the rules do not allow.
  PlaneExamples(std::shared_ptr<const Game> game, GameArrays games);

  const std::vector<PlaneExample>& examples() const { return examples_; }
  // Throws Error for an index out of range.
  PlaneTargets batch(std::span<const std::int64_t> indices) const;

 private:
  void replay(std::size_t game);
  GameState state_at(const PlaneExample& example) const;
  void add_policy(const PlaneExample& example, const GameState& state, const PlaneInput& input, std::int64_t row,
                  PlaneTargets& out) const;

  std::shared_ptr<const Game> game_;
  GameArrays games_;
  std::vector<std::size_t> first_turn_;               // [G + 1]
  std::vector<std::size_t> first_policy_;             // [2 T + 1]
  std::vector<std::vector<CellPoints>> cell_points_;  // [G] by turn
  std::vector<PlaneExample> examples_;
};

}  // namespace carc
