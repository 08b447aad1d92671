#include "carc/play/self_play.hpp"

#include <algorithm>
#include <limits>

#include "carc/core/deck.hpp"
#include "carc/core/parallel.hpp"
#include "carc/play/complete_turns.hpp"
#include "carc/search/utility.hpp"

namespace carc {
namespace {

struct Choice {
  Turn turn;
  bool explored = false;
  bool has_value = false;
  Values value{};
};

// Draws an index with probability softmax(advantage / scale).
std::size_t draw_by_softmax(const std::vector<float>& advantage, float scale, Rng& rng) {
  std::vector<float> share(advantage.size());
  softmax(advantage.data(), static_cast<int>(advantage.size()), scale, share.data());
  auto left = static_cast<float>(rng.uniform());
  for (std::size_t i = 0; i < share.size(); ++i) {
    left -= share[i];
    if (left < 0) return i;
  }
  return share.size() - 1;
}

// One player of all seats, a thread's own.
class SelfPlayer {
 public:
  SelfPlayer(const SelfPlayOptions& options, std::shared_ptr<const FeatureNet> net)
      : options_(options), net_(std::move(net)) {
    if (net_) evaluator_ = std::make_unique<FeatureEvaluator>(net_);
    if (options.simulations == 0) return;
    MctsOptions search = options.search;
    const auto make = [net = net_]() -> std::unique_ptr<Evaluator> {
      if (net) return std::make_unique<FeatureEvaluator>(net);
      return std::make_unique<HeuristicEvaluator>();
    };
    search.simulations = options.simulations;
    full_ = std::make_unique<Mcts>(search, make);
    search.simulations = std::max(1, options.fast_simulations);
    fast_ = std::make_unique<Mcts>(search, make);
  }

  GameArrays play(const Game& game, std::uint64_t seed) {
    out_ = {};
    out_.players = game.rules().players;
    const Deck deck(game, split(seed, 0));
    Rng rng(split(seed, 1));
    GameState state(game);
    int turns = 0;
    while (!state.is_terminal()) {
      const TypeId tile = deck.order()[deck.size() - static_cast<std::size_t>(state.tiles_left())];
      state.apply(Action::draw(tile));
      ++turns;
      out_.tile.push_back(tile);
      if (state.phase() != Phase::kPlace) {
        add_turn(Choice{}, kDiscarded);
        continue;
      }
      const Choice choice = full_ ? searched(state, rng) : judged(state, rng);
      add_turn(choice, choice.turn.placement.bits());
      state.apply(choice.turn.placement);
      state.apply(choice.turn.figure);
    }
    out_.game_turns.push_back(static_cast<std::uint16_t>(turns));
    for (int p = 0; p < out_.players; ++p) out_.final_scores.push_back(static_cast<std::int16_t>(state.score(p)));
    return std::move(out_);
  }

 private:
  void add_turn(const Choice& choice, std::uint32_t placement) {
    out_.placement.push_back(placement);
    out_.figure.push_back(placement == kDiscarded ? Action::no_figure().bits() : choice.turn.figure.bits());
    out_.explored.push_back(choice.explored);
    for (int p = 0; p < out_.players; ++p) {
      out_.value.push_back(choice.has_value ? choice.value[static_cast<std::size_t>(p)]
                                            : std::numeric_limits<float>::quiet_NaN());
    }
    out_.policy_size.resize(2 * out_.tile.size(), 0);
  }

  // The best of all complete turns, or another one to explore.
  Choice judged(const GameState& state, Rng& rng) {
    const int mover = state.turn_player(), n = state.players();
    turns_.clear();
    advantage_.clear();
    std::span<const Values> values;
    if (net_) {
      const auto judged = evaluator_->judge_turns(state);
      turns_.assign(judged.turns.begin(), judged.turns.end());
      values = judged.values;
      for (const Values& u : values) advantage_.push_back(lead(u, mover, n));
    } else {
      for_each_turn(
          state, [](const GameState&) {},
          [&](Action placement, Action figure, const GameState& after) {
            turns_.push_back({placement, figure});
            advantage_.push_back(lead(heuristic_.value(after), mover, n));
          });
    }
    const float most = *std::max_element(advantage_.begin(), advantage_.end());
    std::size_t best = 0;
    std::uint32_t ties = 0;
    for (std::size_t t = 0; t < advantage_.size(); ++t) {
      if (advantage_[t] == most && rng.below(++ties) == 0) best = t;
    }
    const std::size_t taken = explore(best, advantage_, options_.softmax_points, rng);
    Choice choice{turns_[taken], advantage_[taken] < most, net_ != nullptr, {}};
    if (net_) choice.value = values[best];
    return choice;
  }

  std::size_t explore(std::size_t best, const std::vector<float>& advantage, float scale, Rng& rng) {
    const auto chance = static_cast<float>(rng.uniform());
    if (chance < options_.uniform_rate) return rng.below(static_cast<std::uint32_t>(advantage.size()));
    if (chance < options_.uniform_rate + options_.softmax_rate) return draw_by_softmax(advantage, scale, rng);
    return best;
  }

  Choice searched(const GameState& state, Rng& rng) {
    const bool is_full = static_cast<float>(rng.uniform()) < options_.full_rate;
    Choice choice;
    choice.has_value = true;
    GameState at = state;
    const bool explores = static_cast<float>(rng.uniform()) < options_.uniform_rate + options_.softmax_rate;
    for (int decision = 0; decision < 2; ++decision) {
      Action taken = at.legal_action(0);
      if (at.num_legal_actions() > 1 || decision == 0) {
        const SearchResult result = (is_full ? *full_ : *fast_).search(at, rng.next());
        auto pick = static_cast<std::size_t>(result.best);
        if (explores) {
          advantage_.clear();
          for (const ActionReport& a : result.actions)
            advantage_.push_back(a.visits ? lead(a.points, state.turn_player(), state.players()) : -1e3F);
          pick = explore(pick, advantage_, options_.softmax_points, rng);
        }
        choice.explored |= pick != static_cast<std::size_t>(result.best);
        taken = result.actions[pick].action;
        if (decision == 0) choice.value = result.actions[static_cast<std::size_t>(result.best)].points;
        if (is_full) add_policy(result, decision);
      }
      (decision == 0 ? choice.turn.placement : choice.turn.figure) = taken;
      at.apply(taken);
    }
    return choice;
  }

  void add_policy(const SearchResult& result, int decision) {
    out_.policy_size.resize(2 * out_.tile.size(), 0);
    std::int64_t visits = 0;
    for (const ActionReport& a : result.actions) visits += a.visits;
    if (visits == 0) return;
    std::uint16_t& size = out_.policy_size[2 * (out_.tile.size() - 1) + static_cast<std::size_t>(decision)];
    for (const ActionReport& a : result.actions) {
      if (a.visits == 0) continue;
      out_.policy_action.push_back(a.action.bits());
      out_.policy_share.push_back(static_cast<float>(a.visits) / static_cast<float>(visits));
      ++size;
    }
  }

  const SelfPlayOptions& options_;
  std::shared_ptr<const FeatureNet> net_;
  std::unique_ptr<FeatureEvaluator> evaluator_;
  HeuristicEvaluator heuristic_;
  std::unique_ptr<Mcts> full_, fast_;
  std::vector<Turn> turns_;
  std::vector<float> advantage_;
  GameArrays out_;
};

}  // namespace

GameArrays self_play(const std::shared_ptr<const Game>& game, const SelfPlayOptions& options, std::uint64_t seed,
                     std::uint64_t first_game, std::size_t n, int threads, const std::function<bool()>& interrupted) {
  const auto net = options.network.empty() ? nullptr : FeatureNet::read(options.network);
  std::vector<std::unique_ptr<SelfPlayer>> players;
  for (int t = 0; t < threads; ++t) players.push_back(std::make_unique<SelfPlayer>(options, net));
  std::vector<GameArrays> parts(n);
  GameArrays out;
  out.players = game->rules().players;
  const bool finished = for_each_in_parallel(n, threads, interrupted, [&](int worker, std::size_t i) {
    parts[i] = players[static_cast<std::size_t>(worker)]->play(*game, split(seed, first_game + i));
  });
  if (!finished) return out;
  for (GameArrays& part : parts) {
    out.append(part);
    part = {};
  }
  return out;
}

}  // namespace carc
