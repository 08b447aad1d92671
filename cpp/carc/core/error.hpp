// Errors for bad input at a boundary (text, file, Python). Every message names what was found and what was expected.
#pragma once

#include <stdexcept>
#include <string>

namespace carc {

// `text` with control characters and bytes that are no valid UTF-8 replaced by '?': messages quote hostile input.
std::string printable(const std::string& text);

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(printable(message)) {}
};

class IllegalAction : public Error {
  using Error::Error;
};  // an action the rules do not allow here
class NotationError : public Error {
  using Error::Error;
};  // text that is no action
class RecordError : public Error {
  using Error::Error;
};  // a damaged or contradictory record or state
class RulesError : public Error {
  using Error::Error;
};  // an unknown option, value or preset
class TileSetError : public Error {
  using Error::Error;
};  // a tile set that describes no playable tiles
class DeckError : public Error {
  using Error::Error;
};  // a deck that does not fit its game

// `name` quoted for a message, shortened and with control characters replaced, so that hostile input stays readable.
std::string quote(const std::string& name);

// The candidate with the smallest edit distance to `name`, for "did you mean" messages; empty without candidates.
template <class Names>
std::string nearest(const std::string& name, const Names& candidates);
std::size_t edit_distance(const std::string& a, const std::string& b);

template <class Names>
std::string nearest(const std::string& name, const Names& candidates) {
  std::string best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const auto& candidate : candidates) {
    const std::string text(candidate);
    if (const std::size_t d = edit_distance(name, text); d < best_distance) best = text, best_distance = d;
  }
  return best;
}

}  // namespace carc
