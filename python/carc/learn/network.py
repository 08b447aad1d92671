"""The additive feature network as a torch module; `carc._core.FeatureNet` plays the same weights.

The expected points of a player are his points now, the sum of what he will still get from each
feature that holds a figure, and what he will get from features that nobody holds yet. A small net
for each kind of feature gives the parts, by the feature's holders; a global one, the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from carc import _core
from carc.learn.batch import Batch, FeatureRows
from carc.learn.encoder import GLOBAL, KINDS, SEATS, UNIT, Encoder, encoder

FORMAT = "carc-feature-net"
HEADS = 6  # of a feature; in the order of the constants below
MAIN, RIVAL, REST, CORRECTION, BOUND, COMPLETE = range(HEADS)
GLOBAL_HEADS = 2  # points from features not held now; correction
GLOBAL_CORRECTION = 1


@dataclass(frozen=True)
class Outputs:
    """What the network says of a batch, points in units of 10.

    heads: by kind, float32 [R, 6].
    unclaimed: float32 [Q, 2], of the global net.
    to_come: float32 [P, 5], points that each player will still get; 0 where no player sits.
    """

    heads: Mapping[str, Tensor]
    unclaimed: Tensor
    to_come: Tensor


class FeatureNet(nn.Module):
    """The feature network.

    hidden, hidden_global: width of both hidden layers, of the features' nets and the global one.
    seed: of the first weights.
    """

    def __init__(self, hidden: int = 32, hidden_global: int = 16, *, seed: int = 1) -> None:
        super().__init__()
        self.hidden, self.hidden_global = hidden, hidden_global
        self.encoder: Encoder = encoder()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for kind in KINDS:
                self.add_module(kind, _mlp(self.encoder.width(kind), hidden, HEADS))
            width = self.encoder.width(GLOBAL) + 1
            self.add_module(GLOBAL, _mlp(width, hidden_global, GLOBAL_HEADS))
        self._silence_corrections()

    def forward(self, batch: Batch) -> Tensor:
        """Return the points that each player is expected to have at the end, float32 [P, 5]."""
        return batch.score + UNIT * self.outputs(batch).to_come

    def values(self, batch: Batch) -> Tensor:
        """Return the same as a call of the module."""
        return self.forward(batch)

    def outputs(self, batch: Batch) -> Outputs:
        """Return everything that the network says of a batch."""
        heads = {kind: _run_mlp(self.get_submodule(kind), batch.scaled(kind)) for kind in KINDS}
        unclaimed = self._global(batch, heads)
        everyone = batch.score.new_zeros(len(batch))
        by_seat = batch.score.new_zeros(len(batch) * SEATS)
        for kind, head in heads.items():
            everyone, by_seat = _add_rows(batch, batch.features[kind], head, everyone, by_seat)
        by_seat = by_seat.index_add(0, batch.globals.seat, unclaimed.sum(1))
        to_come = (by_seat.view(-1, SEATS) + everyone[:, None]) * batch.seated
        return Outputs(heads, unclaimed, to_come)

    def _global(self, batch: Batch, heads: Mapping[str, Tensor]) -> Tensor:
        expected = self.returns(batch, heads)[batch.globals.seat]
        inputs = torch.cat([batch.scaled(GLOBAL), expected[:, None]], 1)
        return _run_mlp(self.get_submodule(GLOBAL), inputs)

    @torch.no_grad()
    def returns(self, batch: Batch, heads: Mapping[str, Tensor]) -> Tensor:
        """Return the global net's computed input: figures that come home, by when, float32 [P * 5].

        A figure counts with the share of the remaining tiles before which it is expected home.
        """
        out = batch.score.new_zeros(len(batch) * SEATS)
        for kind, head in heads.items():
            rows = batch.features[kind]
            free = (1 - head[:, BOUND].clamp(0, 1)) * batch.tiles_left[rows.position]
            home = rows.figures * free[:, None]
            first = rows.position * SEATS
            out.index_add_(0, first + rows.main, home[:, 0])
            out.index_add_(0, first + rows.rival, home[:, 1] * rows.has_rival)
        return out * self.encoder.returns

    @torch.no_grad()
    def _silence_corrections(self) -> None:
        """Let corrections begin at 0: they have no labels, so until the joint training they would
        be noise.
        """
        for kind, head in (*((kind, CORRECTION) for kind in KINDS), (GLOBAL, GLOBAL_CORRECTION)):
            self.get_parameter(f"{kind}.2.weight")[head] = 0
            self.get_parameter(f"{kind}.2.bias")[head] = 0

    def save(self, path: Path, metadata: Mapping[str, str] | None = None) -> None:
        """Write the weights as safetensors, with more metadata if given."""
        arrays = {
            name: np.ascontiguousarray(value.detach().numpy(), np.float32)
            for name, value in self.state_dict().items()
        }
        own = {
            "format": FORMAT,
            "encoder": str(self.encoder.version),
            "hidden": str(self.hidden),
            "hidden_global": str(self.hidden_global),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        _core.write_weights(path, {**(metadata or {}), **own}, arrays)

    @classmethod
    def load(cls, path: Path) -> "FeatureNet":
        """Read a network; raises WeightsError for a file that holds none of this encoder."""
        _, arrays = _core.read_weights(path, FORMAT, encoder().version)
        widths = []
        for name in ("city.0.weight", f"{GLOBAL}.0.weight"):
            if name not in arrays or arrays[name].ndim != 2:
                raise _core.WeightsError(f"{path}: {name}: found no matrix of this name")
            widths.append(len(arrays[name]))
        network = cls(*widths)
        expected = {name: tuple(value.shape) for name, value in network.state_dict().items()}
        found = {name: value.shape for name, value in arrays.items()}
        for name in sorted(expected.keys() | found.keys()):
            if found.get(name) != expected.get(name):
                raise _core.WeightsError(
                    f"{path}: {name}: found shape {found.get(name)}, expected {expected.get(name)}"
                )
        network.load_state_dict({name: torch.tensor(value) for name, value in arrays.items()})
        return network


def _mlp(inputs: int, hidden: int, outputs: int) -> nn.ModuleList:
    sizes = (inputs, hidden, hidden, outputs)
    return nn.ModuleList(nn.Linear(sizes[i], sizes[i + 1]) for i in range(3))


def _run_mlp(layers: nn.Module, rows: Tensor) -> Tensor:
    first, second, last = layers.children()
    out: Tensor = last(torch.relu_(second(torch.relu_(first(rows)))))
    return out


def _add_rows(
    batch: Batch, rows: FeatureRows, head: Tensor, everyone: Tensor, by_seat: Tensor
) -> tuple[Tensor, Tensor]:
    """Add the points from features of one kind: to all players of a position, and to single seats.

    Everyone gets what a player who is neither main nor rival gets; main and rival, the difference.
    """
    players = batch.players[rows.position]
    others = players - 1 - rows.has_rival.long()
    rest = head[:, REST] * (others > 0) / others.clamp(min=1)
    correction = head[:, CORRECTION]
    each = rest - correction / (players - 1)
    first = rows.position * SEATS
    everyone = everyone.index_add(0, rows.position, each)
    by_seat = by_seat.index_add(0, first + rows.main, head[:, MAIN] + correction - each)
    rival = (head[:, RIVAL] - rest) * rows.has_rival
    return everyone, by_seat.index_add(0, first + rows.rival, rival)
