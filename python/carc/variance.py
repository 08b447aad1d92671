"""Less luck in a mean margin: what is taken off a game's margin, and what each measure saves.

The luck of a game is the sum over its draws of what a draw was worth more than the mean of the
draws that were possible, to A. Its expectation is 0 whatever the evaluator, so M - c luck has the
expectation of the margin M for every c that does not depend on the game. c is fixed in advance, or
fitted on other pairs: the pairs on even decks take the c that would have been best for the pairs on
odd decks, and the other way round. c fitted on the same pairs would be biased.

Savings are ratios of variances of the mean margin over equally many games, to that of raw unpaired
games: each on a deck of its own, half of them from each seat. A factor of 0.5 halves the games that
a given interval needs. They multiply up:

    pairing              both games of a pair on one deck, seats swapped
    common randomness    both games of a pair with the same random numbers for each agent
    adjustment           M - c luck in place of M

The share of a part is the logarithm of its factor over that of the product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from carc.ratings import BOOTSTRAP_SEED, Estimate, deck_means, mean_estimate

Array: TypeAlias = npt.NDArray[np.float64]

COEFFICIENT = 0.3
REPLICATES = 1000


def adjusted_margins(
    margins: Sequence[float] | Array,
    lucks: Sequence[float] | Array,
    decks: Sequence[int] | npt.NDArray[np.int64],
    c: float | Literal["fit"] = COEFFICIENT,
) -> Array:
    """Return margin - c luck of every game.

    margins, lucks: of A by game, in points.
    decks: of the games; both games of a pair have the same.
    c: fixed in advance, or "fit": by cross-fitting over the parity of the deck, for the smallest
        variance of the pairs' means; 0 where a half has fewer than two decks or no luck.
    """
    values, luck, deck = np.asarray(margins, float), np.asarray(lucks, float), np.asarray(decks)
    if c != "fit":
        return values - c * luck
    adjusted = values.copy()
    for parity in (0, 1):
        own = deck % 2 == parity
        adjusted[own] -= _best_coefficient(values[~own], luck[~own], deck[~own]) * luck[own]
    return adjusted


def less_luck(
    margins: Sequence[float], lucks: Sequence[float], decks: Sequence[int]
) -> tuple[Estimate, float | None]:
    """Estimate the mean margin less luck, and the share of games that this saves.

    Arguments as of `adjusted_margins`, at least one game. The share is below 0 if it takes more
    games for an interval as narrow, and None where the decks' margins do not vary.
    """
    plain = deck_means(decks, margins)
    less = deck_means(decks, adjusted_margins(margins, lucks, decks).tolist())
    spread = float(np.var(plain))
    saved = 1 - float(np.var(less)) / spread if spread > 0 else None
    return mean_estimate(less), saved


@dataclass(frozen=True)
class Part:
    """What one measure saves.

    factor: variance with it, relative to that without it.
    share: its share of the logarithm of all that is saved; None if nothing is.
    """

    factor: Estimate
    share: float | None


@dataclass(frozen=True)
class Savings:
    """Variances of the mean margin relative to raw unpaired games; None for what was not measured.

    unpaired: variance of a pair's mean if its games were independent, in points squared.
    total: the product of the parts' factors.
    """

    unpaired: float
    pairing: Part
    common_randomness: Part | None
    adjustment: Part | None
    total: Estimate


@dataclass(frozen=True)
class Pairs:
    """Games of A against B on paired decks, A in the first seat in one, in the second in the other.

    margins: [pair, seat of A], in points.
    adjusted: the same less luck, from `adjusted_margins`, or None.
    """

    margins: Array
    adjusted: Array | None = None


def savings(
    plain: Pairs | None, common: Pairs | None = None, *, replicates: int = REPLICATES
) -> Savings:
    """Return what pairing, common random numbers and the adjustment save, with 95 % intervals.

    plain: pairs played with independent random numbers.
    common: pairs played with common ones, not necessarily on the same decks. Where both are given,
        the unpaired variance is the mean of both, since single games have the same distribution;
        the adjustment is that of the last one given.
    The intervals are those of the Bayesian bootstrap over pairs. What could save nothing, because
    no variance was left before it, is None. Single games must differ.
    """
    runs = [run for run in (plain, common) if run is not None]
    assert runs
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    weights = [
        np.vstack([np.ones(len(run.margins)), rng.exponential(size=(replicates, len(run.margins)))])
        for run in runs
    ]
    unpaired = np.mean(
        [_variance(run.margins, w).sum(axis=1) / 4 for run, w in zip(runs, weights, strict=True)],
        axis=0,
    )
    paired = [
        _variance(run.margins.mean(axis=1, keepdims=True), w)[:, 0]
        for run, w in zip(runs, weights, strict=True)
    ]
    factors = {"pairing": paired[0] / unpaired}
    if plain is not None and common is not None and paired[0][0] > 0:
        factors["common_randomness"] = paired[1] / paired[0]
    last = runs[-1].adjusted
    if last is not None and paired[-1][0] > 0:
        adjusted = _variance(last.mean(axis=1, keepdims=True), weights[-1])[:, 0]
        factors["adjustment"] = adjusted / paired[-1]
    total = np.prod(list(factors.values()), axis=0)
    shared = total[0] > 0 and total[0] != 1  # equal agents with common random numbers leave nothing
    parts = {
        name: Part(
            _estimate(factor), float(np.log(factor[0]) / np.log(total[0])) if shared else None
        )
        for name, factor in factors.items()
    }
    return Savings(
        unpaired=float(unpaired[0]),
        pairing=parts["pairing"],
        common_randomness=parts.get("common_randomness"),
        adjustment=parts.get("adjustment"),
        total=_estimate(total),
    )


def _best_coefficient(margins: Array, lucks: Array, decks: npt.NDArray[np.int64]) -> float:
    """Return the slope of the pairs' mean margins on their mean lucks."""
    if not len(decks):
        return 0.0
    _, index = np.unique(decks, return_inverse=True)
    size = np.bincount(index)
    margin, luck = (np.bincount(index, weights=each) / size for each in (margins, lucks))
    spread = float(np.sum((luck - luck.mean()) ** 2))
    return float(np.sum((luck - luck.mean()) * margin)) / spread if spread > 0 else 0.0


def _variance(values: Array, weights: Array) -> Array:
    """Return the variances [replicate, column] of values [pair, column], weighted by replicate."""
    total = weights.sum(axis=1, keepdims=True)
    centred = values - values.mean(axis=0)
    mean = weights @ centred / total
    variance: Array = weights @ centred**2 / total - mean**2
    return variance


def _estimate(factors: Array) -> Estimate:
    """Return the first, with the interval of the rest."""
    low, high = np.quantile(factors[1:], [0.025, 0.975])
    return Estimate(float(factors[0]), float(low), float(high))
