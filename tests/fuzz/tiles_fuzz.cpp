// TileSet::parse and Rules::from_json: a text is refused with an Error, or describes tiles or rules that survive as
// JSON and with which random games can be played.
#include "carc/core/deck.hpp"
#include "carc/core/record.hpp"
#include "fuzz.hpp"

namespace {

using namespace carc;

// Games that do not fit the limits of the core may be refused, but nothing after that.
void play(const Rules& rules, std::uint64_t seed) {
  std::shared_ptr<const Game> game;
  std::unique_ptr<GameState> state;
  try {
    game = Game::create(rules);
    state = std::make_unique<GameState>(*game);
  } catch (const Error&) {
    return;
  }
  fuzz::require(Deck(*game, seed).bag() == game->bag(), "a deck holds the bag");
  Rng rng(seed);
  fuzz::play_to_end(*state, rng);
  fuzz::check_state_json(*state);
}

void read_tiles(std::string_view text) {
  std::shared_ptr<const TileSet> tiles;
  try {
    tiles = TileSet::parse(text, "fuzz");
  } catch (const Error&) {
    return;
  }
  fuzz::require(*TileSet::parse(tiles->to_json().dump(), "fuzz") == *tiles, "a tile set survives as JSON");
  const std::uint64_t seed = fuzz::seed_of(text);
  Rng rng(seed);
  Rules rules;
  rules.tiles = tiles;
  for (const RulesOption& option : rules_options()) {
    if (option.name == "tiles") continue;
    const auto n = static_cast<std::uint32_t>(option.values.size());
    rules.set(option.name, Json::parse(option.values[rng.below(n)]));
  }
  play(rules, seed);
}

void read_rules(std::string_view text) {
  Rules rules;
  try {
    rules = Rules::from_json(parse_json<RulesError>(text, "rules"));
  } catch (const Error&) {
    return;
  }
  fuzz::require(Rules::from_json(Json::parse(rules.to_json().dump())) == rules, "rules survive as JSON");
  play(rules, fuzz::seed_of(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  read_tiles(text);
  read_rules(text);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}
