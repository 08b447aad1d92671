"""Statistics of matches, as pure functions.

The unit of sampling is the deck. All games on one deck (every table of agents in every rotation of
the seats) share its luck, so they are one observation: intervals come from the differences between
decks, never between single games.

Elo ratings are the most likely strengths of the model in `plackett_luce`: Bradley and Terry's for
games of two, Plackett and Luce's with ties for more. One imagined deck, on which every two agents
who met shared their comparisons equally, is added, so that the ratings stay finite when one side
wins everything. 400 points are odds of 10 to 1 in the direct comparison of two agents.

Their intervals come from the Bayesian bootstrap (Rubin, "The Bayesian bootstrap", 1981) over decks:
every deck gets a random weight Exp(1) instead of the number of times that it was drawn, and each
side's share of the imagined deck a weight Gamma(1/2, 1). For two agents who never lose the result
is Jeffreys' interval, where resampled decks, all alike, would claim certainty. The interval of few
decks is widened about the rating, in logits, by what the bootstrap lacks: sqrt((n + 1) / (n - 1))
for the variance of weighted instead of independent decks, and t(n - 1) / t(infinity).

A forfeited game is lost by its forfeiter to each of the others, who are not compared by it.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

from carc.plackett_luce import Likelihood, count_choices

Array: TypeAlias = npt.NDArray[np.float64]

ELO_PER_LOGIT = 400 / np.log(10)
REPLICATES = 1000
BOOTSTRAP_SEED = 20001


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, which is None where the data cannot give one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Game:
    """A finished game: its deck, and the agent (by index) and score in each seat.

    forfeit: the seat that lost by not going on, or None.
    """

    deck: int
    agents: Sequence[int]
    scores: Sequence[int]
    forfeit: int | None = None

    def rankings(self) -> list[list[list[int]]]:
        """Return rankings: each the groups of agents with the same score, from the best down.

        Of a forfeited game one of each other agent above the forfeiter: the scores of a game that
        was broken off say nothing about the others.
        """
        if self.forfeit is not None:
            loser = self.agents[self.forfeit]
            others = [agent for seat, agent in enumerate(self.agents) if seat != self.forfeit]
            return [[[agent], [loser]] for agent in sorted(others)]
        by_score: defaultdict[int, list[int]] = defaultdict(list)
        for agent, score in zip(self.agents, self.scores, strict=True):
            by_score[score].append(agent)
        return [[by_score[score] for score in sorted(by_score, reverse=True)]]


@overload
def margins(scores: Sequence[int], forfeit: None = None) -> list[float]: ...
@overload
def margins(scores: Sequence[int], forfeit: int | None) -> list[float] | None: ...
def margins(scores: Sequence[int], forfeit: int | None = None) -> list[float] | None:
    """Return by seat the score minus the mean of the others' scores; None for a forfeited game.

    forfeit: the seat that did not go on, or None. The scores of such a game are those of a game
        that was broken off, and compare nothing.
    """
    if forfeit is not None:
        return None
    total = sum(scores)
    return [score - (total - score) / (len(scores) - 1) for score in scores]


def win_shares(scores: Sequence[int], forfeit: int | None = None) -> list[float]:
    """Return by seat the share of the win: equal parts of 1 for all who have the best score.

    forfeit: the seat that did not go on, or None. It has no share, and all others have the same:
        the scores of a game that was broken off compare nothing.
    """
    if forfeit is not None:
        return [float(seat != forfeit) / (len(scores) - 1) for seat in range(len(scores))]
    best = max(scores)
    return [float(score == best) / scores.count(best) for score in scores]


def deck_means(decks: Sequence[int], values: Sequence[float]) -> Array:
    """Return the mean of the values of each deck, decks in ascending order."""
    _, index = np.unique(np.asarray(decks), return_inverse=True)
    return np.bincount(index, weights=np.asarray(values, dtype=float)) / np.bincount(index)


def mean_estimate(values: Array) -> Estimate:
    """Estimate the mean of independent values with a t interval, which needs two of them."""
    from scipy.special import stdtrit

    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, None, None)
    half_width = float(
        stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(len(values))
    )
    return Estimate(mean, mean - half_width, mean + half_width)


def elo_estimates(
    games: Sequence[Game],
    agents: int,
    *,
    reference: int | None = None,
    replicates: int = REPLICATES,
    seed: int = BOOTSTRAP_SEED,
) -> list[Estimate]:
    """Estimate every agent's Elo; intervals need two decks.

    games: in any order. They must join all agents: any two of them are the ends of a chain in which
        every two neighbours met.
    agents: how many there are.
    reference: the agent whose Elo is 0, with the interval [0, 0]; the mean of all is 0 if None.
    replicates, seed: of the bootstrap.
    """
    from scipy.special import ndtri, stdtrit

    # Sums of fractions depend on their order in the last digit, so the order is made one.
    rankings = [(game.deck, ranking) for game in games for ranking in game.rankings()]
    choices = count_choices(sorted(rankings), agents)
    choices = choices.with_imagined(_imagined_deck(games))
    likelihood = Likelihood(choices)
    likely = likelihood.fit()
    zero = np.full(agents, 1 / agents) if reference is None else np.eye(agents)[reference]
    rating = likely[:agents] - zero @ likely[:agents]
    decks = len({game.deck for game in games})
    if decks < 2:
        return [Estimate(float(value), None, None) for value in rating * ELO_PER_LOGIT]

    rng = np.random.default_rng(seed)
    halves = len(choices.wins) - decks
    weights = np.hstack(
        [rng.exponential(size=(replicates, decks)), rng.gamma(0.5, size=(replicates, halves)) * 2]
    )
    drawn = likelihood.refit(weights, likely)[:, :agents]
    low, high = np.quantile(drawn - (drawn @ zero)[:, None], [0.025, 0.975], axis=0)
    wider = stdtrit(decks - 1, 0.975) / ndtri(0.975) * np.sqrt((decks + 1) / (decks - 1))
    low, high = (rating + wider * (bound - rating) for bound in (low, high))
    scaled = np.stack([rating, low, high], axis=1) * ELO_PER_LOGIT
    return [Estimate(*map(float, row)) for row in scaled]


def _imagined_deck(games: Sequence[Game]) -> dict[tuple[int, int], float]:
    """Return how often every two agents are compared in the imagined deck, i < j.

    A game of n has n - 1 choices, which its n (n - 1) / 2 pairs part equally.
    """
    met: defaultdict[tuple[int, int], float] = defaultdict(float)
    tables = Counter(tuple(sorted(game.agents)) for game in games)
    for table, count in sorted(tables.items()):
        for i, j in combinations(table, 2):
            met[i, j] += 2 * count / len(table)
    decks = len({game.deck for game in games})
    return {pair: met[pair] / decks for pair in sorted(met)}
