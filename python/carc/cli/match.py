"""``carc match``: which of two agents is better."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

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
    from carc.ratings import Estimate

LEGEND = """\
W/T/L: games won, tied, lost. Margin: points more than the other. Intervals are 95 %,
from the differences between pairs."""
FIXED_PAIRS = 100
SPRT_OPTIONS = ("elo0", "elo1", "margin0", "margin1", "alpha", "beta")

ELO = number(-1000, 1000)
RATE = number(1e-6, 0.49)
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
        int | None,
        typer.Option(
            metavar="N",
            parser=whole(1, MAX_ROUNDS),
            help="Decks, each played twice: 100, or 50,000 at most with a sequential test.",
        ),
    ] = None,
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
    elo0: Annotated[
        float | None, typer.Option(metavar="E", parser=ELO, help="Sequential test: A's Elo if H0.")
    ] = None,
    elo1: Annotated[
        float | None, typer.Option(metavar="E", parser=ELO, help="Sequential test: A's Elo if H1.")
    ] = None,
    margin0: Annotated[
        float | None, typer.Option(metavar="M", parser=ELO, help="The same in points a game: H0.")
    ] = None,
    margin1: Annotated[
        float | None, typer.Option(metavar="M", parser=ELO, help="The same in points a game: H1.")
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="P", parser=RATE, help="Rate of accepting H1 if H0 holds: 0.05."),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(metavar="P", parser=RATE, help="Rate of accepting H0 if H1 holds: 0.05."),
    ] = None,
    luck: LuckOption = None,
    rules: RulesOption = None,
    cluster: ClusterOption = None,
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

    With --elo0 and --elo1, or --margin0 and --margin1, the match is sequential: it stops as soon as
    the pairs tell which of the two hypotheses holds.
    """
    from carc.config import read_sprt
    from carc.match import SEQUENTIAL_PAIRS, make_match_report, match_config

    began = time.perf_counter()
    given = dict(zip(SPRT_OPTIONS, (elo0, elo1, margin0, margin1, alpha, beta), strict=True))
    test = {key: value for key, value in given.items() if value is not None}
    settings = match_config(
        a,
        b,
        pairs=pairs or (SEQUENTIAL_PAIRS if test else FIXED_PAIRS),
        seed=seed or 0,
        rules=parse_rules(rules or "current", "--rules"),
        options=option or (),
        time_ms=time_ms,
        sprt=read_sprt(test, "sequential test") if test else None,
        luck=luck,
    )
    path = results or default_path("match", settings)
    games, kept, played = play_series(
        settings, path, quiet, concurrency=concurrency, cluster=cluster
    )
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
    numbers = ("W/T/L", "wins", "score", "margin", "ms/turn", "sims/turn")
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
            "-" if tally.score is None else f"{tally.score:.1f}",
            plus_minus(tally.margin),
            f"{tally.ms_per_turn:.3f}",
            f"{tally.sims_per_turn:,.0f}" if tally.sims_per_turn is not None else "-",
        )
    pairs = f"{report.pairs} pair" + ("s" if report.pairs != 1 else "")
    played = f"{report.a.games} games in {pairs}, seed {settings.seed}"
    out().print(f"{played}, rules {describe_rules(settings.rules)}", style="bold", soft_wrap=True)
    for name, agent in zip(report.names, settings.agents, strict=True):
        if agent not in (name, name.removesuffix("#2")):
            out().print(f"{name} played as {agent}", soft_wrap=True)
    out().print(table)
    out().print(LEGEND, soft_wrap=True)
    for line in details(report):
        out().print(line, soft_wrap=True)
    out().print(report.verdict(), soft_wrap=True)


def details(report: "MatchReport") -> Iterator[str]:
    """Yield what else the pairs say, a line each."""
    from carc.sequential import sprt_text

    a, b = report.names
    counts = " ".join(map(str, report.pentanomial))
    yield f"Pairs by the points of {a} (0, 1/2, 1, 3/2, 2): {counts}"
    elo = f"Elo of {a} over {b}: {report.elo.value:+.0f} {_bounds(report.elo)}"
    yield f"{elo}, likelihood of superiority {_percent(report.superiority)}"
    if report.luck:
        coefficient, saved = report.luck.coefficient, report.luck.games_saved
        luck = f"Margin less {coefficient:g} of the luck of the draws: "
        luck += f"{plus_minus(report.luck.margin)}"
        yield luck + ("" if saved is None else f", which saves {100 * saved:.0f} % of the games")
    if report.variance:
        parts = ", with ".join(
            f"{name} {e.value:.2f} [{e.low:.2f}, {e.high:.2f}]"
            for name, e in report.variance.items()
        )
        yield f"Variance of the margin against as many unpaired games: with {parts}"
    if report.seat:
        yield f"The first seat is worth {plus_minus(report.seat)} points"
    for name, reasons in zip(report.names, report.forfeits, strict=True):
        if reasons:
            listed = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
            yield f"{name} forfeited {sum(reasons.values())} games: {listed}"
    if report.sprt:
        yield sprt_text(report.config, report.sprt)


def _percent(probability: float) -> str:
    if probability > 0.999:
        return "above 99.9 %"
    return "below 0.1 %" if probability < 0.001 else f"{100 * probability:.1f} %"


def _bounds(estimate: "Estimate") -> str:
    ends = ["-∞", "∞"]
    for i, value in enumerate((estimate.low, estimate.high)):
        ends[i] = ends[i] if value is None else f"{value:+.0f}"
    return f"[{ends[0]}, {ends[1]}]"
