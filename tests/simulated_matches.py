"""Matches between agents of known strength, with the luck of the deck shared by its games."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Array = npt.NDArray[np.float64]

# Points, as in games of two good agents: advantage of the first seat and standard deviations.
SEAT = 1.9
DECK = 6.0  # of what a deck gives the first seat
GAME = 18.5  # of the rest of a game's margin


def margins(rng: np.random.Generator, mean: float, matches: int, pairs: int) -> Array:
    """Return whole margins [match, pair, game] of A, who has the first seat in the first game."""
    luck = SEAT + DECK * rng.standard_normal((matches, pairs))
    own = GAME * rng.standard_normal((matches, pairs, 2))
    return np.rint(mean + np.stack([luck, -luck], axis=-1) + own)


def shares(margins: Array) -> Array:
    """Return the share of the win in each game, a tie being half."""
    return (np.sign(margins) + 1) / 2


def expected_share(mean: float) -> float:
    """Return the expected share of A, whose margins are those of `margins`."""
    deviation = np.hypot(DECK, GAME)
    at_least = [
        1 - ndtr((edge - mean - seat) / deviation) for edge in (0.5, -0.5) for seat in (SEAT, -SEAT)
    ]
    return float(np.mean(at_least))


def mean_of_share(share: float) -> float:
    """Return the mean margin at which the expected share is `share`."""
    low, high = -200.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_share(middle) < share else (low, middle)
    return low


def weak_orders(players: int) -> list[tuple[int, ...]]:
    """Return the ranks by seat, 0 the best, of all rankings with ties, in their order."""

    def orders(seats: tuple[int, ...], rank: int) -> list[dict[int, int]]:
        if not seats:
            return [{}]
        return [
            {**dict.fromkeys(group, rank), **rest}
            for size in range(1, len(seats) + 1)
            for group in combinations(seats, size)
            for rest in orders(tuple(seat for seat in seats if seat not in group), rank + 1)
        ]

    seats = tuple(range(players))
    return sorted(tuple(order[seat] for seat in seats) for order in orders(seats, 0))


def order_probability(ranks: tuple[int, ...], strengths: Array, ties: tuple[float, ...]) -> float:
    """Return the probability of ranks under Davidson-Luce, written down from its definition.

    strengths: ln worth by seat. ties: delta of 2, 3 ... agents, as many as there may tie.
    """
    delta = (1.0, *ties)

    def weight(group: tuple[int, ...]) -> float:
        return delta[len(group) - 1] * float(np.exp(np.mean(strengths[list(group)])))

    probability = 1.0
    left = tuple(range(len(ranks)))
    for rank in range(max(ranks) + 1):
        chosen = tuple(seat for seat in left if ranks[seat] == rank)
        sizes = range(1, len(left) + 1)
        total = sum(weight(group) for size in sizes for group in combinations(left, size))
        probability *= weight(chosen) / total
        left = tuple(seat for seat in left if seat not in chosen)
    return probability


def rankings(
    rng: np.random.Generator,
    strengths: Array,
    ties: tuple[float, ...],
    matches: int,
    decks: int,
    correlation: float = 0.3,
) -> npt.NDArray[np.int64]:
    """Return ranks [match, deck, rotation, seat] of games in which agent (seat + rotation) sits.

    Every game for itself is Davidson-Luce with these strengths and ties. The games of a deck are
    correlated through what the deck gives to the seats: one normal number for each game orders the
    outcomes from the first seat's best to its worst, and has a part in common by deck.
    """
    players = len(strengths)
    orders = weak_orders(players)
    common = np.sqrt(correlation) * rng.standard_normal((matches, decks, 1))
    own = np.sqrt(1 - correlation) * rng.standard_normal((matches, decks, players))
    level = ndtr(common + own)
    out = np.empty((matches, decks, players, players), dtype=np.int64)
    for rotation in range(players):
        seated = np.roll(strengths, -rotation)
        edges = np.cumsum([order_probability(order, seated, ties) for order in orders])
        index = np.searchsorted(edges[:-1], level[:, :, rotation])
        out[:, :, rotation] = np.array(orders)[index]
    return out
