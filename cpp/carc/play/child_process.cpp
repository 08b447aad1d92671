#include "carc/play/child_process.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carc/play/process_table.hpp"

extern "C" char** environ;

namespace carc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookInterval{25};   // how often a waiting thread looks at the stop flag, memory and the process
constexpr milliseconds kTermPatience{200};  // from SIGTERM to SIGKILL
constexpr milliseconds kKillPatience{2000};
constexpr std::size_t kChunk = 1 << 16;                   // bytes read at once: what a pipe holds
constexpr std::size_t kComplaints = 4096;                 // bytes of stderr that are kept
constexpr std::int64_t kSlack = std::int64_t{512} << 20;  // bytes, see set_limits

std::string system_message(int error) { return std::strerror(error); }

// --- Starting -------------------------------------------------------------------------------------------------------

struct Pipe {
  int read_end = -1, write_end = -1;
};

// Both ends are closed in programs that are started, and no standard stream, even if one of those was closed.
Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error("pipe: " + system_message(errno) + ", expected a pipe to a child process");
  for (int& end : ends) {
    if (end > 2) continue;
    const int moved = fcntl(end, F_DUPFD_CLOEXEC, 3);
    close(end);
    end = moved;
  }
  return {ends[0], ends[1]};
}

void set_nonblocking(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

// All that the child needs, made before the fork: between fork and exec it may not allocate.
struct Launch {
  std::string program;
  std::string folder;
  std::vector<char*> arguments, environment;
  int input, output, complaints, status;
  std::int64_t memory_bytes;
  pid_t parent;
};

// Resident memory cannot be limited from here, but is looked at while the program is waited for. This limit is for the
// moments when nobody looks, so it is generous.
void set_limits(std::int64_t memory_bytes) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (memory_bytes == 0) return;
  const auto bytes = static_cast<rlim_t>(memory_bytes * 2 + kSlack);
  const rlimit data{bytes, bytes};
  setrlimit(RLIMIT_DATA, &data);
}

// In the child. Only calls that are safe after a fork of a process with threads.
[[noreturn]] void run(const Launch& launch) {
  const auto fail = [&](int error) {
    if (write(launch.status, &error, sizeof error) != sizeof error) _exit(126);
    _exit(127);
  };
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(127);  // it died before
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(launch.input, 0) < 0 || dup2(launch.output, 1) < 0 || dup2(launch.complaints, 2) < 0) fail(errno);
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
  syscall(SYS_close_range, 3U, ~0U, kCloseOnExec);
#endif
  set_limits(launch.memory_bytes);
  if (!launch.folder.empty() && chdir(launch.folder.c_str()) != 0) fail(errno);
  execve(launch.program.c_str(), launch.arguments.data(), launch.environment.data());
  fail(errno);
  _exit(127);
}

// No handler of this process may run in the child.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// A write to a pipe that nobody reads any more shall fail and not kill this process.
class BrokenPipesTolerated {
 public:
  BrokenPipesTolerated() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~BrokenPipesTolerated() {
    const timespec at_once{0, 0};
    if (!was_pending_) sigtimedwait(&broken_pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipesTolerated(const BrokenPipesTolerated&) = delete;
  BrokenPipesTolerated& operator=(const BrokenPipesTolerated&) = delete;

 private:
  sigset_t broken_pipe_, before_;
  bool was_pending_ = false;
};

std::string new_marker() {
  static std::atomic<std::uint64_t> started{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return "CARC_GUEST_" + std::to_string(getpid()) + "_" + std::to_string(++started) + "_" + std::to_string(now) + "=1";
}

bool is_program(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

// --- Command lines --------------------------------------------------------------------------------------------------

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quoted = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quoted != '\'' && i + 1 < line.size()) {
      word += line[++i], in_word = true;
    } else if (quoted) {
      if (c == quoted)
        quoted = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quoted = c, in_word = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(word);
      word.clear(), in_word = false;
    } else {
      word += c, in_word = true;
    }
  }
  if (quoted) throw ChildProcessError("found " + quote(line) + ", expected another " + quoted + " that ends the text");
  if (in_word) words.push_back(word);
  return words;
}

std::string find_program(const std::string& program, const std::string& folder) {
  if (program.find('/') != std::string::npos) {
    const std::string path = program[0] == '/' || folder.empty() ? program : folder + "/" + program;
    if (is_program(path)) return program;
  } else if (!program.empty()) {
    const char* variable = std::getenv("PATH");
    const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t at = 0; at <= path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      const std::string candidate = path.substr(at, end - at) + "/" + program;
      if (end > at && is_program(candidate)) return std::filesystem::absolute(candidate);
      at = end + 1;
    }
  }
  throw ChildProcessError("found " + quote(program) + ", expected a program that can be run");
}

// --- The process ----------------------------------------------------------------------------------------------------

void ChildProcess::Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& folder, Limits limits)
    : limits_(limits), marker_(new_marker()) {
  if (command.empty()) throw ChildProcessError("found no command, expected a program with its arguments");
  Launch launch{};
  launch.program = find_program(command[0], folder);
  launch.folder = folder;
  launch.memory_bytes = limits.memory_bytes;
  std::vector<std::string> words = command;
  for (std::string& word : words) launch.arguments.push_back(word.data());
  launch.arguments.push_back(nullptr);
  launch.environment.push_back(marker_.data());
  for (char** variable = environ; variable && *variable; ++variable) launch.environment.push_back(*variable);
  launch.environment.push_back(nullptr);

  const Pipe input = make_pipe();
  Descriptor child_input(input.read_end);
  input_.reset(input.write_end);
  const Pipe output = make_pipe();
  Descriptor child_output(output.write_end);
  output_pipe_.reset(output.read_end);
  const Pipe complaints = make_pipe();
  Descriptor child_complaints(complaints.write_end);
  complaints_pipe_.reset(complaints.read_end);
  const Pipe status = make_pipe();
  Descriptor status_read(status.read_end), status_write(status.write_end);
  launch.input = child_input.get(), launch.output = child_output.get();
  launch.complaints = child_complaints.get(), launch.status = status_write.get();
  launch.parent = getpid();
  {
    const SignalsBlocked blocked;
    pid_ = fork();
    if (pid_ == 0) run(launch);
  }
  if (pid_ < 0) throw Error("fork: " + system_message(errno) + ", expected a child process");
  status_write.close();
  int failure = 0;
  ssize_t got = 0;
  while ((got = read(status_read.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (got == sizeof failure) {
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    throw ChildProcessError(quote(launch.program) + " cannot be run: " + system_message(failure));
  }
  set_nonblocking(input_.get());
  set_nonblocking(output_pipe_.get());
  set_nonblocking(complaints_pipe_.get());
}

bool ChildProcess::has_ended() const {
  siginfo_t info{};
  return pid_ < 0 || (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid);
}

std::string ChildProcess::ending() const {
  wait_until_gone(kTermPatience, false);  // its output ends a moment before it does
  siginfo_t info{};
  if (pid_ < 0 || waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
    return "closed its output";
  if (info.si_code == CLD_EXITED) return "exited with code " + std::to_string(info.si_status);
  const char* name = strsignal(info.si_status);
  return "was killed by signal " + std::to_string(info.si_status) + (name ? " (" + std::string(name) + ")" : "");
}

std::string ChildProcess::last_complaint() const {
  const std::size_t end = complaints_.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return {};
  const std::size_t before = complaints_.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return complaints_.substr(begin, end + 1 - begin);
}

bool ChildProcess::complains_of_memory() const {
  for (const char* words : {"MemoryError", "bad_alloc", "OutOfMemory", "out of memory", "memory allocation of",
                            "Cannot allocate memory", "Out of memory"}) {
    if (complaints_.find(words) != std::string::npos) return true;
  }
  return false;
}

// --- Asking ---------------------------------------------------------------------------------------------------------

ChildProcess::Outcome ChildProcess::ask(std::string_view request, Clock::time_point deadline,
                                        const std::atomic<bool>* stop, std::string& line) {
  const std::string text = request.empty() ? "" : std::string(request) + "\n";
  std::string_view unsent = text;
  Clock::time_point look = Clock::now() + kLookInterval;
  bool is_late = false;
  for (;;) {
    if (take_line(line)) {
      if (line.size() > limits_.line_bytes) return Outcome::kFlood;
      read_complaints();
      return limits_.memory_bytes > 0 && uses_too_much_memory() ? Outcome::kMemory : Outcome::kLine;
    }
    if (output_.size() > limits_.line_bytes) return Outcome::kFlood;
    if (output_ended_) {
      wait_until_gone(milliseconds(50), false);
      read_complaints();
      return Outcome::kEnded;
    }
    if (is_late) return Outcome::kLate;
    if (stop && *stop) return Outcome::kStopped;
    const Clock::time_point now = Clock::now();
    if (now >= look) {
      look = now + kLookInterval;
      if (limits_.memory_bytes > 0 && uses_too_much_memory()) return Outcome::kMemory;
      if (has_ended()) {  // what it started may still hold its output open
        read_output();
        output_ended_ = true;
        continue;
      }
    }
    is_late = now >= deadline;
    const auto left = std::chrono::ceil<milliseconds>(std::min(deadline, look) - now);
    exchange(unsent, is_late ? milliseconds(0) : left);
  }
}

// Takes the first line that is not blank.
bool ChildProcess::take_line(std::string& line) {
  for (std::size_t end; (end = output_.find('\n')) != std::string::npos;) {
    line.assign(output_, 0, end);
    output_.erase(0, end + 1);
    if (line.find_first_not_of(" \t\r") != std::string::npos) return true;
  }
  return false;
}

// Waits until something can be written or read, then does so.
void ChildProcess::exchange(std::string_view& request, milliseconds wait) {
  const bool is_writing = !request.empty() && input_.get() >= 0;
  std::array<pollfd, 3> files{{{output_pipe_.get(), POLLIN, 0},
                               {complaints_pipe_.get(), POLLIN, 0},
                               {is_writing ? input_.get() : -1, POLLOUT, 0}}};
  if (poll(files.data(), files.size(), static_cast<int>(std::max<std::int64_t>(0, wait.count()))) <= 0) return;
  if (files[2].revents) write_some(request);
  if (files[1].revents) read_complaints();
  if (files[0].revents) read_output();
}

void ChildProcess::write_some(std::string_view& request) {
  const BrokenPipesTolerated tolerated;
  const ssize_t written = write(input_.get(), request.data(), request.size());
  if (written > 0) request.remove_prefix(static_cast<std::size_t>(written));
  if (written < 0 && errno != EAGAIN && errno != EINTR) input_.close();  // it reads no more; it may still have answered
}

void ChildProcess::read_output() {
  std::array<char, kChunk> chunk;
  const ssize_t got = read(output_pipe_.get(), chunk.data(), chunk.size());
  if (got > 0) output_.append(chunk.data(), static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) output_ended_ = true;
}

void ChildProcess::read_complaints() {
  if (complaints_pipe_.get() < 0) return;
  std::array<char, kChunk> chunk;
  const ssize_t got = read(complaints_pipe_.get(), chunk.data(), chunk.size());
  if (got > 0) complaints_.append(chunk.data(), static_cast<std::size_t>(got));
  if (got == 0) complaints_pipe_.close();
  if (complaints_.size() > kComplaints) complaints_.erase(0, complaints_.size() - kComplaints);
}

// --- Ending ---------------------------------------------------------------------------------------------------------

// What was found once is remembered: a process whose parent has died may have nothing else that tells where it came
// from, and may take a while to die itself.
std::vector<pid_t> ChildProcess::members() const {
  const std::vector<ProcessEntry> entries = all_processes();
  std::set<pid_t> marked;
  for (const ProcessEntry& entry : entries) {
    const auto known = known_.find(entry.pid);
    const bool is_known = known != known_.end() && known->second == entry.started;
    if (is_known || (entry.pid != getpid() &&
                     read_whole("/proc/" + std::to_string(entry.pid) + "/environ").find(marker_) != std::string::npos))
      marked.insert(entry.pid);
  }
  const std::set<pid_t> family = family_of(pid_, entries, marked);
  for (const ProcessEntry& entry : entries) {
    if (family.contains(entry.pid)) known_[entry.pid] = entry.started;
  }
  return {family.begin(), family.end()};
}

bool ChildProcess::uses_too_much_memory() const {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const auto leader = read_entry(pid_);
  if (leader && leader->resident_pages * page > limits_.memory_bytes) return true;
  const std::string children =
      read_whole("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children");
  if (children.empty()) return false;  // most programs are one process
  const std::vector<ProcessEntry> entries = all_processes();
  const std::set<pid_t> family = family_of(pid_, entries, {});
  std::int64_t pages = 0;
  for (const ProcessEntry& entry : entries) pages += family.contains(entry.pid) ? entry.resident_pages : 0;
  return pages * page > limits_.memory_bytes;
}

// Waits for the program, or for all that it started, too.
bool ChildProcess::wait_until_gone(milliseconds patience, bool all) const {
  const Clock::time_point deadline = Clock::now() + patience;
  for (milliseconds pause{1};; pause = std::min(pause * 2, milliseconds(16))) {
    if (has_ended() && (!all || members().empty())) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
}

bool ChildProcess::close_input(milliseconds patience) {
  input_.close();
  return wait_until_gone(patience, false);
}

void ChildProcess::end(milliseconds patience) {
  if (pid_ < 0) return;
  input_.close(), output_pipe_.close(), complaints_pipe_.close();  // nobody shall wait for this side to read
  const auto signal_all = [&](int number) {
    for (const pid_t member : members()) kill(member, number);
  };
  wait_until_gone(patience, false);
  if (!(has_ended() && members().empty())) {
    signal_all(SIGTERM);
    const Clock::time_point deadline = Clock::now() + kKillPatience;
    if (!wait_until_gone(kTermPatience, true)) {
      do signal_all(SIGKILL);
      while (!wait_until_gone(milliseconds(20), true) && Clock::now() < deadline);
    }
  }
  if (has_ended()) {  // else it is out of reach, as programs of another user are
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
}

}  // namespace carc
