// `guest`: a program of someone else, in any language, that is asked over its standard input and output.
//
// The program stays alive over the games of a run; every request says the whole game, so it need not remember anything.
// What it does wrong loses the game, with a reason in one word:
//   start    it cannot be run, or does not answer hello in time
//   crash    it ended, closed its output, or answered that it cannot go on
//   timeout  no whole line came within the clock of the decision or of the game
//   illegal  a move that the rules do not allow, or text that is no move
//   stale    an answer to something that was not asked now
//   garbage  a line that is no JSON object with an id and a move
//   flood    more output than allowed
//   memory   more memory than allowed
// Then it is killed with all that it started; the next game has a fresh one.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "carc/play/agent.hpp"
#include "carc/play/child_process.hpp"
#include "carc/play/protocol.hpp"

namespace carc {

struct GuestOptions {
  CommandLine command;
  std::string folder;
  int start_ms = 10'000;
  int move_ms = 1'000;
  int game_ms = 0;
  int margin_ms = 50;
  int memory_mb = 0;
  int output_kb = 1'024;
  std::int64_t max_visits = 0;

  template <class V>
  void each_option(V& v) {
    v("command", command, {}, "the program with its arguments; one text is split at spaces, as by a shell");
    v("folder", folder, {}, "where the program runs; empty = the current folder");
    v("start_ms", start_ms, {1, 3'600'000}, "milliseconds from its start until it has answered hello");
    v("move_ms", move_ms, {1, 86'400'000}, "milliseconds a decision");
    v("game_ms", game_ms, {0, 2e9}, "milliseconds a game, for all decisions of a seat; 0 = no limit");
    v("margin_ms", margin_ms, {0, 60'000}, "milliseconds that an answer may be late: what a busy machine may cost");
    v("memory_mb", memory_mb, {0, 1 << 24},
      "resident memory of all its processes, in units of 2^20 bytes; 0 = no limit");
    v("output_kb", output_kb, {1, 1 << 20}, "longest answer, in units of 1,024 bytes");
    v("max_visits", max_visits, {0, 1e12}, "maxVisits of the requests, which the program may heed; 0 = none");
  }
};

class GuestAgent final : public Agent {
 public:
  // Throws OptionError if there is no such program.
  explicit GuestAgent(GuestOptions options);
  ~GuestAgent() override;

  void begin(const GameRecord& game) override;
  void end() override { game_ = nullptr, requests_.reset(); }
  Action choose(const GameState& state, Rng& rng) override;
  bool watch(const std::atomic<bool>* stop) override {
    stop_ = stop;
    return true;
  }
  std::int64_t simulations() const override { return simulations_; }

 private:
  using Clock = ChildProcess::Clock;

  void start();
  // The line that answers; nothing if `stop_` ended the wait. Throws Forfeit, for `late` if there is none in time.
  std::optional<std::string> ask(const std::string& request, std::chrono::milliseconds time, const std::string& late);
  // What `read_line` returns; its complaints as Forfeit.
  template <class Read>
  auto understood(Read read_line);
  [[noreturn]] void lose(const std::string& reason, const std::string& detail);

  GuestOptions options_;
  std::vector<std::string> command_;  // the program and its arguments
  std::unique_ptr<ChildProcess> process_;
  bool has_started_ = false;  // the process has answered hello
  const GameRecord* game_ = nullptr;
  std::optional<GameRequests> requests_;
  const std::atomic<bool>* stop_ = nullptr;
  std::uint64_t asked_ = 0;
  std::int64_t simulations_ = 0;
  std::array<std::chrono::nanoseconds, kMaxPlayers> used_{};  // of the game's clock, by seat
};

}  // namespace carc
