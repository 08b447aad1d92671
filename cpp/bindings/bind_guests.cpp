// Programs of others: child processes and what is said to them.
#include <array>
#include <chrono>
#include <mutex>

#include "bindings.hpp"
#include "carc/play/child_process.hpp"
#include "carc/play/protocol.hpp"

namespace carc::python {

// A child process as Python sees it: one call at a time.
struct PyProgram {
  explicit PyProgram(const std::vector<std::string>& command) : process(command, "", ChildProcess::Limits()) {}

  // The result of call(process), made without the interpreter lock.
  template <class Call>
  auto locked(Call call) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    return call(process);
  }

  ChildProcess process;
  std::mutex mutex;
};

namespace {

using Milliseconds = Whole<std::int64_t, "milliseconds", 0, 86'400'000>;
using Command = Many<Text<"command">, "command">;
using Answer = py::typing::Tuple<py::str, py::bytes>;

constexpr std::array<const char*, 6> kOutcomes = {"line", "ended", "late", "flood", "memory", "stopped"};

Answer ask(PyProgram& program, const Text<"request">& request, Milliseconds time) {
  std::string line;
  const auto outcome = program.locked([&](ChildProcess& process) {
    const auto deadline = ChildProcess::Clock::now() + std::chrono::milliseconds(time.value);
    return process.ask(request.value, deadline, nullptr, line);
  });
  return py::make_tuple(kOutcomes[static_cast<std::size_t>(outcome)], py::bytes(line));
}

std::string request_for(const GameRecord& game, const Text<"id">& id, double max_time,
                        Whole<std::uint64_t, "seed"> seed) {
  const Phase phase = game.state().phase();
  if (phase != Phase::kPlace && phase != Phase::kFigure) {
    throw IllegalAction("move_request: found phase " + std::string(kPhaseNames[static_cast<std::size_t>(phase)]) +
                        ", expected place or figure");
  }
  return GameRequests(game).move_request(id.value, {max_time, 0, seed});
}

}  // namespace

void bind_guests(py::module_& m) {
  py::class_<PyProgram>(m, "ChildProcess", "A program that is asked line by line, and ended with all that it started.")
      .def(py::init([](const Command& command) { return std::make_unique<PyProgram>(command.texts()); }),
           py::arg("command"), "Run a program with its arguments; it ends with this thread.")
      .def("ask", &ask, py::arg("request"), py::arg("milliseconds"),
           "Write a line (nothing if it is empty) and wait for one. Returns (\"line\", the line), or an empty line "
           "after \"ended\", \"late\" or \"flood\".")
      .def_property_readonly(
          "unfinished_line",
          [](PyProgram& self) {
            return py::bytes(self.locked([](ChildProcess& process) { return std::string(process.unfinished_line()); }));
          },
          "What was read of a line without an end.")
      .def_property_readonly(
          "last_complaint",
          [](PyProgram& self) {
            return self.locked([](ChildProcess& process) { return printable(process.last_complaint()); });
          },
          "The last line of its stderr.")
      .def(
          "ending", [](PyProgram& self) { return self.locked([](ChildProcess& process) { return process.ending(); }); },
          "How it ended: \"exited with code 1\".")
      .def(
          "close_input",
          [](PyProgram& self, Milliseconds time) {
            return self.locked(
                [&](ChildProcess& process) { return process.close_input(std::chrono::milliseconds(time.value)); });
          },
          py::arg("milliseconds"), "Close its input; whether it ended by itself within this time.")
      .def(
          "end",
          [](PyProgram& self) {
            self.locked([](ChildProcess& process) { process.end(std::chrono::milliseconds(0)); });
          },
          "End it and all that it started.");
  m.def(
      "hello_request", [](const Text<"id">& id) { return hello_request(id.value); }, py::arg("id"),
      "The line that asks a program for its name (docs/protocol.md).");
  m.def("move_request", &request_for, py::arg("game"), py::arg("id"), py::arg("max_time") = 1.0, py::arg("seed") = 0,
        "The line that asks a program for the next decision of a game, within max_time seconds.");
  m.attr("PROTOCOL_VERSION") = kProtocolVersion;
}

}  // namespace carc::python
