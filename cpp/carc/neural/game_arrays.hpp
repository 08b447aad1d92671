// Games in columns: every turn of many games, as they are kept for training.
#pragma once

#include <cstdint>
#include <vector>

namespace carc {

inline constexpr std::uint32_t kDiscarded = 0xFFFFFFFF;  // instead of a placement: the tile fitted nowhere

struct GameArrays {
  int players = 0;
  std::vector<std::uint16_t> game_turns;   // [game] tiles drawn, the discarded ones included
  std::vector<std::int16_t> final_scores;  // [game][player]
  // By turn of all games, one after the other.
  std::vector<std::uint8_t> tile;        // type that was drawn
  std::vector<std::uint32_t> placement;  // bits of the action, or kDiscarded
  std::vector<std::uint32_t> figure;     // bits of the action
  std::vector<std::uint8_t> explored;    // 1: not what was thought best
  std::vector<float> value;              // [turn][player] final points expected before the choice; NaN: not known
  // What a search thought of the actions, by decision (placement, figure of every turn): how many actions, and for each
  // its bits and its share of the visits. No actions: the decision was not searched in full.
  std::vector<std::uint16_t> policy_size;
  std::vector<std::uint32_t> policy_action;
  std::vector<float> policy_share;

  std::size_t games() const { return game_turns.size(); }
  std::size_t turns() const { return tile.size(); }
  void append(const GameArrays& other);
};

}  // namespace carc
