"""The exact solver agrees with a brute force that knows nothing but the rules of the package.

The brute force plays out every draw, placement and figure with fractions, without any table;
whoever decides takes the first action with the greatest difference of own points and the mean of
the others' points.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

import carc
from carc import _core

ALL_RULES = (
    carc.Rules(),
    carc.Rules(players=3),
    carc.Rules(players=4, tie_points="split"),
    carc.Rules(players=5, abbot=True),
    carc.Rules(abbot=True, farmer_recall=True),
    carc.Rules(river="2021"),
    carc.Rules(players=3, river="2014", abbot=True, river_start_tile="shuffled"),
    carc.Rules.preset("first_edition_2000", players=3),
    carc.Rules.preset("transitional"),
    carc.Rules(players=2, join_cities="forbidden", small_city=2),
)
POSITIONS_OF_RULES = 14
MOST_NODES = 3000
Values = tuple[Fraction, ...]


class TooLargeError(Exception):
    """The tree has more nodes than a test can afford."""


def margins(scores: list[int]) -> Values:
    total = sum(scores)
    return tuple(score - Fraction(total - score, len(scores) - 1) for score in scores)


class BruteForce:
    """Expected margins by player; a tree of more than `nodes` positions raises TooLargeError."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes

    def value(self, state: carc.GameState) -> Values:
        self.nodes -= 1
        if self.nodes < 0:
            raise TooLargeError
        if state.is_terminal():
            return margins(state.scores)
        if state.is_chance_node():
            return self.mean(state)
        mover = state.current_player()
        return max(self.after_actions(state), key=lambda value: value[mover])  # the first of equals

    def mean(self, state: carc.GameState) -> Values:
        # Probabilities are shares of a bag of at most 84 tiles.
        shares = [Fraction(p).limit_denominator(84) for _, p in state.chance_outcomes()]
        assert sum(shares) == 1
        values = [self.after(state, action) for action, _ in state.chance_outcomes()]
        return tuple(
            sum((share * value[p] for share, value in zip(shares, values, strict=True)), Fraction())
            for p in range(state.rules.players)
        )

    def after_actions(self, state: carc.GameState) -> list[Values]:
        return [self.after(state, action) for action in state.legal_actions()]

    def after(self, state: carc.GameState, action: carc.Action) -> Values:
        child = state.clone()
        child.apply(action)
        return self.value(child)


def random_action(state: carc.GameState, rng: random.Random) -> carc.Action:
    if state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        return rng.choices(actions, weights)[0]
    return rng.choice(list(state.legal_actions()))


def small_game(rules: carc.Rules, rng: random.Random) -> carc.GameState:
    """Return the start of a game whose bag is a few tiles of the rules' own."""
    tiles = carc.Deck(rules, seed=rng.randrange(2**32)).tiles
    kept = sorted(rng.sample(range(len(tiles)), rng.randrange(2, 7)))
    deck = carc.Deck(rules, tiles=[tiles[i] for i in kept])
    return carc.GameState(rules, deck, first_player=rng.randrange(rules.players))


def endgames(rules: carc.Rules, seed: int) -> Iterator[tuple[carc.GameState, list[Values]]]:
    """Yield decisions near the end of small games with the brute force's value of every action."""
    rng = random.Random(seed)
    found = 0
    while found < POSITIONS_OF_RULES:
        state = small_game(rules, rng)
        while not state.is_terminal() and found < POSITIONS_OF_RULES:
            if not state.is_chance_node() and state.num_legal_actions() > 1:
                with contextlib.suppress(TooLargeError):
                    yield state, BruteForce(MOST_NODES).after_actions(state)
                    found += 1
            state.apply(random_action(state, rng))


def test_brute_force_agrees_with_the_results_of_finished_games() -> None:
    rng = random.Random(1)
    for rules in ALL_RULES:
        state = small_game(rules, rng)
        while not state.is_terminal():
            state.apply(random_action(state, rng))
        assert [float(v) for v in BruteForce(1).value(state)] == pytest.approx(state.returns())


def test_brute_force_closes_the_city_with_the_last_tile() -> None:
    rules = carc.Rules(players=3)
    state = carc.GameState(rules, carc.Deck(rules, tiles=["E"]))
    assert BruteForce(MOST_NODES).value(state) == (4, -2, -2)


def test_brute_force_takes_the_best_of_all_results_of_the_last_turn() -> None:
    state = carc.GameState(carc.Rules(), carc.Deck(carc.Rules(), tiles=["U"]))
    results = []
    state.apply(state.legal_actions()[0])
    for placement in state.legal_actions():
        placed = state.clone()
        placed.apply(placement)
        for figure in placed.legal_actions():
            ended = placed.clone()
            ended.apply(figure)
            results.append(ended.returns()[0])
    assert float(BruteForce(MOST_NODES).value(state)[0]) == max(results)


@pytest.mark.parametrize("rules", ALL_RULES, ids=repr)
def test_solver_agrees_with_brute_force(rules: carc.Rules) -> None:
    for state, expected in endgames(rules, seed=2):
        solution = _core.solve(state, nodes=10**7)
        assert solution.complete
        assert [action for action, _ in solution.values] == list(state.legal_actions())
        for (_, value), exact in zip(solution.values, expected, strict=True):
            assert value == pytest.approx([float(v) for v in exact], abs=1e-4)
        mover = state.current_player()
        best = max(range(len(expected)), key=lambda i: expected[i][mover])
        assert solution.best == state.legal_actions()[best]
        assert solution.value == pytest.approx([float(v) for v in expected[best]], abs=1e-4)


def test_solver_says_so_when_its_budget_does_not_suffice() -> None:
    state = carc.GameState(carc.Rules(), carc.Deck(carc.Rules(), tiles=["E", "U"]))
    state.apply(random_action(state, random.Random(3)))
    assert _core.solve(state, nodes=10**7).complete
    assert not _core.solve(state, nodes=2).complete
    assert not _core.solve(carc.GameState(carc.Rules()), nodes=10**7).complete  # a whole game
