"""``carc tournament``: which agent is better."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from carc.agents import split_agents
from carc.cli.series import (
    ClusterOption,
    ConcurrencyOption,
    LuckOption,
    ResultsOption,
    default_path,
    play_series,
    plus_minus,
)
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

LUCK_LEGEND = "\nLess luck: the margin without 0.3 of the luck of the draws."


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
    reference: Annotated[
        str | None, typer.Option(metavar="A", help="Agent whose rating is 0; the mean if none.")
    ] = None,
    luck: LuckOption = None,
    cluster: ClusterOption = None,
    concurrency: ConcurrencyOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play a round robin or a gauntlet and print who is better.

    Every combination of agents that fills a table plays every deck in all rotations of the seats.
    Finished games are kept in the results file: the same command goes on where a stopped one was,
    and more rounds may be added. Without --results the file lies in carc-results/ and its name
    stands for the configuration.

    Keys of CONFIG, explained in configs/tournaments/all.toml: agents, rounds, seed, players, rules,
    format, seeds, tables, seatings, repeat, common_random_numbers, recover, sprt, luck, reference,
    time_ms, concurrency.
    """
    from carc.report import make_report

    names = None if agents is None else split_agents(agents)
    given = {"agents": names, "rounds": rounds, "seed": seed, "players": players, "rules": rules}
    given |= {"reference": reference, "luck": luck}
    settings = load_tournament(
        config, {key: value for key, value in given.items() if value is not None}
    )
    path = results or default_path(config.stem if config else "default", settings)
    games, kept, played = play_series(
        settings, path, quiet, concurrency=concurrency, cluster=cluster
    )
    report = make_report(settings, games)
    if json:
        print_json({**report.to_dict(), "results": str(path), "kept": kept, "played": played})
    else:
        print_report(report, path)


def print_report(report: "Report", path: Path) -> None:
    """Print the standings, then what concerns the seats and where the games are."""
    from carc.sequential import sprt_text

    settings = report.config
    played = f"{report.games} games on {report.decks} decks, {settings.players} players"
    has_luck = any(tally.less_luck for tally, _ in report.standings)
    luck = ("less luck",) if has_luck else ()
    numbers = ("games", "W/T/L", "score", "margin", *luck, "Elo", "ms/turn")
    table = plain_table("#", "agent", *numbers, right=("#", *numbers))
    for rank, (tally, elo) in enumerate(report.standings, 1):
        counts = (tally.games, f"{tally.wins}/{tally.ties}/{tally.losses}")
        rest = (
            "-" if tally.score is None else f"{tally.score:.1f}",
            plus_minus(tally.margin),
            *([plus_minus(tally.less_luck)] if has_luck else ()),
            _interval(elo),
            f"{tally.ms_per_turn:.3f}",
        )
        table.add_row(str(rank), tally.name, *map(str, counts), *rest)
    out().print(f"{played}, rules {describe_rules(settings.rules)}", style="bold", soft_wrap=True)
    out().print(table)
    out().print(LEGEND + (LUCK_LEGEND if has_luck else ""), soft_wrap=True)
    if len(report.standings) > 2:
        out().print(_cross(report))
    if report.seats:
        each = (f"seat {i} {plus_minus(margin)}" for i, margin in enumerate(report.seats, 1))
        out().print(f"Effect of the seat on the margin: {', '.join(each)}", soft_wrap=True)
    if report.sprt:
        out().print(sprt_text(settings, report.sprt), soft_wrap=True)
    out().print(f"Games are kept in {path}", soft_wrap=True)


def _cross(report: "Report") -> Table:
    """Return the cross table: the share of the comparisons that each agent won of each other."""
    ranks = [str(rank) for rank in range(1, len(report.standings) + 1)]
    table = plain_table("#", "agent", *(f"vs {rank}" for rank in ranks), right=("#", *ranks))
    for rank, (tally, _), row in zip(ranks, report.standings, report.cross, strict=True):
        shares = ("-" if share is None else f"{100 * share:.0f} %" for share in row)
        table.add_row(rank, tally.name, *shares)
    return table


def _interval(estimate: "Estimate") -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.0f}"
    return f"{estimate.value:+.0f} [{estimate.low:.0f}, {estimate.high:.0f}]"
