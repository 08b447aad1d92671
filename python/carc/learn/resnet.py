"""The network `resnet`: board planes in, values, a distribution of the lead and policies out.

Residual blocks without normalisation: a block's last layer starts at zero, so that a deep network
starts as a shallow one (Zhang, Dauphin and Ma, "Fixup initialization", 2019). The stem mixes the
planes of a cell, which say much of the features beyond it; neighbourhoods are left to the blocks.
Every second block adds what it pools over the board (Wu, "Accelerating self-play learning in Go",
2020). Cells beyond a position's own window are kept at zero, so that a position is judged alike in
any window. C++ computes the same in cpp/bindings/bind_torch.cpp.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from carc import _core
from carc.learn.resnet_settings import ResnetShape

FORMAT = "carc-resnet"
ENCODER = _core.plane_encoder()
VERSION: int = ENCODER["version"]
PLANES: int = len(ENCODER["planes"])
GLOBALS: int = len(ENCODER["globals"])
POLICY_PLANES: int = ENCODER["policy_planes"]
PLAYERS: int = ENCODER["players"]
LEAD_BINS: int = ENCODER["lead_bins"]
POINTS_UNIT: float = ENCODER["points_unit"]  # points that a value of 1 stands for
POOL_SCALE = 64.0  # cells that count as 1 where planes are summed


class Outputs(NamedTuple):
    """What the network says of a batch; players are counted from the one who decides."""

    value: Tensor  # [N, 5] final points beyond those if the game ended now, in POINTS_UNIT
    lead: Tensor  # [N, LEAD_BINS] logits of the final lead of the player who decides
    cells: Tensor  # [N, 5, H, W] points still to come from the tile of each cell, in POINTS_UNIT
    policy: Tensor  # [N, POLICY_PLANES, H, W] logits of placements and figures
    no_figure: Tensor  # [N] logit of setting no figure


class Block(nn.Module):
    """x + second(relu(first(relu(x)) + pooled)), the last part in every second block."""

    def __init__(self, channels: int, pools: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.pool = nn.Linear(3 * channels, channels) if pools else None
        zero(self.second)

    def forward(self, x: Tensor, mask: Tensor, cells: Tensor) -> Tensor:
        before = torch.relu(x)
        h: Tensor = self.first(before)
        if self.pool is not None:
            h = h + over_cells(self.pool(pooled(before, cells)))
        h = torch.relu(h) * mask
        added: Tensor = self.second(h) * mask
        return x + added


class Resnet(nn.Module):
    """The network; see the module."""

    def __init__(self, shape: ResnetShape) -> None:
        super().__init__()
        self.shape = shape
        c = shape.channels
        self.stem = nn.Conv2d(PLANES, c, 1)
        self.stem_globals = nn.Linear(GLOBALS, c)
        self.blocks = nn.ModuleList(Block(c, pools=b % 2 == 1) for b in range(shape.blocks))
        self.policy = nn.Conv2d(c, c, 1)
        self.policy_pool = nn.Linear(3 * c, c)
        self.policy_out = nn.Conv2d(c, POLICY_PLANES, 1)
        self.hidden = nn.Linear(3 * c, 2 * c)
        self.outputs = nn.Linear(2 * c, PLAYERS + LEAD_BINS + 1)
        self.cells = nn.Conv2d(c, PLAYERS, 1)
        for last in (self.policy_out, self.outputs, self.cells):
            zero(last)  # at first the game ends now, and all actions are equally likely

    def forward(self, planes: Tensor, mask: Tensor, numbers: Tensor) -> Outputs:
        """Judge a batch: planes [N, PLANES, H, W], mask [N, 1, H, W], numbers [N, GLOBALS]."""
        count = mask.sum((2, 3))
        x = (self.stem(planes) + over_cells(self.stem_globals(numbers))) * mask
        for block in self.blocks:
            x = block(x, mask, count)
        x = torch.relu(x)
        summary = pooled(x, count)
        policy = torch.relu(self.policy(x) + over_cells(self.policy_pool(summary)))
        out = self.outputs(torch.relu(self.hidden(summary)))
        value, lead, no_figure = out.split([PLAYERS, LEAD_BINS, 1], dim=1)
        return Outputs(value, lead, self.cells(x), self.policy_out(policy), no_figure.squeeze(1))


def zero(layer: nn.Module) -> None:
    """Set the weights of a layer to zero."""
    for weights in layer.parameters():
        nn.init.zeros_(weights)


def pooled(x: Tensor, cells: Tensor) -> Tensor:
    """Mean, sum / POOL_SCALE and maximum over a position's cells; x >= 0, zero beyond them."""
    total = x.sum((2, 3))
    return torch.cat([total / cells, total / POOL_SCALE, x.amax((2, 3))], dim=1)


def over_cells(x: Tensor) -> Tensor:
    """Give a number of each position to all of its cells."""
    return x[:, :, None, None]


def make_resnet(shape: ResnetShape, seed: int) -> Resnet:
    """Make a network with random weights from a seed; torch's own generator stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Resnet(shape)


def save_resnet(net: Resnet, path: Path, **metadata: str) -> str:
    """Write the weights as safetensors, with texts for people, and return their checksum."""
    tensors = {name: tensor.numpy(force=True) for name, tensor in net.state_dict().items()}
    own = {
        "format": FORMAT,
        "encoder": str(VERSION),
        "channels": str(net.shape.channels),
        "blocks": str(net.shape.blocks),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    return _core.write_weights(path, {**metadata, **own}, tensors)


def load_resnet(path: Path) -> Resnet:
    """Read a network; raises WeightsError for a file that holds none of this version."""
    metadata, tensors = _core.read_weights(path, FORMAT, VERSION)
    sizes = {}
    for name in ("channels", "blocks"):
        text = metadata.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) <= 4):
            raise _core.WeightsError(f"{path}: {name}: found {text!r}, expected a whole number")
        sizes[name] = int(text)
    with torch.device("meta"):
        expected = {n: tuple(t.shape) for n, t in Resnet(ResnetShape(**sizes)).state_dict().items()}
    found = {name: array.shape for name, array in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise _core.WeightsError(
                f"{path}: tensor {name!r}: found {_shown(found.get(name))}, "
                f"expected {_shown(expected.get(name))}"
            )
    net = Resnet(ResnetShape(**sizes))
    net.load_state_dict({n: torch.from_numpy(np.array(a)) for n, a in tensors.items()})
    return net


def _shown(shape: tuple[int, ...] | None) -> str:
    return "none" if shape is None else f"shape {list(shape)}"
