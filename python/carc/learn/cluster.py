"""Self-play on a Ray cluster (extra ``carc[ray]``); see `carc.cluster` for addresses.

A work unit is a shard: rules, options, the network's bytes and seeds go out, games come back. It
depends on nothing else, so a cluster's games are those of one thread here.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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


class Cluster:
    """A Ray cluster, connected when the first shard is to be played, until the end of a with.

    address: see `carc.cluster`. workers: of a local cluster.
    """

    def __init__(self, address: str, workers: int) -> None:
        self._address, self._workers = address, workers
        self._stack = ExitStack()
        self._ray: Any = None

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._ray = None

    def play(
        self, shards: Sequence[Shard], stopped: Callable[[], bool]
    ) -> Iterator[tuple[Shard, Arrays]]:
        """Yield shards with their games, as they end; none begins after `stopped()`."""
        if self._ray is None:
            self._ray = self._stack.enter_context(connected(self._address, self._workers))
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=-1)(play_unit)
        waiting = iter(shards)
        networks: dict[Path | None, Any] = {}  # read once, sent to each machine once
        pending: dict[Any, Shard] = {}
        while True:
            room = max(1, int(ray.cluster_resources().get("CPU", 1))) * IN_FLIGHT - len(pending)
            for shard in islice(waiting, max(room, 0)) if not stopped() else ():
                network = shard.series.network
                if network not in networks:
                    networks[network] = ray.put(None if network is None else network.read_bytes())
                pending[_start(task, shard, networks[network])] = shard
            if not pending:
                return
            ready, _ = ray.wait(list(pending), num_returns=1, timeout=ASKED_EVERY)
            for reference in ready:
                arrays = {name: each.copy() for name, each in ray.get(reference).items()}
                yield pending.pop(reference), arrays


def _start(task: Any, shard: Shard, network: Any) -> Any:
    """Start a unit; returns the reference of its games."""
    series = shard.series
    return task.remote(
        series.kind,
        series.rules,
        dict(series.options),
        network,
        series.seed,
        shard.first_game,
        shard.games,
        __version__,
    )


@contextmanager
def _as_file(network: bytes | None) -> Iterator[Path | None]:
    if network is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="carc-") as folder:
        path = Path(folder) / "network.safetensors"
        path.write_bytes(network)
        yield path
