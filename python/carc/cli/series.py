"""What tournaments and matches share: playing into a results file until all is played or Ctrl-C."""

import contextlib
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from carc.cli.terminal import COMMAND, notes, progress, whole
from carc.config import TournamentConfig

if TYPE_CHECKING:  # what imports NumPy or SQLite is imported when it is needed
    from carc.ratings import Estimate
    from carc.results import StoredGame

RESULTS_FOLDER = Path("carc-results")

ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        parser=whole(1, 1024),
        help="Threads; one a core if not given.",
    ),
]
ResultsOption = Annotated[
    Path | None,
    typer.Option("--results", metavar="FILE", help="SQLite file that keeps the games."),
]


def default_path(stem: str, settings: TournamentConfig) -> Path:
    """Return the results file of a configuration, whose name stands for it."""
    from carc.tournament import identity_hash

    return RESULTS_FOLDER / f"{stem}-{identity_hash(settings)}.sqlite"


def play_series(
    settings: TournamentConfig, path: Path, concurrency: int | None, quiet: bool
) -> tuple[list["StoredGame"], int, int]:
    """Play what the results file lacks, with progress and a way to go on on stderr.

    Returns all games of the file, how many of the settings' games were there before, and how many
    were played. Ctrl-C finishes the games that have begun, a second one leaves them; both end the
    command with exit code 130 and lose no finished game.
    """
    from carc.results import ResultsFile
    from carc.tournament import identity, play_missing

    again = shlex.join([COMMAND, *sys.argv[1:]])
    say = notes(quiet)
    with ResultsFile(path, identity(settings)) as store:

        def there() -> int:
            return sum(game.deck < settings.rounds for game in store.games())

        kept, played = there(), 0
        say.print(_opening(settings, kept, path, again), soft_wrap=True)
        with (
            contextlib.suppress(KeyboardInterrupt),
            stop_at_interrupt(quiet) as stopped,
            progress(settings.games, kept, "games", quiet) as step,
        ):

            def after_game() -> bool:
                step()
                return not stopped()

            play_missing(settings, store, concurrency=concurrency or _cores(), on_game=after_game)
        played = there() - kept
        if kept + played < settings.games:
            say.print(
                f"Interrupted: {kept + played} of {settings.games} games are kept in {path}.",
                soft_wrap=True,
            )
            say.print(f"Go on with: {again}", soft_wrap=True)
            raise typer.Exit(130)
        return store.games(), kept, played


@contextlib.contextmanager
def stop_at_interrupt(quiet: bool = False) -> Iterator[Callable[[], bool]]:
    """Give a function that says whether Ctrl-C was pressed; the second press is as usual."""
    pressed = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        if not quiet:  # the console may be writing at this moment
            with contextlib.suppress(OSError):
                os.write(2, b"\nStopping when the games that have begun end; Ctrl-C again: now.\n")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def plus_minus(estimate: "Estimate") -> str:
    """Write a value with half the width of its interval."""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.1f}"
    return f"{estimate.value:+.1f} ± {estimate.high - estimate.value:.1f}"


def _opening(settings: TournamentConfig, kept: int, path: Path, again: str) -> str:
    if kept >= settings.games:
        there = f"All {settings.games} games are there from before, in {path}"
        return f"{there}\nAnother --seed plays new ones."
    start = f"{kept} of {settings.games} games are there from before. " if kept else ""
    return f"{start}Games are kept in {path}\nIf this is stopped, go on with: {again}"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
