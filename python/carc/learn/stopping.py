"""Stopping between two steps of a long work, which goes on later from what it has kept."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """The work was asked to stop; everything that it had finished is kept."""


def in_thread(call: Callable[[], T]) -> T:
    """Run a long call into C++ in a thread, so that this one goes on to handle signals."""
    outcome: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # handed to the caller's thread
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]
