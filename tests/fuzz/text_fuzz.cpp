// GameRecord::from_text and the notation: moves are refused with an Error, or are a record that survives as text. The
// first byte of the input chooses the rules, the rest is the text.
#include "carc/core/record.hpp"
#include "fuzz.hpp"

namespace {

using namespace carc;

constexpr std::size_t kGames = 8;

// The presets, then what they leave out: five players, recalled farmers, the older river.
std::array<std::shared_ptr<const Game>, kGames> make_games() {
  std::array<std::shared_ptr<const Game>, kGames> games;
  std::size_t n = 0;
  for (const RulesPreset& preset : rules_presets()) games.at(n++) = Game::create(Rules::preset(preset.name));
  for (Rules rules; n < kGames; ++n) {
    rules.players = kMaxPlayers;
    rules.river = River::k2014;
    rules.abbot = n % 2 == 0;
    rules.farmer_recall = true;
    rules.river_turns = n % 2 == 0 ? RiverTurns::kNoDoubleCurve : RiverTurns::kNoUTurn;
    rules.start_tile_shuffled = n % 2 == 1;
    games.at(n) = Game::create(rules);
  }
  return games;
}

// One action in every phase that the start of a random game comes to.
void read_action(const GameState& start, std::string_view text) {
  GameState state = start;
  Rng rng(fuzz::seed_of(text));
  for (int i = 0; i < 12 && !state.is_terminal(); ++i) {
    try {
      const Action action = string_to_action(state, text);
      fuzz::require(state.is_legal(action), "an action that was read is legal");
      fuzz::require(string_to_action(state, action_to_string(state, action)) == action, "an action survives as text");
    } catch (const Error&) {
    }
    state.apply(state.legal_action(static_cast<int>(rng.below(static_cast<std::uint32_t>(state.num_legal_actions())))));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kAll = make_games();
  if (size == 0) return 0;
  const auto& game = kAll[data[0] % kGames];
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  std::unique_ptr<GameRecord> record;
  try {
    record = std::make_unique<GameRecord>(GameRecord::from_text(text, game));
  } catch (const Error&) {
    read_action(GameState(*game), text);
    return 0;
  }
  record->replay().check_consistency();
  const std::string written = record->to_text();
  const GameRecord again = GameRecord::from_text(written, game);
  fuzz::require(again.actions() == record->actions(), "a record has the actions of what is read from its text");
  fuzz::require(again.to_text() == written, "a record's text is written again as it was");
  fuzz::require(GameRecord::from_json(record->to_json()).state() == record->state(), "a record survives as JSON");
  return 0;
}
