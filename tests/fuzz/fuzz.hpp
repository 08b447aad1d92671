// What the fuzzers share. A property that does not hold aborts, which libFuzzer reports with the input and the stack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "../cpp/mutate.hpp"
#include "carc/core/json.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/record_format.hpp"
#include "carc/core/rng.hpp"
#include "carc/core/state.hpp"
#include "carc/core/state_json.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace carc::fuzz {

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// FNV-1a: the random choices of a run depend on its input alone.
inline std::uint64_t seed_of(std::string_view text) {
  std::uint64_t h = 0xCBF29CE484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

// The document with the checksum that it should have, so that a changed one is read beyond its envelope; `text` itself
// if it is no object.
inline std::string with_checksum(std::string_view text) {
  try {
    Json json = parse_json<Error>(text, "input");
    if (!json.is_object()) return std::string(text);
    json["checksum"] = checksum(json);
    return json.dump();
  } catch (const Error&) {
    return std::string(text);
  }
}

// A value of the document is taken away, doubled, moved by one, or replaced by another one of it or by something odd.
// Small numbers and names of the formats come often: what is refused at once reaches no deep code.
inline void change_value(Json& json, Rng& rng) {
  static const Json kOdd = {nullptr,
                            true,
                            false,
                            0,
                            1,
                            -1,
                            2,
                            3,
                            7,
                            8,
                            83,
                            84,
                            127,
                            -128,
                            255,
                            65536,
                            1.5,
                            "",
                            "D",
                            "R12",
                            "Eg",
                            "x",
                            "N",
                            "abbot",
                            "place",
                            "draw",
                            "over",
                            "figure",
                            "city",
                            "field",
                            "2021",
                            "split",
                            "normal",
                            Json::array(),
                            Json::object(),
                            Json::array({0, 0}),
                            ~std::uint64_t{0}};
  const auto any = [&](std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); };
  const auto places = test::all_places(json);
  if (places.empty()) return;
  const Json::json_pointer& place = places[any(places.size())];
  Json& parent = json.at(place.parent_pointer());
  Json& value = json.at(place);
  const std::uint32_t what = any(6);
  if (what == 0 && parent.is_object()) {
    parent.erase(place.back());
  } else if (what == 0) {
    parent.erase(std::stoul(place.back()));
  } else if (what == 1 && parent.is_array()) {
    parent.push_back(Json(value));
  } else if (what == 2) {
    value = kOdd[any(kOdd.size())];
  } else if (what == 3) {
    value = Json(json.at(places[any(places.size())]));
  } else if (value.is_number_integer()) {
    const auto moved = value.get<std::uint64_t>() + (any(2) ? 1 : ~std::uint64_t{0});
    value = static_cast<std::int64_t>(moved);
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_null()) {
    value = kOdd[any(kOdd.size())];
  } else if (value.is_string()) {  // another text of the document
    const Json other = json.at(places[any(places.size())]);
    value = other.is_string() ? other : kOdd[any(kOdd.size())];
  } else if (value.is_array() && value.size() > 1) {
    std::swap(value[any(value.size())], value[any(value.size())]);
  }
}

// A third of the changes are libFuzzer's to the bytes, the others are to values of the document, which stays JSON.
inline std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Rng rng(seed);
  if (rng.below(3) == 0) return LLVMFuzzerMutate(data, size, max_size);
  try {
    Json json = parse_json<Error>(text_of(data, size), "input");
    for (std::uint32_t n = 1 + rng.below(3); n > 0; --n) change_value(json, rng);
    const std::string text = json.dump();
    if (text.size() <= max_size) {
      std::copy(text.begin(), text.end(), data);
      return text.size();
    }
  } catch (const Error&) {  // no JSON
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

// Plays uniformly random legal actions to the end. Every eighth position and the last one are recomputed from scratch,
// and every action is written as text and read again.
inline void play_to_end(GameState& state, Rng& rng) {
  for (int i = 0;; ++i) {
    if (i % 8 == 0 || state.is_terminal()) state.check_consistency();
    if (state.is_terminal()) return;
    const int n = state.num_legal_actions();
    require(n > 0, "a game that is not over has a legal action");
    const Action action = state.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(n))));
    require(state.is_legal(action), "a listed action is legal");
    require(string_to_action(state, action_to_string(state, action)) == action, "an action survives as text");
    state.apply(action);
  }
}

// A state survives as JSON, text included.
inline void check_state_json(const GameState& state) {
  const std::string text = state_to_json(state);
  const LoadedState again = state_from_json(text);
  require(again.state == state, "a state equals what is read from its JSON");
  require(again.state.hash() == state.hash(), "a state has the hash of what is read from its JSON");
  require(state_to_json(again.state) == text, "a state's JSON is written again as it was");
}

}  // namespace carc::fuzz
