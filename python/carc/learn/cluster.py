"""Self-play on a Ray cluster (extra ``carc[ray]``); see `carc.cluster` for addresses.

A work unit is a shard: rules, options, the network's bytes and seeds go out, games come back. It
depends on nothing else, so a cluster's games are those of one thread here.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from carc._core import Rules
from carc._version import __version__
from carc.cluster import IN_FLIGHT, connected
from carc.errors import ConfigError
from carc.learn.games import Arrays
from carc.learn.kinds import learner
from carc.learn.selfplay import Shard

ASKED_EVERY = 0.2  # seconds between two questions whether to stop


def play_unit(
    kind: str,
    rules: Rules,
    options: Mapping[str, Any],
    network: bytes | None,
    seed: int,
    first_game: int,
    games: int,
    version: str,
) -> Arrays:
    """Play the games of a shard on one thread; a pure function of its arguments."""
    if version != __version__:
        raise ConfigError(f"worker: found carc {__version__}, expected {version}")
    with _as_file(network) as path:
        return learner(kind).self_play(rules, options, path, seed, first_game, games, 1)


def play_shards(
    shards: Sequence[Shard], *, address: str, workers: int, stopped: Callable[[], bool]
) -> Iterator[tuple[Shard, Arrays]]:
    """Yield shards with their games, as they end; no more after `stopped()` than are in flight.

    workers: of a local cluster.
    """
    waiting = iter(shards)
    with connected(address, workers) as ray:
        task = ray.remote(num_cpus=1, max_retries=-1)(play_unit)
        networks: dict[Path | None, Any] = {}  # read once, sent to each machine once
        pending: dict[Any, Shard] = {}
        while True:
            room = max(1, int(ray.cluster_resources().get("CPU", 1))) * IN_FLIGHT - len(pending)
            for shard in islice(waiting, max(room, 0)) if not stopped() else ():
                series = shard.series
                if series.network not in networks:
                    networks[series.network] = ray.put(
                        None if series.network is None else series.network.read_bytes()
                    )
                reference = task.remote(
                    series.kind,
                    series.rules,
                    dict(series.options),
                    networks[series.network],
                    series.seed,
                    shard.first_game,
                    shard.games,
                    __version__,
                )
                pending[reference] = shard
            if not pending:
                return
            ready, _ = ray.wait(list(pending), num_returns=1, timeout=ASKED_EVERY)
            for reference in ready:
                arrays = {name: each.copy() for name, each in ray.get(reference).items()}
                yield pending.pop(reference), arrays


@contextmanager
def _as_file(network: bytes | None) -> Iterator[Path | None]:
    if network is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="carc-") as folder:
        path = Path(folder) / "network.safetensors"
        path.write_bytes(network)
        yield path
