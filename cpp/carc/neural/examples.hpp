// What the feature net learns from: positions of finished games, with what each claimed feature brought in the end.
//
// Labels are dense. For every feature that holds a figure at a position: the points that main, the rival and all others
// got from it, following it through later merges; where several features of the position end up in one, its points are
// shared between them by their sizes. For every player: the points from what was not claimed at the position. So the
// labels of a position add up to the points that were still to come.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "carc/neural/feature_net.hpp"
#include "carc/neural/game_arrays.hpp"

namespace carc {

struct ExampleOptions {
  double keep = 0.3;           // share of the positions that are kept
  double keep_explored = 0.7;  // of those after a turn that was not thought best
  // Target of a position: lambda of the outcome (or of what the next positions are worth), the rest of what the game's
  // agent thought after the next draw: TD(lambda), Sutton and Barto, Reinforcement Learning (2018), chapter 12. A trace
  // ends where the game left what was thought best. 1 = the outcome alone.
  double lambda = 1;
  // Instead: the mean over the next draws of the best turn's value, by this network.
  std::shared_ptr<const FeatureNet> bag_average;
  std::uint64_t seed = 0;  // which positions are kept: split(seed, number of the game)
};

struct Examples {
  // By position.
  std::vector<std::int32_t> game;  // index in the arrays
  std::vector<std::uint8_t> turn, players, next, tiles_left;
  std::vector<std::int16_t> score, final_scores;  // [position][kMaxPlayers], 0 for seats that are not there
  std::vector<float> target;                      // [position][kMaxPlayers] final points to learn

  struct Rows {
    std::vector<std::uint8_t> inputs;  // [row][inputs of the kind]
    std::vector<std::int32_t> position;
    std::vector<std::uint8_t> main, rival;  // rival kNone: nobody
    std::vector<std::uint8_t> figures;      // [row][2] of main, of the rival
    std::vector<float> targets;             // [row][5] points of main, rival (NaN: nobody), others; bound; complete
  };
  std::array<Rows, kRowKinds> rows;

  std::vector<std::uint8_t> player_inputs;  // [row][kPlayerInputs]
  std::vector<std::int32_t> player_position;
  std::vector<std::uint8_t> player;
  std::vector<float> player_targets;  // points from what was not claimed

  void append(const Examples& other);
};

// Replays the games, which are numbered from `first_game` on, and reads the positions that are kept, in order. The
// result does not depend on the number of threads. Throws RecordError naming the game and the turn for illegal games.
// `interrupted` is asked now and then; true ends the run with what there is of the first games.
Examples read_examples(const std::shared_ptr<const Game>& game, const GameArrays& games, std::uint64_t first_game,
                       const ExampleOptions& options, int threads, const std::function<bool()>& interrupted = {});

}  // namespace carc
