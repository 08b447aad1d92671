"""Positions as tensors: what a network is given and what it learns from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from carc import _core
from carc._core import GameState
from carc.learn.encoder import GLOBAL, KINDS, NOBODY, SEATS, encoder


@dataclass(frozen=True)
class FeatureRows:
    """The features of one kind that hold a figure, of all positions of a batch: R rows.

    inputs: uint8 [R, I], before their scales.
    position: int64 [R], in the batch.
    main: int64 [R], the player with the most figures.
    rival: int64 [R], the next holder; that of main where `has_rival` is false.
    has_rival: bool [R].
    figures: float32 [R, 2], of main and rival.
    targets: float32 [R, 5], or None: points that main, rival and all others get, bound, complete.
    """

    inputs: Tensor
    position: Tensor
    main: Tensor
    rival: Tensor
    has_rival: Tensor
    figures: Tensor
    targets: Tensor | None


@dataclass(frozen=True)
class GlobalRows:
    """One row a player and position: Q rows.

    inputs: uint8 [Q, I].
    seat: int64 [Q], position * 5 + player.
    targets: float32 [Q], or None: points from features that nobody holds now.
    """

    inputs: Tensor
    seat: Tensor
    targets: Tensor | None


@dataclass(frozen=True)
class Batch:
    """P positions, each after a complete turn.

    players, next, tiles_left: int64 [P]; next is the player who moves next.
    score: float32 [P, 5], points now; seats without a player hold 0.
    target: float32 [P, 5], or None: the points at the end that a network shall predict.
    seated: float32 [P, 5], 1 where a player sits.
    """

    players: Tensor
    next: Tensor
    tiles_left: Tensor
    score: Tensor
    target: Tensor | None
    seated: Tensor
    features: Mapping[str, FeatureRows]
    globals: GlobalRows

    def __len__(self) -> int:
        return len(self.players)

    def scaled(self, kind: str) -> Tensor:
        """Return the inputs of a kind's rows, or `GLOBAL`'s, times their scales, float32 [R, I]."""
        rows = self.globals if kind == GLOBAL else self.features[kind]
        return rows.inputs.float() * torch.from_numpy(encoder().scales[kind])


def batch_of_arrays(arrays: Mapping[str, Any]) -> Batch:
    """Make a batch of arrays as `carc._core.rebuild` and `feature_rows` give them.

    Positions are counted from 0. What is missing of the targets is None.
    """
    players = _whole(arrays["players"])
    features = {}
    for kind in KINDS:
        main = _whole(arrays[f"{kind}_main"])
        rival = _whole(arrays[f"{kind}_rival"])
        has_rival = rival != NOBODY
        features[kind] = FeatureRows(
            inputs=_tensor(arrays[f"{kind}_inputs"]),
            position=_whole(arrays[f"{kind}_position"]),
            main=main,
            rival=torch.where(has_rival, rival, main),
            has_rival=has_rival,
            figures=_tensor(arrays[f"{kind}_figures"]).float(),
            targets=_optional(arrays, f"{kind}_targets"),
        )
    seat = _whole(arrays["global_position"]) * SEATS + _whole(arrays["global_player"])
    return Batch(
        players=players,
        next=_whole(arrays["next"]),
        tiles_left=_whole(arrays["tiles_left"]),
        score=_tensor(arrays["score"]).float(),
        target=_optional(arrays, "target"),
        seated=(torch.arange(SEATS) < players[:, None]).float(),
        features=features,
        globals=GlobalRows(
            inputs=_tensor(arrays[f"{GLOBAL}_inputs"]),
            seat=seat,
            targets=_optional(arrays, f"{GLOBAL}_targets"),
        ),
    )


def batch_of_states(states: Sequence[GameState]) -> Batch:
    """Make a batch of states in the phase before a draw, without targets; one state at least."""
    rows = [_core.feature_rows(state) for state in states]
    return batch_of_arrays(joined_rows(rows))


def joined_rows(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join sets of arrays into one, whose positions are counted through."""
    counts = [len(part["players"]) for part in parts]
    starts = np.cumsum([0, *counts[:-1]])
    out = {}
    for name in parts[0]:
        columns = [np.asarray(part[name]) for part in parts]
        if name.endswith("_position"):
            columns = [each + start for each, start in zip(columns, starts, strict=True)]
        out[name] = np.concatenate(columns)
    return out


def _tensor(array: Any) -> Tensor:
    return array if isinstance(array, Tensor) else torch.from_numpy(np.asarray(array))


def _whole(array: Any) -> Tensor:
    return _tensor(array).long()


def _optional(arrays: Mapping[str, Any], name: str) -> Tensor | None:
    return _tensor(arrays[name]).float() if name in arrays else None
