// Tile sets nobody would print: any partition of the edges into roads, cities and fields that the format allows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "carc/core/game.hpp"
#include "support.hpp"

namespace carc::test {

// Numbers each of `n` items with one of at most n groups, at random.
inline std::vector<std::size_t> random_groups(std::size_t n, Rng& rng) {
  std::vector<std::size_t> group(n);
  for (auto& g : group) g = rng.below(static_cast<std::uint32_t>(n));
  return group;
}

inline Json random_tile(const std::string& id, int count, Rng& rng) {
  static const std::string kSides = "NESW";
  std::string edges;
  for (int s = 0; s < 4; ++s) edges += "FRCC"[rng.below(4)];
  std::vector<Json> features;
  std::vector<int> cities;
  for (const char kind : {'C', 'R'}) {
    std::map<std::size_t, std::string> groups;
    const auto group = random_groups(4, rng);
    for (std::size_t s = 0; s < 4; ++s) {
      if (edges[s] == kind) groups[group[s]] += kSides[s];
    }
    for (const auto& entry : groups) {
      if (kind == 'C') cities.push_back(static_cast<int>(features.size()));
      features.push_back(kind == 'C' ? city(entry.second, static_cast<int>(rng.below(4)) / 3) : road(entry.second));
    }
  }
  if (rng.below(4) == 0) features.push_back(building("monastery"));
  if (rng.below(4) == 0) features.push_back(building("garden"));
  std::map<std::size_t, std::vector<int>> fields;
  const auto group = random_groups(8, rng);
  for (std::size_t h = 0; h < 8; ++h) {
    const char kind = edges[h / 2];
    if (kind != 'C') fields[kind == 'F' ? group[h / 2 * 2] : group[h]].push_back(static_cast<int>(h));
  }
  for (const auto& entry : fields) {
    std::vector<int> touched;
    for (const int c : cities) {
      if (rng.below(2)) touched.push_back(c);
    }
    features.push_back(field(entry.second, touched));
  }
  return tile(id, count, edges, features);
}

// A set of 72 tiles that a game of the rules accepts: random ones, and with probability one half the standard ones
// besides (fewer of them). The river tiles are the standard ones.
inline std::shared_ptr<const TileSet> random_tile_set(Rules rules, Rng& rng) {
  while (true) {
    Json set = standard_json();
    set["name"] = "random";
    int left = 72;
    if (rng.below(2)) {
      for (Json& t : set["base"]) {
        t["count"] = rng.below(2);
        left -= t["count"].get<int>();
      }
    } else {
      set["base"] = Json::array();
    }
    for (int i = 0; left > 0; ++i) {
      const int count = std::min(left, 1 + static_cast<int>(rng.below(12)));
      set["base"].push_back(random_tile("t" + std::to_string(i), count, rng));
      left -= count;
    }
    set["start"] = set["base"].back()["id"];
    rules.tiles = read(set);
    try {  // sets that could make too many fields are refused
      Game::create(rules);
      return rules.tiles;
    } catch (const TileSetError&) {
    }
  }
}

}  // namespace carc::test
