"""Self-play into files: series of games, cut into shards that are written as they end.

Game i of a series has the seed ``split_seed(seed, i)``, so its games depend neither on threads nor
on where a series is cut; a shard that is there is never played again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carc._core import Rules
from carc.errors import GamesError
from carc.learn.games import Arrays, GamesFile, read_metadata, write_games
from carc.learn.kinds import learner
from carc.learn.stopping import StoppedError, in_thread

if TYPE_CHECKING:  # which uses this module
    from carc.learn.cluster import Cluster


@dataclass(frozen=True, kw_only=True)
class Series:
    """Games of one kind of network by one set of rules.

    folder, name: of the files, which are called NAME-FIRST.parquet.
    options: of the self-play, as the kind has checked them.
    network: the file of the network that plays; None: the hand-made evaluation.
    games: how many. shard: how many in a file.
    """

    folder: Path
    name: str
    kind: str
    rules: Rules
    options: Mapping[str, Any]
    network: Path | None
    seed: int
    games: int
    shard: int

    def shards(self) -> Iterator["Shard"]:
        """Yield the shards, in the order of their games."""
        for first in range(0, self.games, self.shard):
            path = self.folder / f"{self.name}-{first:08d}.parquet"
            yield Shard(self, path, first, min(self.shard, self.games - first))


@dataclass(frozen=True)
class Shard:
    """Some games of a series, that lie in one file."""

    series: Series
    path: Path
    first_game: int
    games: int

    def is_there(self) -> bool:
        """Say whether the file is there; raises GamesError if it holds other games."""
        if not self.path.exists():
            return False
        found = read_metadata(self.path)
        series = self.series
        expected = {
            "rules": series.rules.to_dict(),
            "seed": series.seed,
            "first_game": self.first_game,
            "games": self.games,
            "network": network_hash(series.network),
            "options": json.loads(json.dumps(dict(series.options))),
        }
        for key, value in expected.items():
            if found[key] != value:
                raise GamesError(
                    f"{self.path}: found games of {key} {found[key]}, expected {value}; "
                    "another folder takes other games"
                )
        return True

    def play(self, threads: int) -> Arrays:
        """Play the games."""
        series = self.series
        return learner(series.kind).self_play(
            series.rules,
            series.options,
            series.network,
            series.seed,
            self.first_game,
            self.games,
            threads,
        )

    def write(self, arrays: Arrays) -> None:
        """Write the games that were played."""
        series = self.series
        games = GamesFile(
            arrays,
            rules=series.rules.to_dict(),
            seed=series.seed,
            first_game=self.first_game,
            network=network_hash(series.network),
            options=series.options,
        )
        write_games(self.path, games)


def shards_of(series: Sequence[Series]) -> list[Shard]:
    """Return the shards of some series, one series after the other."""
    return [shard for each in series for shard in each.shards()]


def play_missing(
    shards: Sequence[Shard],
    *,
    threads: int = 1,
    cluster: "Cluster | None" = None,
    on_shard: Callable[[Shard], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Play the shards that are not there; returns the number of games played.

    Raises GamesError if a file that is there holds other games.

    cluster: plays them, with the same results.
    on_shard: called after each is written. Raises StoppedError when `stopped()` says so between two
    shards; the same call then goes on.
    """
    missing = [shard for shard in shards if not shard.is_there()]
    if cluster is not None and missing:
        played = cluster.play(missing, stopped)
    else:
        played = ((shard, in_thread(lambda s=shard: s.play(threads))) for shard in missing)  # type: ignore[misc]
    games = 0
    if missing and stopped():
        raise StoppedError
    for shard, arrays in played:
        shard.write(arrays)
        games += shard.games
        on_shard(shard)
        if stopped() and not all(each.path.exists() for each in missing):
            raise StoppedError
    return games


def network_hash(network: Path | None) -> str:
    """Return 16 hexadecimal digits that stand for a network's file; nothing for none."""
    return "" if network is None else hashlib.sha256(network.read_bytes()).hexdigest()[:16]


def split_games(games: int, shares: Sequence[float]) -> list[int]:
    """Return how many of the games each share has (largest remainders, ties to the first)."""
    exact = [games * share for share in shares]
    out = [int(each) for each in exact]
    by_rest = sorted(range(len(out)), key=lambda i: (out[i] - exact[i], i))
    for i in by_rest[: games - sum(out)]:
        out[i] += 1
    return out
