"""Playing with an evaluator written in Python: slow, but any code that values states can play.

All turns that are possible are valued in one batch, and the best one for the player is played.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from carc._core import Action, Agent, GameState, Rng
from carc.learn.batch import batch_of_states
from carc.learn.encoder import SEATS

Values = npt.NDArray[np.floating]


class PythonEvaluator(Protocol):
    """What values states."""

    def evaluate(self, states: Sequence[GameState]) -> Values:
        """Return the points that players are expected to have at the end, [N, 5].

        states: after complete turns, before a draw; none of a game that is over. Columns of seats
        without a player are not looked at.
        """


class NetworkEvaluator:
    """Values states by a network whose call with a Batch gives points, [N, 5]."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network.eval()

    @torch.no_grad()
    def evaluate(self, states: Sequence[GameState]) -> Values:
        """Return the network's values."""
        values: Values = self.network(batch_of_states(states)).numpy()
        return values


class OnePlyAgent(Agent):
    """Plays the turn after which its player's margin is the largest, by an evaluator.

    The margin is to the mean of the others; of equal turns the first is played.
    """

    def __init__(self, evaluator: PythonEvaluator, name: str = "one-ply") -> None:
        super().__init__()
        self.evaluator = evaluator
        self._name = name

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._name

    def choose(self, state: GameState, rng: Rng) -> Action:
        """Return the first decision of the best turn, or of what is left of one."""
        turns = turns_of(state)
        if len(turns) == 1:
            return turns[0][0][0]
        values = turn_values(self.evaluator, [after for _, after in turns])
        players = state.rules.players
        own = values[:, state.current_player()]
        margins = own - (values[:, :players].sum(1) - own) / (players - 1)
        return turns[int(np.argmax(margins))][0][0]


def turns_of(state: GameState) -> list[tuple[list[Action], GameState]]:
    """Return all ways to end the current turn: the decisions, and the state after them."""
    if state.is_terminal() or state.is_chance_node():
        return [([], state)]
    out = []
    for action in state.legal_actions():
        after = state.clone()
        after.apply(action)
        out += [([action, *rest], end) for rest, end in turns_of(after)]
    return out


def turn_values(evaluator: PythonEvaluator, states: Sequence[GameState]) -> Values:
    """Return the values of states after a turn, [N, 5]; the scores of a game that is over."""
    values = np.zeros((len(states), SEATS))
    open_states = []
    for index, state in enumerate(states):
        if state.is_terminal():
            values[index, : len(state.scores)] = state.scores
        else:
            open_states.append(index)
    if open_states:
        found = np.asarray(evaluator.evaluate([states[index] for index in open_states]))
        if found.shape != (len(open_states), SEATS):
            raise ValueError(
                f"evaluator: found values {list(found.shape)}, expected {[len(open_states), SEATS]}"
            )
        values[open_states] = found
    return values
