"""A network, a loss and an evaluator of your own, in a few lines each; needs carc[train].

Try it: carc selfplay games --games 2000 && python examples/own_network.py games
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

import carc
from carc.learn.encoder import KINDS, SEATS, UNIT, encoder
from carc.learn.evaluator import NetworkEvaluator, OnePlyAgent
from carc.learn.examples import load_examples
from carc.learn.fit import FitOptions, fit


class LinearNetwork(nn.Module):
    """Values every feature by a linear map of its inputs; the points go to its holder."""

    def __init__(self):
        super().__init__()
        self.maps = nn.ModuleDict({kind: nn.Linear(encoder().width(kind), 1) for kind in KINDS})

    def forward(self, batch):
        points = batch.score.flatten()
        for kind, rows in batch.features.items():
            worth = UNIT * self.maps[kind](batch.scaled(kind)).squeeze(1)
            points = points.index_add(0, rows.position * SEATS + rows.main, worth)
        return points.view(-1, SEATS)


def absolute_loss(network, batch):
    """Teach the median of the points, which games far from the others move less."""
    return (batch.seated * (network(batch) - batch.target)).abs().mean()


class CountNow:
    """An evaluator without a network: what a player would have if the game ended now."""

    def evaluate(self, states):
        values = np.zeros((len(states), SEATS))
        for row, state in zip(values, states, strict=True):
            row[: state.rules.players] = np.add(state.scores, sum_of(state.projected()))
        return values


def sum_of(points):
    """Add up the points of each player by what they are for."""
    return np.sum(list(points.values()), axis=0)


def main(folder):
    """Train the network on the games of a folder, and play both evaluators against random."""
    examples, held_out = load_examples(sorted(Path(folder).glob("*.parquet")))
    torch.manual_seed(1)
    network, passes = fit(
        examples,
        held_out,
        network=LinearNetwork(),
        loss=absolute_loss,
        options=FitOptions(batch=256, block=64),
    )
    print(f"explains {100 * passes[-1]['explained']:.1f} % of the residual margin's variance")
    for evaluator in (NetworkEvaluator(network), CountNow()):
        result = carc.play_game(carc.Rules(), [OnePlyAgent(evaluator), "random"], seed=1)
        print(type(evaluator).__name__, result.scores)


if __name__ == "__main__":
    main(*sys.argv[1:])
