#include "carc/search/tree_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "carc/search/rollout.hpp"

namespace carc {
namespace {

constexpr float kFirst = 1e6F;  // score of an action that is to be tried before all that were visited

// Gamma(alpha, 1): Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
double gamma_sample(double alpha, Rng& rng) {
  if (alpha < 1) return gamma_sample(alpha + 1, rng) * std::pow(1 - rng.uniform(), 1 / alpha);
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v > 0 && std::log(1 - rng.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

std::uint64_t move_key(const Move& move) {
  return std::uint64_t{move.action.bits()} << 16 | std::uint64_t{static_cast<std::uint8_t>(move.tile)} << 8 |
         static_cast<std::uint8_t>(move.player);
}

}  // namespace

std::array<TypeId, kMaxTiles> sample_deck(const GameState& state, Rng& rng) {
  std::array<TypeId, kMaxTiles> order;
  const Game& game = state.game();
  std::size_t n = 0;
  const auto add_part = [&](auto belongs) {
    const std::size_t first = n;
    for (int t = 0; t < game.types(); ++t) {
      const auto type = static_cast<TypeId>(t);
      if (!belongs(type)) continue;
      for (int copies = state.tiles_left(type); copies > 0; --copies) order[n++] = type;
    }
    rng.shuffle(std::span(order.data() + first, n - first));
  };
  // From the last tile to the first.
  const auto in_river = [&](TypeId t) { return game.lake() && game.tile(t).is_river; };
  add_part([&](TypeId t) { return !in_river(t); });
  add_part([&](TypeId t) { return in_river(t) && t == *game.lake(); });
  add_part([&](TypeId t) { return in_river(t) && t != *game.lake(); });
  return order;
}

// --- All moves as first ---------------------------------------------------------------------------------------------

void AmafTable::clear() { ++round_; }

void AmafTable::put(const Move& move, std::size_t place) {
  const std::uint64_t key = move_key(move);
  for (std::size_t i = mix64(key);; ++i) {
    Entry& entry = entries_[i % entries_.size()];
    if (entry.round == round_ && entry.key != key) continue;
    entry = {key, round_, static_cast<std::int32_t>(place)};
    return;
  }
}

int AmafTable::last(const Move& move) const {
  const std::uint64_t key = move_key(move);
  for (std::size_t i = mix64(key);; ++i) {
    const Entry& entry = entries_[i % entries_.size()];
    if (entry.round != round_) return -1;
    if (entry.key == key) return entry.place;
  }
}

// --- The tree -------------------------------------------------------------------------------------------------------

NodeLayout TreeSearch::layout(const MctsOptions& options, const Evaluator& evaluator, int players) {
  return {players, evaluator.judges_actions(), options.selection == Selection::kUcb1Tuned, options.rave > 0,
          options.first_play == FirstPlay::kJudged && evaluator.judges_actions()};
}

TreeSearch::TreeSearch(const MctsOptions& options, Evaluator& evaluator, Tree& tree, const GameState& state,
                       std::uint64_t seed, std::uint64_t noise_seed)
    : options_(options),
      evaluator_(evaluator),
      tree_(tree),
      layout_(tree.layout()),
      root_state_(state),
      rng_(seed),
      draws_seed_(split(seed, 1)) {
  tree_.clear();
  if (options_.unknown_deck == UnknownDeck::kDecks) deck_ = sample_deck(state, rng_);
  root_ = expand(state);
  if (options_.root_noise > 0) add_root_noise(noise_seed);
  const auto n = static_cast<std::size_t>(root().size);
  sums_.visits.assign(n, 0);
  sums_.utility.assign(n, {});
  sums_.points = sums_.points_squared = sums_.utility;
}

// Asks the evaluator about the actions of a position: priors_, and after_ where it judges actions.
void TreeSearch::judge(const GameState& state) {
  if (layout_.judged || evaluator_.has_priors()) {
    evaluator_.evaluate({&state, &actions_, nullptr, priors_.data(), layout_.judged ? after_.data() : nullptr, nullptr},
                        rng_);
  } else {
    std::fill_n(priors_.data(), actions_.size(), 1 / static_cast<float>(actions_.size()));
  }
}

// Makes the `judged`-th action of the position judged last the i-th of the node.
void TreeSearch::set_action(Tree::Node& node, int i, int judged) {
  const auto from = static_cast<std::size_t>(judged);
  node.actions()[i] = actions_[judged];
  node.priors()[i] = priors_[from];
  for (int p = 0; p < layout_.players; ++p) {
    node.means(p)[i] = layout_.judged ? after_[from][static_cast<std::size_t>(p)] : 0;
  }
  if (layout_.first && node.player != kChancePlayer) {
    node.first(layout_)[i] =
        options_.utility(after_[from], layout_.players)[static_cast<std::size_t>(node.player)];
  }
}

// A node for the position, or 0 if the memory is used up.
Tree::Offset TreeSearch::expand(const GameState& state) {
  state.legal_actions(actions_);
  const bool is_chance = state.is_chance_node();
  const int n = actions_.size();
  const Tree::Offset at = tree_.add(n, is_chance ? kChancePlayer : state.turn_player(), state.drawn_tile());
  if (!at) return 0;
  Tree::Node& node = tree_[at];
  if (is_chance) {
    for (int i = 0; i < n; ++i) {
      node.actions()[i] = actions_[i];
      for (int p = 0; p < layout_.players; ++p) node.means(p)[i] = 0;
    }
    return at;
  }
  judge(state);
  std::array<std::int16_t, ActionList::kCapacity> order;
  std::iota(order.begin(), order.begin() + n, std::int16_t{0});
  if (options_.widening_factor > 0) {
    std::stable_sort(order.begin(), order.begin() + n, [&](int a, int b) {
      return priors_[static_cast<std::size_t>(a)] > priors_[static_cast<std::size_t>(b)];
    });
  }
  for (int i = 0; i < n; ++i) set_action(node, i, order[static_cast<std::size_t>(i)]);
  return at;
}

// Open loop: the node with the position's actions among its own, which are marked in legal_; it may be a new copy, or 0
// if the memory is used up.
Tree::Offset TreeSearch::admit(const GameState& state, Tree::Offset at) {
  state.legal_actions(actions_);
  std::vector<int> missing;
  const auto mark = [&](Tree::Node& node) {
    missing.clear();
    legal_.assign(static_cast<std::size_t>(node.capacity), 0);
    for (int a = 0; a < actions_.size(); ++a) {
      const Action* found = std::find(node.actions(), node.actions() + node.size, actions_[a]);
      if (found == node.actions() + node.size)
        missing.push_back(a);
      else
        legal_[static_cast<std::size_t>(found - node.actions())] = 1;
    }
  };
  mark(tree_[at]);
  if (missing.empty()) return at;
  const int old_size = tree_[at].size, size = old_size + static_cast<int>(missing.size());
  if (size > tree_[at].capacity) {
    const Tree::Offset moved = tree_.add(size + size / 2, tree_[at].player, tree_[at].tile);
    if (!moved) return 0;
    Tree::Node &from = tree_[at], &to = tree_[moved];
    to.visits = from.visits;
    for (int array = 0; array < layout_.arrays(); ++array) {
      std::copy_n(reinterpret_cast<const std::uint32_t*>(from.actions()) + std::ptrdiff_t{array} * from.capacity,
                  from.size, reinterpret_cast<std::uint32_t*>(to.actions()) + std::ptrdiff_t{array} * to.capacity);
    }
    at = moved;
  }
  Tree::Node& node = tree_[at];
  node.size = size;
  judge(state);
  legal_.resize(static_cast<std::size_t>(node.capacity), 0);
  for (int i = old_size; i < size; ++i) {
    set_action(node, i, missing[static_cast<std::size_t>(i - old_size)]);
    legal_[static_cast<std::size_t>(i)] = 1;
  }
  return at;
}

void TreeSearch::add_root_noise(std::uint64_t seed) {
  Rng rng(seed);
  Tree::Node& node = root();
  std::vector<double> noise(static_cast<std::size_t>(node.size));
  for (double& x : noise) x = gamma_sample(static_cast<double>(options_.root_noise_alpha), rng);
  const double sum = std::accumulate(noise.begin(), noise.end(), 1e-300);
  for (int i = 0; i < node.size; ++i) {
    const auto share = static_cast<float>(noise[static_cast<std::size_t>(i)] / sum);
    node.priors()[i] += options_.root_noise * (share - node.priors()[i]);
  }
}

// --- One simulation -------------------------------------------------------------------------------------------------

// The action with the highest score; equal ones: the first, but unvisited ones under optimistic first play at random.
int TreeSearch::select(Tree::Node& node, bool masked) {
  int n = node.size;
  if (options_.widening_factor > 0) {
    const float open =
        options_.widening_factor * std::pow(static_cast<float>(std::max(1, node.visits)), options_.widening_exponent);
    n = std::clamp(static_cast<int>(std::min(open, 1e6F)), 1, n);
  }
  const std::int32_t* counts = node.counts();
  const float* means = node.means(node.player);
  const float* priors = node.priors();
  float unvisited = options_.first_play == FirstPlay::kOptimistic ? kFirst : 0;
  if (options_.first_play == FirstPlay::kParent) {
    const float mean = path_.empty() ? root_mean_[static_cast<std::size_t>(node.player)]
                                     : tree_[path_.back().node].means(node.player)[path_.back().edge];
    unvisited = mean - options_.first_play_reduction;
  }
  if (scores_.size() < static_cast<std::size_t>(n)) scores_.resize(static_cast<std::size_t>(n));
  float* score = scores_.data();
  if (layout_.first) {
    const float* first = node.first(layout_);
    for (int i = 0; i < n; ++i) score[i] = counts[i] ? means[i] : first[i] - options_.first_play_reduction;
  } else {
    for (int i = 0; i < n; ++i) score[i] = counts[i] ? means[i] : unvisited;
  }

  const auto total = static_cast<float>(std::max(1, node.visits));
  if (layout_.amaf) {
    const float beta = std::sqrt(options_.rave / (3 * total + options_.rave));
    const std::int32_t* amaf_counts = node.amaf_counts(layout_);
    const float* amaf_means = node.amaf_means(layout_);
    for (int i = 0; i < n; ++i) {
      if (amaf_counts[i]) score[i] = counts[i] ? (1 - beta) * score[i] + beta * amaf_means[i] : amaf_means[i];
    }
  }
  const float c = options_.exploration;
  switch (options_.selection) {
    case Selection::kUniform:
      for (int i = 0; i < n; ++i) score[i] = -static_cast<float>(counts[i]);
      break;
    case Selection::kUct: {
      const float log_total = std::log(total);
      for (int i = 0; i < n; ++i) score[i] += c * std::sqrt(log_total / static_cast<float>(std::max(1, counts[i])));
      break;
    }
    case Selection::kUcb1Tuned: {
      const float log_total = std::log(total);
      const float* spread = node.spread(layout_);
      for (int i = 0; i < n; ++i) {
        const auto count = static_cast<float>(std::max(1, counts[i]));
        const float variance = spread[i] / count + std::sqrt(2 * log_total / count);
        score[i] += c * std::sqrt(log_total / count * std::min(1.0F, variance));
      }
      break;
    }
    case Selection::kPuct: {
      const float weight = c * std::sqrt(total);
      for (int i = 0; i < n; ++i) score[i] += weight * priors[i] / static_cast<float>(1 + counts[i]);
      break;
    }
  }
  if (options_.progressive_bias > 0) {
    for (int i = 0; i < n; ++i) score[i] += options_.progressive_bias * priors[i] / static_cast<float>(1 + counts[i]);
  }
  if (masked) {
    for (int i = 0; i < n; ++i)
      score[i] = legal_[static_cast<std::size_t>(i)] ? score[i] : -std::numeric_limits<float>::infinity();
  }
  int best = static_cast<int>(std::max_element(score, score + n) - score);
  if (masked && !legal_[static_cast<std::size_t>(best)]) {  // nothing legal among the open ones
    best = static_cast<int>(std::find(legal_.begin(), legal_.end(), 1) - legal_.begin());
  }
  if (options_.first_play == FirstPlay::kOptimistic && options_.widening_factor == 0 && counts[best] == 0 &&
      options_.selection != Selection::kPuct) {
    const float highest = score[best];
    std::uint32_t equal = 0;
    for (int i = 0; i < n; ++i) {
      if (score[i] == highest && rng_.below(++equal) == 0) best = i;
    }
  }
  return best;
}

// The outcomes of a node follow a low-discrepancy sequence (multiples of the golden ratio), so that each comes as often
// as it should. The sequence starts alike for all nodes after the same draws: actions are compared on the same tiles.
int TreeSearch::pick_outcome(Tree::Node& node, const GameState& state) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;  // times 2^64
  const std::uint64_t start = split(draws_seed_, drawn_);
  const std::uint64_t at = start + static_cast<std::uint64_t>(node.visits) * kGoldenRatio;
  const TypeId type = tile_at(state, static_cast<double>(at >> 11) * 0x1.0p-53);
  drawn_ = split(drawn_, type);
  const Action action = Action::draw(type);
  return static_cast<int>(std::find(node.actions(), node.actions() + node.size, action) - node.actions());
}

// Draws until a tile can be laid or the game is over.
void TreeSearch::draw(GameState& state) {
  while (state.is_chance_node()) {
    const TypeId type = options_.unknown_deck == UnknownDeck::kDecks
                            ? deck_[static_cast<std::size_t>(state.tiles_left() - 1)]
                            : sample_tile(state, rng_);
    state.apply(Action::draw(type));
  }
}

Values TreeSearch::evaluate(const GameState& state) {
  if (state.is_terminal()) return final_points(state);
  Values value{};
  evaluator_.evaluate({&state, nullptr, &value, nullptr, nullptr, layout_.amaf ? &moves_ : nullptr}, rng_);
  return value;
}

void TreeSearch::simulate(int root_action) {
  GameState state = root_state_;
  path_.clear();
  moves_.clear();
  drawn_ = 0;
  const bool open_loop = options_.unknown_deck == UnknownDeck::kOpenLoop;
  const int deepest = options_.max_depth > 0 ? options_.max_depth : 1 << 30;
  int depth = 0;
  bool fresh = true;  // the node was judged with the tile that is in hand now
  Values points;
  for (Tree::Offset at = root_;;) {
    Tree::Node& node = tree_[at];
    const bool is_chance = node.player == kChancePlayer;
    const int edge = is_chance                           ? pick_outcome(node, state)
                     : path_.empty() && root_action >= 0 ? root_action
                                                         : select(node, open_loop && at != root_);
    const auto tile = static_cast<std::int8_t>(state.drawn_tile());
    path_.push_back({at, edge, tile, moves_.size()});
    const std::int32_t visits = node.counts()[edge];
    const Action action = node.actions()[edge];
    if (layout_.amaf && !is_chance && action != Action::no_figure()) moves_.push_back({node.player, tile, action});
    if (layout_.judged && !is_chance && visits == 0 && fresh) {  // judged when the node was made
      for (int p = 0; p < layout_.players; ++p) points[static_cast<std::size_t>(p)] = node.means(p)[edge];
      break;
    }
    state.apply(action);
    if (options_.unknown_deck != UnknownDeck::kNodes) draw(state);
    depth += !is_chance;
    // A position is judged when it is first visited, but after a draw only once something was done with the tile.
    const bool grows = (visits > 0 || is_chance) && depth < deepest;
    if (state.is_terminal() || !grows) {
      points = evaluate(state);
      break;
    }
    Tree::Offset child = node.children()[edge];
    fresh = !open_loop || !child;
    if (!child) {
      child = expand(state);
      if (child && open_loop) legal_.assign(static_cast<std::size_t>(tree_[child].capacity), 1);
    } else if (open_loop) {
      child = admit(state, child);
    }
    if (!child) {
      points = evaluate(state);
      break;
    }
    tree_[at].children()[edge] = child;
    at = child;
  }
  back_up(points);
}

void TreeSearch::back_up(const Values& points) {
  const Values utility = options_.utility(points, layout_.players);
  for (const Step& step : path_) {
    Tree::Node& node = tree_[step.node];
    ++node.visits;
    const std::int32_t visits = ++node.counts()[step.edge];
    const auto count = static_cast<float>(visits);
    for (int p = 0; p < layout_.players; ++p) {
      float& mean = node.means(p)[step.edge];
      if (visits == 1) mean = 0;
      const float before = utility[static_cast<std::size_t>(p)] - mean;
      mean += before / count;
      if (layout_.spread && p == node.player)
        node.spread(layout_)[step.edge] += before * (utility[static_cast<std::size_t>(p)] - mean);
    }
  }
  if (layout_.amaf) update_amaf(utility);

  const auto edge = static_cast<std::size_t>(path_.front().edge);
  const auto total = static_cast<float>(root().visits);
  ++sums_.visits[edge];
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.players); ++p) {
    const auto x = static_cast<double>(points[p]);
    root_mean_[p] += (utility[p] - root_mean_[p]) / total;
    sums_.utility[edge][p] += static_cast<double>(utility[p]);
    sums_.points[edge][p] += x;
    sums_.points_squared[edge][p] += x * x;
  }
}

// Every action of a node that its player made there or later in this simulation, with the same tile, counts; to set no
// figure is no move.
void TreeSearch::update_amaf(const Values& utility) {
  amaf_.clear();
  for (std::size_t i = 0; i < moves_.size(); ++i) amaf_.put(moves_[i], i);
  for (const Step& step : path_) {
    Tree::Node& node = tree_[step.node];
    if (node.player == kChancePlayer) continue;
    const float value = utility[static_cast<std::size_t>(node.player)];
    for (int i = 0; i < node.size; ++i) {
      if (amaf_.last({node.player, step.tile, node.actions()[i]}) < static_cast<int>(step.moves)) continue;
      float& mean = node.amaf_means(layout_)[i];
      mean += (value - mean) / static_cast<float>(++node.amaf_counts(layout_)[i]);
    }
  }
}

std::vector<Action> TreeSearch::line(int root_action) {
  std::vector<Action> out = {root().actions()[root_action]};
  for (Tree::Offset at = root().children()[root_action]; at;) {
    Tree::Node& node = tree_[at];
    const std::int32_t* counts = node.counts();
    const auto edge = std::max_element(counts, counts + node.size) - counts;
    if (counts[edge] == 0) break;
    out.push_back(node.actions()[edge]);
    at = node.children()[edge];
  }
  return out;
}

}  // namespace carc
