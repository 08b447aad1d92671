"""What the feature network looks at: the inputs of each kind of feature, as the engine gives them.

The engine gives every input as a small whole number with a fixed scale (`carc._core`), so that data
are kept in one byte an input and a network's first layer sees numbers near 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from carc import _core

KINDS = ("city", "road", "monastery", "field")
GLOBAL = "global"
SEATS = 5  # columns of everything that is one number a player; those without a player hold 0
UNIT = 10.0  # points that a network's output of 1 stands for
NOBODY = 255  # a feature's rival where no other player holds it

Floats: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Encoder:
    """The inputs of the feature network.

    version: of the inputs' meaning; a network of another one is refused.
    names: of the inputs, by kind of feature and of `GLOBAL`.
    scales: what each is multiplied by, as names.
    returns: the same of the global net's last input, which is computed from the features.
    """

    version: int
    names: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, Floats]
    returns: float

    def width(self, kind: str) -> int:
        """Return the number of inputs of a kind that are encoded."""
        return len(self.names[kind])


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """Return the encoder of this version of carc."""
    table = _core.feature_encoder()
    inputs = {**{kind: table["kinds"][kind] for kind in KINDS}, GLOBAL: table[GLOBAL]}
    return Encoder(
        version=int(table["version"]),
        names={kind: tuple(name for name, _ in each) for kind, each in inputs.items()},
        scales={
            kind: np.array([scale for _, scale in each], np.float32)
            for kind, each in inputs.items()
        },
        returns=float(table["returns"]),
    )
