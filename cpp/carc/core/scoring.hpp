// What features pay: majorities, completed and unfinished values, and the points if the game ended now.
//
// Figures in a feature are packed three bits a player: bits 3 p + 2 .. 3 p = number of figures of player p.
#pragma once

#include <array>
#include <cstdint>

#include "carc/core/rules.hpp"
#include "carc/core/types.hpp"

namespace carc {

using FigureCounts = std::uint16_t;

constexpr FigureCounts one_figure(int player) { return static_cast<FigureCounts>(1u << 3 * player); }
constexpr int figures_of(FigureCounts counts, int player) { return counts >> 3 * player & 7; }

// The players with most figures, bit p = player p; 0 without figures.
struct Majority {
  std::uint8_t players;
  std::uint8_t number;  // how many players tie for most
};
constexpr Majority majority(FigureCounts counts) {
  int most = 1;
  Majority m{0, 0};
  for (int p = 0; p < kMaxPlayers; ++p) {
    const int n = figures_of(counts, p);
    if (n < most) continue;
    if (n > most) m = {0, 0}, most = n;
    m.players = static_cast<std::uint8_t>(m.players | 1u << p);
    ++m.number;
  }
  return m;
}

// What each player of a majority gets of `points`: all of it, or an equal share rounded down.
inline int share(const Rules& rules, int points, Majority m) {
  return rules.split_ties && m.number > 1 ? points / m.number : points;
}

// Points of a road or city by its tiles and shields.
inline int line_value(const Rules& rules, FeatureKind kind, int tiles, int shields, bool complete) {
  if (kind == FeatureKind::kRoad) return tiles;
  if (!complete || (tiles == 2 && rules.small_city == 2)) return tiles + shields;
  return 2 * (tiles + shields);
}

// Points of every player, split by feature kind (the first five of FeatureKind).
struct Points {
  std::array<std::array<std::int16_t, kMaxPlayers>, kScoringKinds> by_kind{};

  void add(FeatureKind kind, Majority to, int points) {
    for (std::size_t p = 0; p < kMaxPlayers; ++p) {
      by_kind[static_cast<std::size_t>(kind)][p] =
          static_cast<std::int16_t>(by_kind[static_cast<std::size_t>(kind)][p] + (to.players >> p & 1 ? points : 0));
    }
  }
  void add_to(FeatureKind kind, int player, int points) {
    auto& cell = by_kind[static_cast<std::size_t>(kind)][static_cast<std::size_t>(player)];
    cell = static_cast<std::int16_t>(cell + points);
  }
  Points& operator+=(const Points& other) {
    for (std::size_t k = 0; k < kScoringKinds; ++k) {
      for (std::size_t p = 0; p < kMaxPlayers; ++p)
        by_kind[k][p] = static_cast<std::int16_t>(by_kind[k][p] + other.by_kind[k][p]);
    }
    return *this;
  }
  int total(int player) const {
    int sum = 0;
    for (const auto& kind : by_kind) sum += kind[static_cast<std::size_t>(player)];
    return sum;
  }
  bool operator==(const Points&) const = default;
};

}  // namespace carc
