// Plain structs of parameters that can be read from JSON (and so from TOML or Python), written, and listed.
//
// A struct names its fields once:
//   template <class V> void each_option(V& v) { v("simulations", simulations, {1, 1e9}, "meaning, with unit"); ... }
// Enumerations give their names by `enum_names(E*)`.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "carc/core/json.hpp"

namespace carc {

class OptionError : public Error {
  using Error::Error;
};  // an unknown option or a value out of range

struct OptionRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// A program with its arguments: a list of words, or one text that is to be split into them.
struct CommandLine {
  std::vector<std::string> words;
  bool is_text = false;  // `words` holds the text as it was given
};

struct OptionInfo {
  std::string name;
  std::string value;     // the present one, as JSON
  std::string expected;  // what values are accepted
  std::string meaning;
};

namespace detail {

// At most ten digits, as people write numbers.
inline std::string number_text(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;

template <class T>
std::string expected(OptionRange range) {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a text";
  } else if constexpr (std::is_same_v<T, CommandLine>) {
    return "a text or a list of texts";
  } else if constexpr (std::is_enum_v<T>) {
    std::string names;
    for (const char* name : enum_names(static_cast<T*>(nullptr)))
      names += (names.empty() ? "" : ", ") + std::string(name);
    return "one of " + names;
  } else if constexpr (kIsArray<T>) {
    return "a list of " + std::to_string(std::tuple_size_v<T>) + " numbers from " + number_text(range.low) + " to " +
           number_text(range.high);
  } else {
    return std::string(std::is_floating_point_v<T> ? "a number" : "a whole number") + " from " +
           number_text(range.low) + " to " + number_text(range.high);
  }
}

template <class T>
bool read_value(const Json& json, OptionRange range, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return false;
    value = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
  } else if constexpr (std::is_same_v<T, CommandLine>) {
    const Json list = json.is_string() ? Json::array({json}) : json;
    if (!list.is_array()) return false;
    T command{std::vector<std::string>(list.size()), json.is_string()};
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      if (!read_value(list[i], range, command.words[i])) return false;
    }
    value = std::move(command);
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string()) return false;
    const auto& names = enum_names(static_cast<T*>(nullptr));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (json.get_ref<const std::string&>() == names[i]) {
        value = static_cast<T>(i);
        return true;
      }
    }
    return false;
  } else if constexpr (kIsArray<T>) {
    if (!json.is_array() || json.size() != value.size()) return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!read_value(json[i], range, value[i])) return false;
    }
  } else {
    if (!json.is_number()) return false;
    const double number = json.get<double>();
    if (!(number >= range.low && number <= range.high)) return false;
    if constexpr (!std::is_floating_point_v<T>) {
      if (number != std::floor(number)) return false;
    }
    value = static_cast<T>(number);
  }
  return true;
}

template <class T>
OrderedJson write_value(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return enum_names(static_cast<T*>(nullptr))[static_cast<std::size_t>(value)];
  } else if constexpr (std::is_same_v<T, float>) {
    return std::stod(number_text(static_cast<double>(value)));  // as it was written, not 0.1f as 0.10000000149
  } else if constexpr (kIsArray<T>) {
    OrderedJson list = OrderedJson::array();
    for (const auto& item : value) list.push_back(write_value(item));
    return list;
  } else if constexpr (std::is_same_v<T, CommandLine>) {
    return value.is_text ? OrderedJson(value.words.at(0)) : OrderedJson(value.words);
  } else {
    return value;
  }
}

}  // namespace detail

// Takes its own options out of `json` (an object) and leaves the others there. Throws OptionError naming the option.
template <class Options>
void take_options(Json& json, Options& options) {
  const auto take = [&](const char* name, auto& field, OptionRange range, const char*) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    using T = std::remove_reference_t<decltype(field)>;
    if (!detail::read_value<T>(*found, range, field)) {
      throw OptionError(std::string(name) + ": found " + shown(*found) + ", expected " + detail::expected<T>(range));
    }
    json.erase(found);
  };
  options.each_option(take);
}

template <class Options>
void list_options(Options options, std::vector<OptionInfo>& out) {
  const auto list = [&](const char* name, auto& field, OptionRange range, const char* meaning) {
    using T = std::remove_reference_t<decltype(field)>;
    out.push_back({name, detail::write_value(field).dump(), detail::expected<T>(range), meaning});
  };
  options.each_option(list);
}

// Throws OptionError for the first option that nobody took, with the nearest known one.
inline void require_none_left(const Json& json, const std::vector<OptionInfo>& known) {
  if (json.empty()) return;
  std::vector<std::string> names;
  for (const OptionInfo& option : known) names.push_back(option.name);
  const std::string name = json.begin().key();
  throw OptionError("unknown option " + quote(name) +
                    (names.empty() ? ", expected none" : ", did you mean '" + nearest(name, names) + "'?"));
}

}  // namespace carc
