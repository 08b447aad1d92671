"""Ratings, margins and their intervals agree with values worked out by hand."""

import math

import numpy as np
import pytest

from carc.ratings import (
    Game,
    deck_means,
    elo_estimates,
    margins,
    mean_estimate,
    win_shares,
)

LOGIT = 400 / math.log(10)


def duels(*decks: tuple[float, int]) -> list[Game]:
    """Return the games of agents 0 and 1 on decks of (points of 0, games); a half is a tie."""
    games = []
    for deck, (points, count) in enumerate(decks):
        for index in range(count):
            left = points - index
            score = 2 if left >= 1 else 1 if left == 0.5 else 0
            games.append(Game(deck, [0, 1], [score, 1]))
    return games


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


def test_a_forfeiter_has_no_share_and_no_tie() -> None:
    assert win_shares([10, 4], forfeit=0) == [0, 1]
    assert win_shares([7, 7], forfeit=1) == [1, 0]
    assert win_shares([9, 7, 3], forfeit=0) == [0, 0.5, 0.5]
    assert win_shares([9, 7, 3], forfeit=None) == [1, 0, 0]


def test_a_forfeited_game_has_no_margins() -> None:
    assert margins([10, 4], 1) is None
    assert margins([10, 4], None) == [6, -6]


def test_rankings_have_ties_together_and_say_nothing_of_others_than_a_forfeiter() -> None:
    assert Game(0, [4, 2, 7], [30, 10, 30]).rankings() == [[[4, 7], [2]]]
    assert Game(0, [4, 2, 7], [30, 10, 20], forfeit=0).rankings() == [[[2], [4]], [[7], [4]]]
    assert Game(0, [4, 2], [30, 30], forfeit=1).rankings() == [[[4], [2]]]


def test_ratings_of_three_recover_the_strengths_that_made_the_points() -> None:
    # Strengths 1, 2 and 4: 150 games a pair, one a deck, won a / (a + b) of them. The imagined
    # deck of a third of a game for each pair changes little.
    games = []
    for i, j, won in ((0, 1, 50), (0, 2, 30), (1, 2, 50)):
        for game in range(150):
            games.append(Game(len(games), [i, j], [int(game < won), int(game >= won)]))
    expected = np.log([1, 2, 4]) - np.log(2)
    elo = [estimate.value for estimate in elo_estimates(games, 3)]
    assert elo == pytest.approx(LOGIT * expected, abs=1)


def test_a_reference_is_0_and_the_others_keep_their_distances() -> None:
    games = [
        Game(deck, [0, 1, 2], [(7 * deck) % 5, (3 * deck) % 7, (deck * deck) % 11])
        for deck in range(40)
    ]
    free, fixed = elo_estimates(games, 3), elo_estimates(games, 3, reference=1)
    assert sum(each.value for each in free) == pytest.approx(0, abs=1e-9)
    assert (fixed[1].value, fixed[1].low, fixed[1].high) == (0, 0, 0)
    for i in (0, 2):
        assert fixed[i].value == pytest.approx(free[i].value - free[1].value)


def test_ratings_do_not_depend_on_the_order_of_the_games() -> None:
    rng = np.random.default_rng(5)
    games = [
        Game(deck, rng.permutation(6)[:3].tolist(), rng.integers(0, 4, size=3).tolist())
        for deck in range(30)
        for _ in range(3)
    ]
    shuffled = [games[index] for index in rng.permutation(len(games))]
    assert elo_estimates(games, 6) == elo_estimates(shuffled, 6)


def test_a_forfeit_costs_rating_whatever_the_scores() -> None:
    games = duels(*[(1, 2)] * 20)
    lost = [Game(game.deck, game.agents, [99, 0], forfeit=0) for game in games[:5]]
    assert elo_estimates([*lost, *games[5:]], 2)[0].value < elo_estimates(games, 2)[0].value - 20


def test_elo_adds_one_deck_shared_equally() -> None:
    # Two decks of two games, all won: 4 to 0, and 1 to 1 from the imagined deck, so 5 to 1.
    winner, loser = elo_estimates(duels((2, 2), (2, 2)), 2)
    assert winner.value == pytest.approx(LOGIT * math.log(5) / 2, abs=1e-4)
    assert loser.value == pytest.approx(-LOGIT * math.log(5) / 2, abs=1e-4)


def test_interval_stays_open_to_doubt_when_one_side_wins_everything() -> None:
    # Jeffreys' interval of the losing share after 100 wins, Beta(1/2, 100.5): 4.9e-6 to 2.48e-2.
    winner, _ = elo_estimates(duels(*[(2, 2)] * 100), 2, replicates=4000)
    assert winner.low is not None
    assert winner.high is not None
    assert winner.low == pytest.approx(LOGIT * math.log((1 - 2.48e-2) / 2.48e-2) / 2, abs=20)
    assert winner.high == pytest.approx(LOGIT * math.log(1 / 4.9e-6) / 2, rel=0.1)
    assert winner.low < winner.value < winner.high


def test_interval_of_equals_has_the_width_of_the_normal_approximation() -> None:
    # 200 decks whose points to the first are 0, 1, 1, 2 in turn: mean 1 of 2, variance 1/2 a deck.
    first, second = elo_estimates(duels(*[(won, 2) for won in (0, 1, 1, 2) * 50]), 2)
    assert first.value == pytest.approx(0, abs=1e-6)
    # The share is 1/2, its standard error sqrt(1/2 / 200) / 2; d logit = 4 d share, half for each.
    half_width = 1.96 * 4 * math.sqrt(0.5 / 200) / 2 * LOGIT / 2
    assert first.high == pytest.approx(half_width, rel=0.1)
    assert second.low == pytest.approx(-half_width, rel=0.1)


def test_the_deck_is_the_unit_of_the_interval() -> None:
    # The same 40 wins of 80: once a deck decides both of its games, once each game has its own.
    together = duels(*[(2 * won, 2) for won in (0, 1) * 20])
    apart = duels(*[(won, 1) for won in (0, 1) * 40])
    wide, narrow = elo_estimates(together, 2)[0], elo_estimates(apart, 2)[0]
    assert wide.high == pytest.approx((narrow.high or 0) * math.sqrt(2), rel=0.1)


def test_estimates_are_the_same_every_time() -> None:
    games = duels((2, 2), (1, 2), (0.5, 2))
    assert elo_estimates(games, 2) == elo_estimates(games, 2)


def test_one_deck_gives_a_rating_without_interval() -> None:
    estimate = elo_estimates(duels((1.5, 2)), 2)[0]
    assert estimate.value == pytest.approx(LOGIT * math.log(2.5 / 1.5) / 2, abs=1e-4)
    assert estimate.low is None
