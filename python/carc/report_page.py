"""The page of a results file: standings, who beat whom, and where points and time went."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from statistics import fmean

import numpy as np

from carc.charts import (
    comparison_chart,
    courses_chart,
    interval_chart,
    shortened,
    sources_chart,
    time_chart,
)
from carc.config import TournamentConfig, describe_rules
from carc.errors import ConfigError, ResultsError
from carc.export import KINDS
from carc.page import Block, Chart, Heading, Table, Text
from carc.ratings import Estimate, deck_means, margins, mean_estimate
from carc.replay import numbered, stored_config
from carc.report import Report, complete_decks, make_report, turns_of
from carc.results import Results
from carc.sources import courses, points_by_kind, sample_evenly
from carc.stored import StoredGame
from carc.summary import describe_design
from carc.tournament import entrants, schedule
from carc.variance import COEFFICIENT, less_luck

SHOWN_FORFEITS = 20
NO_POINTS = "Every game was forfeited."


@dataclass(frozen=True)
class Content:
    """What the sections of a page are made of.

    names: of the agents, best first; shown: the same, not too long; labels: with their ranks, too.
    games, scheduled: number of games in the file, and on all its decks. complete: the games of
    complete decks; finished: those of them that were played to their end.
    forfeits: (number, game). first, last: when a game ended.
    """

    results: Results
    config: TournamentConfig
    report: Report
    names: list[str]
    shown: list[str]
    labels: list[str]
    games: int
    scheduled: int
    complete: list[StoredGame]
    finished: list[StoredGame]
    forfeits: list[tuple[int, StoredGame]]
    first: str
    last: str


def make_page(
    results: Results, title: str, *, reference: str | None = None
) -> tuple[str, list[Block]]:
    """Return the title and the blocks of a file's page.

    reference: the agent whose rating is 0; None: the mean is.
    Raises ResultsError for a file without a deck of which all games are there, and ConfigError for
    a reference that does not play, where not all agents are compared, and where matplotlib is
    missing.
    """
    content = _read(results, reference)
    sections = (
        *(_opening, _standings, _cross, _luck, _sources, _time, _figures, _seats),
        *(_forfeits, _agents),
    )
    return title, [block for section in sections for block in section(content)]


def _read(results: Results, reference: str | None) -> Content:
    config = stored_config(results.identity)
    names = entrants(config)
    if reference is not None and reference not in names:
        raise ConfigError(
            f"reference: found '{reference}', expected one of the agents: {', '.join(names)}"
        )
    config = replace(config, reference=reference)
    games = list(results.games())
    config = replace(config, rounds=max((game.deck for game in games), default=0) + 1)
    scheduled = sum(1 for _ in schedule(config))
    complete = complete_decks(config, games)
    if not complete:
        raise ResultsError(
            f"{results.path}: found {len(games)} games but no deck of which all "
            f"{scheduled // config.rounds} are there, expected one at least"
        )
    report = make_report(config, games)
    names = [tally.name for tally, _ in report.standings]
    ends = [game.finished for game in games]
    return Content(
        results=results,
        config=config,
        report=report,
        names=names,
        shown=list(map(shortened, names)),
        labels=[f"{rank} {name}" for rank, name in enumerate(names, 1)],
        games=len(games),
        scheduled=scheduled,
        complete=complete,
        finished=[game for game in complete if game.forfeit is None],
        forfeits=[
            (number, game)
            for number, game in numbered(config, games, results.path)
            if game.forfeit is not None
        ],
        first=min(ends),
        last=max(ends),
    )


def _opening(content: Content) -> list[Block]:
    config, report = content.config, content.report
    left_out = content.games - report.games
    rest = f" {left_out} games of incomplete decks are left out." if left_out else ""
    blocks: list[Block] = [
        Text(
            f"{len(content.names)} agents, {config.players} players a game: {report.games} games "
            f"on {report.decks} {'deck' if report.decks == 1 else 'decks'}, each deck in "
            f"{'every rotation' if config.repeat else 'one rotation'} of the seats"
            f"{'' if config.repeat else ', by turns'}.{rest}"
        ),
        Text(describe_design(config, list(map(shortened, entrants(config))))),
        Text(
            f"Rules {describe_rules(config.rules)}, seed {config.seed}, carc "
            f"{content.results.identity.get('carc', content.results.carc)}. Played from "
            f"{_moment(content.first)} to {_moment(content.last)}."
        ),
    ]
    if report.decks == 1:
        blocks.append(Text("A single deck says nothing about chance: there are no intervals."))
    return blocks


def _standings(content: Content) -> list[Block]:
    report = content.report
    numbers = ("#", "games", "W/T/L", "wins", "score", "margin", "Elo", "ms/turn", "sims/s")
    rows = [
        [
            str(rank),
            content.shown[rank - 1],
            str(tally.games),
            f"{tally.wins}/{tally.ties}/{tally.losses}",
            f"{100 * tally.win_rate:.1f} %",
            "-" if tally.score is None else f"{tally.score:.1f}",
            _plus_minus(tally.margin),
            _interval(elo),
            f"{tally.ms_per_turn:.3g}",
            "-" if tally.sims_per_s is None else f"{tally.sims_per_s:,.0f}",
        ]
        for rank, (tally, elo) in enumerate(report.standings, 1)
    ]
    table = Table(
        ("#", "agent", *numbers[1:]),
        rows,
        numbers,
        "W/T/L: games won, tied, lost. Margin: points more than the mean of the others. Intervals "
        "are 95 %, from the differences between decks."
        + (
            " Forfeited games are won or lost, but have no score and no margin."
            if len(content.finished) < len(content.complete)
            else ""
        ),
    )
    elos = [elo for _, elo in report.standings]
    margin = [tally.margin for tally, _ in report.standings]
    reference = content.config.reference
    origin = f"{reference} = 0" if reference else "mean of all agents = 0"
    blocks: list[Block] = [
        Heading("Standings"),
        table,
        Chart(
            interval_chart(content.labels, elos, "rating in Elo"),
            f"Ratings in Elo with 95 % intervals; {origin}.",
        ),
    ]
    if content.finished:
        blocks.append(
            Chart(
                interval_chart(content.labels, margin, "margin in points a game"),
                "Margins with 95 % intervals: points more than the mean of the others in a game."
                + _left_out(content),
            )
        )
    return blocks


def _cross(content: Content) -> list[Block]:
    count = len(content.names)
    place = {name: index for index, name in enumerate(content.names)}
    lead, met = np.zeros((count, count)), np.zeros((count, count))
    for game in content.finished:
        agents = [place[name] for name in game.agents]
        for (seat, i), (other, j) in permutations(enumerate(agents), 2):
            met[i, j] += 1
            lead[i, j] += game.scores[seat] - game.scores[other]

    def cell(i: int, j: int) -> str:
        share = content.report.cross[i][j]
        if share is None:
            return "-"
        points = f"{lead[i, j] / met[i, j]:+.1f}" if met[i, j] else "-"
        return f"{100 * share:.1f} %\n{points}"

    columns = [f"vs {rank}" for rank in range(1, count + 1)]
    rows = [
        [str(i + 1), content.shown[i], *(cell(i, j) for j in range(count))] for i in range(count)
    ]
    caption = (
        "The agent of the row against that of the column: how often it was better (a tie is half), "
        "and below it how many points more it had in the mean."
    )
    if len(content.finished) < len(content.complete):
        caption += (
            " Whoever forfeits a game is below all others; the points are those of the other games."
        )
    return [
        Heading("Who beat whom"),
        Table(("#", "agent", *columns), rows, ("#", *columns), caption),
    ]


def _luck(content: Content) -> list[Block]:
    """Compare margins with those less luck; nothing where luck was not measured."""
    measured = [game for game in content.finished if game.luck is not None]
    if not measured:
        return []
    rows: list[list[str]] = []
    plain: list[Estimate | None] = []
    adjusted: list[Estimate | None] = []
    for rank, (name, shown) in enumerate(zip(content.names, content.shown, strict=True), 1):
        seen = _seats_of(measured, name)
        decks = [game.deck for game, _ in seen]
        raw = [margins(game.scores)[seat] for game, seat in seen]
        luck = [game.luck[seat] for game, seat in seen if game.luck is not None]
        margin = mean_estimate(deck_means(decks, raw)) if seen else None
        less, saved = less_luck(raw, luck, decks) if seen else (None, None)
        plain.append(margin)
        adjusted.append(less)
        share = "-" if saved is None else f"{100 * saved:.0f} %"
        cells = (_plus_minus(margin), _plus_minus(less), share)
        rows.append([str(rank), shown, str(len(seen)), *cells])
    columns = ("#", "agent", "games", "margin", "margin less luck", "games saved")
    return [
        Heading("Luck of the draws"),
        Text(
            "The luck of a draw is what the tile was worth more than the mean of those that could "
            f"have been drawn, in points of margin. A margin less {COEFFICIENT:g} times its luck "
            "has the same expectation, and commonly varies less from deck to deck."
        ),
        Chart(
            comparison_chart(
                content.labels,
                ("margin", plain),
                ("margin less luck", adjusted),
                "points a game",
            ),
            f"Margins, and margins less luck, with 95 % intervals.{_left_out(content)}",
        ),
        Table(
            columns,
            rows,
            ("#", *columns[2:]),
            "Games saved: how many fewer games give an interval as narrow; below 0 if it takes "
            f"more of them.{_left_out(content)}",
        ),
    ]


def _sources(content: Content) -> list[Block]:
    means = [points_by_kind(name, content.finished) for name in content.names]
    known = [(label, mean[0]) for label, mean in zip(content.labels, means, strict=True) if mean]
    if not known:
        return [Heading("Where points came from"), Text(NO_POINTS)]
    shown = [i for i in range(len(KINDS)) if any(total[i] for _, total in known)]
    rows = []
    for rank, (name, mean) in enumerate(zip(content.shown, means, strict=True), 1):
        cells = ["-"] * (len(shown) + 1)
        if mean is not None:
            total, final = mean
            cells = [f"{total[i]:.1f} ({final[i]:.1f})" for i in shown]
            cells.append(f"{total.sum():.1f} ({final.sum():.1f})")
        rows.append([str(rank), name, *cells])
    columns = ("#", "agent", *(KINDS[i] for i in shown), "all")
    sample = sample_evenly(content.finished)
    blocks: list[Block] = [
        Heading("Where points came from"),
        Chart(
            sources_chart([label for label, _ in known], [total for _, total in known]),
            f"Mean points a game by the kind of feature that paid them.{_left_out(content)}",
        ),
        Table(
            columns,
            rows,
            ("#", *columns[2:]),
            "Mean points a game; in brackets the part of them paid after the last turn."
            + _left_out(content),
        ),
    ]
    found = courses(content.results, sample, content.names)
    seen = [i for i, name in enumerate(content.names) if name in found]
    if seen:
        blocks.append(
            Chart(
                courses_chart(
                    [content.labels[i] for i in seen], [found[content.names[i]] for i in seen]
                ),
                f"How points grew over the game: means of {len(sample)} games, which were played "
                "to their end, replayed. Features pay when they are complete; the bar at the end "
                "adds the final count.",
            )
        )
    return blocks


def _time(content: Content) -> list[Block]:
    times = []
    for rank, name in enumerate(content.names):
        own = [
            1000 * game.think_seconds[seat] / max(turns_of(game, seat), 1)
            for game, seat in _seats_of(content.complete, name)
        ]
        low, high = np.quantile(own, [0.05, 0.95])
        mean = content.report.standings[rank][0].ms_per_turn
        times.append((float(low), mean, float(high)))
    columns = ("#", "agent", "5 % of games below", "mean", "95 % of games below")
    rows = [
        [str(rank), name, *(f"{value:.3g}" for value in values)]
        for rank, (name, values) in enumerate(zip(content.shown, times, strict=True), 1)
    ]
    broken_off = len(content.finished) < len(content.complete)
    counted = " Forfeited games count, as far as they went." if broken_off else ""
    return [
        Heading("Time"),
        Chart(
            time_chart(content.labels, times),
            "Milliseconds a turn, placement and figure together: the mean, and a line from the "
            f"5 % to the 95 % quantile of games.{counted}",
        ),
        Table(columns, rows, ("#", *columns[2:]), f"Milliseconds a turn.{counted}"),
    ]


def _figures(content: Content) -> list[Block]:
    if not content.finished:
        return [Heading("Figures"), Text(NO_POINTS)]
    estimates: list[Estimate | None] = []
    for name in content.names:
        seen = _seats_of(content.finished, name)
        if not seen:
            estimates.append(None)
            continue
        values = [float(game.figures_set[seat]) for game, seat in seen]
        estimates.append(mean_estimate(deck_means([game.deck for game, _ in seen], values)))
    rows = [
        [str(rank), name, _plus_minus(estimate, "")]
        for rank, (name, estimate) in enumerate(zip(content.shown, estimates, strict=True), 1)
    ]
    return [
        Heading("Figures"),
        Chart(
            interval_chart(content.labels, estimates, "figures set in a game", zero=False),
            "Figures set in a game (a figure that comes back may be set again), with 95 % "
            f"intervals.{_left_out(content)}",
        ),
        Table(("#", "agent", "figures set"), rows, ("#", "figures set")),
    ]


def _seats(content: Content) -> list[Block]:
    """Compare the seats, where every agent had each of them on every deck."""
    played = content.finished
    if not played or not content.config.repeat:
        return []
    seats = range(content.config.players)
    labels = [f"seat {seat + 1}" + (", moves first" if seat == 0 else "") for seat in seats]
    scores = [fmean(game.scores[seat] for game in played) for seat in seats]
    decks = [game.deck for game in played]
    margin = [
        mean_estimate(deck_means(decks, [margins(game.scores)[seat] for game in played]))
        for seat in seats
    ]
    rows = [
        [label, f"{score:.1f}", _plus_minus(estimate)]
        for label, score, estimate in zip(labels, scores, margin, strict=True)
    ]
    return [
        Heading("Effect of the seat"),
        Chart(
            interval_chart(labels, margin, "margin in points a game"),
            f"Margin of whoever sits there, with 95 % intervals.{_left_out(content)}",
        ),
        Table(("seat", "score", "margin"), rows, ("score", "margin")),
    ]


def _forfeits(content: Content) -> list[Block]:
    blocks: list[Block] = [Heading("Forfeits")]
    if not content.forfeits:
        return [*blocks, Text("No game was forfeited.")]
    lost = [(number, game, game.forfeit) for number, game in content.forfeits if game.forfeit]
    label = {
        name: f"{rank} {shown}"
        for rank, (name, shown) in enumerate(zip(content.names, content.shown, strict=True), 1)
    }
    counts = Counter((game.agents[seat], reason) for _, game, (seat, reason, _) in lost)
    rows = [[label[name], reason, str(count)] for (name, reason), count in counts.most_common()]
    blocks.append(Table(("agent", "reason", "games"), rows, ("games",)))
    listed = [
        [str(number), label[game.agents[seat]], reason, shortened(detail, 200) or "-"]
        for number, game, (seat, reason, detail) in lost[:SHOWN_FORFEITS]
    ]
    more = len(lost) - len(listed)
    caption = f"{more} more: carc results list FILE --forfeits --limit 0" if more else ""
    return [*blocks, Table(("game", "agent", "reason", "detail"), listed, ("game",), caption)]


def _agents(content: Content) -> list[Block]:
    agents = dict(zip(entrants(content.config), content.results.agents, strict=True))
    rows = []
    for rank, name in enumerate(content.names, 1):
        _, version, options, digest = agents[name]
        rows.append([str(rank), name, str(options.get("kind", "-")), version, digest[:16]])
    return [
        Heading("Agents"),
        Table(
            ("#", "agent", "kind", "carc", "SHA-256 of the options"),
            rows,
            ("#",),
            "The options, weights with them, are in the results file.",
        ),
    ]


def _left_out(content: Content) -> str:
    """Return a sentence for captions where games were forfeited."""
    all_finished = len(content.finished) == len(content.complete)
    return "" if all_finished else " Forfeited games are left out."


def _seats_of(games: Sequence[StoredGame], name: str) -> list[tuple[StoredGame, int]]:
    return [(game, game.agents.index(name)) for game in games if name in game.agents]


def _plus_minus(estimate: Estimate | None, sign: str = "+") -> str:
    if estimate is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:{sign}.1f}"
    return f"{estimate.value:{sign}.1f} ± {estimate.high - estimate.value:.1f}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.0f}"
    return f"{estimate.value:+.0f} [{estimate.low:.0f}, {estimate.high:.0f}]"


def _moment(text: str) -> str:
    return text[:16].replace("T", " ") + " UTC"
