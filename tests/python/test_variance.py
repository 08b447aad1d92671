"""Adjusted margins are unbiased, and savings are those that the data were made with."""

import numpy as np
import pytest

from carc.variance import Pairs, adjusted_margins, savings

PAIRS = 4000


def simulated(
    seed: int, *, deck: float = 8.0, shared: float = 0.0, luck: float = 6.0, visible: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return margins and lucks [pair, seat of A] of games whose mean margin is 3.

    deck: standard deviation of what a deck gives the first seat.
    shared: of what the games of a pair share with opposite signs, when they have common numbers.
    luck: of the draws' luck. visible: what part of it the evaluator sees; it adds errors of 2.
    All games have a standard deviation of 18, whatever is shared.
    """
    rng = np.random.default_rng(seed)
    given = deck * rng.standard_normal(PAIRS) + shared * rng.standard_normal(PAIRS)
    drawn = luck * rng.standard_normal((PAIRS, 2))
    rest = np.sqrt(18**2 - deck**2 - shared**2 - luck**2)
    margins = 3 + np.stack([2 + given, -2 - given], axis=1) + drawn
    margins += rest * rng.standard_normal((PAIRS, 2))
    return margins, visible * drawn + 2 * rng.standard_normal((PAIRS, 2))


def by_game(values: np.ndarray) -> np.ndarray:
    """Return [pair, game] as a list of games, with their decks."""
    return values.ravel()


DECKS = np.repeat(np.arange(PAIRS), 2)


@pytest.mark.parametrize("c", [0.3, 1.0, "fit"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_adjusted_margins_are_unbiased(c: object, seed: int) -> None:
    # The difference is c times a mean of luck: within 2.58 of its standard errors in 99 % of runs.
    margins, lucks = simulated(seed)
    adjusted = adjusted_margins(margins.ravel(), lucks.ravel(), DECKS, c)  # type: ignore[arg-type]
    removed = (adjusted - margins.ravel()).reshape(PAIRS, 2).mean(axis=1)
    assert abs(removed.mean()) < 2.58 * removed.std() / np.sqrt(PAIRS)


def test_a_fixed_coefficient_takes_off_its_part() -> None:
    adjusted = adjusted_margins([10, -4], [5, 1], [0, 0])
    assert adjusted.tolist() == [8.5, -4.3]


def test_the_fitted_coefficient_is_that_of_the_other_decks() -> None:
    # Even decks: margin = 2 luck, so odd ones lose 2 luck; odd decks: 1/2, for the even ones.
    decks, lucks = np.array([0, 1, 2, 3, 4, 5]), np.array([1.0, 2, 3, -4, 5, 1])
    margins = np.where(decks % 2 == 0, 2 * lucks, lucks / 2)
    adjusted = adjusted_margins(margins, lucks, decks, "fit")
    assert adjusted == pytest.approx(np.where(decks % 2 == 0, 1.5, -1.5) * lucks)


def test_the_fitted_coefficient_comes_near_the_best() -> None:
    # Luck of 6 seen with errors of 2: the best is 36 / 40.
    margins, lucks = simulated(4)
    adjusted = adjusted_margins(margins.ravel(), lucks.ravel(), DECKS, "fit")
    taken = (margins.ravel() - adjusted) / lucks.ravel()
    assert len(np.unique(taken.round(9))) == 2
    assert taken == pytest.approx(np.full(2 * PAIRS, 0.9), abs=0.1)


def test_no_luck_is_taken_where_there_is_nothing_to_learn_from() -> None:
    assert adjusted_margins([10, -4], [5, 1], [0, 0], "fit").tolist() == [10, -4]
    assert adjusted_margins([1, 2, 3], [0, 0, 0], [0, 1, 3], "fit").tolist() == [1, 2, 3]


def test_savings_are_those_the_games_were_made_with() -> None:
    margins, lucks = simulated(5)
    plain = Pairs(margins)
    margins, lucks = simulated(6, shared=7.0)
    adjusted = adjusted_margins(margins.ravel(), lucks.ravel(), DECKS, 0.9).reshape(PAIRS, 2)
    found = savings(plain, Pairs(margins, adjusted))
    assert found.unpaired == pytest.approx(18**2 / 2, rel=0.05)
    # A game has variance 324, of which 64 cancel in a pair, then 49 more, then 32.4 of luck.
    expected = {"pairing": 260 / 324, "common_randomness": 211 / 260, "adjustment": 178.6 / 211}
    for name, factor in expected.items():
        part = getattr(found, name)
        assert part.factor.low < factor < part.factor.high
        assert part.factor.high - part.factor.low < 0.12
        assert part.share == pytest.approx(np.log(factor) / np.log(178.6 / 324), abs=0.1)
    assert found.total.low < 178.6 / 324 < found.total.high
    shares = [getattr(found, name).share for name in expected]
    assert sum(shares) == pytest.approx(1)


def test_what_was_not_measured_has_no_part() -> None:
    margins, _ = simulated(7)
    found = savings(Pairs(margins), replicates=200)
    assert found.common_randomness is None
    assert found.adjustment is None
    assert found.pairing.share == pytest.approx(1)
    assert found.total == found.pairing.factor


def test_the_advantage_of_a_seat_is_no_saving() -> None:
    # Games of one deck that share nothing, but the first seat is worth 20 points.
    rng = np.random.default_rng(8)
    margins = 10 * rng.standard_normal((PAIRS, 2)) + [20, -20]
    assert savings(Pairs(margins), replicates=200).total.value == pytest.approx(1, abs=0.05)


def test_equal_agents_with_common_random_numbers_leave_no_variance() -> None:
    margins = np.array([[5.0, -5.0], [12.0, -12.0], [-3.0, 3.0]])
    saved = savings(None, Pairs(margins, margins * 0.7))
    assert saved.pairing.factor.value == 0
    assert saved.pairing.share is None
    assert saved.adjustment is None
    assert saved.total == saved.pairing.factor
