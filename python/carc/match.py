"""Matches of two agents: paired decks with the seats swapped, and who is better.

A match is a tournament of two agents, whose decks are its pairs. The pair is the unit of sampling:
both games on a deck share its luck, so every interval comes from the differences between pairs.

The interval of the win rate is a t interval over the pairs' means, cut to [0, 1]. Where all pairs
came out alike (every game won, or a single pair) their differences say nothing, and it is Jeffreys'
interval for as many independent trials as there are pairs: after n pairs won, from the 2.5 %
quantile of Beta(n + 1/2, 1/2) to 1 (Brown, Cai and DasGupta, "Interval estimation for a binomial
proportion", 2001).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carc._core import Error, Rules, agent_kinds
from carc.agents import (
    agent_settings,
    make_agent,
    option_names,
    parse_option,
    resolved_options,
    split_options,
    with_options,
)
from carc.config import TournamentConfig, nearest
from carc.errors import ConfigError
from carc.ratings import Array, Estimate, deck_means, mean_estimate, win_shares
from carc.report import Tally, complete_decks, interval, tally_of
from carc.results import StoredGame
from carc.tournament import entrants

SIDES = ("a", "b")
DECISIONS = 2  # of a turn: placement and figure
# What must not end a search before its time does, by kind of agent.
UNLIMITED = {"mcts": {"simulations": 10**12}, "expectiminimax": {"depth": 84}}


@dataclass(frozen=True)
class MatchReport:
    """The outcome of a match, seen from agent A.

    names: of the agents as they were given, the second numbered if it is the same.
    a, b: the two agents' games.
    win_rate: of A; a tie is half a win.
    superiority: probability that A wins more than half of the points, given the pairs.
    """

    config: TournamentConfig
    names: tuple[str, str]
    pairs: int
    a: Tally
    b: Tally
    win_rate: Estimate
    superiority: float

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
            "win_rate": self.win_rate.value,
            "win_rate_ci95": interval(self.win_rate),
            "superiority": self.superiority,
            "margin_mean": self.a.margin.value,
            "margin_ci95": interval(self.a.margin),
            "score_mean": {name: tally.score for name, tally in both.items()},
            "ms_per_turn": {name: tally.ms_per_turn for name, tally in both.items()},
            "sims_per_s": {name: tally.sims_per_s for name, tally in both.items()},
        }

    def verdict(self) -> str:
        """Say in one sentence who is better and how sure that is."""
        leads = self.superiority >= 0.5
        better, worse = self.names if leads else self.names[::-1]
        sure = max(self.superiority, 1 - self.superiority)
        margin = f"{(self.a if leads else self.b).margin.value:+.1f} points a game"
        if sure >= 0.975:
            return f"{better} is better than {worse} ({margin}), {_percent(sure)} sure."
        if abs(self.win_rate.value - 0.5) < 1e-12:
            margin = f"{self.names[0]} {self.a.margin.value:+.1f} points a game"
            return f"Neither is ahead: each won half of the games ({margin})."
        return (
            f"Too close to call: {better} is ahead ({margin}), {_percent(sure)} sure; "
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
        agents = limit_time(agents, time_ms)
    agents = apply_options(agents, options)
    for agent in agents:
        _check(agent)
    return TournamentConfig(agents=tuple(agents), rounds=pairs, seed=seed, rules=rules)


def apply_options(agents: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return two agents with options: ``key=value`` goes to each that has such an option."""
    known = [option_names(_kind(agent)) for agent in agents]
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


def limit_time(agents: Sequence[str], time_ms: float) -> list[str]:
    """Give every agent that has the option `time_ms` half of a turn's time for a decision.

    What else would end its search is lifted. Raises ConfigError if no agent can keep to a time.
    """
    half = time_ms / DECISIONS
    share = int(half) if half == int(half) else half
    out = []
    for agent in agents:
        kind = _kind(agent)
        can = "time_ms" in option_names(kind)
        limits = {"time_ms": share, **UNLIMITED.get(kind, {})}
        out.append(with_options(agent, limits) if can else agent)
        try:
            make_agent(out[-1])
        except Error as error:
            half_text = f"{share:g} ms for each of a turn's {DECISIONS} decisions"
            raise ConfigError(f"--time-ms: {half_text} of {agent}: {error}") from error
    if out == list(agents):
        names = " nor ".join(dict.fromkeys(agents))
        timed = [kind for kind, _, _ in agent_kinds() if "time_ms" in option_names(kind)]
        raise ConfigError(
            f"--time-ms: found no agent that keeps to a time in {names}, "
            f"expected one of kind {' or '.join(timed)}"
        )
    return out


def make_match_report(
    config: TournamentConfig, games: Iterable[StoredGame], given: Sequence[str] | None = None
) -> MatchReport:
    """Evaluate the pairs of which both games are there: one at least.

    given: what the agents are called in the report; their names with all options if None.
    """
    names = entrants(config)
    complete = complete_decks(config, games)
    a, b = (tally_of(name, complete) for name in names)
    shares = [win_shares(game.scores)[game.agents.index(names[0])] for game in complete]
    by_pair = deck_means([game.deck for game in complete], shares)
    return MatchReport(
        config=config,
        names=_numbered(*(given or config.agents)),
        pairs=len(by_pair),
        a=a,
        b=b,
        win_rate=rate_estimate(by_pair),
        superiority=superiority(by_pair),
    )


def rate_estimate(by_pair: Array) -> Estimate:
    """Estimate a rate from the pairs' means, as the module says; the interval is never empty."""
    from scipy.stats import beta

    usual = mean_estimate(by_pair)
    if usual.low is not None and usual.high is not None and usual.low < usual.high:
        return Estimate(usual.value, max(0.0, usual.low), min(1.0, usual.high))
    won, lost = usual.value * len(by_pair), (1 - usual.value) * len(by_pair)
    low = float(beta.ppf(0.025, won + 0.5, lost + 0.5)) if won > 0 else 0.0
    high = float(beta.ppf(0.975, won + 0.5, lost + 0.5)) if lost > 0 else 1.0
    return Estimate(usual.value, low, high)


def superiority(by_pair: Array) -> float:
    """Return the probability that the mean behind the pairs' means is above one half.

    By the t distribution, or Jeffreys' posterior where all pairs came out alike.
    """
    from scipy.special import stdtr
    from scipy.stats import beta

    count, mean = len(by_pair), float(np.mean(by_pair))
    spread = float(np.std(by_pair, ddof=1)) if count > 1 else 0.0
    if spread > 0:
        return float(stdtr(count - 1, (mean - 0.5) / (spread / np.sqrt(count))))
    return float(beta.sf(0.5, mean * count + 0.5, (1 - mean) * count + 0.5))


def _numbered(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a != b else (a, f"{b}#2")


def _kind(agent: str) -> str:
    return agent_settings(split_options(agent)[0])[0]


def _check(agent: str) -> None:
    try:
        make_agent(agent)
    except Error as error:
        raise ConfigError(f"{agent}: {error}") from error


def _percent(probability: float) -> str:
    return "more than 99.9 %" if probability > 0.999 else f"{100 * probability:.1f} %"
