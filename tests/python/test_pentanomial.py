"""Pentanomial statistics agree with published values, and their intervals cover the truth."""

import numpy as np
import pytest

from carc.pentanomial import (
    count_games,
    count_pairs,
    elo_error,
    elo_estimate,
    elo_of_score,
    likelihood_of_superiority,
    normalized_elo,
    score_estimate,
    score_interval,
    score_of_elo,
)
from carc.ratings import Estimate, mean_estimate
from simulated_matches import expected_share, margins, mean_of_share, shares

MATCHES = 1000


def test_points_are_counted_from_the_lowest() -> None:
    assert count_pairs([0, 0.5, 1, 1, 1.5, 2, 2]) == [1, 1, 2, 1, 2]
    assert count_games([0, 1, 1, 0.5]) == [1, 1, 2]


@pytest.mark.parametrize("points", [-0.5, 0.25, 2.5])
def test_points_that_no_pair_can_have_are_refused(points: float) -> None:
    with pytest.raises(ValueError, match="expected 0, 1/2, 1, 3/2 or 2"):
        count_pairs([1, points])


def test_elo_and_score_are_inverse() -> None:
    assert elo_of_score(10 / 11) == pytest.approx(400)
    assert score_of_elo(elo_of_score(0.3)) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("counts", "elo", "error", "normalized", "normalized_error", "superiority"),
    [
        # fastchess, app/tests/elo_test.cpp: pairs, then games.
        ([34, 54, 63, 64, 75], 55.58, 27.65, 57.94, 28.28, 1.0),
        ([332, 433, 498, 333, 334], -8.64, 10.33, -9.17, 10.96, 0.0505),
        ([7895, 8757, 5685, 568, 9999], -21.04, 2.95, -19.01, 2.65, 0.0),
        ([96, 111, 136], 40.70, 30.43, 49.77, 36.77, 0.9960),
        # Output of fastchess, https://github.com/Disservin/fastchess/issues/807.
        ([30, 6, 18, 0, 6], -168.40, 73.37, -170.08, 62.16, 0.0),
        # Output of fastchess, in elo_history.md of https://github.com/t-veor/hardfiskur.
        ([4, 4, 58, 51, 198], 294.93, 33.71, 371.80, 27.13, 1.0),
        ([1, 5, 45, 54, 252], 355.96, 35.36, 482.39, 25.48, 1.0),
    ],
)
def test_elo_agrees_with_fastchess(
    counts: list[int],
    elo: float,
    error: float,
    normalized: float,
    normalized_error: float,
    superiority: float,
) -> None:
    assert elo_estimate(counts).value == pytest.approx(elo, abs=0.005)
    assert elo_error(counts) == pytest.approx(error, abs=0.005)
    nelo = normalized_elo(counts)
    assert nelo.low is not None
    assert nelo.value == pytest.approx(normalized, abs=0.005)
    assert nelo.value - nelo.low == pytest.approx(normalized_error, abs=0.005)
    assert likelihood_of_superiority(counts) == pytest.approx(superiority, abs=5e-5)


def test_a_match_won_throughout_has_an_open_interval_and_a_finite_value() -> None:
    won = elo_estimate([0, 0, 0, 0, 20])
    assert won.value == pytest.approx(elo_of_score(20.5 / 21))
    assert won.low is not None
    assert 0 < won.low < won.value
    assert won.high is None
    lost = elo_estimate([20, 0, 0, 0, 0])
    assert lost.low is None
    assert (lost.value, lost.high) == pytest.approx((-won.value, -won.low))
    assert elo_error([0, 0, 0, 0, 20]) is None
    assert 0.99 < likelihood_of_superiority([0, 0, 0, 0, 20]) <= 1


def test_a_single_pair_says_nothing() -> None:
    assert score_interval([0, 0, 0, 0, 1]) == (0, 1)


def test_the_interval_approaches_students_when_there_are_many_pairs() -> None:
    counts = [1000, 2000, 3000, 2500, 1500]
    students = mean_estimate(np.repeat([0, 0.25, 0.5, 0.75, 1], counts))
    assert score_interval(counts) == pytest.approx((students.low, students.high), abs=1e-4)


def coverage(estimates: list[Estimate], truth: float) -> float:
    """Return the part of the intervals that contain the truth; an open side contains all."""
    return float(
        np.mean(
            [
                (each.low is None or each.low <= truth)
                and (each.high is None or truth <= each.high)
                for each in estimates
            ]
        )
    )


# With a coverage of 95 %, 1,000 matches cover less than 93 or more than 97 % in 0.4 % of runs.
@pytest.mark.parametrize("pairs", [50, 100, 200])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.8, 0.95])
def test_95_percent_intervals_cover_the_truth(pairs: int, share: float) -> None:
    rng = np.random.default_rng([pairs, round(100 * share)])
    mean = mean_of_share(share)
    assert expected_share(mean) == pytest.approx(share)
    played = margins(rng, mean, MATCHES, pairs)
    counts = [count_pairs(each) for each in shares(played).sum(axis=-1)]
    assert 0.93 <= coverage([score_estimate(each) for each in counts], share) <= 0.97
    elo = elo_of_score(share)
    assert 0.93 <= coverage([elo_estimate(each) for each in counts], elo) <= 0.97
    by_pair = [mean_estimate(each) for each in played.mean(axis=-1)]
    assert 0.93 <= coverage(by_pair, mean) <= 0.97
