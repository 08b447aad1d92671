#include "carc/play/child_process.hpp"

#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "../support.hpp"
#include "carc/play/process_table.hpp"

namespace carc {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Outcome = ChildProcess::Outcome;

ChildProcess shell(const std::string& script, ChildProcess::Limits limits = {}) {
  return ChildProcess({"sh", "-c", script}, "", limits);
}

Outcome ask(ChildProcess& process, std::string& line, std::chrono::milliseconds time = 20s) {
  return process.ask("question", ChildProcess::Clock::now() + time, nullptr, line);
}

// Processes whose command line holds this word, zombies left out.
int running(const std::string& word) {
  int count = 0;
  for (const ProcessEntry& entry : all_processes()) {
    count += read_whole("/proc/" + std::to_string(entry.pid) + "/cmdline").find(word) != std::string::npos;
  }
  return count;
}

int open_files() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}

TEST(SplitWords, QuotesAndBackslashesKeepWordsTogether) {
  EXPECT_THAT(split_words("  python3 'my bot.py'  --name=\"a b\" c\\ d '' "),
              ElementsAre("python3", "my bot.py", "--name=a b", "c d", ""));
  EXPECT_THAT(split_words(" "), ElementsAre());
  EXPECT_THAT(message_of<ChildProcessError>([] { split_words("echo 'a"); }), HasSubstr("expected another '"));
}

TEST(ChildProcess, ProgramThatDoesNotExistIsRefusedByName) {
  for (const std::string name : {"no-such-program", "./no-such-program", "/", ""}) {
    EXPECT_THAT(message_of<ChildProcessError>([&] { ChildProcess({name}, "", {}); }), HasSubstr("found '" + name));
  }
  EXPECT_THAT(message_of<ChildProcessError>([] { ChildProcess({}, "", {}); }), HasSubstr("found no command"));
  EXPECT_THAT(message_of<ChildProcessError>([] { ChildProcess({"sh"}, "/no/such/folder", {}); }),
              HasSubstr("No such file"));
}

TEST(ChildProcess, AnswersLineByLine) {
  auto process = shell("while read -r line; do echo; echo \"$line!\"; done");
  std::string line;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ask(process, line), Outcome::kLine);
    EXPECT_EQ(line, "question!");
  }
  EXPECT_FALSE(process.has_ended());
}

TEST(ChildProcess, RequestsLargerThanAPipeArrive) {
  auto process = shell("while read -r line; do echo \"${#line}\"; done");
  std::string line;
  const std::string request(300'000, 'x');
  ASSERT_EQ(process.ask(request, ChildProcess::Clock::now() + 20s, nullptr, line), Outcome::kLine);
  EXPECT_EQ(line, "300000");
}

TEST(ChildProcess, RunsInItsFolder) {
  ChildProcess process({"sh", "-c", "pwd; read -r line"}, "/usr", {});
  std::string line;
  ASSERT_EQ(ask(process, line), Outcome::kLine);
  EXPECT_EQ(line, "/usr");
}

TEST(ChildProcess, WaitingEndsAtTheDeadline) {
  auto process = shell("echo half; printf line; sleep 100");
  std::string line;
  ASSERT_EQ(ask(process, line), Outcome::kLine);
  EXPECT_EQ(ask(process, line, 50ms), Outcome::kLate);
  EXPECT_EQ(process.unfinished_line(), "line");
}

TEST(ChildProcess, RequestsThatNobodyReadsEndAtTheDeadline) {
  auto process = shell("sleep 100");
  std::string line;
  EXPECT_EQ(process.ask(std::string(1 << 20, 'x'), ChildProcess::Clock::now() + 50ms, nullptr, line), Outcome::kLate);
}

TEST(ChildProcess, WaitingEndsWhenItIsStopped) {
  auto process = shell("sleep 100");
  std::string line;
  std::atomic<bool> stop{true};
  EXPECT_EQ(process.ask("", ChildProcess::Clock::now() + 1h, &stop, line), Outcome::kStopped);
}

TEST(ChildProcess, EndingIsNamed) {
  std::string line;
  const auto ending = [&](const std::string& script) {
    auto process = shell(script);
    EXPECT_EQ(ask(process, line), Outcome::kEnded) << script;
    return process.ending();
  };
  EXPECT_EQ(ending("exit 0"), "exited with code 0");
  EXPECT_EQ(ending("exit 7"), "exited with code 7");
  EXPECT_THAT(ending("kill -SEGV $$"), HasSubstr("was killed by signal 11"));
  EXPECT_EQ(ending("exec >&-; sleep 100"), "closed its output");
}

TEST(ChildProcess, EndIsSeenWhileWhatItStartedHoldsItsOutput) {
  auto process = shell("sleep 100 & exit 3");
  std::string line;
  EXPECT_EQ(ask(process, line), Outcome::kEnded);
  EXPECT_EQ(process.ending(), "exited with code 3");
}

TEST(ChildProcess, LastComplaintIsKept) {
  auto process = shell("yes 'many words' | head -n 100000 >&2; echo 'no more memory' >&2; exit 1");
  std::string line;
  EXPECT_EQ(ask(process, line), Outcome::kEnded);
  EXPECT_EQ(process.last_complaint(), "no more memory");
}

TEST(ChildProcess, OutputIsBounded) {
  std::string line;
  auto endless = shell("tr '\\0' x </dev/zero", {0, 100'000});
  EXPECT_EQ(ask(endless, line), Outcome::kFlood);
  EXPECT_LT(endless.unfinished_line().size(), 300'000u);
  auto longer = shell("head -c 1001 /dev/zero | tr '\\0' x; echo; sleep 100", {0, 1'000});
  EXPECT_EQ(ask(longer, line), Outcome::kFlood);
}

TEST(ChildProcess, MemoryIsBounded) {
  std::string line;
  auto process = shell("exec tail /dev/zero", {std::int64_t{50} << 20, 1'000});
  EXPECT_EQ(ask(process, line), Outcome::kMemory);
}

TEST(ChildProcess, MemoryOfItsChildrenCounts) {
  std::string line;
  auto process = shell("tail /dev/zero & tail /dev/zero & wait", {std::int64_t{50} << 20});
  EXPECT_EQ(ask(process, line), Outcome::kMemory);
}

TEST(ChildProcess, ProgramEndsWithItsInput) {
  auto process = shell("read -r a; echo hello; read -r b; exit 0");
  std::string line;
  ASSERT_EQ(ask(process, line), Outcome::kLine);
  const auto began = ChildProcess::Clock::now();
  process.end(20s);
  EXPECT_LT(ChildProcess::Clock::now() - began, 10s);
}

TEST(ChildProcess, NothingIsLeftBehind) {
  // Numbers of seconds that no other process sleeps.
  const std::vector<std::pair<std::string, std::string>> scripts = {
      {"ignores SIGTERM", "trap '' TERM; echo ready; sleep 4711001; sleep 4711001"},
      {"children", "sleep 4711001 & sleep 4711001 & echo ready; wait"},
      {"orphans", "(sleep 4711001 &) ; (sleep 4711001 &) ; echo ready; read -r line; read -r line"},
      {"orphans of a dead program", "sleep 4711001 >/dev/null 2>&1 & echo ready; exit 0"},
      {"another session", "setsid sleep 4711001 & echo ready; wait"},
      {"a daemon",
       "(setsid sh -c 'trap \"\" TERM; sleep 4711001; sleep 4711001' </dev/null >/dev/null 2>&1 &) ; "
       "echo ready; read -r line; read -r line"},
      {"without environment", "env -i setsid sleep 4711001 & echo ready; wait"},
  };
  const int before = open_files();
  for (const auto& [name, script] : scripts) {
    {
      auto process = shell(script);
      std::string line;
      ASSERT_EQ(ask(process, line), Outcome::kLine) << name;
    }
    EXPECT_EQ(running("4711001"), 0) << name;
  }
  EXPECT_EQ(open_files(), before);
}

TEST(ChildProcess, FilesOfThisProcessAreNotHandedDown) {
  const int file = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(file, 0);
  auto process = shell("ls /proc/self/fd | wc -l; sleep 100");
  std::string line;
  ASSERT_EQ(ask(process, line), Outcome::kLine);
  EXPECT_LE(std::stoi(line), 4);  // the standard streams and the folder that ls reads
  close(file);
}

TEST(ChildProcess, WritingToADeadProgramIsNoSignal) {
  for (int i = 0; i < 20; ++i) {
    auto process = shell("exit 0");
    std::string line;
    if (i % 2) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(process.ask(std::string(200'000, 'x'), ChildProcess::Clock::now() + 20s, nullptr, line), Outcome::kEnded);
  }
}

TEST(ChildProcess, SignalsReachTheProgram) {
  // The child of a process that ignores SIGPIPE, as Python does, shall not ignore it.
  const auto before = signal(SIGPIPE, SIG_IGN);
  auto process = shell("grep SigIgn /proc/self/status; sleep 100");
  std::string line;
  ASSERT_EQ(ask(process, line), Outcome::kLine);
  EXPECT_EQ(line.substr(line.find_last_of("\t ") + 1), "0000000000000000");
  signal(SIGPIPE, before);
}

TEST(ChildProcess, ThreadsStartProgramsAtTheSameTime) {
  std::vector<std::jthread> threads;
  std::atomic<int> answered{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        auto process = shell("read -r line; echo $line");
        std::string line;
        answered += ask(process, line) == Outcome::kLine && line == "question";
      }
    });
  }
  threads.clear();
  EXPECT_EQ(answered, 40);
}

}  // namespace
}  // namespace carc
