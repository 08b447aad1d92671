"""Ratings, margins and their intervals agree with values worked out by hand."""

import math

import numpy as np
import pytest

from carc.ratings import (
    Game,
    bradley_terry,
    deck_means,
    elo_estimates,
    margins,
    mean_estimate,
    pair_points,
    win_shares,
)

LOGIT = 400 / math.log(10)


def test_margin_is_the_score_less_the_mean_of_the_others() -> None:
    assert margins([10, 4]) == [6, -6]
    assert margins([10, 4, 1]) == [7.5, -1.5, -6]


def test_equal_best_scores_part_the_win() -> None:
    assert win_shares([10, 4]) == [1, 0]
    assert win_shares([7, 7]) == [0.5, 0.5]
    assert win_shares([7, 2, 7, 7]) == [1 / 3, 0, 1 / 3, 1 / 3]


def test_deck_means_are_in_the_order_of_the_decks() -> None:
    assert deck_means([5, 2, 5, 2], [1, 10, 3, 20]).tolist() == [15, 2]


def test_mean_interval_is_students() -> None:
    # Standard deviation sqrt(5/3), t(3; 0.975) = 3.18245: half width 3.18245 * sqrt(5/3) / 2.
    estimate = mean_estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    assert estimate.value == 2.5
    assert estimate.low == pytest.approx(2.5 - 2.05426, abs=1e-4)
    assert estimate.high == pytest.approx(2.5 + 2.05426, abs=1e-4)


def test_one_value_has_no_interval() -> None:
    estimate = mean_estimate(np.array([3.0]))
    assert (estimate.value, estimate.low, estimate.high) == (3, None, None)


def test_a_game_of_three_counts_as_three_comparisons() -> None:
    points = pair_points([Game(4, [2, 0, 1], [30, 30, 10])], 3)
    assert points.tolist() == [[[0, 1, 0.5], [0, 0, 0], [0.5, 1, 0]]]


def test_games_of_a_deck_are_added_up() -> None:
    games = [Game(1, [0, 1], [5, 3]), Game(0, [0, 1], [2, 2]), Game(1, [1, 0], [9, 1])]
    assert pair_points(games, 2).tolist() == [[[0, 0.5], [0.5, 0]], [[0, 1], [1, 0]]]


def test_rating_of_two_is_the_logarithm_of_their_points() -> None:
    ratings = bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]]))
    assert ratings == pytest.approx([math.log(3) / 2, -math.log(3) / 2], abs=1e-8)


def test_ratings_of_three_recover_the_strengths_that_made_the_points() -> None:
    # Strengths 1, 2 and 4: expected points of 15 games a pair are 15 * a / (a + b).
    points = np.array([[0.0, 5, 3], [10, 0, 5], [12, 10, 0]])
    expected = np.log([1, 2, 4]) - np.log(2)
    assert bradley_terry(points) == pytest.approx(expected, abs=1e-7)


def test_elo_adds_one_deck_shared_equally() -> None:
    # Two decks of two games, all won: 4 to 0, and 1 to 1 from the imagined deck, so 5 to 1.
    points = np.array([[[0.0, 2], [0, 0]]] * 2)
    winner, loser = elo_estimates(points)
    assert winner.value == pytest.approx(LOGIT * math.log(5) / 2, abs=1e-4)
    assert loser.value == pytest.approx(-LOGIT * math.log(5) / 2, abs=1e-4)


def test_interval_stays_open_to_doubt_when_one_side_wins_everything() -> None:
    # Jeffreys' interval of the losing share after 100 wins, Beta(1/2, 100.5): 4.9e-6 to 2.48e-2.
    points = np.array([[[0.0, 2], [0, 0]]] * 100)
    winner, _ = elo_estimates(points, replicates=4000)
    assert winner.low is not None
    assert winner.high is not None
    assert winner.low == pytest.approx(LOGIT * math.log((1 - 2.48e-2) / 2.48e-2) / 2, abs=20)
    assert winner.high == pytest.approx(LOGIT * math.log(1 / 4.9e-6) / 2, rel=0.1)
    assert winner.low < winner.value < winner.high


def test_interval_of_equals_has_the_width_of_the_normal_approximation() -> None:
    # 200 decks whose points to the first are 0, 1, 1, 2 in turn: mean 1 of 2, variance 1/2 a deck.
    results = np.tile([0.0, 1.0, 1.0, 2.0], 50)
    points = np.array([[[0.0, won], [2 - won, 0]] for won in results])
    first, second = elo_estimates(points)
    assert first.value == pytest.approx(0, abs=1e-6)
    # The share is 1/2, its standard error sqrt(1/2 / 200) / 2; d logit = 4 d share, half for each.
    half_width = 1.96 * 4 * math.sqrt(0.5 / 200) / 2 * LOGIT / 2
    assert first.high == pytest.approx(half_width, rel=0.1)
    assert second.low == pytest.approx(-half_width, rel=0.1)


def test_the_deck_is_the_unit_of_the_interval() -> None:
    # The same 40 wins of 80: once a deck decides both of its games, once each game has its own.
    together = np.array([[[0.0, 2 * won], [2 - 2 * won, 0]] for won in (0.0, 1.0) * 20])
    apart = np.array([[[0.0, won], [1 - won, 0]] for won in (0.0, 1.0) * 40])
    wide, narrow = elo_estimates(together)[0], elo_estimates(apart)[0]
    assert wide.high == pytest.approx((narrow.high or 0) * math.sqrt(2), rel=0.1)


def test_estimates_are_the_same_every_time() -> None:
    points = np.array([[[0.0, 2], [0, 0]], [[0.0, 1], [1, 0]], [[0.0, 0.5], [1.5, 0]]])
    assert elo_estimates(points) == elo_estimates(points)


def test_one_deck_gives_a_rating_without_interval() -> None:
    estimate = elo_estimates(np.array([[[0.0, 1.5], [0.5, 0]]]))[0]
    assert estimate.value == pytest.approx(LOGIT * math.log(2.5 / 1.5) / 2, abs=1e-4)
    assert estimate.low is None
