"""``carc tournament``: which agent is better."""

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

from carc.cli.terminal import (
    COMMAND,
    JsonOption,
    PlayersOption,
    QuietOption,
    RulesOption,
    SeedOption,
    notes,
    out,
    plain_table,
    print_json,
    progress,
    whole,
)
from carc.config import MAX_ROUNDS, TournamentConfig, describe_rules, load_tournament

if TYPE_CHECKING:  # what imports NumPy is imported when it is needed
    from carc.ratings import Estimate
    from carc.report import Report

RESULTS_FOLDER = Path("carc-results")
LEGEND = """\
W/T/L: games won, tied, lost. Margin: points more than the mean of the others.
Intervals are 95 %, from the differences between decks."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: carc tournament --agents random,greedy --rounds 200 --seed 7")(
        tournament
    )


def tournament(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONFIG", help="TOML file; without one, greedy meets random on 100 decks."
        ),
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="SQLite file that keeps the games.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1, MAX_ROUNDS), help="Number of decks.")
    ] = None,
    seed: SeedOption = None,
    agents: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Agents; see carc agents.")
    ] = None,
    players: PlayersOption = None,
    rules: RulesOption = None,
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(1, 1024), help="Threads; one a core if not given."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play a round robin and print who is better.

    Every combination of agents that fills a table plays every deck in all rotations of the seats.
    Finished games are kept in the results file: the same command goes on where a stopped one was,
    and more rounds may be added. Without --results the file lies in carc-results/ and its name
    stands for the configuration.

    Keys of CONFIG: agents, rounds, seed, players, rules (a preset or a table of options).
    """
    from carc.report import make_report
    from carc.results import ResultsFile
    from carc.tournament import identity, identity_hash, play_missing

    names = None if agents is None else [name.strip() for name in agents.split(",")]
    given = {"agents": names, "rounds": rounds, "seed": seed, "players": players, "rules": rules}
    settings = load_tournament(
        config, {key: value for key, value in given.items() if value is not None}
    )
    path = (
        results
        or RESULTS_FOLDER
        / f"{config.stem if config else 'default'}-{identity_hash(settings)}.sqlite"
    )
    again = shlex.join([COMMAND, *sys.argv[1:]])
    say = notes(quiet)
    with ResultsFile(path, identity(settings)) as store:
        kept = sum(game.deck < settings.rounds for game in store.games())
        say.print(_opening(settings, kept, path, again), soft_wrap=True)
        with stop_at_interrupt() as stopped, progress(settings.games, kept, "games", quiet) as step:

            def after_game() -> bool:
                step()
                return not stopped()

            played = play_missing(
                settings, store, concurrency=concurrency or _cores(), on_game=after_game
            )
        if kept + played < settings.games:
            say.print(
                f"Interrupted: {kept + played} of {settings.games} games are kept in {path}.",
                soft_wrap=True,
            )
            say.print(f"Go on with: {again}", soft_wrap=True)
            raise typer.Exit(130)
        games = store.games()

    report = make_report(settings, games)
    if json:
        print_json({**report.to_dict(), "results": str(path), "kept": kept, "played": played})
    else:
        print_report(report, path)


def print_report(report: "Report", path: Path) -> None:
    """Print the standings, then what concerns the seats and where the games are."""
    settings = report.config
    played = f"{report.games} games on {report.decks} decks, {settings.players} players"
    numbers = ("games", "W/T/L", "score", "margin", "Elo", "ms/turn")
    table = plain_table("#", "agent", *numbers, right=("#", *numbers))
    for rank, (tally, elo) in enumerate(report.standings, 1):
        counts = (tally.games, f"{tally.wins}/{tally.ties}/{tally.losses}")
        rest = (
            f"{tally.score:.1f}",
            _plus_minus(tally.margin),
            _interval(elo),
            f"{tally.ms_per_turn:.3f}",
        )
        table.add_row(str(rank), tally.name, *map(str, counts), *rest)
    out().print(f"{played}, rules {describe_rules(settings.rules)}", style="bold", soft_wrap=True)
    out().print(table)
    out().print(LEGEND, soft_wrap=True)
    seats = ", ".join(f"seat {i} {_plus_minus(margin)}" for i, margin in enumerate(report.seats, 1))
    out().print(f"Effect of the seat on the margin: {seats}", soft_wrap=True)
    out().print(f"Games are kept in {path}", soft_wrap=True)


@contextlib.contextmanager
def stop_at_interrupt() -> Iterator[Callable[[], bool]]:
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

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


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


def _plus_minus(estimate: "Estimate") -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.1f}"
    return f"{estimate.value:+.1f} ± {estimate.high - estimate.value:.1f}"


def _interval(estimate: "Estimate") -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.0f}"
    return f"{estimate.value:+.0f} [{estimate.low:.0f}, {estimate.high:.0f}]"
