"""Sequential tests of a match: stop as soon as the pairs tell which of two hypotheses holds.

The test is Wald's ("Sequential tests of statistical hypotheses", 1945): after every pair the log
likelihood ratio (LLR) of H1 to H0 is compared with ln(beta / (1 - alpha)) and ln((1 - beta) /
alpha). Below the first H0 is accepted, above the second H1. What the hypotheses leave open is put
at its most likely value under each (the generalised SPRT, Van den Bergh, "A practical introduction
to the GSPRT", https://www.cantate.be/Fishtest/GSPRT_approximation.pdf).

Elo: the hypotheses give the expected score, and nothing else is assumed of the five probabilities
of a pair's points. Their likeliest values with mean score s, observed shares r_i of scores a_i, are

    p_i = r_i / (1 + x (a_i - s)),   sum_i r_i (a_i - s) / (1 + x (a_i - s)) = 0

(Van den Bergh, https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf, Proposition 1.1), and
LLR = n sum_i r_i ln(p1_i / p0_i). This is the exact LLR of fishtest
(server/fishtest/stats/LLRcalc.py) and fastchess (app/src/matchmaking/sprt/sprt.cpp), with their
0.001 for a count of 0. The formula by the normal approximation, (s1 - s0) (2 s - s0 - s1) n / (2
variance), is not used: its variance is too small early in a match, and it stops wrongly.

Margin: the pairs' mean margins are taken as normal with unknown standard deviation. With S(m) the
sum of the squared distances of n pairs from m,

    LLR = (n - 1) / 2 * ln(S(low) / S(high)),

the likelihoods with a flat prior on the standard deviation integrated out. With the most likely
standard deviation the factor is n / 2 (LLR_alt of fishtest), which at 5 % stops wrongly in up to
8 % of matches, since the standard deviation of few pairs comes out too small. No test stops before
`minimum` pairs, for the same reason.

Wald's bounds promise the error rates approximately: the LLR jumps over a bound, which makes errors
rarer than asked, and what is estimated makes them more frequent. Tests simulate both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from carc.errors import ConfigError
from carc.pentanomial import NORMALIZED_ELO, UNSEEN, Array, regularized, score_of_elo

Kind: TypeAlias = Literal["elo", "margin"]
Verdict: TypeAlias = Literal["H0", "H1"]

KINDS: tuple[Kind, ...] = ("elo", "margin")
MINIMUM_PAIRS = 10
BISECTIONS = 60
CONSTRAINT_STEPS = 10  # as in fishtest


@dataclass(frozen=True)
class SprtState:
    """Where a sequential test stands.

    llr: log likelihood ratio of H1 to H0 after `pairs` pairs.
    bounds: of the LLR; at or below the first H0 is accepted, at or above the second H1.
    verdict: the hypothesis accepted, or None: go on.
    """

    pairs: int
    llr: float
    bounds: tuple[float, float]
    verdict: Verdict | None


@dataclass(frozen=True)
class SequentialTest:
    """A test of H0: the difference is `low`, against H1: it is `high`.

    kind: of the difference and of a pair's result.
        "elo": logistic Elo, from the pair's points to A, 0, 1/2, 1, 3/2 or 2.
        "margin": points a game, from A's mean margin in the pair's two games.
    alpha: highest rate of accepting H1 when H0 holds.
    beta: highest rate of accepting H0 when H1 holds.
    minimum: pairs before which there is no verdict.

    The state is a function of the pairs in the order of their decks alone. It never depends on
    which game ended first, so a test that was stopped and resumed comes to the same verdict.
    """

    kind: Kind
    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    minimum: int = MINIMUM_PAIRS

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"sprt: found kind '{self.kind}', expected {' or '.join(KINDS)}")
        if not -np.inf < self.low < self.high < np.inf:
            raise ConfigError(f"sprt: found {self.low:g} and {self.high:g}, expected low < high")
        if min(self.alpha, self.beta) <= 0 or self.alpha + self.beta >= 1:
            raise ConfigError(
                f"sprt: found alpha {self.alpha:g} and beta {self.beta:g}, "
                "expected both above 0 and together below 1"
            )
        if self.minimum < 2:
            raise ConfigError(f"sprt: found a minimum of {self.minimum} pairs, expected 2 or more")

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the LLR, ln(beta / (1 - alpha)) and ln((1 - beta) / alpha)."""
        return (
            float(np.log(self.beta / (1 - self.alpha))),
            float(np.log((1 - self.beta) / self.alpha)),
        )

    def path(self, results: Sequence[float]) -> Array:
        """Return the LLR after every pair, the pairs' results in the order of their decks."""
        values = np.asarray(results, dtype=float)
        if self.kind == "margin":
            pairs = np.arange(1.0, len(values) + 1)
            sums, squares = np.cumsum(values), np.cumsum(values**2)
            return margin_llr(pairs, sums, squares, self.low, self.high)
        counts = np.cumsum(_one_hot(values), axis=0)
        return elo_llr(counts, self.low, self.high)

    def state(self, results: Sequence[float]) -> SprtState:
        """Return where the test stands, or stood when it came to its verdict.

        results: of the pairs on decks 0, 1, 2 ... without a gap (`leading`). Those after the
            verdict change nothing.
        """
        path = self.path(results)
        lower, upper = self.bounds
        done = (path <= lower) | (path >= upper)
        done[: self.minimum - 1] = False
        if not done.any():
            last = float(path[-1]) if len(path) else 0.0
            return SprtState(len(path), last, self.bounds, None)
        first = int(np.argmax(done))
        llr = float(path[first])
        return SprtState(first + 1, llr, self.bounds, "H1" if llr >= upper else "H0")


class SprtRun:
    """A sequential test in progress: takes the pairs in any order, uses them in that of the decks.

    It comes to the same states as `SequentialTest.state` of the same pairs, at the cost of one step
    for each.
    """

    def __init__(self, test: SequentialTest) -> None:
        self.test = test
        self.state = test.state([])
        self._waiting: dict[int, float | None] = {}
        self._next = 0
        self._counts = np.zeros(5)
        self._sums = np.zeros(2)

    @property
    def decks(self) -> int:
        """Number of decks that were looked at, those without a margin too."""
        return self._next

    def update(self, deck: int, pair: float | None) -> SprtState:
        """Add the result of a deck, of which nothing was added before, and return the state.

        pair: None for a pair without a margin, which is passed over.
        """
        assert deck >= self._next
        assert deck not in self._waiting
        self._waiting[deck] = pair
        while self.state.verdict is None and self._next in self._waiting:
            result = self._waiting.pop(self._next)
            self._next += 1
            if result is not None:
                self._take(result)
        return self.state

    def _take(self, pair: float) -> None:
        test, pairs = self.test, self.state.pairs + 1
        if test.kind == "margin":
            self._sums += (pair, pair**2)
            sums, squares = map(float, self._sums)
            llr = float(margin_llr(pairs, sums, squares, test.low, test.high))
        else:
            self._counts += _one_hot(np.array([pair]))[0]
            llr = float(elo_llr(self._counts, test.low, test.high))
        lower, upper = test.bounds
        verdict: Verdict | None = None
        if pairs >= test.minimum and not lower < llr < upper:
            verdict = "H1" if llr >= upper else "H0"
        self.state = SprtState(pairs, llr, test.bounds, verdict)


def leading(by_deck: Mapping[int, float | None]) -> list[float]:
    """Return the results of decks 0, 1, 2 ... up to the first that is not there yet.

    None stands for a pair without a margin, because a game of it was forfeited. It is passed over:
    a test on margins measures play alone. A test on Elo needs no None; the forfeiter has 0 points.
    """
    known = []
    deck = 0
    while deck in by_deck:
        result = by_deck[deck]
        if result is not None:
            known.append(result)
        deck += 1
    return known


def elo_llr(
    counts: Sequence[float] | Array, elo0: float, elo1: float, *, normalized: bool = False
) -> Array:
    """Return the LLR of Elo `elo1` to `elo0`, exact as the module says; 0-dimensional for one.

    counts: [..., 5] of pairs or [..., 3] of games by points, from the lowest to the highest; zeros
        are taken for 0.001.
    normalized: whether the Elo is normalised: the hypotheses give (score - 1/2) / standard
        deviation, and p is found by repeating the same step with the linearised constraint (Van den
        Bergh, https://www.cantate.be/Fishtest/normalized_elo_practical.pdf, section 4.1). Only for
        pairs of many results: where nearly all came out alike the steps need not converge, in
        fastchess as here.
    """
    seen = regularized(counts)
    total = seen.sum(axis=-1)
    shares = seen / total[..., None]
    scores = np.linspace(0, 1, seen.shape[-1])
    if normalized:
        # A pair's score has 1 / sqrt(2) of the standard deviation of a game's.
        per_game = np.sqrt((len(scores) - 1) / 2) / NORMALIZED_ELO
        tilted = [_tilt_to_distance(shares, scores, elo * per_game) for elo in (elo0, elo1)]
    else:
        tilted = [_tilt(shares, scores - score_of_elo(elo)) for elo in (elo0, elo1)]
    llr: Array = total * np.sum(shares * (np.log(tilted[1]) - np.log(tilted[0])), axis=-1)
    return llr


def margin_llr(
    pairs: Array | float, sums: Array | float, squares: Array | float, low: float, high: float
) -> Array:
    """Return the LLR of mean margin `high` to `low`.

    pairs, sums, squares: number of pairs, sum of their margins and of the squares, elementwise. The
        variance is taken for 0.001 at least, so that a test of pairs that are all alike ends, too.
    """
    mean = sums / pairs
    within = np.maximum(squares - sums * mean, UNSEEN * pairs)
    near, far = (within + pairs * (mean - each) ** 2 for each in (high, low))
    llr: Array = (pairs - 1) / 2 * np.log(far / near)
    return llr


def _tilt(shares: Array, values: Array) -> Array:
    """Return the likeliest probabilities [..., k] with mean 0 of `values`, given observed shares.

    The multiplier x lies where all 1 + x values are positive. There the sum falls in x.
    """
    low = np.broadcast_to(-1 / values.max(axis=-1), shares.shape[:-1])
    high = np.broadcast_to(-1 / values.min(axis=-1), shares.shape[:-1])
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = np.sum(shares * values / (1 + middle[..., None] * values), axis=-1) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    tilted: Array = shares / (1 + ((low + high) / 2)[..., None] * values)
    return tilted


def _tilt_to_distance(shares: Array, scores: Array, distance: float) -> Array:
    """Return the likeliest probabilities whose (mean - 1/2) / standard deviation is `distance`."""
    tilted = np.full_like(shares, 1 / len(scores))
    for _ in range(CONSTRAINT_STEPS):
        mean = np.sum(tilted * scores, axis=-1, keepdims=True)
        deviation = np.sqrt(np.sum(tilted * (scores - mean) ** 2, axis=-1, keepdims=True))
        bend = 1 + ((mean - scores) / deviation) ** 2
        tilted = _tilt(shares, scores - 0.5 - distance * deviation * bend / 2)
    return tilted


def _one_hot(points: Array) -> Array:
    """Return [pair, 5]: 1 at the place of each pair's points."""
    index = 2 * points
    known = (index >= 0) & (index <= 4) & (index == np.rint(index))
    if not known.all():
        wrong = points[~known][0]
        raise ValueError(f"found a pair of {wrong:g} points, expected 0, 1/2, 1, 3/2 or 2")
    hot: Array = np.eye(5)[index.astype(int)]
    return hot
