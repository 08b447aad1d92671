"""Strengths from rankings with ties agree with published values and with the model's definition."""

import numpy as np
import pytest
from scipy.optimize import minimize

from carc.plackett_luce import Choices, Likelihood, count_choices
from simulated_matches import order_probability

# Preferences of i over j, of j over i, and ties: Davidson (1970), table 2.
PUDDINGS = """
1 2 19 22 16   1 3 16 19 12   2 3 19 19 10   1 4 18 23 13   2 4 23 19  9
3 4 19 20 15   1 5 13 19 18   2 5 16 20 12   3 5 16 15 17   4 5 17 14 16
1 6 18 21 12   2 6 22 20 12   3 6 13 18 10   4 6 14 19 18   5 6 11 21 12
"""


def worths(strengths: np.ndarray, agents: int) -> np.ndarray:
    """Return the agents' worths, of sum 1."""
    worth = np.exp(strengths[:agents])
    return worth / worth.sum()


def test_davidsons_puddings_have_the_worths_that_r_finds() -> None:
    # PlackettLuce(R, weights = w, npseudo = 0, maxit = 7), in the vignette of the R package
    # PlackettLuce, which stops after seven steps, as Davidson did, before all digits have settled.
    rows = np.array(PUDDINGS.split(), dtype=int).reshape(-1, 5)
    wins, ties, chosen = np.zeros(6), 0, np.zeros(len(rows))
    for index, (i, j, over, under, tied) in enumerate(rows):
        wins[i - 1] += over + tied / 2
        wins[j - 1] += under + tied / 2
        ties += tied
        chosen[index] = over + under + tied
    sets = tuple((i - 1, j - 1) for i, j in rows[:, :2])
    fitted = Likelihood(Choices(wins[None], np.array([[ties]]), sets, chosen[None])).fit()
    expected = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    assert worths(fitted, 6) == pytest.approx(expected, abs=1e-4)
    assert np.exp(fitted[6]) == pytest.approx(0.7468147, abs=1e-3)


def test_every_agent_is_chosen_as_often_as_expected() -> None:
    rankings = [[[0], [1], [2]], [[0], [2], [1]], [[1], [0], [2]], [[2], [0], [1]]]
    a = np.exp(Likelihood(count_choices([(0, each) for each in rankings], 3)).fit())
    expected = np.zeros(3)
    for ranking in rankings:
        left = [group[0] for group in ranking]
        while len(left) > 1:
            expected[left] += a[left] / a[left].sum()
            left = left[1:]
    assert expected == pytest.approx([4, 2, 2], abs=1e-6)


def test_the_fit_is_the_summit_of_the_likelihood_by_definition() -> None:
    ranks = [(0, 1, 2, 3), (1, 0, 0, 2), (0, 0, 1, 1), (3, 1, 2, 0), (0, 2, 1, 0), (1, 1, 0, 1)]
    rankings = [
        [[seat for seat in range(4) if each[seat] == rank] for rank in range(max(each) + 1)]
        for each in ranks
    ]
    fitted = Likelihood(count_choices(list(enumerate(rankings)), 4)).fit()

    def loss(values: np.ndarray) -> float:
        ties = (*np.exp(values[4:]), 0.0)
        strengths = values[:4]
        logs = [np.log(order_probability(each, strengths, ties)) for each in ranks]
        return float(-sum(logs) + strengths.sum() ** 2)

    found = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-8})
    assert fitted == pytest.approx(found.x, abs=1e-4)


def test_orders_of_ties_that_never_occurred_have_no_place() -> None:
    fitted = Likelihood(count_choices([(0, [[0], [1], [2]]), (0, [[2, 1], [0]])], 3)).fit()
    assert len(fitted) == 4


def test_a_tie_of_two_players_is_half_a_win_for_each() -> None:
    choices = count_choices([(0, [[0], [1]]), (0, [[0, 1]]), (1, [[0], [1]])], 2)
    assert choices.wins.tolist() == [[1.5, 0.5], [1, 0]]
    assert not choices.ties.any()
    fitted = Likelihood(choices).fit()
    assert fitted == pytest.approx([np.log(5) / 2, -np.log(5) / 2], abs=1e-8)


def test_replicates_are_the_fits_of_the_weighted_rankings() -> None:
    rng = np.random.default_rng(7)
    games = [(deck, [[int(agent)] for agent in rng.permutation(5)[:4]]) for deck in range(30)] + [
        (deck, [[1, 2], [0], [3, 4]]) for deck in range(3)
    ]
    choices = count_choices(games, 5)
    likelihood = Likelihood(choices)
    weights = rng.exponential(size=(20, 30))
    refitted = likelihood.refit(weights, likelihood.fit())
    for row, replicate in zip(weights, refitted, strict=True):
        alone = Choices(
            (row @ choices.wins)[None],
            (row @ choices.ties)[None],
            choices.sets,
            (row @ choices.chosen)[None],
        )
        assert replicate == pytest.approx(Likelihood(alone).fit(), abs=2e-3)


def test_imagined_comparisons_keep_a_sure_winner_finite() -> None:
    choices = count_choices([(0, [[0], [1], [2]])] * 3, 3)
    pairs = {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}
    first, second, third = Likelihood(choices.with_imagined(pairs)).fit()
    assert 8 > first > second > third > -8
