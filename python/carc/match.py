"""Matches of two agents: paired decks with the seats swapped, and who is better.

A match is a tournament of two agents, whose decks are its pairs. The pair is the unit of sampling:
both games on a deck share its luck, so pairs are counted, not games, and every interval comes from
the differences between pairs (`carc.pentanomial`). A sequential match stops with a verdict
(`carc.sprt`); it is a function of the pairs in the order of the decks, whichever ended first.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carc._core import Error, Rules
from carc.agents import (
    kind_of,
    limit_time,
    make_agent,
    option_names,
    parse_option,
    resolved_options,
    with_options,
)
from carc.config import SprtConfig, TournamentConfig, nearest
from carc.errors import ConfigError
from carc.pentanomial import (
    count_pairs,
    elo_estimate,
    likelihood_of_superiority,
    normalized_elo,
    score_estimate,
)
from carc.ratings import Estimate, deck_means, margins, mean_estimate
from carc.report import Tally, complete_decks, interval, played_through, tally_of
from carc.results import StoredGame
from carc.sequential import game_result, sprt_dict, up_to_verdict
from carc.sprt import SprtState
from carc.tournament import entrants
from carc.variance import COEFFICIENT, Pairs, adjusted_margins, less_luck, savings

SIDES = ("a", "b")
SEQUENTIAL_PAIRS = 50_000  # at most, unless asked otherwise


@dataclass(frozen=True)
class LuckReport:
    """What is left of A's margin when the luck of the draws is taken off.

    coefficient: how much of the measured luck is taken off, fixed in advance.
    margin: of A, points a game.
    games_saved: share of the games that this saves for an interval as narrow; below 0 if none.
    """

    coefficient: float
    margin: Estimate
    games_saved: float | None


@dataclass(frozen=True)
class MatchReport:
    """The outcome of a match, seen from agent A.

    names: of the agents as they were given, the second numbered if it is the same.
    a, b: the two agents' games.
    pentanomial: number of pairs that gave A 0, 1/2, 1, 3/2 and 2 points.
    win_rate: of A; a tie is half a win.
    superiority: likelihood that A is the better, given the pairs.
    variance: of the mean margin relative to as many unpaired games, after each measure against
        luck: ``pairs`` (with common random numbers, if they were used), ``luck``.
    seat: the margin of the first seat, points a game.
    forfeits: number of games that each agent lost by not going on, by reason.
    """

    config: TournamentConfig
    names: tuple[str, str]
    pairs: int
    a: Tally
    b: Tally
    pentanomial: list[int]
    win_rate: Estimate
    elo: Estimate
    normalized_elo: Estimate
    superiority: float
    seat: Estimate | None
    sprt: SprtState | None
    luck: LuckReport | None
    variance: dict[str, Estimate] | None
    forfeits: tuple[dict[str, int], dict[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Return the report under its documented names, ready for JSON."""
        both = dict(zip(self.names, (self.a, self.b), strict=True))
        played = dict(zip(self.names, self.config.agents, strict=True))
        return {
            "agents": list(self.names),
            "options": {name: resolved_options(agent) for name, agent in played.items()},
            "pairs": self.pairs,
            "games": self.a.games,
            "seed": self.config.seed,
            "rules": self.config.rules.to_dict(),
            "wins": self.a.wins,
            "ties": self.a.ties,
            "losses": self.a.losses,
            "pentanomial": self.pentanomial,
            "win_rate": self.win_rate.value,
            "win_rate_ci95": interval(self.win_rate),
            "elo": self.elo.value,
            "elo_ci95": [self.elo.low, self.elo.high],
            "normalized_elo": self.normalized_elo.value,
            "normalized_elo_ci95": interval(self.normalized_elo),
            "superiority": self.superiority,
            "margin_mean": self.a.margin.value if self.a.margin else None,
            "margin_ci95": interval(self.a.margin) if self.a.margin else None,
            "luck": self._luck(),
            "variance": self.variance
            and {
                name: {"factor": e.value, "ci95": interval(e)} for name, e in self.variance.items()
            },
            "seat_effect": self.seat.value if self.seat else None,
            "seat_effect_ci95": interval(self.seat) if self.seat else None,
            "sprt": sprt_dict(self.config, self.sprt),
            "forfeits": dict(zip(self.names, self.forfeits, strict=True)),
            "score_mean": {name: tally.score for name, tally in both.items()},
            "ms_per_turn": {name: tally.ms_per_turn for name, tally in both.items()},
            "sims_per_turn": {name: tally.sims_per_turn for name, tally in both.items()},
            "sims_per_s": {name: tally.sims_per_s for name, tally in both.items()},
        }

    def _luck(self) -> dict[str, Any] | None:
        if self.luck is None:
            return None
        return {
            "coefficient": self.luck.coefficient,
            "margin_mean": self.luck.margin.value,
            "margin_ci95": interval(self.luck.margin),
            "games_saved": self.luck.games_saved,
        }

    def verdict(self) -> str:
        """Say in one sentence who is better: where the 95 % interval leaves no doubt, or a test."""
        leads = self.win_rate.value >= 0.5
        better, worse = self.names if leads else self.names[::-1]
        margin = _points(self.a if leads else self.b)
        if self.sprt is not None and self.sprt.verdict is not None:
            return f"The test is over; {better} is ahead{margin}."
        low, high = self.win_rate.low or 0.0, self.win_rate.high or 1.0
        if not low <= 0.5 <= high:
            return (
                f"{better} is better than {worse}{margin}: the interval of its wins is above half."
            )
        if abs(self.win_rate.value - 0.5) < 1e-12:
            return f"Neither is ahead: each won half of the games{_points(self.a, self.names[0])}."
        return (
            f"Too close to call: {better} is ahead{margin}; "
            "with more --pairs the match goes on from here."
        )


def match_config(
    a: str,
    b: str,
    *,
    pairs: int,
    seed: int,
    rules: Rules,
    options: Sequence[str] = (),
    time_ms: float | None = None,
    sprt: SprtConfig | None = None,
    luck: bool | None = None,
) -> TournamentConfig:
    """Return the tournament that this match is; raises ConfigError for what cannot be played.

    options: texts ``key=value`` for both agents, ``a.key=value`` or ``b.key=value`` for one.
    time_ms: time for a turn of either agent that can keep to one.
    """
    if rules.players != 2:
        raise ConfigError(f"rules: found players {rules.players}, expected 2: a match is a duel")
    agents = [a, b]
    for agent in agents:
        _check(agent)
    if time_ms is not None:
        agents = limit_time(agents, time_ms, "--time-ms")
    agents = apply_options(agents, options)
    for agent in agents:
        _check(agent)
    return TournamentConfig(
        agents=tuple(agents), rounds=pairs, seed=seed, rules=rules, sprt=sprt, luck=luck
    )


def apply_options(agents: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return two agents with options: ``key=value`` goes to each that has such an option."""
    known = [option_names(kind_of(agent)) for agent in agents]
    out = list(agents)
    for text in options:
        key, value = parse_option(text)
        side, dot, name = key.partition(".")
        if dot and side not in SIDES:
            raise ConfigError(f"-o: found '{text}', expected a.option=value or b.option=value")
        if dot:
            chosen, plain = [SIDES.index(side)], name
        else:
            chosen, plain = [i for i, names in enumerate(known) if key in names], key
        candidates = known[chosen[0]] if dot else [*known[0], *known[1]]
        if plain not in candidates:
            whose = agents[chosen[0]] if dot else " and ".join(dict.fromkeys(agents))
            hint = (
                f"did you mean '{nearest(plain, candidates)}'?" if candidates else "expected none"
            )
            raise ConfigError(f"-o: unknown option '{plain}' of {whose}, {hint}")
        for index in chosen:
            out[index] = with_options(out[index], {plain: value})
    return out


def make_match_report(
    config: TournamentConfig, games: Iterable[StoredGame], given: Sequence[str] | None = None
) -> MatchReport:
    """Evaluate the pairs of which both games are there: one at least.

    Of a match that a sequential test has ended, those up to its verdict.
    given: what the agents are called in the report; their names with all options if None.
    """
    names = entrants(config)
    state, complete = up_to_verdict(config, complete_decks(config, games))
    a, b = (tally_of(name, complete) for name in names)
    seats = [game.agents.index(names[0]) for game in complete]
    results = [
        game_result(seat, game.scores, game.forfeit)
        for game, seat in zip(complete, seats, strict=True)
    ]
    points = 2 * deck_means([game.deck for game in complete], [share for share, _ in results])
    counts = count_pairs(points.tolist())
    played = played_through(complete)
    return MatchReport(
        config=config,
        names=_numbered(*(given or config.agents)),
        pairs=len(points),
        a=a,
        b=b,
        pentanomial=counts,
        win_rate=score_estimate(counts),
        elo=elo_estimate(counts),
        normalized_elo=normalized_elo(counts),
        superiority=likelihood_of_superiority(counts),
        seat=seat_effect(played),
        sprt=state,
        luck=luck_report(played, names[0]),
        variance=variance_factors(played, names[0]),
        forfeits=(forfeits_of(names[0], complete), forfeits_of(names[1], complete)),
    )


def seat_effect(games: Sequence[StoredGame]) -> Estimate | None:
    """Estimate the margin of the first seat, points a game; None without games."""
    if not games:
        return None
    first = [margins(game.scores)[0] for game in games]
    return mean_estimate(deck_means([game.deck for game in games], first))


def luck_report(games: Sequence[StoredGame], name: str) -> LuckReport | None:
    """Take the luck of the draws off an agent's margin; None where it was not measured."""
    by_game = _margins_and_luck(games, name)
    if by_game is None:
        return None
    margin, saved = less_luck(*by_game)
    return LuckReport(coefficient=COEFFICIENT, margin=margin, games_saved=saved)


def variance_factors(games: Sequence[StoredGame], name: str) -> dict[str, Estimate] | None:
    """Return the variances that the measures against luck leave; None without two whole pairs."""
    by_deck: dict[int, list[StoredGame]] = {}
    for game in games:
        by_deck.setdefault(game.deck, []).append(game)
    pairs = [
        sorted(each, key=lambda game: game.agents.index(name))
        for _, each in sorted(by_deck.items())
        if len(each) == len(SIDES)
    ]
    if len(pairs) < 2:
        return None
    flat = [game for pair in pairs for game in pair]
    raw = np.array([margins(game.scores)[game.agents.index(name)] for game in flat])
    by_game = _margins_and_luck(flat, name)
    adjusted = None if by_game is None else adjusted_margins(*by_game).reshape(-1, 2)
    if not np.ptp(raw):
        return None
    saved = savings(None, Pairs(raw.reshape(-1, 2), adjusted))
    factors = {"pairs": saved.pairing.factor}
    return factors if saved.adjustment is None else {**factors, "luck": saved.total}


def _margins_and_luck(
    games: Sequence[StoredGame], name: str
) -> tuple[list[float], list[float], list[int]] | None:
    """Return an agent's margins and luck, and the decks, by game; None where luck is missing."""
    raw, luck = [], []
    for game in games:
        if game.luck is None:
            return None
        seat = game.agents.index(name)
        raw.append(margins(game.scores)[seat])
        luck.append(game.luck[seat])
    return (raw, luck, [game.deck for game in games]) if raw else None


def forfeits_of(name: str, games: Iterable[StoredGame]) -> dict[str, int]:
    """Count the games that an agent lost by not going on, by reason."""
    lost = Counter(
        game.forfeit[1] for game in games if game.forfeit and game.agents[game.forfeit[0]] == name
    )
    return dict(sorted(lost.items()))


def _numbered(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a != b else (a, f"{b}#2")


def _check(agent: str) -> None:
    try:
        make_agent(agent)
    except Error as error:
        raise ConfigError(f"{agent}: {error}") from error


def _points(tally: Tally, whose: str = "") -> str:
    of = f"{whose} " if whose else ""
    return f" ({of}{tally.margin.value:+.1f} points a game)" if tally.margin else ""
