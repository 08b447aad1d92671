// state_from_json: a text is refused with an Error, or is a consistent state that survives as JSON and can be played
// to the end.
#include "carc/core/state_json.hpp"
#include "fuzz.hpp"

namespace {

using namespace carc;

void read(std::string_view text) {
  std::unique_ptr<LoadedState> loaded;
  try {
    loaded = std::make_unique<LoadedState>(state_from_json(text));
  } catch (const Error&) {
    return;
  }
  GameState& state = loaded->state;
  state.check_consistency();
  fuzz::check_state_json(state);
  fuzz::require(!board_text(state).empty(), "a state has a picture");
  state.projected();
  Rng rng(fuzz::seed_of(text));
  fuzz::play_to_end(state, rng);
  fuzz::check_state_json(state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  read(text);
  read(fuzz::with_checksum(text));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}
