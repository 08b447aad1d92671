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
from carc.errors import ForfeitError

if TYPE_CHECKING:  # what imports NumPy or SQLite is imported when it is needed
    from carc._core import GameResult
    from carc.ratings import Estimate
    from carc.results import GameKey, StoredGame

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
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Play on a Ray cluster: its address, or local for one on this machine.",
    ),
]
LuckOption = Annotated[
    bool | None,
    typer.Option(
        "--luck/--no-luck",
        help="Measure the luck of the draws; by default where an agent searches.",
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
    settings: TournamentConfig,
    path: Path,
    quiet: bool,
    *,
    concurrency: int | None = None,
    cluster: str | None = None,
) -> tuple[list["StoredGame"], int, int]:
    """Play what the results file lacks, with progress and a way to go on on stderr.

    Returns all games of the file, how many of the settings' games were there before, and how many
    were played. Ctrl-C finishes the games that have begun, a second one leaves them; both end the
    command with exit code 130 and lose no finished game. A sequential test ends the series when it
    comes to its verdict; a forfeited game does if the settings do not `recover`.
    """
    from carc.results import ResultsFile
    from carc.sequential import PairWatch
    from carc.tournament import check_joined, identity, play_missing, schedule

    if settings.tables:  # else all that can meet do
        check_joined((game.seats for game in schedule(settings)), settings.entrants)
    again = shlex.join([COMMAND, *sys.argv[1:]])
    say = notes(quiet)
    with ResultsFile(path, identity(settings)) as store:
        watch = PairWatch(settings)
        for game in store.games() if watch.active else ():  # else nobody asks for what they hold
            if game.deck < settings.rounds:
                watch.add(game.deck, game.agents, game.scores, game.forfeit)

        def there() -> int:
            return sum(deck < settings.rounds for _, deck, _ in store.finished_keys())

        kept, played = there(), 0
        over = watch.state.verdict is not None
        broken: list[str] = []
        say.print(_opening(settings, kept, path, again, over), soft_wrap=True)
        with (
            contextlib.suppress(KeyboardInterrupt),
            stop_at_interrupt(quiet) as stopped,
            progress(settings.games, kept, "games", quiet or over) as step,
        ):

            def after_game(key: "GameKey", agents: list[str], result: "GameResult") -> bool:
                nonlocal over
                step()
                over = not watch.add(key[1], agents, result.scores, result.forfeit)
                if result.forfeit and not settings.recover:
                    seat, reason, detail = result.forfeit
                    broken.append(f"{agents[seat]}: {reason}: {detail}")
                return not (over or broken or stopped())

            if not over:
                play_missing(
                    settings,
                    store,
                    concurrency=concurrency or settings.concurrency or cores(),
                    cluster=cluster,
                    on_game=after_game,
                    stopped=stopped,
                )
        played = there() - kept
        if broken:
            raise ForfeitError(
                f"{broken[0]}; {kept + played} games are kept in {path}, "
                "with recover = true a tournament goes on after a forfeited game"
            )
        if kept + played < settings.games and not over:
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


def plus_minus(estimate: "Estimate | None") -> str:
    """Write a value with half the width of its interval."""
    if estimate is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.1f}"
    return f"{estimate.value:+.1f} ± {estimate.high - estimate.value:.1f}"


def _opening(settings: TournamentConfig, kept: int, path: Path, again: str, over: bool) -> str:
    if over:
        return f"The test had come to its verdict before; its games are in {path}"
    if kept >= settings.games:
        there = f"All {settings.games} games are there from before, in {path}"
        return f"{there}\nAnother --seed plays new ones."
    start = f"{kept} of {settings.games} games are there from before. " if kept else ""
    return f"{start}Games are kept in {path}\nIf this is stopped, go on with: {again}"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
