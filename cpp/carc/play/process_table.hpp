// The processes of this machine, as /proc shows them; Linux.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace carc {

struct ProcessEntry {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  std::uint64_t started = 0;  // ticks since boot: with the pid the name of a process
  std::int64_t resident_pages = 0;
};

// What a file of /proc holds; empty if it cannot be read.
std::string read_whole(const std::string& path);

// Nothing for one that has ended, a zombie included.
std::optional<ProcessEntry> read_entry(pid_t pid);
std::vector<ProcessEntry> all_processes();

// Those in the session or group of `leader`, and all descendants of them and of what is in `family` already.
std::set<pid_t> family_of(pid_t leader, const std::vector<ProcessEntry>& entries, std::set<pid_t> family);

}  // namespace carc
