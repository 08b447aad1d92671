"""Bots that do wrong in every way that the protocol of docs/protocol.md knows; run by the tests.

Usage: hostile_bots.py FAULT [NUMBER], where NUMBER marks the process and what it starts.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

GOOD_ANSWERS = 6  # before a bot does wrong
HOUR = 3600.0


def say(value: object) -> None:
    """Write one line."""
    sys.stdout.write((value if isinstance(value, str) else json.dumps(value)) + "\n")
    sys.stdout.flush()


def requests() -> Iterator[dict[str, Any]]:
    """Say hello, answer some requests as it should be, and give the others."""
    answered = 0
    for line in sys.stdin:
        request = json.loads(line)
        if request["action"] == "hello":
            say({"id": request["id"], "protocol": 1, "name": "hostile"})
        elif answered < GOOD_ANSWERS:
            answered += 1
            say(good(request))
        else:
            yield request


def good(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as it should be."""
    return {"id": request["id"], "move": request["legal"][0]}


def crash_at_start() -> None:
    """End before hello."""
    raise RuntimeError("no weights found")


def crash_later() -> None:
    """End in the middle of a game."""
    for _ in requests():
        raise RuntimeError("an index is out of range")


def exit_0() -> None:
    """End in the middle of a game as if all were well."""
    for _ in requests():
        return


def hang() -> None:
    """Answer nothing more."""
    for _ in requests():
        time.sleep(HOUR)


def ignore_sigterm() -> None:
    """Answer nothing more and stay, with children of all kinds."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sleep = [sys.executable, "-c", f"import time; time.sleep({HOUR})", *sys.argv[2:]]
    for _ in requests():
        subprocess.Popen(sleep)
        subprocess.Popen(sleep, start_new_session=True)
        subprocess.Popen(["sh", "-c", '"$@" & exit 0', "sh", *sleep], start_new_session=True).wait()
        time.sleep(HOUR)


def illegal_move() -> None:
    """Lay the tile far from all others."""
    for request in requests():
        say({"id": request["id"], "move": f"{request['tile']}@77,77r0"})


def stale_move() -> None:
    """Give the answer before once more."""
    before = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["action"] == "hello":
            say({"id": request["id"], "protocol": 1})
        elif before is None:
            before = good(request)
            say(before)
        else:
            say(before)


def garbage_line() -> None:
    """Write a message for people where an answer belongs."""
    for _ in requests():
        say("thinking about it ...")


def half_a_line() -> None:
    """Write the beginning of an answer."""
    for request in requests():
        sys.stdout.write(json.dumps(good(request))[:15])
        sys.stdout.flush()
        time.sleep(HOUR)


def flood() -> None:
    """Write 100 MB without the end of a line."""
    for _ in requests():
        for _ in range(100):
            sys.stdout.write("x" * 1_000_000)
        sys.stdout.flush()
        time.sleep(HOUR)


def memory_hog() -> None:
    """Take all memory that there is."""
    taken = []
    for _ in requests():
        while True:
            taken.append(b"x" * 10_000_000)


def wrong_id() -> None:
    """Answer something that was never asked."""
    for request in requests():
        say({**good(request), "id": f"{request['id']}0"})


FAULTS: dict[str, tuple[Callable[[], None], str]] = {
    # how it does wrong: what runs, and the reason for which it loses
    "crash_at_start": (crash_at_start, "start"),
    "crash_later": (crash_later, "crash"),
    "exit_0": (exit_0, "crash"),
    "hang": (hang, "timeout"),
    "ignore_sigterm": (ignore_sigterm, "timeout"),
    "illegal_move": (illegal_move, "illegal"),
    "stale_move": (stale_move, "stale"),
    "garbage_line": (garbage_line, "garbage"),
    "half_a_line": (half_a_line, "timeout"),
    "flood": (flood, "flood"),
    "memory_hog": (memory_hog, "memory"),
    "wrong_id": (wrong_id, "stale"),
}

if __name__ == "__main__":
    try:
        FAULTS[sys.argv[1]][0]()
    finally:
        sys.stdout.flush()
    os._exit(0)
