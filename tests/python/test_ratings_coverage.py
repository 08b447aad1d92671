"""The 95 % intervals of ratings cover the truth in 93 to 97 % of simulated matches.

With a coverage of 95 %, 1,000 matches cover less than 93 or more than 97 % in 0.4 % of runs. The
intervals of the agents of one match go together, so that four of them do not make it much less.
"""

import numpy as np
import pytest

from carc.ratings import ELO_PER_LOGIT, Game, elo_estimates
from simulated_matches import margins, mean_of_share, rankings

MATCHES = 1000
TIES = (0.05, 0.01, 0.002)  # delta of two, three and four: two tie in about 5 % of games


def covered(games: list[Game], elo: np.ndarray, **options: int) -> list[bool]:
    """Return by agent whether the interval contains its Elo."""
    estimates = elo_estimates(games, len(elo), **options)
    assert all(each.low is not None and each.high is not None for each in estimates)
    return [each.low <= own <= each.high for each, own in zip(estimates, elo, strict=True)]


@pytest.mark.parametrize(("share", "pairs"), [(0.5, 50), (0.6, 100), (0.8, 50), (0.95, 100)])
def test_ratings_of_two_agents_cover_the_truth(share: float, pairs: int) -> None:
    rng = np.random.default_rng([pairs, round(100 * share)])
    elo = np.log(share / (1 - share)) / 2 * np.array([1, -1]) * ELO_PER_LOGIT
    inside = []
    for match in margins(rng, mean_of_share(share), MATCHES, pairs).astype(int).tolist():
        games = [Game(deck, [0, 1], [each, 0]) for deck, pair in enumerate(match) for each in pair]
        inside.append(covered(games, elo)[0])
    assert 0.93 <= np.mean(inside) <= 0.97


def check_four_agents(strengths: list[float], decks: int, replicates: int) -> None:
    rng = np.random.default_rng([decks, replicates])
    truth = np.array(strengths)
    inside = []
    for match in rankings(rng, truth, TIES, MATCHES, decks).tolist():
        games = [
            Game(deck, [(seat + rotation) % 4 for seat in range(4)], [-rank for rank in ranks])
            for deck, rotations in enumerate(match)
            for rotation, ranks in enumerate(rotations)
        ]
        inside.append(covered(games, truth * ELO_PER_LOGIT, replicates=replicates))
    assert 0.93 <= np.mean(inside) <= 0.97
    assert (np.mean(inside, axis=0) >= 0.925).all()  # 2.5 % are 3.6 standard errors
    assert (np.mean(inside, axis=0) <= 0.975).all()


def test_ratings_of_four_agents_cover_the_truth() -> None:
    check_four_agents([-0.8, -0.2, 0.2, 0.8], decks=30, replicates=200)


@pytest.mark.long
@pytest.mark.parametrize("decks", [50, 100])
@pytest.mark.parametrize("strengths", [[0.0, 0, 0, 0], [-0.8, -0.2, 0.2, 0.8], [-2, -0.5, 0, 2.5]])
def test_ratings_of_four_agents_cover_the_truth_in_many_matches(
    strengths: list[float], decks: int
) -> None:
    check_four_agents(strengths, decks, replicates=1000)
