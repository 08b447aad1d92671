#include "carc/neural/weights.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

#include "carc/core/json.hpp"
#include "carc/neural/weights_format.hpp"

namespace carc {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie in the file");

constexpr std::size_t kPrefix = 8;  // bytes of the header's length
constexpr std::uint64_t kLongestHeader = 1 << 20;
constexpr std::size_t kMostTensors = 4096;
constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kLongestName = 256;
constexpr std::int64_t kMostValues = kLargestWeights / sizeof(float);
constexpr int kDeepest = 3;  // a shape in a tensor in the header
constexpr char kMetadata[] = "__metadata__";
constexpr char kChecksum[] = "checksum";

// A tensor as the header describes it; `begin` and `end` are bytes of the data part.
struct Entry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

std::string list(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const std::int64_t size : shape) out += (out.empty() ? "" : ", ") + (size < 0 ? "any" : std::to_string(size));
  return "[" + out + "]";
}

std::string hexadecimal(std::uint64_t value) {
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
  return out;
}

bool is_hexadecimal(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// What a file says and how its parts are named in messages.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  [[noreturn]] void refuse(const std::string& what) const { throw WeightsError(name_ + ": " + what); }

  void check_name(const std::string& name) const {
    if (name.empty() || name.size() > kLongestName) {
      refuse("name of a tensor: found " + std::to_string(name.size()) + " bytes, expected 1 to " +
             std::to_string(kLongestName));
    }
    if (printable(name) != name) refuse("name of a tensor: found " + quote(name) + ", expected no control characters");
  }

  // Number of values; throws for shapes that no file can hold.
  std::int64_t volume(const std::string& name, const std::vector<std::int64_t>& shape) const {
    if (shape.size() > kMostDimensions) {
      refuse("tensor " + quote(name) + ": found " + std::to_string(shape.size()) + " dimensions, expected at most " +
             std::to_string(kMostDimensions));
    }
    std::int64_t values = 1;
    for (const std::int64_t size : shape) {
      if (size < 1 || size > kMostValues / values) {
        refuse("tensor " + quote(name) + ": found shape " + shape_text(shape) +
               ", expected sizes of at least 1 and at most " + std::to_string(kMostValues) + " values");
      }
      values *= size;
    }
    return values;
  }

  void check_metadata(const std::map<std::string, std::string>& metadata) const {
    for (const char* key : {"format", "encoder"}) {
      if (!metadata.contains(key)) refuse("metadata: " + quote(key) + " is missing");
    }
    for (const auto& [key, text] : metadata) {
      if ((key + text).find('\0') != std::string::npos) refuse("metadata: " + quote(key) + ": found a NUL character");
    }
  }

  Json parse(const std::string& text) const {
    std::vector<std::set<std::string>> keys;  // of the objects that are open
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
      if (depth > kDeepest) refuse("header: found more than " + std::to_string(kDeepest) + " levels");
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end) keys.pop_back();
      if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
        refuse("header: found the key " + quote(value.get<std::string>()) + " twice");
      return true;
    };
    try {
      return Json::parse(text, watch);
    } catch (const Json::exception& error) {
      refuse("header is not valid JSON: " + std::string(error.what()).substr(0, 200));
    }
  }

  std::map<std::string, std::string> metadata(const Json& header) const {
    const auto found = header.find(kMetadata);
    if (found == header.end()) refuse("metadata is missing");
    if (!found->is_object()) refuse("metadata: found " + shown(*found) + ", expected an object");
    std::map<std::string, std::string> out;
    for (const auto& [key, value] : found->items()) {
      if (!value.is_string()) refuse("metadata: " + quote(key) + ": found " + shown(value) + ", expected a text");
      out[key] = value.get<std::string>();
    }
    check_metadata(out);
    if (!out.contains(kChecksum)) refuse("metadata: " + quote(kChecksum) + " is missing");
    if (!is_hexadecimal(out[kChecksum]))
      refuse("checksum: found " + quote(out[kChecksum]) + ", expected 16 hexadecimal digits");
    return out;
  }

  // The tensors in the order in which they lie in the data part, which they fill without holes.
  std::vector<Entry> entries(const Json& header, std::uint64_t data) const {
    if (header.size() > kMostTensors + 1) {
      refuse("header: found " + std::to_string(header.size() - 1) + " tensors, expected at most " +
             std::to_string(kMostTensors));
    }
    std::vector<Entry> out;
    for (const auto& [name, value] : header.items()) {
      if (name != kMetadata) out.push_back(entry(name, value, data));
    }
    std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
    std::uint64_t at = 0;
    for (const Entry& e : out) {
      if (e.begin != at) {
        refuse("tensor " + quote(e.name) + (e.begin < at ? " overlaps another one" : " follows a hole") +
               ": found its begin at byte " + std::to_string(e.begin) + " of the data, expected " + std::to_string(at));
      }
      at = e.end;
    }
    if (at != data)
      refuse("found " + std::to_string(data - at) + " bytes after the last tensor, expected the end of the file");
    return out;
  }

 private:
  static std::string shape_text(const std::vector<std::int64_t>& shape) {
    return shape.empty() ? "[]" : shown(Json(shape));
  }

  std::uint64_t whole(const Json& value, const std::string& what) const {
    if (!value.is_number_unsigned()) refuse(what + ": found " + shown(value) + ", expected a whole number from 0 up");
    return value.get<std::uint64_t>();
  }

  Entry entry(const std::string& name, const Json& value, std::uint64_t data) const {
    check_name(name);
    const std::string what = "tensor " + quote(name);
    if (!value.is_object()) refuse(what + ": found " + shown(value) + ", expected an object");
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (!value.contains(key)) refuse(what + ": " + quote(key) + " is missing");
    }
    for (const auto& [key, item] : value.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        refuse(what + ": found the key " + quote(key) + ", expected dtype, shape and data_offsets");
    }
    if (value["dtype"] != "F32") refuse(what + ": dtype: found " + shown(value["dtype"]) + ", expected \"F32\"");
    const Json& shape = value["shape"];
    const Json& offsets = value["data_offsets"];
    if (!shape.is_array()) refuse(what + ": shape: found " + shown(shape) + ", expected a list");
    if (!offsets.is_array() || offsets.size() != 2)
      refuse(what + ": data_offsets: found " + shown(offsets) + ", expected two numbers");
    Entry out{name, {}, whole(offsets[0], what + ": data_offsets"), whole(offsets[1], what + ": data_offsets")};
    for (const Json& size : shape) {
      const std::uint64_t n = whole(size, what + ": shape");
      out.shape.push_back(static_cast<std::int64_t>(std::min(n, static_cast<std::uint64_t>(kMostValues) + 1)));
    }
    const auto bytes = static_cast<std::uint64_t>(volume(name, out.shape)) * sizeof(float);
    if (out.begin > out.end || out.end > data) {
      refuse(what + ": found bytes " + std::to_string(out.begin) + " to " + std::to_string(out.end) +
             ", expected a range of the " + std::to_string(data) + " bytes of data");
    }
    if (out.end - out.begin != bytes) {
      refuse(what + ": found " + std::to_string(out.end - out.begin) + " bytes of data, expected " +
             std::to_string(bytes) + " for shape " + shape_text(out.shape));
    }
    return out;
  }

  std::string name_;
};

void check_finite(const Reader& reader, const std::string& name, const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    if (std::isfinite(tensor.values[i])) continue;
    reader.refuse("tensor " + quote(name) + ": found " + (std::isnan(tensor.values[i]) ? "NaN" : "infinity") +
                  " at position " + std::to_string(i) + ", expected finite numbers");
  }
}

// The checksum of a header without its entry for it.
std::uint64_t start_of(Json header) {
  header[kMetadata].erase(kChecksum);
  const std::string text = header.dump();
  return checksum64(std::as_bytes(std::span(text)));
}

}  // namespace

std::uint64_t checksum64(std::span<const std::byte> bytes, std::uint64_t start) {
  for (const std::byte byte : bytes) start = (start ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3u;
  return start;
}

Weights weights_from(std::uint64_t size, const ReadBytes& read, const std::string& name) {
  const Reader reader(name);
  if (size < kPrefix + 2)
    reader.refuse("found " + std::to_string(size) + " bytes, expected a safetensors file of 10 bytes at least");
  if (size > kLargestWeights) {
    reader.refuse("found " + std::to_string(size) + " bytes, expected at most " + std::to_string(kLargestWeights));
  }
  std::uint64_t length = 0;
  read(std::as_writable_bytes(std::span(&length, 1)));
  if (length < 2 || length > kLongestHeader || length > size - kPrefix) {
    reader.refuse("found a header of " + std::to_string(length) + " bytes, expected 2 to " +
                  std::to_string(std::min(kLongestHeader, size - kPrefix)));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  read(std::as_writable_bytes(std::span(text)));
  if (text.find('\0') != std::string::npos) reader.refuse("header: found a NUL byte, expected JSON");
  if (text.front() != '{') reader.refuse("header: found " + quote(text.substr(0, 1)) + " first, expected '{'");
  const Json header = reader.parse(text);

  Weights weights;
  weights.metadata = reader.metadata(header);
  const std::vector<Entry> entries = reader.entries(header, size - kPrefix - length);
  std::uint64_t checksum = start_of(header);
  for (const Entry& entry : entries) {
    Tensor& tensor = weights.tensors[entry.name];
    tensor.shape = entry.shape;
    tensor.values.resize(static_cast<std::size_t>((entry.end - entry.begin) / sizeof(float)));
    const auto bytes = std::as_writable_bytes(std::span(tensor.values));
    read(bytes);
    checksum = checksum64(bytes, checksum);
  }
  if (hexadecimal(checksum) != weights.metadata[kChecksum]) {
    reader.refuse("checksum: found " + weights.metadata[kChecksum] + ", expected " + hexadecimal(checksum) +
                  " for this content: the file is damaged");
  }
  for (const auto& [tensor, content] : weights.tensors) check_finite(reader, tensor, content);
  return weights;
}

Weights weights_from_bytes(std::span<const std::byte> bytes, const std::string& name) {
  std::size_t at = 0;
  const auto next = [&](std::span<std::byte> buffer) {
    std::memcpy(buffer.data(), bytes.data() + at, buffer.size());
    at += buffer.size();
  };
  return weights_from(bytes.size(), next, name);
}

std::string weights_to_bytes(Weights& weights, const std::string& name) {
  const Reader reader(name);
  reader.check_metadata(weights.metadata);
  if (weights.tensors.size() > kMostTensors) {
    reader.refuse("found " + std::to_string(weights.tensors.size()) + " tensors, expected at most " +
                  std::to_string(kMostTensors));
  }
  Json header = {{kMetadata, weights.metadata}};
  std::uint64_t data = 0;
  for (const auto& [tensor, content] : weights.tensors) {
    reader.check_name(tensor);
    if (tensor == kMetadata) reader.refuse("name of a tensor: found '__metadata__', which is no tensor in safetensors");
    if (const auto volume = static_cast<std::size_t>(reader.volume(tensor, content.shape));
        volume != content.values.size()) {
      reader.refuse("tensor " + quote(tensor) + ": found " + std::to_string(content.values.size()) +
                    " values, expected " + std::to_string(volume) + " for shape " + list(content.shape));
    }
    check_finite(reader, tensor, content);
    const std::uint64_t end = data + content.values.size() * sizeof(float);
    header[tensor] = {{"dtype", "F32"}, {"shape", content.shape}, {"data_offsets", {data, end}}};
    data = end;
    if (data > kLargestWeights) break;
  }
  std::string text;
  try {
    std::uint64_t checksum = start_of(header);
    for (const auto& [tensor, content] : weights.tensors)
      checksum = checksum64(std::as_bytes(std::span(content.values)), checksum);
    weights.metadata[kChecksum] = hexadecimal(checksum);
    header[kMetadata] = weights.metadata;
    text = header.dump();
  } catch (const Json::exception& error) {
    reader.refuse("metadata: found text that is no valid UTF-8: " + std::string(error.what()).substr(0, 200));
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin at multiples of eight bytes
  if (text.size() > kLongestHeader || kPrefix + text.size() + data > kLargestWeights) {
    reader.refuse("found a header of " + std::to_string(text.size()) + " bytes and data of " + std::to_string(data) +
                  ", expected at most " + std::to_string(kLongestHeader) + " and in all " +
                  std::to_string(kLargestWeights));
  }
  const std::uint64_t length = text.size();
  std::string out(kPrefix, '\0');
  std::memcpy(out.data(), &length, kPrefix);
  out.reserve(kPrefix + text.size() + data);
  out += text;
  for (const auto& [tensor, content] : weights.tensors)
    out.append(reinterpret_cast<const char*>(content.values.data()), content.values.size() * sizeof(float));
  return out;
}

// --- What a network asks for ----------------------------------------------------------------------------------------

const Tensor& Weights::tensor(const std::string& name, const std::vector<std::int64_t>& shape) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw WeightsError("tensor " + quote(name) + " is missing");
  const std::vector<std::int64_t>& own = found->second.shape;
  const bool fits = std::equal(own.begin(), own.end(), shape.begin(), shape.end(),
                               [](std::int64_t a, std::int64_t b) { return b < 0 || a == b; });
  if (!fits) throw WeightsError("tensor " + quote(name) + ": found shape " + list(own) + ", expected " + list(shape));
  return found->second;
}

void Weights::expect_tensors(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (!tensors.contains(name)) throw WeightsError("tensor " + quote(name) + " is missing");
  }
  for (const auto& [name, content] : tensors) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw WeightsError("found the unexpected tensor " + quote(name) + ", the nearest expected one is " +
                         quote(nearest(name, names)));
    }
  }
}

const std::string& Weights::text(const std::string& key) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) throw WeightsError("metadata: " + quote(key) + " is missing");
  return found->second;
}

int Weights::whole(const std::string& key, int low, int high) const {
  const std::string& written = text(key);
  int value = 0;
  const char* end = written.data() + written.size();
  const auto [stopped, error] = std::from_chars(written.data(), end, value);
  if (error != std::errc() || stopped != end || value < low || value > high) {
    throw WeightsError("metadata: " + quote(key) + ": found " + quote(written) + ", expected a whole number from " +
                       std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

}  // namespace carc
