"""Run every check of the project. `./carc test [--long] [ARG...]` calls this; ARGs go to pytest.

Stages: the C++ tests with asserts on; the same tests under AddressSanitizer and UBSan, where
tests/cpp/core/random_games_test.cpp plays 20,000 games; the tests of searches and games on threads
under ThreadSanitizer; ruff and mypy; pytest. --long plays
1,000,000 games there, adds the tests marked `long`, and runs each fuzzer for a minute (clang).

Progress goes to stderr, the whole output to build/test.log. The last line of stdout is
`N passed, M failed`, followed by `, K skipped` if any were. Exit status 1 if anything failed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
FUZZ_SECONDS = 60
# Line tables are all that a stack trace needs; under the sanitizers -O2 compiles twice as long.
TEST_FLAGS = "-O2 -g1"
SANITIZER_FLAGS = "-O1 -g1"
TAIL_LINES = 60  # of the output of what failed, shown on stderr


@dataclass(frozen=True)
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def read_junit(path: Path) -> Count:
    """Count the test cases of a JUnit file, as CTest and pytest write them."""
    count = Count()
    for case in ElementTree.parse(path).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            count += Count(failed=1)
        elif "skipped" in outcomes:
            count += Count(skipped=1)
        else:
            count += Count(passed=1)
    return count


def tail(text: str) -> str:
    return "\n".join(text.splitlines()[-TAIL_LINES:])


def failures(path: Path) -> str:
    """Name the failed test cases of a JUnit file, each after the end of its output."""
    parts = []
    for case in ElementTree.parse(path).iter("testcase"):
        if {child.tag for child in case} & {"failure", "error"}:
            parts.append(f"{tail(case.findtext('system-out') or '')}\nfailed: {case.get('name')}")
    return "\n".join(parts)


def say(text: str) -> None:
    print(f"carc test: {text}", file=sys.stderr, flush=True)


class Checks:
    """Runs commands with their output in one log."""

    def __init__(self, log: BinaryIO) -> None:
        self._log = log
        self._start = 0  # of the last command's output in the log

    def run(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        show: bool = False,
    ) -> bool:
        """Run a command, shown on stdout as well if asked; tell whether it ended with status 0."""
        succeeded = self._execute(command, env, show)
        if not succeeded and not show:
            print(self._tail(), file=sys.stderr)
        return succeeded

    def _tail(self) -> str:
        output = (BUILD / "test.log").read_bytes()[self._start :]
        return tail(output.decode(errors="replace"))

    def _execute(
        self, command: Sequence[str | Path], env: Mapping[str, str] | None, show: bool
    ) -> bool:
        arguments = [str(part) for part in command]
        self._log.write(f"\n$ {' '.join(arguments)}\n".encode())
        self._log.flush()
        self._start = self._log.tell()
        with subprocess.Popen(
            arguments,
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if show else self._log,
            stderr=subprocess.STDOUT,
        ) as process:
            for line in process.stdout or ():
                self._log.write(line)
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        self._log.flush()
        self._log.seek(0, os.SEEK_END)
        if process.returncode != 0:
            say(f"FAILED with status {process.returncode}: {' '.join(arguments)}")
        return process.returncode == 0

    def count(
        self,
        command: Sequence[str | Path],
        junit: Path,
        env: Mapping[str, str] | None = None,
        show: bool = False,
    ) -> Count:
        """Run a command that writes a JUnit file; failing without a failed case counts as one."""
        junit.unlink(missing_ok=True)
        succeeded = self._execute(command, env, show)
        count = read_junit(junit) if junit.exists() else Count()
        if not succeeded and not show:
            print(failures(junit) if count.failed else self._tail(), file=sys.stderr)
        if count.failed == 0 and (not succeeded or count == Count()):
            count += Count(failed=1)
        return count

    def build(self, folder: Path, flags: str, *defines: str) -> bool:
        """Configure and build with CMake; a build that was cut short or moved starts afresh."""
        say("  building")
        cache = folder / "CMakeCache.txt"
        unfinished = folder / "carc-building"
        home = f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n"
        if unfinished.exists() or (cache.exists() and home not in cache.read_text()):
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        # Warnings are errors where the project checks itself, not under a newer compiler elsewhere.
        werror = "ON" if os.environ.get("CI") else "OFF"
        options = [
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
            f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO={flags}",
            f"-DCMAKE_COMPILE_WARNING_AS_ERROR={werror}",
            *(f"-D{define}" for define in defines),
        ]
        succeeded = self.run(
            ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options]
        ) and self.run(["cmake", "--build", folder])
        unfinished.unlink()
        return succeeded

    def ctest(self, folder: Path, env: Mapping[str, str], timeout: int) -> Count:
        """Run the C++ tests of a build; timeout in seconds, for each test."""
        say("  running")
        junit = folder / "junit.xml"
        options = ["--output-on-failure", "--no-tests=error", "--output-junit", str(junit)]
        limits = ["--parallel", str(os.cpu_count() or 1), "--timeout", str(timeout)]
        return self.count(["ctest", "--test-dir", folder, *options, *limits], junit, env)


def cpp_tests(checks: Checks, env: Mapping[str, str], timeout: int) -> Count:
    folder = BUILD / "tests"
    if not checks.build(folder, TEST_FLAGS, "CARC_BUILD_TESTS=ON", "CARC_BUILD_BENCH=ON"):
        return Count(failed=1)
    return checks.ctest(folder, env, timeout)


def sanitizer_tests(checks: Checks, env: Mapping[str, str], games: int, timeout: int) -> Count:
    folder = BUILD / "asan"
    defines = ["CARC_BUILD_TESTS=ON", "CARC_SANITIZE=address;undefined"]
    if not checks.build(folder, SANITIZER_FLAGS, *defines):
        return Count(failed=1)
    sanitizers = {"UBSAN_OPTIONS": "print_stacktrace=1", "CARC_RANDOM_GAMES": str(games)}
    return checks.ctest(folder, {**env, **sanitizers}, timeout)


def thread_tests(checks: Checks, env: Mapping[str, str], timeout: int) -> Count:
    """The tests of what runs on threads: searches, and games on a pool."""
    folder = BUILD / "tsan"
    defines = ["CARC_BUILD_TESTS=ON", "CARC_SANITIZE=thread", "CARC_TESTS=*/threads_test.cpp"]
    if not checks.build(folder, SANITIZER_FLAGS, *defines):
        return Count(failed=1)
    return checks.ctest(folder, env, timeout)


def fuzzers(checks: Checks) -> Count:
    folder = BUILD / "fuzz"
    defines = ["CARC_BUILD_FUZZERS=ON", "CMAKE_CXX_COMPILER=clang++"]
    if not checks.build(folder, SANITIZER_FLAGS, *defines):
        return Count(failed=1)
    sources = sorted((ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    count = Count() if sources else Count(failed=1)
    for source in sources:
        program = folder / "fuzzers" / source.stem
        say(f"  {program.name} for {FUZZ_SECONDS} s")
        corpus = folder / "corpus" / program.name
        corpus.mkdir(parents=True, exist_ok=True)
        findings = folder / "findings"
        findings.mkdir(exist_ok=True)
        seeds = ROOT / "tests/fuzz/corpus" / program.name  # only read; new inputs go to `corpus`
        corpora = [corpus, seeds] if seeds.is_dir() else [corpus]
        dictionary = ROOT / "tests" / "fuzz" / "json.dict"
        options = [f"-max_total_time={FUZZ_SECONDS}", "-timeout=10", f"-dict={dictionary}"]
        passed = checks.run([program, *options, f"-artifact_prefix={findings}/", *corpora])
        count += Count(passed=1) if passed else Count(failed=1)
    return count


def style_and_types(checks: Checks) -> Count:
    python = [sys.executable, "-m"]
    commands = [["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--strict"]]
    outcomes = [checks.run([*python, *command]) for command in commands]
    return Count(passed=outcomes.count(True), failed=outcomes.count(False))


def python_tests(
    checks: Checks, env: Mapping[str, str], long: bool, arguments: Sequence[str]
) -> Count:
    junit = BUILD / "pytest.xml"
    command = [sys.executable, "-m", "pytest", f"--junitxml={junit}"]
    if sys.stdout.isatty():
        command.append("--color=yes")
    if long:
        command += ["-m", ""]
    return checks.count([*command, *arguments], junit, env, show=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="carc test",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        usage="carc test [--long] [pytest arguments...]",
    )
    parser.add_argument("--long", action="store_true", help="all that takes minutes, too")
    options, arguments = parser.parse_known_args()

    long: bool = options.long
    env = {"CARC_LONG": "1"} if long else {}
    games = 1_000_000 if long else 20_000
    timeout = 4 * 3600 if long else 1200
    stages: dict[str, Callable[[Checks], Count]] = {
        "C++ tests": lambda checks: cpp_tests(checks, env, timeout),
        "Sanitizer tests": lambda checks: sanitizer_tests(checks, env, games, timeout),
        "Thread tests": lambda checks: thread_tests(checks, env, timeout),
        "Style and types": style_and_types,
        "Python tests": lambda checks: python_tests(checks, env, long, arguments),
    }
    if long:
        stages["Fuzzers"] = fuzzers

    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".test-lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another ./carc test")
            fcntl.flock(lock, fcntl.LOCK_EX)
        results: dict[str, Count] = {}
        with (BUILD / "test.log").open("wb") as log:
            checks = Checks(log)
            for number, (name, stage) in enumerate(stages.items(), start=1):
                say(f"[{number}/{len(stages)}] {name}")
                start = time.monotonic()
                results[name] = stage(checks)
                say(f"  {results[name]} in {time.monotonic() - start:.0f} s")

    total = sum(results.values(), Count())
    print()
    for name, count in results.items():
        print(f"{name + ':':16} {count}")
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
