// Reading JSON from outside: every failure becomes one clear carc error, whatever the document holds.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "carc/core/error.hpp"

namespace carc {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// A short rendering of a value for error messages.
inline std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

// Parses one JSON document; throws E naming `what` and the place of the fault. Nesting is bounded.
template <class E>
Json parse_json(std::string_view text, const std::string& what) {
  constexpr int kDeepest = 32;
  const auto bounded = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) throw E("JSON nested deeper than " + std::to_string(kDeepest) + " levels");
    return true;
  };
  try {
    return Json::parse(text, bounded);
  } catch (const Json::exception& e) {
    throw E(what + " is not valid JSON: " + std::string(e.what()).substr(0, 200));
  }
}

template <class E>
const Json& require_object(const Json& value, const std::string& what) {
  if (!value.is_object()) throw E(what + ": found " + shown(value) + ", expected an object");
  return value;
}

template <class E>
const Json& require_array(const Json& value, const std::string& what) {
  if (!value.is_array()) throw E(what + ": found " + shown(value) + ", expected a list");
  return value;
}

template <class E>
const Json& require_key(const Json& object, const std::string& key, const std::string& what) {
  require_object<E>(object, what);
  const auto found = object.find(key);
  if (found == object.end()) throw E(what + ": the key '" + key + "' is missing");
  return *found;
}

template <class E>
int require_int(const Json& value, int low, int high, const std::string& what) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high < 0 ? 0 : high)
                    : value.is_number_integer() ? value.get<std::int64_t>() <= high
                                                : false;
  if (!fits || value.get<std::int64_t>() < low) {
    throw E(what + ": found " + shown(value) + ", expected an integer from " + std::to_string(low) + " to " +
            std::to_string(high));
  }
  return value.get<int>();
}

template <class E>
std::string require_string(const Json& value, const std::string& what) {
  if (!value.is_string()) throw E(what + ": found " + shown(value) + ", expected a text");
  return value.get<std::string>();
}

template <class E>
bool require_bool(const Json& value, const std::string& what) {
  if (!value.is_boolean()) throw E(what + ": found " + shown(value) + ", expected true or false");
  return value.get<bool>();
}

}  // namespace carc
