// GameRecord::from_json: a text is refused with an Error, or is a record that replays and survives as JSON and text.
#include "carc/core/record.hpp"
#include "fuzz.hpp"

namespace {

using namespace carc;

void read(std::string_view text) {
  std::unique_ptr<GameRecord> record;
  try {
    record = std::make_unique<GameRecord>(GameRecord::from_json(text));
  } catch (const Error&) {
    return;
  }
  const GameState last = record->replay();
  last.check_consistency();
  fuzz::require(last == record->state(), "a record's state is the one that it replays to");

  for (const bool details : {false, true}) {
    const std::string written = record->to_json(details);
    const GameRecord again = GameRecord::from_json(written);
    fuzz::require(again.actions() == record->actions(), "a record has the actions of what is read from its JSON");
    fuzz::require(again.state() == last, "a record ends as what is read from its JSON does");
    fuzz::require(again.to_json(details) == written, "a record's JSON is written again as it was");
  }
  if (record->initial_state().bag() == record->game()->bag()) {  // text does not tell the bag
    const GameRecord again = GameRecord::from_text(record->to_text(), record->game());
    fuzz::require(again.actions() == record->actions(), "a record has the actions of what is read from its text");
  }
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
