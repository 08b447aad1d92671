#include "carc/play/guest_agent.hpp"

#include <algorithm>

#include "carc/core/notation.hpp"

namespace carc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuitPatience{500};  // for a program to end when its input does

// The words of a list are taken as they are, even if it is only one with spaces.
std::vector<std::string> words_of(const CommandLine& command) {
  return command.is_text ? split_words(command.words.at(0)) : command.words;
}

}  // namespace

GuestAgent::GuestAgent(GuestOptions options) : options_(std::move(options)) {
  try {
    command_ = words_of(options_.command);
    if (command_.empty()) throw ChildProcessError("found none, expected the program to run, as in guest:command=./bot");
    find_program(command_[0], options_.folder);
  } catch (const ChildProcessError& error) {
    throw OptionError("command: " + std::string(error.what()));
  }
}

GuestAgent::~GuestAgent() {
  if (process_) process_->end(stop_ && *stop_ ? milliseconds(0) : kQuitPatience);
}

template <class Read>
auto GuestAgent::understood(Read read_line) {
  try {
    return read_line();
  } catch (const ProtocolError& error) {
    lose("garbage", error.what());
  } catch (const StaleAnswer& error) {
    lose("stale", error.what());
  } catch (const ErrorAnswer& error) {
    lose(has_started_ ? "crash" : "start", "says that it cannot go on: " + std::string(error.what()));
  }
}

void GuestAgent::begin(const GameRecord& game) {
  game_ = &game;
  requests_.emplace(game);
  used_.fill(std::chrono::nanoseconds(0));
  if (process_ && process_->has_ended()) process_.reset();
  if (!process_) start();
}

void GuestAgent::start() {
  has_started_ = false;
  try {
    const ChildProcess::Limits limits{std::int64_t{options_.memory_mb} << 20,
                                      static_cast<std::size_t>(options_.output_kb) << 10};
    process_ = std::make_unique<ChildProcess>(command_, options_.folder, limits);
  } catch (const ChildProcessError& error) {
    lose("start", error.what());
  }
  const std::string id = std::to_string(asked_++);
  const auto line = ask(hello_request(id), milliseconds(options_.start_ms),
                        "did not answer hello within " + std::to_string(options_.start_ms) + " ms of its start");
  if (!line) return;
  understood([&] { read_hello(*line, id); });
  has_started_ = true;
}

Action GuestAgent::choose(const GameState& state, Rng& rng) {
  const Allowance drawn{0, options_.max_visits, rng.next() >> 11};
  if (!game_ || !(&state == &game_->state() || state == game_->state())) {
    throw Error(
        "guest: found a position without the game that led to it, expected a decision of a game that is played " +
        std::string("by play_game, play_games or a command"));
  }
  if (state.num_legal_actions() == 1) return state.legal_action(0);
  if (!process_ || !has_started_ || (stop_ && *stop_)) return state.legal_action(0);  // the run is being left

  std::chrono::nanoseconds& used = used_[static_cast<std::size_t>(state.turn_player())];
  milliseconds time(options_.move_ms);
  std::string clock = std::to_string(options_.move_ms) + " ms a decision";
  if (options_.game_ms > 0) {  // may have run out: then there is only the rest of the margin
    const auto left = std::chrono::floor<milliseconds>(milliseconds(options_.game_ms) - used);
    if (left < time) time = left, clock = std::to_string(options_.game_ms) + " ms a game";
  }
  const std::string id = std::to_string(asked_++);
  Allowance allowance = drawn;
  allowance.seconds = std::chrono::duration<double>(std::max(time, milliseconds(1))).count();
  const Clock::time_point began = Clock::now();
  const auto line = ask(requests_->move_request(id, allowance), time + milliseconds(options_.margin_ms),
                        "did not answer within its clock of " + clock);
  used += Clock::now() - began;
  if (!line) return state.legal_action(0);
  const Answer answer = understood([&] { return read_answer(*line, id); });
  simulations_ += answer.visits;
  try {
    return string_to_action(state, answer.move);
  } catch (const Error& error) {
    lose("illegal", error.what());
  }
}

std::optional<std::string> GuestAgent::ask(const std::string& request, milliseconds time, const std::string& late) {
  std::string line;
  switch (process_->ask(request, Clock::now() + time, stop_, line)) {
    case ChildProcess::Outcome::kLine:
      return line;
    case ChildProcess::Outcome::kStopped:
      process_.reset();  // an answer may be on its way, which nobody will take
      return std::nullopt;
    case ChildProcess::Outcome::kFlood:
      lose("flood", "wrote more than " + std::to_string(options_.output_kb) + " KiB for one answer");
    case ChildProcess::Outcome::kMemory:
      lose("memory", "used more than " + std::to_string(options_.memory_mb) + " MiB");
    case ChildProcess::Outcome::kLate: {
      const std::string part = process_->unfinished_line();
      lose(has_started_ ? "timeout" : "start",
           late + (part.empty() ? "" : "; found the line " + quote(part) + " without its end"));
    }
    case ChildProcess::Outcome::kEnded: {
      const bool lacked_memory = options_.memory_mb > 0 && process_->complains_of_memory();
      lose(lacked_memory  ? "memory"
           : has_started_ ? "crash"
                          : "start",
           process_->ending() + (has_started_ ? "" : " before it answered hello"));
    }
  }
  return std::nullopt;
}

void GuestAgent::lose(const std::string& reason, const std::string& detail) {
  const std::string complaint = process_ ? process_->last_complaint() : "";
  process_.reset();
  throw Forfeit(reason, quote(command_[0]) + " " + detail +
                            (complaint.empty() ? "" : "; the last line of its stderr: " + quote(complaint)));
}

}  // namespace carc
