// weights_from_bytes: bytes are refused with a WeightsError, or are weights that survive being written.
#include <cstring>
#include <span>

#include "carc/neural/weights.hpp"
#include "fuzz.hpp"

namespace {

using namespace carc;

constexpr std::size_t kPrefix = 8;

// The parts of a file, whatever its length says.
struct Parts {
  std::string header, data;

  explicit Parts(std::string_view bytes) {
    std::uint64_t length = 0;
    if (bytes.size() < kPrefix) return;
    std::memcpy(&length, bytes.data(), kPrefix);
    bytes.remove_prefix(kPrefix);
    length = std::min<std::uint64_t>(length, bytes.size());
    header = bytes.substr(0, length);
    data = bytes.substr(length);
  }
};

// The file with this header, its length and the checksum that belongs to it, so that the content is read.
std::string file_of(Json header, const std::string& data) {
  if (header.is_object() && header.contains("__metadata__") && header["__metadata__"].is_object()) {
    header["__metadata__"].erase("checksum");
    const std::string plain = header.dump();
    const std::uint64_t sum = checksum64(std::as_bytes(std::span(data)), checksum64(std::as_bytes(std::span(plain))));
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
    header["__metadata__"]["checksum"] = text;
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::string out(kPrefix, '\0');
  std::memcpy(out.data(), &length, kPrefix);
  return out + text + data;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Weights weights;
  try {
    weights = weights_from_bytes(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const WeightsError&) {
    return 0;
  }
  std::size_t values = 0;
  for (const auto& [name, tensor] : weights.tensors) values += tensor.values.size();
  fuzz::require(values * sizeof(float) < size, "weights are no larger than their file");
  Weights again = weights;
  const std::string bytes = weights_to_bytes(again, "fuzz");
  fuzz::require(weights_from_bytes(std::as_bytes(std::span(bytes)), "fuzz") == again, "weights survive as bytes");
  fuzz::require(again.tensors == weights.tensors, "writing changes no tensor");
  return 0;
}

// Changes values of the header, which gets its length and checksum again; now and then any bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Rng rng(seed);
  const Parts parts(fuzz::text_of(data, size));
  if (rng.below(4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  try {
    Json header = parse_json<Error>(parts.header, "header");
    std::string tensors = parts.data;
    if (rng.below(3) == 0) tensors.resize(tensors.size() + 4 - 4 * rng.below(tensors.size() < 4 ? 2 : 3));
    if (rng.below(4) != 0) fuzz::change_value(header, rng);
    const std::string text = file_of(header, tensors);
    if (text.size() <= max_size) {
      std::copy(text.begin(), text.end(), data);
      return text.size();
    }
  } catch (const Error&) {  // no JSON
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
