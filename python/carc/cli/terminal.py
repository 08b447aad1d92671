"""What all commands share: options, where output goes, progress, and a way to end long calls."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from carc.config import MAX_SEED

T = TypeVar("T")


def whole(least: int, most: int) -> Callable[[str | int], int]:
    """Return a reader of option values: whole numbers from `least` to `most`."""

    def read(value: str | int) -> int:
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise typer.BadParameter(
                f"found {value}, expected a whole number from {least} to {most}"
            )
        return number

    return read


def number(least: float, most: float) -> Callable[[str | float], float]:
    """Return a reader of option values: numbers from `least` to `most`."""

    def read(value: str | float) -> float:
        try:
            found = float(value)
        except ValueError:
            found = least - 1
        if not least <= found <= most:
            raise typer.BadParameter(f"found {value}, expected a number from {least} to {most}")
        return found

    return read


JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of text.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and notes on stderr, only errors.")
]
RulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="RULES",
        help="A preset, option=value pairs, or both with commas; see carc rules.",
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", parser=whole(0, MAX_SEED), help="Seed of everything random."
    ),
]
PlayersOption = Annotated[
    int | None,
    typer.Option("--players", metavar="N", parser=whole(2, 5), help="Players at a table."),
]

COMMAND = os.environ.get(
    "CARC_COMMAND", "carc"
)  # how this program was called, for lines that can be pasted


class ReaderGoneError(Exception):
    """Nobody reads the output any more."""


class PlainConsole(Console):
    """A console that prints text as it is, and lets a closed pipe be handled in one place."""

    def __init__(self, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise ReaderGoneError instead of ending the program."""
        raise ReaderGoneError


def out() -> Console:
    """Return the console for results."""
    return PlainConsole()


def notes(quiet: bool = False) -> Console:
    """Return the console for progress and notes."""
    return PlainConsole(stderr=True, quiet=quiet)


def plain_table(*columns: str, right: Container[str] = ()) -> Table:
    """Return a table without frame, of which the columns in `right` hold numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        is_number = name in right
        table.add_column(
            name, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    return table


def open_missing_streams() -> list[str]:
    """Put /dev/null in the place of standard streams that are closed; returns which were."""
    missing = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in missing:  # in the order of their numbers, so that each gets its own
        file = open(os.devnull, "r" if name == "stdin" else "w")  # noqa: SIM115, PTH123
        setattr(sys, name, file)
    return missing


def complain(message: str) -> None:
    """Write one error line."""
    print("carc: error:", " ".join(message.split()), file=sys.stderr)


def print_json(value: object) -> None:
    """Print one JSON document."""
    try:
        print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False), flush=True)
    except BrokenPipeError as error:
        raise ReaderGoneError from error


@contextmanager
def progress(total: int, done: int, what: str, quiet: bool) -> Iterator[Callable[[], Any]]:
    """Show progress from `done` to `total` on stderr; gives a function to call after each step.

    A terminal gets a bar with the time left, anything else a line at every tenth.
    """
    console = notes(quiet)
    if quiet or done == total:
        yield lambda: None
    elif not console.is_terminal:
        yield _plain_progress(console, total, done, what)
    else:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(what, total=total, completed=done)
            yield lambda: bar.advance(task)


def _plain_progress(console: Console, total: int, done: int, what: str) -> Callable[[], None]:
    began = time.monotonic()
    count = done

    def step() -> None:
        nonlocal count
        count += 1
        if count * 10 // total > (count - 1) * 10 // total:
            left = (time.monotonic() - began) / (count - done) * (total - count)
            console.print(f"{what}: {count} of {total}, about {left:.0f} s left", soft_wrap=True)

    return step


def interruptible(call: Callable[[], T]) -> T:
    """Run a long call into C++ that does not look for signals; Ctrl-C ends the program at once."""
    outcome: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # handed to the caller's thread
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        sys.stdout.flush()
        os._exit(130)  # an orderly exit would wait for the call
    if errors:
        raise errors[0]
    return outcome[0]
