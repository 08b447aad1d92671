"""Values of complete turns: paired playouts and the hand-made evaluation, as Python gets them."""

from __future__ import annotations

import numpy as np
import pytest

import carc


def position(players: int, left: int, seed: int) -> carc.GameState:
    """Return a position of random play with `left` tiles in the bag and a tile to place."""
    rules = carc.Rules(players=players, abbot=players > 2)
    deck, state = carc.Deck(rules, seed=seed), carc.GameState(rules)
    agent, rng = carc.make_agent("random"), carc.Rng(seed)
    while state.is_chance_node() or state.phase != "place" or state.tiles_left > left:
        if state.is_chance_node():
            state.draw(deck)
        else:
            state.apply(agent.choose(state, rng))
    return state


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_playouts_are_exact_for_the_last_tile(players: int) -> None:
    state = position(players, 0, players)
    ((turns, margins),) = carc.playout_turn_values([state], "greedy", 3)
    assert margins.shape == (len(turns), 3)
    assert margins.dtype == np.float32
    best: dict[carc.Action, float] = {}
    for (placement, _), of_turn in zip(turns, margins, strict=True):
        assert len(set(of_turn)) == 1
        best[placement] = max(best.get(placement, -np.inf), float(of_turn[0]))
    solution = carc.solve(state)
    mover = state.current_player()
    assert best == pytest.approx({a: values[mover] for a, values in solution.values}, abs=1e-4)


def test_playouts_do_not_depend_on_threads_or_on_other_agents_of_the_same_options() -> None:
    states = [position(3, 20, 1), position(3, 10, 2)]
    agent = carc.make_agent("greedy", noise=0.1)
    for (turns, margins), (other_turns, other) in zip(
        carc.playout_turn_values(states, agent, 5, seed=3),
        carc.playout_turn_values(states, agent, 5, seed=3, threads=3),
        strict=True,
    ):
        assert turns == other_turns
        assert np.array_equal(margins, other)
        assert len(np.unique(margins)) > 1


def test_pairing_makes_differences_of_turns_less_noisy() -> None:
    """Common decks take at least a tenth of the variance that independent ones would have.

    For most turns of a position in the middle of a game; the seeds are fixed.
    """
    ((_, margins),) = carc.playout_turn_values([position(2, 30, 5)], "greedy", 60, seed=1)
    spread = margins.var(axis=1, ddof=1)
    paired = (margins[1:] - margins[0]).var(axis=1, ddof=1)
    assert np.median(paired / (spread[1:] + spread[0])) < 0.9


def test_the_hand_made_evaluation_judges_the_same_turns() -> None:
    state = position(4, 20, 7)
    turns, values = carc.heuristic_turn_values(state)
    assert turns == carc.playout_turn_values([state], "random", 1)[0][0]
    assert values.shape == (len(turns), 4)
    _, other = carc.heuristic_turn_values(state, options={"hope_cap": 0})
    assert not np.array_equal(values, other)


def test_a_figure_alone_is_a_turn_too() -> None:
    state = position(2, 20, 7)
    state.apply(state.legal_actions()[0])
    turns, _ = carc.heuristic_turn_values(state)
    assert [placement for placement, _ in turns] == list(state.legal_actions())
    assert all(placement == figure for placement, figure in turns)


def test_bad_arguments_are_refused() -> None:
    state = position(2, 20, 7)

    class Mine(carc.Agent):
        pass

    with pytest.raises(carc.Error, match="expected the name of an agent or what make_agent"):
        carc.playout_turn_values([state], Mine(), 1)  # type: ignore[arg-type]
    with pytest.raises(carc.Error, match="expected an agent that is part of carc"):
        carc.playout_turn_values([state], carc.make_agent("guest", command="true"), 1)
    with pytest.raises(carc.Error, match="playouts: found 0"):
        carc.playout_turn_values([state], "greedy", 0)
    with pytest.raises(carc.OptionError, match="did you mean 'hope_cap'"):
        carc.heuristic_turn_values(state, options={"hopecap": 1})
    with pytest.raises(carc.IllegalAction, match="found phase draw, expected place or figure"):
        carc.heuristic_turn_values(carc.GameState(carc.Rules()))
