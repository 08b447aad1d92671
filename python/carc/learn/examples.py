"""Examples to learn from: the positions of many games, rebuilt from their files, in flat arrays.

Rows of all positions lie one after the other, so a batch is a few slices. 1 M positions take about
0.6 GB; joining the files' arrays takes no more than the largest of them on top.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from carc import _core
from carc._core import Rules, split_seed
from carc.errors import GamesError
from carc.learn.batch import Batch, batch_of_arrays
from carc.learn.encoder import GLOBAL, KINDS
from carc.learn.games import GamesFile, read_games
from carc.learn.labels import LabelOptions

KEEP_STREAM = 2**62  # of a file's seed, beside those of its games: which positions are kept
ROW_KINDS = (*KINDS, GLOBAL)


class Examples:
    """The positions of many games, in the order of the games.

    arrays: as `carc._core.rebuild` gives them; positions are counted through.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.arrays = dict(arrays)
        self.positions = len(self.arrays["players"])
        counted = np.arange(self.positions + 1)
        self._first_row = {  # of each position; the last one ends the last position
            kind: np.searchsorted(self.arrays[f"{kind}_position"], counted) for kind in ROW_KINDS
        }
        self._tensors = {name: torch.from_numpy(each) for name, each in self.arrays.items()}

    def __len__(self) -> int:
        return self.positions

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows by kind of feature, and of the global net."""
        return {kind: len(self.arrays[f"{kind}_position"]) for kind in ROW_KINDS}

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(each.nbytes for each in self.arrays.values())

    def checksum(self) -> int:
        """Return a number that stands for the arrays' content."""
        out = 0
        for name in sorted(self.arrays):
            out = zlib.crc32(np.ascontiguousarray(self.arrays[name]).data.cast("B"), out)
        return out

    def batch(self, blocks: Iterable[tuple[int, int]]) -> Batch:
        """Return the positions of some blocks [begin, end), one after the other."""
        parts: dict[str, list[torch.Tensor]] = {name: [] for name in self._tensors}
        done = 0
        for begin, end in blocks:
            for kind in ROW_KINDS:
                rows = slice(*self._first_row[kind][[begin, end]])
                for name in self._names(kind):
                    part = self._tensors[name][rows]
                    is_position = name.endswith("_position")
                    parts[name].append(part - (begin - done) if is_position else part)
            for name in self._names(""):
                parts[name].append(self._tensors[name][begin:end])
            done += end - begin
        return batch_of_arrays({name: torch.cat(each) for name, each in parts.items()})

    def batches(self, size: int) -> Iterable[Batch]:
        """Yield all positions in order, `size` at a time."""
        for begin in range(0, self.positions, size):
            yield self.batch([(begin, min(begin + size, self.positions))])

    def statistics(self) -> dict[str, Any]:
        """Return counts of positions by players, of rows by kind, and the size in memory."""
        players, counts = np.unique(self.arrays["players"], return_counts=True)
        return {
            "positions": self.positions,
            "players": {str(n): int(count) for n, count in zip(players, counts, strict=True)},
            "rows": self.rows,
            "bytes": self.bytes,
        }

    def _names(self, kind: str) -> list[str]:
        """Return the arrays with a row a feature of this kind; those with one a position if ""."""
        return [name for name in self._tensors if _kind_of(name) == kind]


def load_examples(
    paths: Sequence[Path],
    *,
    labels: LabelOptions | None = None,
    held_out: float = 0.05,
    threads: int = 1,
    on_file: Callable[[], object] = lambda: None,
) -> tuple[Examples, Examples]:
    """Rebuild the positions of files of games; returns those to learn from and those held out.

    held_out: share of each file's games that is held out: its last ones, one at least.
    on_file: called after each file.
    """
    taught, kept_back = [], []
    for path in paths:
        games = read_games(path)
        arrays = rebuild(games, labels or LabelOptions(), threads)
        cut = games.games - max(1, ceil(games.games * held_out)) if held_out > 0 else games.games
        begin, end = _split(arrays, cut)
        taught.append(begin)
        kept_back.append(end)
        on_file()
    if not paths:
        raise GamesError("found no files of games, expected one at least")
    return Examples(_join(taught)), Examples(_join(kept_back))


def rebuild(games: GamesFile, labels: LabelOptions, threads: int = 1) -> dict[str, Any]:
    """Return the positions of one file's games, as arrays; a pure function of file and options."""
    rules = Rules.from_dict(games.rules)
    arrays: dict[str, Any] = _core.rebuild(
        rules,
        games.arrays,
        keep=labels.keep,
        keep_explored=labels.keep_explored,
        seed=split_seed(games.seed, KEEP_STREAM),
        first_game=games.first_game,
        threads=threads,
        td_lambda=labels.blend,
        network=labels.network,
        bag_average=labels.bag_average,
    )
    return arrays


def _kind_of(name: str) -> str:
    prefix = name.partition("_")[0]
    return prefix if prefix in ROW_KINDS else ""


def _split(arrays: dict[str, Any], cut: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split after the positions of the first `cut` games.

    The second part is a copy, so that it does not hold the memory of both.
    """
    position = int(np.searchsorted(arrays["game"], cut))
    ends = {kind: np.searchsorted(arrays[f"{kind}_position"], position) for kind in ROW_KINDS}
    ends[""] = np.intp(position)
    first = {name: each[: ends[_kind_of(name)]] for name, each in arrays.items()}
    rest = {name: each[ends[_kind_of(name)] :].copy() for name, each in arrays.items()}
    for kind in ROW_KINDS:
        rest[f"{kind}_position"] = rest[f"{kind}_position"] - position
    return first, rest


def _join(parts: list[dict[str, Any]]) -> dict[str, npt.NDArray[Any]]:
    """Join arrays one name after the other, letting go of the parts."""
    starts = np.cumsum([0, *(len(part["players"]) for part in parts[:-1])]).astype(np.int32)
    out = {}
    for name in list(parts[0]):
        columns = [part.pop(name) for part in parts]
        if name.endswith("_position"):
            columns = [each + start for each, start in zip(columns, starts, strict=True)]
        out[name] = np.ascontiguousarray(np.concatenate(columns))
    return out
