// Small ends of games, and their values by a recursion that does nothing clever.
#pragma once

#include <optional>
#include <vector>

#include "../support.hpp"

namespace carc::test {

// Expected final points by player times 7!, which every sequence of at most seven draws divides.
inline constexpr std::int64_t kParts = 5040;
using ExactPoints = std::array<std::int64_t, kMaxPlayers>;

// Own points minus the mean of the others', times players - 1.
inline std::int64_t margin(const ExactPoints& points, int players, int player) {
  std::int64_t out = 0;
  for (int p = 0; p < players; ++p) {
    out += (p == player ? players - 1 : -1) * points[static_cast<std::size_t>(p)];
  }
  return out;
}

// Whoever decides maximises his margin and takes the first of equal actions. Throws std::length_error after `nodes`.
inline ExactPoints plain_value(const GameState& state, std::int64_t& nodes) {
  if (nodes-- <= 0) throw std::length_error("too many nodes");
  ExactPoints value{};
  if (state.is_terminal()) {
    for (int p = 0; p < state.players(); ++p) value[static_cast<std::size_t>(p)] = kParts * state.score(p);
    return value;
  }
  ActionList actions;
  state.legal_actions(actions);
  int copies = 0;
  for (const Action a : actions) copies += state.is_chance_node() ? state.tiles_left(a.type()) : 0;
  std::optional<std::int64_t> best;
  for (const Action a : actions) {
    GameState next = state;
    next.apply(a);
    const ExactPoints v = plain_value(next, nodes);
    if (state.is_chance_node()) {
      for (std::size_t p = 0; p < v.size(); ++p) value[p] += state.tiles_left(a.type()) * v[p] / copies;
    } else if (const std::int64_t m = margin(v, state.players(), state.turn_player()); !best || m > *best) {
      best = m;
      value = v;
    }
  }
  return value;
}

// At most `nodes` positions, else nothing.
inline std::optional<ExactPoints> try_plain_value(const GameState& state, std::int64_t nodes) {
  try {
    return plain_value(state, nodes);
  } catch (const std::length_error&) {
    return std::nullopt;
  }
}

// A game of `tiles` tiles drawn from the bag of the rules, river tiles too.
inline GameState small_game(const Game& game, int tiles, Rng& rng) {
  std::vector<TypeId> all;
  for (TypeId t = 0; t < game.types(); ++t) all.insert(all.end(), game.bag()[t], t);
  std::array<std::uint8_t, kMaxTypes> bag{};
  for (int i = 0; i < tiles; ++i) ++bag[pick(all, rng)];
  return GameState(game, Start{game.start()}, bag,
                   static_cast<int>(rng.below(static_cast<std::uint32_t>(game.rules().players))));
}

// Plays randomly until at most `left` tiles are in the bag and a placement or figure is to be decided.
inline void play_until(GameState& state, int left, Rng& rng) {
  while (!state.is_terminal() && (state.tiles_left() > left || state.is_chance_node()))
    state.apply(random_action(state, rng));
}

}  // namespace carc::test
