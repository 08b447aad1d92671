// A program of someone else, run as a child process and asked line by line; Linux.
//
// Nothing that it does harms this process or outlives it: it runs in a session of its own, every wait has a deadline,
// output and memory are bounded, and in the end it is killed with all that it started. What it started is found in
// /proc by its session, by its ancestors and by a variable of the environment that children inherit; a program that
// wants to hide from all three at once can.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "carc/core/error.hpp"

namespace carc {

class ChildProcessError : public Error {
  using Error::Error;
};  // the program cannot be run

// The words of a command line as a shell reads them: spaces part words, quotes and backslashes keep them together.
// Throws ChildProcessError for a quote without its end.
std::vector<std::string> split_words(const std::string& line);

// The file that is run for `program`, sought in PATH unless its name has a slash, then from `folder` (empty: the
// current one). Throws ChildProcessError if there is none.
std::string find_program(const std::string& program, const std::string& folder);

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::int64_t memory_bytes = 0;  // resident, of all its processes; 0 = none
    std::size_t line_bytes = 1 << 20;
  };

  // Starts the program in `folder` (empty: the current one). It ends when the calling thread does. Throws
  // ChildProcessError if it cannot be run.
  ChildProcess(const std::vector<std::string>& command, const std::string& folder, Limits limits);
  ~ChildProcess() { end(std::chrono::milliseconds(0)); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Outcome : std::uint8_t { kLine, kEnded, kLate, kFlood, kMemory, kStopped };
  // Writes `request` and a newline (an empty one: nothing), and reads the next line that is not blank. `stop` (may be
  // null) ends the wait. A line that is there when the deadline is looked at is in time, whenever it was written: this
  // thread may sleep, too.
  Outcome ask(std::string_view request, Clock::time_point deadline, const std::atomic<bool>* stop, std::string& line);

  // Whether the program has ended by itself.
  bool has_ended() const;
  // How, for messages: "exited with code 3", "was killed by signal 11 (Segmentation fault)", "closed its output".
  std::string ending() const;
  // The last line that it wrote to stderr, and the beginning of a line to stdout that has no end yet.
  std::string last_complaint() const;
  const std::string& unfinished_line() const { return output_; }
  // Whether what it wrote to stderr says that it got no memory.
  bool complains_of_memory() const;

  // Closes its input and waits for it to end by itself; false if it does not.
  bool close_input(std::chrono::milliseconds patience);
  // Closes its input, waits for it to end, then ends it and all that it started: SIGTERM, shortly after SIGKILL.
  void end(std::chrono::milliseconds patience);

  pid_t pid() const { return pid_; }

 private:
  class Descriptor {  // of a file, closed in the end
   public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void close();
    void reset(int number) { close(), number_ = number; }
    int get() const { return number_; }

   private:
    int number_;
  };

  bool take_line(std::string& line);
  void exchange(std::string_view& request, std::chrono::milliseconds wait);
  void write_some(std::string_view& request);
  void read_output();
  void read_complaints();
  std::vector<pid_t> members() const;
  bool uses_too_much_memory() const;
  bool wait_until_gone(std::chrono::milliseconds patience, bool all) const;

  Limits limits_;
  pid_t pid_ = -1;  // stays a zombie, so that its number is not given to another process, until all is over
  std::string marker_;
  mutable std::map<pid_t, std::uint64_t> known_;  // of what it started, by when that was started
  Descriptor input_, output_pipe_, complaints_pipe_;
  std::string output_;      // read, but not yet taken
  std::string complaints_;  // the last of stderr
  bool output_ended_ = false;
};

}  // namespace carc
