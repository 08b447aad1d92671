// Simulations in one tree; see mcts.hpp.
#pragma once

#include <vector>

#include "carc/search/evaluator.hpp"
#include "carc/search/mcts.hpp"
#include "carc/search/tree.hpp"

namespace carc {

// The last place of each move in a simulation.
class AmafTable {
 public:
  void clear();
  void put(const Move& move, std::size_t place);
  int last(const Move& move) const;  // -1: not made

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t round = 0;
    std::int32_t place = 0;
  };
  std::vector<Entry> entries_ = std::vector<Entry>(1024);
  std::uint32_t round_ = 0;
};

class TreeSearch {
 public:
  // Sums over the simulations that began with each action of the root, by player.
  struct RootSums {
    std::vector<std::int64_t> visits;
    std::vector<std::array<double, kMaxPlayers>> utility, points, points_squared;
  };

  // A new tree for the state in the memory of `tree`. The sampled deck and all chances come from `seed`, the root's
  // noise from `noise_seed`, which is the same for all trees.
  TreeSearch(const MctsOptions& options, Evaluator& evaluator, Tree& tree, const GameState& state, std::uint64_t seed,
             std::uint64_t noise_seed);

  // One simulation; `root_action` < 0: by the selection rule.
  void simulate(int root_action = -1);
  static NodeLayout layout(const MctsOptions& options, const Evaluator& evaluator, int players);

  const RootSums& root_sums() const { return sums_; }
  Tree::Node& root() { return tree_[root_]; }
  // Most visited actions from the root on, the first given.
  std::vector<Action> line(int root_action);

 private:
  struct Step {
    Tree::Offset node;
    int edge;
    std::int8_t tile;
    std::size_t moves;  // made before this one
  };

  Tree::Offset expand(const GameState& state);
  Tree::Offset admit(const GameState& state, Tree::Offset node);
  void judge(const GameState& state);
  void set_action(Tree::Node& node, int i, int judged);
  int select(Tree::Node& node, bool masked);
  int pick_outcome(Tree::Node& node, const GameState& state);
  void draw(GameState& state);
  Values evaluate(const GameState& state);
  void back_up(const Values& points);
  void update_amaf(const Values& utility);
  void add_root_noise(std::uint64_t seed);

  const MctsOptions& options_;
  Evaluator& evaluator_;
  Tree& tree_;
  NodeLayout layout_;

  GameState root_state_;
  Tree::Offset root_ = 0;
  Values root_mean_{};
  Rng rng_;
  std::uint64_t draws_seed_;
  std::uint64_t drawn_ = 0;  // stands for the tiles drawn in this simulation
  std::array<TypeId, kMaxTiles> deck_;
  RootSums sums_;
  std::vector<Step> path_;
  std::vector<Move> moves_;
  AmafTable amaf_;
  ActionList actions_;
  // By action of the position judged last.
  std::array<Values, ActionList::kCapacity> after_;
  std::array<float, ActionList::kCapacity> priors_;
  // By action of the node in hand, which in open loop may have more than one position.
  std::vector<float> scores_;
  std::vector<char> legal_;
};

}  // namespace carc
