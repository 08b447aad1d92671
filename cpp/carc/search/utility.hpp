// What a player wants, as a number in [-1, 1] made from the final points of all players.
#pragma once

#include <algorithm>
#include <cmath>

#include "carc/core/options.hpp"
#include "carc/search/evaluator.hpp"

namespace carc {

// Own minus the mean of the others' points.
inline float lead(const Values& points, int player, int players) {
  float others = 0;
  for (int p = 0; p < players; ++p) others += p == player ? 0 : points[static_cast<std::size_t>(p)];
  return points[static_cast<std::size_t>(player)] - others / static_cast<float>(players - 1);
}

// d = own points minus the mean of the others' points, s = scale.
//   tanh    tanh(d / s)
//   linear  d / s, cut to [-1, 1]
//   share   2 own / (sum of all) - 1; with no points on the board, of equal shares
//   win     1 for the only winner, -1 for a loser; n winners share one win: 2 / n - 1
enum class UtilityKind : std::uint8_t { kTanh, kLinear, kShare, kWin };
inline const std::array<const char*, 4>& enum_names(UtilityKind*) {
  static constexpr std::array<const char*, 4> kNames = {"tanh", "linear", "share", "win"};
  return kNames;
}

struct Utility {
  UtilityKind kind = UtilityKind::kTanh;
  float scale = 15;  // points of difference

  template <class V>
  void each_option(V& v) {
    v("utility", kind, {}, "what a player wants: tanh or linear of the difference, share of all points, win");
    v("utility_scale", scale, {0.01, 1e6}, "points of difference that count as 1 (linear) or as 0.76 (tanh)");
  }

  Values operator()(const Values& points, int players) const {
    Values out{};
    const auto n = static_cast<std::size_t>(players);
    float sum = 0, best = points[0];
    for (std::size_t p = 0; p < n; ++p) sum += points[p], best = std::max(best, points[p]);
    switch (kind) {
      case UtilityKind::kTanh:
      case UtilityKind::kLinear:
        for (std::size_t p = 0; p < n; ++p) {
          if (p == 1 && n == 2) {
            out[1] = -out[0];
            break;
          }
          const float d = (points[p] - (sum - points[p]) / static_cast<float>(players - 1)) / scale;
          out[p] = kind == UtilityKind::kTanh ? std::tanh(d) : std::clamp(d, -1.0F, 1.0F);
        }
        break;
      case UtilityKind::kShare: {
        // An evaluation may foresee fewer than zero points.
        float total = 0;
        for (std::size_t p = 0; p < n; ++p) total += std::max(0.0F, points[p]);
        for (std::size_t p = 0; p < n; ++p) {
          const float own = total > 0 ? std::max(0.0F, points[p]) / total : 1 / static_cast<float>(players);
          out[p] = 2 * own - 1;
        }
        break;
      }
      case UtilityKind::kWin: {
        float winners = 0;
        for (std::size_t p = 0; p < n; ++p) winners += points[p] == best;
        for (std::size_t p = 0; p < n; ++p) out[p] = points[p] == best ? 2 / winners - 1 : -1.0F;
        break;
      }
    }
    return out;
  }
};

// The points of a finished game.
inline Values final_points(const GameState& state) {
  Values out{};
  for (int p = 0; p < state.players(); ++p) out[static_cast<std::size_t>(p)] = static_cast<float>(state.score(p));
  return out;
}

}  // namespace carc
