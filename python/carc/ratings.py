"""Statistics of matches, as pure functions.

The unit of sampling is the deck. All games on one deck (every table of agents in every rotation of
the seats) share its luck, so they are one observation: intervals come from the differences between
decks, never between single games.

Elo ratings are the maximum likelihood of the Bradley-Terry model (Bradley and Terry, "Rank analysis
of incomplete block designs", 1952) on pairwise results: a game of n players counts as its n (n - 1)
/ 2 comparisons of scores, and a tie as half a win for each. One imagined deck on which every pair
shared the points equally is added, so that the ratings stay finite when one side wins everything.

Their intervals come from the Bayesian bootstrap (Rubin, "The Bayesian bootstrap", 1981) over decks:
every deck gets a random weight Exp(1) instead of the number of times that it was drawn, and each
side's share of the imagined deck a weight Gamma(1/2, 1). For two agents who never lose the result
is Jeffreys' interval, where resampled decks, all alike, would claim certainty.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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
    """A finished game: its deck, and the agent (by index) and score in each seat."""

    deck: int
    agents: Sequence[int]
    scores: Sequence[int]


def margins(scores: Sequence[int]) -> list[float]:
    """Return by seat the score minus the mean of the others' scores."""
    total = sum(scores)
    return [score - (total - score) / (len(scores) - 1) for score in scores]


def win_shares(scores: Sequence[int]) -> list[float]:
    """Return by seat the share of the win: equal parts of 1 for all who have the best score."""
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


def pair_points(games: Iterable[Game], agents: int) -> Array:
    """Return [deck, i, j]: how often agent i scored more than j, ties as half; decks ascending."""
    by_deck: dict[int, Array] = {}
    for game in games:
        points = by_deck.setdefault(game.deck, np.zeros((agents, agents)))
        for i, own in zip(game.agents, game.scores, strict=True):
            for j, other in zip(game.agents, game.scores, strict=True):
                if i != j:
                    points[i, j] += (own > other) + (own == other) / 2
    return np.array([by_deck[deck] for deck in sorted(by_deck)])


def bradley_terry(points: Array, start: Array | None = None) -> Array:
    """Return the most likely ratings, in logits around 0, for points[i, j] of agent i against j.

    Every two agents must be joined by a chain of pairs that both took points from each other.
    """
    count = len(points)
    if count == 2:
        half_gap = np.log(points[0, 1] / points[1, 0]) / 2
        return np.array([half_gap, -half_gap])

    from scipy.optimize import minimize

    games = points + points.T

    def loss(ratings: Array) -> tuple[float, Array]:
        gaps = ratings[:, None] - ratings[None, :]
        expected = 1 / (1 + np.exp(-gaps))
        value = np.sum(points * np.logaddexp(0, -gaps)) + np.sum(ratings) ** 2 / 2
        return float(value), np.sum(games * expected - points, axis=1) + np.sum(ratings)

    def curvature(ratings: Array) -> Array:
        expected = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
        weights = games * expected * (1 - expected)
        curve: Array = np.diag(weights.sum(axis=1)) - weights + 1
        return curve

    first = np.zeros(count) if start is None else start
    found = minimize(
        loss,
        first,
        jac=True,
        hess=curvature,
        method="trust-exact",
        options={"gtol": 1e-9 * games.sum()},
    )
    ratings = np.asarray(found.x, dtype=float)
    centred: Array = ratings - ratings.mean()
    return centred


def elo_estimates(
    points_by_deck: Array, replicates: int = REPLICATES, seed: int = BOOTSTRAP_SEED
) -> list[Estimate]:
    """Estimate every agent's Elo, their mean 0, from `pair_points`; intervals need two decks."""
    decks, agents, _ = points_by_deck.shape
    met = points_by_deck.sum(axis=0)
    half_deck = (met + met.T) / (2 * decks)  # what each side gets of the imagined deck
    likely = bradley_terry(met + half_deck)
    if decks < 2:
        return [Estimate(float(value * ELO_PER_LOGIT), None, None) for value in likely]
    rng = np.random.default_rng(seed)
    ratings = np.empty((replicates, agents))
    for replicate in ratings:
        weights = rng.exponential(size=decks)
        shares = rng.gamma(0.5, size=(agents, agents)) * 2
        points = np.tensordot(weights, points_by_deck, axes=1) + half_deck * shares
        replicate[:] = bradley_terry(points, likely)
    low, high = np.quantile(ratings, [0.025, 0.975], axis=0)
    scaled = np.stack([likely, low, high], axis=1) * ELO_PER_LOGIT
    return [Estimate(*map(float, row)) for row in scaled]
