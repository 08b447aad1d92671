"""Examples for the network `resnet`: files of games, whose positions are rebuilt batch by batch."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from carc._core import PlaneExamples, Rules, split_seed
from carc.errors import GamesError
from carc.learn.games import GamesFile, read_games
from carc.learn.resnet import PLAYERS
from carc.learn.resnet_settings import ResnetLabels

KEEP_STREAM = 2**62  # of a file's seed, beside those of its games: which positions are kept
GAME, HAS_POLICY = 0, 3  # columns of PlaneExamples.positions


@dataclass(frozen=True)
class ResnetBatch:
    """Inputs and targets as tensors; players are counted from the one who decides.

    planes, mask, numbers: the inputs. seats [N, 5]: 1 for players who take part.
    value [N, 5]: points beyond those if the game ended now. lead [N]: final, in points.
    cells [N, 5, H, W]: points paid from now on, by the tile they come from.
    policy_row, policy_index, policy_share: entries of the policies; rows without one have none.
    """

    planes: Tensor
    mask: Tensor
    numbers: Tensor
    seats: Tensor
    value: Tensor
    lead: Tensor
    cells: Tensor
    policy_row: Tensor
    policy_index: Tensor
    policy_share: Tensor

    def __len__(self) -> int:
        return len(self.planes)


class ResnetExamples:
    """Positions of files of games, each with its kept positions."""

    def __init__(
        self, shards: Sequence[tuple[PlaneExamples, npt.NDArray[np.int64]]], search_share: float
    ) -> None:
        self._shards = [(examples, kept) for examples, kept in shards if len(kept)]
        self._search_share = search_share

    def __len__(self) -> int:
        return sum(len(kept) for _, kept in self._shards)

    def checksum(self) -> int:
        """Return a number that stands for the choice of positions."""
        out = zlib.crc32(repr(self._search_share).encode())
        for examples, kept in self._shards:
            out = zlib.crc32(examples.positions.tobytes(), zlib.crc32(kept.tobytes(), out))
        return out

    def statistics(self) -> dict[str, int]:
        """Count positions, and those with a policy."""
        policies = sum(int(e.positions[kept, HAS_POLICY].sum()) for e, kept in self._shards)
        return {"positions": len(self), "policies": policies}

    def batches(
        self, size: int, seed: int | None = None
    ) -> list[tuple[int, npt.NDArray[np.int64]]]:
        """Cut all positions into batches (file, indices), shuffled by a seed or in their order."""
        rng = None if seed is None else np.random.default_rng(seed)
        out = []
        for number, (_, kept) in enumerate(self._shards):
            order = kept if rng is None else rng.permutation(kept)
            out += [(number, order[i : i + size]) for i in range(0, len(order), size)]
        return out if rng is None else [out[i] for i in rng.permutation(len(out))]

    def load(self, batch: tuple[int, npt.NDArray[np.int64]]) -> ResnetBatch:
        """Rebuild the positions of a batch."""
        number, indices = batch
        arrays = self._shards[number][0].batch(indices.tolist())
        known = np.isfinite(arrays["searched"])
        share = np.where(known, np.float32(self._search_share), np.float32(0))
        searched = np.where(known, arrays["searched"], np.float32(0))
        points = (1 - share) * arrays["final"] + share * searched
        seats = arrays["globals"][:, :PLAYERS]  # the first numbers say who takes part
        tensors = {
            "planes": arrays["planes"],
            "mask": arrays["mask"],
            "numbers": arrays["globals"],
            "seats": seats.copy(),
            "value": (points - arrays["base"]) * seats,
            **{name: arrays[name] for name in ("lead", "cells")},
            **{name: arrays[name] for name in ("policy_row", "policy_index", "policy_share")},
        }
        return ResnetBatch(**{name: torch.from_numpy(array) for name, array in tensors.items()})

    def __iter__(self) -> Iterator[ResnetBatch]:
        for batch in self.batches(256):
            yield self.load(batch)


def resnet_examples(
    paths: Sequence[Path],
    *,
    labels: ResnetLabels | None = None,
    held_out: float = 0.05,
    on_file: Callable[[], object] = lambda: None,
) -> tuple[ResnetExamples, ResnetExamples]:
    """Read files of games; returns the examples to learn from and those held out.

    held_out: share of each file's games that is held out: its last ones, one at least.
    """
    if not paths:
        raise GamesError("found no files of games, expected one at least")
    labels = labels or ResnetLabels()
    taught, kept_back = [], []
    for path in paths:
        games = read_games(path)
        examples = PlaneExamples(Rules.from_dict(games.rules), games.arrays)
        kept = kept_positions(examples, games, labels)
        cut = games.games - max(1, ceil(games.games * held_out)) if held_out > 0 else games.games
        is_taught = examples.positions[kept, GAME] < cut
        taught.append((examples, kept[is_taught]))
        kept_back.append((examples, kept[~is_taught]))
        on_file()
    share = labels.search_share
    return ResnetExamples(taught, share), ResnetExamples(kept_back, share)


def kept_positions(
    examples: PlaneExamples, games: GamesFile, labels: ResnetLabels
) -> npt.NDArray[np.int64]:
    """Choose positions of a file; a pure function of file and labels."""
    seed = split_seed(split_seed(games.seed, KEEP_STREAM), games.first_game)
    has_policy = examples.positions[:, HAS_POLICY] != 0
    rate = np.where(has_policy, labels.keep_policy, labels.keep)
    chance = np.random.default_rng(seed).random(len(rate))
    return np.flatnonzero(chance < rate).astype(np.int64)
