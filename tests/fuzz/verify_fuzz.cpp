// verify_document never throws: whatever a document holds, its faults are reported as differences.
#include "carc/core/replay.hpp"
#include "fuzz.hpp"

namespace {

using namespace carc;

void verify(std::string_view text) {
  const Findings findings = verify_document(text);
  fuzz::require(findings.values > 0 || !findings.differences.empty(), "a document without values is a difference");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  verify(text);
  verify(fuzz::with_checksum(text));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}
