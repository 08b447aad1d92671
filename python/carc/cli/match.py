"""``carc match``: which of two agents is better."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from carc.cli.series import ConcurrencyOption, ResultsOption, default_path, play_series, plus_minus
from carc.cli.terminal import (
    JsonOption,
    QuietOption,
    RulesOption,
    SeedOption,
    number,
    out,
    plain_table,
    print_json,
    whole,
)
from carc.config import MAX_ROUNDS, describe_rules, parse_rules

if TYPE_CHECKING:  # what imports NumPy is imported when it is needed
    from carc.match import MatchReport

LEGEND = """\
W/T/L: games won, tied, lost. Margin: points more than the other. Intervals are 95 %,
from the differences between pairs."""

OptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-o", metavar="KEY=VALUE", help="Option of the agents; a.KEY or b.KEY: of one."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: carc match champion uct-rollout --pairs 20 -o a.simulations=688")(
        match
    )


def match(
    a: Annotated[str, typer.Argument(metavar="A", help="Agent or TOML file; see carc agents.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other; may be the same.")],
    pairs: Annotated[
        int,
        typer.Option(metavar="N", parser=whole(1, MAX_ROUNDS), help="Decks, each played twice."),
    ] = 100,
    seed: SeedOption = 1,
    time_ms: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            parser=number(0.1, 10_000_000),
            help="Milliseconds a turn, half for each decision.",
        ),
    ] = None,
    option: OptionsOption = None,
    rules: RulesOption = None,
    concurrency: ConcurrencyOption = None,
    results: ResultsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play two agents against each other on paired decks and print who is better.

    Every deck is played twice, with the seats swapped. Agents are names or TOML files, either with
    options: champion:simulations=688,trees=4. Games are kept in the results file (--results, or
    one in carc-results/ for these agents, seed and rules), from which the same command goes on.

    --time-ms gives both the same time instead of the same number of simulations; agents that
    cannot keep to a time play as usual. Timed games are not reproducible.
    """
    from carc.match import make_match_report, match_config

    began = time.perf_counter()
    settings = match_config(
        a,
        b,
        pairs=pairs,
        seed=seed or 0,
        rules=parse_rules(rules or "current", "--rules"),
        options=option or (),
        time_ms=time_ms,
    )
    path = results or default_path("match", settings)
    games, kept, played = play_series(settings, path, concurrency, quiet)
    report = make_match_report(settings, games, (a, b))
    if json:
        seconds = time.perf_counter() - began
        counts = {"seconds": seconds, "results": str(path), "kept": kept, "played": played}
        print_json({**report.to_dict(), **counts})
        return
    print_match(report)
    out().print(f"Games are kept in {path}", soft_wrap=True)


def print_match(report: "MatchReport") -> None:
    """Print a line for each agent, then who is better."""
    settings = report.config
    numbers = ("W/T/L", "wins", "score", "margin", "ms/turn", "sims/s")
    table = plain_table("agent", *numbers, right=numbers)
    low, high = report.win_rate.low or 0.0, report.win_rate.high or 0.0
    rate = report.win_rate.value
    rates = [(rate, low, high), (1 - rate, 1 - high, 1 - low)]
    rows = zip(report.names, (report.a, report.b), rates, strict=True)
    for name, tally, (mean, least, most) in rows:
        table.add_row(
            name,
            f"{tally.wins}/{tally.ties}/{tally.losses}",
            f"{100 * mean:.1f} % [{100 * least:.1f}, {100 * most:.1f}]",
            f"{tally.score:.1f}",
            plus_minus(tally.margin),
            f"{tally.ms_per_turn:.3f}",
            f"{tally.sims_per_s:,.0f}" if tally.sims_per_s is not None else "-",
        )
    played = f"{report.a.games} games in {report.pairs} pairs, seed {settings.seed}"
    out().print(f"{played}, rules {describe_rules(settings.rules)}", style="bold", soft_wrap=True)
    for name, agent in zip(report.names, settings.agents, strict=True):
        if agent not in (name, name.removesuffix("#2")):
            out().print(f"{name} played as {agent}", soft_wrap=True)
    out().print(table)
    out().print(LEGEND, soft_wrap=True)
    out().print(report.verdict(), soft_wrap=True)
