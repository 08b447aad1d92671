// The additive feature network: expected final points of every player as a sum over what lies on the board.
//
//   U(p) = score(p) + sum over claimed features of the points p will still get from them
//          + the points p will get from features that nobody has claimed yet
//
// One small perceptron a kind of feature judges each claimed feature (feature_inputs.hpp), one more judges what each
// player will still claim. Positions are judged between turns, before the next tile is drawn; before that the best
// complete turn of the player to move is.
//
// All turns of a position are judged in one call: the rows of the position are read once, and after each turn only
// those that depend on an open cell near the tile, or at the feature that was claimed, are read again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "carc/neural/feature_inputs.hpp"
#include "carc/neural/mlp.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

// The weights; immutable, shared by evaluators on all threads.
class FeatureNet {
 public:
  static constexpr const char* kFormat = "carc-feature-net";
  static constexpr float kUnit = 10;  // points that the outputs count in

  // Throws WeightsError for what is no such network, or one of another encoder.
  explicit FeatureNet(const Weights& weights);
  static std::shared_ptr<const FeatureNet> read(const std::string& path);

  // What a row gives, in points: to main, to the rival, to all others together; what main is corrected by (contained in
  // main), at the cost of all other players alike; and the share of the remaining game for which the figures are bound.
  struct Heads {
    float main, rival, others, correction, bound;
  };
  // Outputs of the weights by row: main, rival, others, correction, bound, complete.
  static constexpr int kHeads = 6;
  static constexpr int kPlayerHeads = 2;  // points from what is not claimed, correction

  // inputs: [n][kMostInputs].
  void judge(RowKind kind, const Inputs* inputs, int n, Heads* out) const;
  // inputs: [n][kPlayerInputs + 1], the last one computed; out: points.
  void judge_players(const float* inputs, int n, float* out) const {
    players_.forward(inputs, kPlayerInputs + 1, n, out);
  }

  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::array<Mlp, kRowKinds> rows_;
  Mlp players_;
  std::map<std::string, std::string> metadata_;
};

// A complete turn.
struct Turn {
  Action placement;  // of a position in phase Figure: no placement, equal to figure
  Action figure;
};

// Judges positions by a feature net. Holds scratch memory: one for each thread.
class FeatureEvaluator final : public Evaluator {
 public:
  explicit FeatureEvaluator(std::shared_ptr<const FeatureNet> net, float prior_scale = 5);
  ~FeatureEvaluator() override;

  // Places and figures are judged by the best turn that they allow; priors are softmax(advantage / prior_scale).
  void evaluate(std::span<const Evaluation> batch, Rng& rng) override;
  using Evaluator::evaluate;
  bool judges_actions() const override { return true; }
  bool has_priors() const override { return true; }

  // Expected final points of each player.
  Values value(const GameState& state);
  // Of every complete turn of a position in phase Place or Figure, in the order of legal actions, placement before
  // figure. The spans are valid until the next call.
  struct Turns {
    std::span<const Turn> turns;
    std::span<const Values> values;
  };
  Turns judge_turns(const GameState& state);
  const FeatureNet& net() const { return *net_; }

 private:
  struct Scratch;
  Values best_value(const GameState& state);

  std::shared_ptr<const FeatureNet> net_;
  float prior_scale_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace carc
