"""Running ``carc`` as a user does, for the tests of the command line."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
CARC = [sys.executable, "-m", "carc"]


def carc(
    *words: object, cwd: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [*CARC, *map(str, words)]
    return subprocess.run(
        command, input=stdin, capture_output=True, encoding="utf-8", cwd=cwd, check=False
    )


def carc_json(*words: object, cwd: Path | None = None) -> Any:
    """Run the command with --json, which must succeed, and return the one document that it
    prints.
    """
    done = carc(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def start(*words: object, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, which Ctrl-C stops.

    A job of a shell without job control would hand down that Ctrl-C is ignored.
    """
    command = [*CARC, *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        encoding="utf-8",
        cwd=cwd,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def read_until(stream: IO[str], text: str) -> str:
    """Read what a running command writes up to this text, and return it."""
    seen = ""
    while text not in seen:
        character = stream.read(1)
        assert character, f"the output ended without {text!r}: {seen}"
        seen += character
    return seen


def error_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the error of a command that was refused: exit code 2, one line, nothing on stdout."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("carc: error: ")
    return lines[0]
