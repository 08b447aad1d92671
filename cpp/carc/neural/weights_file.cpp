// Files of weights: bounded when read, complete when written.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carc/neural/weights.hpp"
#include "carc/neural/weights_format.hpp"

namespace carc {
namespace {

// An open file of the system; closed at the end.
class OpenFile {
 public:
  explicit OpenFile(int handle) : handle_(handle) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (handle_ >= 0) ::close(handle_);
  }
  int handle() const { return handle_; }
  bool is_open() const { return handle_ >= 0; }

 private:
  int handle_;
};

// The path as messages show it.
std::string shown_path(const std::string& path) {
  constexpr std::size_t kLongest = 300;
  return path.size() <= kLongest ? path : "..." + path.substr(path.size() - kLongest);
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw WeightsError(shown_path(path) + ": " + what + ": " + std::strerror(errno));
}

void read_all(int handle, std::span<std::byte> buffer, const std::string& path) {
  while (!buffer.empty()) {
    const ssize_t n = ::read(handle, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "cannot read the weights");
    if (n == 0)
      throw WeightsError(shown_path(path) + ": found the end of the file while reading it, expected no change of it");
    buffer = buffer.subspan(static_cast<std::size_t>(n));
  }
}

void write_all(int handle, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(handle, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "cannot write the weights");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

struct Place {
  std::string folder, name;
};

Place place_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

// A path that ends at its NUL would name another file.
void check_path(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    throw WeightsError("weights: found the path " + quote(path) + ", expected one without NUL");
}

// A new file beside `path`, and its name.
std::pair<int, std::string> create_beside(const std::string& path) {
  static std::atomic<unsigned> made{0};  // names only: no result depends on it
  const Place place = place_of(path);
  for (;;) {
    std::string name = (place.folder == "." ? "" : place.folder) + "." + place.name + "." + std::to_string(::getpid()) +
                       "-" + std::to_string(made++) + ".part";
    const int handle = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (handle >= 0) return {handle, std::move(name)};
    if (errno != EEXIST) fail(path, "cannot write the weights");
  }
}

}  // namespace

Weights read_weights(const std::string& path) {
  check_path(path);
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) fail(path, "cannot open the weights");
  struct stat status{};
  if (::fstat(file.handle(), &status) != 0) fail(path, "cannot read the weights");
  if (!S_ISREG(status.st_mode)) {
    throw WeightsError(shown_path(path) + ": found " + (S_ISDIR(status.st_mode) ? "a folder" : "no regular file") +
                       ", expected a safetensors file");
  }
  return weights_from(
      static_cast<std::uint64_t>(status.st_size),
      [&](std::span<std::byte> buffer) { read_all(file.handle(), buffer, path); }, shown_path(path));
}

Weights read_weights(const std::string& path, const std::string& format, int encoder) {
  Weights weights = read_weights(path);
  if (const std::string& found = weights.text("format"); found != format)
    throw WeightsError(shown_path(path) + ": format: found " + quote(found) + ", expected " + quote(format));
  if (const std::string& found = weights.text("encoder"); found != std::to_string(encoder)) {
    throw WeightsError(shown_path(path) + ": encoder: found version " + quote(found) + ", expected '" +
                       std::to_string(encoder) + "': these weights were trained on other inputs");
  }
  return weights;
}

std::string write_weights(const std::string& path, Weights weights) {
  check_path(path);
  const std::string bytes = weights_to_bytes(weights, shown_path(path));
  const auto [handle, temporary] = create_beside(path);
  try {
    const OpenFile file(handle);
    write_all(file.handle(), std::as_bytes(std::span(bytes)), path);
    if (::fsync(file.handle()) != 0) fail(path, "cannot write the weights");
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "cannot write the weights");
  } catch (const WeightsError&) {
    ::unlink(temporary.c_str());
    throw;
  }
  const OpenFile folder(::open(place_of(path).folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (folder.is_open()) ::fsync(folder.handle());
  return weights.text("checksum");
}

}  // namespace carc
