#include "carc/play/process_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace carc {

std::string read_whole(const std::string& path) {
  // Not by a stream: a process that ends while its file is read makes the read fail (ESRCH), and streams throw then.
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> part;
  for (ssize_t n = 0; (n = ::read(file, part.data(), part.size())) > 0 || (n < 0 && errno == EINTR);) {
    if (n > 0) text.append(part.data(), static_cast<std::size_t>(n));
  }
  ::close(file);
  return text;
}

std::optional<ProcessEntry> read_entry(pid_t pid) {
  const std::string text = read_whole("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  ProcessEntry entry;
  entry.pid = pid;
  char state = 0;
  constexpr const char* kFormat =
      " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu %*u %lld";
  unsigned long long started = 0;
  long long pages = 0;
  const int read = std::sscanf(text.c_str() + name_end + 1, kFormat, &state, &entry.parent, &entry.group,
                               &entry.session, &started, &pages);
  if (read != 6 || state == 'Z' || state == 'X') return std::nullopt;
  entry.started = started;
  entry.resident_pages = pages;
  return entry;
}

std::vector<ProcessEntry> all_processes() {
  std::vector<ProcessEntry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    pid_t pid = 0;
    const auto [rest, failure] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failure != std::errc() || rest != name.data() + name.size()) continue;
    if (const auto entry = read_entry(pid)) entries.push_back(*entry);
  }
  return entries;
}

std::set<pid_t> family_of(pid_t leader, const std::vector<ProcessEntry>& entries, std::set<pid_t> family) {
  for (const ProcessEntry& entry : entries) {
    if (entry.pid == leader || entry.session == leader || entry.group == leader) family.insert(entry.pid);
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (const ProcessEntry& entry : entries) grew |= family.contains(entry.parent) && family.insert(entry.pid).second;
  }
  return family;
}

}  // namespace carc
