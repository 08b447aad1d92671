"""``carc tournament``: which agent is better."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carc.agents import split_agents
from carc.cli.series import ConcurrencyOption, ResultsOption, default_path, play_series, plus_minus
from carc.cli.terminal import (
    JsonOption,
    PlayersOption,
    QuietOption,
    RulesOption,
    SeedOption,
    out,
    plain_table,
    print_json,
    whole,
)
from carc.config import MAX_ROUNDS, describe_rules, load_tournament

if TYPE_CHECKING:  # what imports NumPy is imported when it is needed
    from carc.ratings import Estimate
    from carc.report import Report

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
    results: ResultsOption = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1, MAX_ROUNDS), help="Number of decks.")
    ] = None,
    seed: SeedOption = None,
    agents: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Agents: names or TOML files, with options as champion:trees=4."
        ),
    ] = None,
    players: PlayersOption = None,
    rules: RulesOption = None,
    concurrency: ConcurrencyOption = None,
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

    names = None if agents is None else split_agents(agents)
    given = {"agents": names, "rounds": rounds, "seed": seed, "players": players, "rules": rules}
    settings = load_tournament(
        config, {key: value for key, value in given.items() if value is not None}
    )
    path = results or default_path(config.stem if config else "default", settings)
    games, kept, played = play_series(settings, path, concurrency, quiet)
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
            plus_minus(tally.margin),
            _interval(elo),
            f"{tally.ms_per_turn:.3f}",
        )
        table.add_row(str(rank), tally.name, *map(str, counts), *rest)
    out().print(f"{played}, rules {describe_rules(settings.rules)}", style="bold", soft_wrap=True)
    out().print(table)
    out().print(LEGEND, soft_wrap=True)
    seats = ", ".join(f"seat {i} {plus_minus(margin)}" for i, margin in enumerate(report.seats, 1))
    out().print(f"Effect of the seat on the margin: {seats}", soft_wrap=True)
    out().print(f"Games are kept in {path}", soft_wrap=True)


def _interval(estimate: "Estimate") -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.0f}"
    return f"{estimate.value:+.0f} [{estimate.low:.0f}, {estimate.high:.0f}]"
