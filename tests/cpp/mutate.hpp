// Small damages to a JSON document, for the tests of its readers.
#pragma once

#include <string>
#include <vector>

#include "carc/core/json.hpp"
#include "carc/core/rng.hpp"

namespace carc::test {

// Adds pointers to every value inside `value`, which lies at `at`.
inline void add_places(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& out) {
  const auto add = [&](const Json& child, const Json::json_pointer& place) {
    out.push_back(place);
    add_places(child, place, out);
  };
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) add(item, at / key);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) add(value[i], at / i);
  }
}

// Pointers to every value of the document but the document itself.
inline std::vector<Json::json_pointer> all_places(const Json& json) {
  std::vector<Json::json_pointer> out;
  add_places(json, Json::json_pointer(), out);
  return out;
}

// The document with one value taken away, doubled, moved by one, or replaced by another one of it or by something odd.
// `places` are those of the document, or of what it was before other damages.
inline Json mutated(Json json, const std::vector<Json::json_pointer>& places, Rng& rng) {
  static const std::vector<Json> kOdd = {nullptr, true, false, 0, 1, -1, 2, 5, 7, 83, 84, 85, 127, 128, 255, 256, 65536, -129,
                                         1ull << 63, ~0ull, 0.5, 1e300, "", "D", "R01", "R12", "abbot", "place", "figure", "over",
                                         "draw", "2014", "\xC3\xA9", Json::array(), Json::object(), Json::array({0, 0})};
  const auto any = [&](std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); };
  const Json::json_pointer place = places[any(places.size())];
  if (!json.contains(place)) return json;  // an earlier damage took it away
  Json& parent = json.at(place.parent_pointer());
  Json& value = json.at(place);
  switch (any(6)) {
    case 0:  // take away
      if (parent.is_object()) parent.erase(place.back());
      else parent.erase(static_cast<std::size_t>(std::stoul(place.back())));
      break;
    case 1:  // double
      if (parent.is_array()) parent.push_back(Json(value));
      else parent[place.back() + "x"] = Json(value);
      break;
    case 2:
    case 3:  // move a number
      // In unsigned arithmetic, which may wrap round at the ends of the range.
      if (value.is_number_integer()) value = static_cast<std::int64_t>(value.get<std::uint64_t>() + (any(2) ? 1 : ~0ull));
      else value = kOdd[any(kOdd.size())];
      break;
    case 4: value = kOdd[any(kOdd.size())]; break;
    default: {
      const Json::json_pointer other = places[any(places.size())];
      if (json.contains(other)) value = Json(json.at(other));
    }
  }
  return json;
}

}  // namespace carc::test
