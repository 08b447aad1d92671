"""Pairs of games counted by their points, and the Elo that they show, as pure functions.

The two games of a pair are played on one deck with the seats swapped, and share its luck. What is
independent is the pair, and a pair has one of five results: 0, 1/2, 1, 3/2 or 2 points to A. Their
counts, from the lowest to the highest, are the pentanomial counts of fishtest and fastchess.

Elo is logistic: a score s, the mean points a game, is 400 log10(s / (1 - s)). Normalised Elo is the
distance of the score from 1/2 in standard deviations of a game, times 800 / ln 10, so that it says
how many games it takes to see the difference (Van den Bergh, "Comments on normalized Elo",
https://www.cantate.be/Fishtest/normalized_elo.pdf). Elo, its error, normalised Elo and the
likelihood of superiority are those of fastchess (https://github.com/Disservin/fastchess,
app/src/matchmaking/elo/elo_pentanomial.cpp).

The interval is another than theirs. The normal interval of fastchess (and Student's, cut to [0, 1])
covers a score of 0.95 over 50 to 100 pairs in 91 to 93 % of matches instead of 95 %: the variance
is estimated too low just when the score is too high. This is Wilson's interval ("Probable
inference", 1927) for clustered trials, whose variance is that of s (1 - s) times a design effect:

    |p - s| <= t sqrt(d p (1 - p) / n),   d = v / (q (1 - q))

with n pairs, t of Student's distribution with n - 1 degrees of freedom, and q and v the mean and
variance of the pairs' scores with one imagined pair added, whose score is 1/2 and which adds 1/4 to
the squared deviations. It needs no exception where all pairs came out alike.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from carc.ratings import Estimate

Array: TypeAlias = npt.NDArray[np.float64]

NORMALIZED_ELO = 800 / np.log(10)  # one standard deviation of a game, about 347.4
Z95 = 1.959963984540054
UNSEEN = 1e-3  # what fishtest and fastchess put for a count of 0 in a likelihood


def count_pairs(points: Iterable[float]) -> list[int]:
    """Return how many pairs gave A 0, 1/2, 1, 3/2 and 2 points; points are of two games each."""
    counts = [0] * 5
    for each in points:
        index = 2 * each
        if index not in range(5):
            raise ValueError(f"found a pair of {each} points, expected 0, 1/2, 1, 3/2 or 2")
        counts[int(index)] += 1
    return counts


def count_games(shares: Iterable[float]) -> list[int]:
    """Return how many games A lost, tied and won; shares are 0, 1/2 and 1."""
    counts = [0] * 3
    for share in shares:
        index = 2 * share
        if index not in range(3):
            raise ValueError(f"found a game of {share} points, expected 0, 1/2 or 1")
        counts[int(index)] += 1
    return counts


def elo_of_score(score: float) -> float:
    """Return the logistic Elo of a score strictly between 0 and 1."""
    return float(400 * np.log10(score / (1 - score)))


def score_of_elo(elo: float) -> float:
    """Return the expected score, the inverse of `elo_of_score`."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def moments(counts: Sequence[float]) -> tuple[float, float, float]:
    """Return the number of pairs (or games), the score, and its variance from pair to pair.

    counts: by points from the lowest to the highest, five of pairs or three of games.
    """
    weights = np.asarray(counts, dtype=float)
    scores = np.linspace(0, 1, len(weights))
    total = float(weights.sum())
    mean = float(weights @ scores) / total
    return total, mean, float(weights @ (scores - mean) ** 2) / total


def score_interval(counts: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the score, as the module says; [0, 1] from a single pair."""
    from scipy.special import stdtrit

    pairs, score, variance = moments(counts)
    if pairs < 2:
        return 0.0, 1.0
    mean = (pairs * score + 0.5) / (pairs + 1)
    squares = pairs * (variance + (score - mean) ** 2) + 0.25
    design = squares / pairs / (mean * (1 - mean))
    slack = float(stdtrit(pairs - 1, 0.975)) ** 2 * design / pairs
    centre = (score + slack / 2) / (1 + slack)
    half_width = np.sqrt(slack * score * (1 - score) + slack**2 / 4) / (1 + slack)
    return max(0.0, float(centre - half_width)), min(1.0, float(centre + half_width))


def score_estimate(counts: Sequence[float]) -> Estimate:
    """Estimate the score, A's mean points a game, with its 95 % interval."""
    return Estimate(moments(counts)[1], *score_interval(counts))


def elo_estimate(counts: Sequence[float]) -> Estimate:
    """Estimate the logistic Elo of A over B, with its 95 % interval.

    A bound is None where it is infinite. If all points went to one side, the value, infinite too,
    is that of the counts with half a pair added to each end.
    """
    _, score, _ = moments(counts)
    if not 0 < score < 1:
        _, score, _ = moments([counts[0] + 0.5, *counts[1:-1], counts[-1] + 0.5])
    low, high = score_interval(counts)
    return Estimate(
        elo_of_score(score),
        elo_of_score(low) if low > 0 else None,
        elo_of_score(high) if high < 1 else None,
    )


def elo_error(counts: Sequence[float]) -> float | None:
    """Return the half width of fastchess' 95 % interval of Elo; None where it is not defined."""
    pairs, score, variance = moments(counts)
    reach = Z95 * np.sqrt(variance / pairs)
    if not 0 < score - reach <= score + reach < 1:
        return None
    return (elo_of_score(score + reach) - elo_of_score(score - reach)) / 2


def normalized_elo(counts: Sequence[float]) -> Estimate:
    """Estimate the normalised Elo of A over B, with the 95 % interval of fastchess.

    A count of 0 is taken for 0.001 where all pairs came out alike.
    """
    pairs, score, variance = moments(counts)
    if variance == 0:
        _, score, variance = moments(regularized(counts).tolist())
    games = pairs * (len(counts) - 1) / 2
    value = (score - 0.5) / np.sqrt(variance * games / pairs) * NORMALIZED_ELO
    error = Z95 * NORMALIZED_ELO / np.sqrt(games)
    return Estimate(float(value), float(value - error), float(value + error))


def likelihood_of_superiority(counts: Sequence[float]) -> float:
    """Return the probability that A is the stronger, by the normal distribution of the score.

    A count of 0 is taken for 0.001 where all pairs came out alike.
    """
    from scipy.special import ndtr

    pairs, score, variance = moments(counts)
    if variance == 0:
        pairs, score, variance = moments(regularized(counts).tolist())
    return float(ndtr((score - 0.5) / np.sqrt(variance / pairs)))


def regularized(counts: Sequence[float] | Array) -> Array:
    """Return the counts with 0.001 for 0, as fishtest and fastchess do in their likelihoods."""
    seen = np.asarray(counts, dtype=float)
    return np.where(seen == 0, UNSEEN, seen)
