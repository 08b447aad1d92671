"""The games of a tournament on a Ray cluster (extra ``carc[ray]``).

A work unit is a few games: rules, agents (kind, options and weights in full, no file of this
machine), seeds and seatings go out, results come back. A unit depends on nothing else, so a
cluster's results are those of one thread here, game by game; a unit whose worker dies is played
again elsewhere.

``local`` starts a cluster of this machine for the time of the run: loopback only, no dashboard, a
token that only its own processes know. Any other address is that of a running cluster, whose
machines need the same version of carc.
"""

import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from types import SimpleNamespace
from typing import Any

from carc import _core
from carc._core import GameResult, Rules
from carc._version import __version__
from carc.agents import GameSpec, kind_of, load_agent, resolved_options
from carc.errors import ConfigError
from carc.tournament import THINKING

LOCAL = "local"
REACHED_WITHIN = 10.0  # seconds
IN_FLIGHT = 2  # units a processor, so that none waits for the next
CHEAP_UNIT, DEAR_UNIT = 64, 1  # games of agents that do not search, and of those that do
COLUMNS = (
    *("scores", "points", "final_count", "turns", "discarded", "figures_set", "think_seconds"),
    *("simulations", "record", "forfeit", "luck"),
)

AgentSpec = tuple[str, dict[str, Any], str]  # kind, options, name
Games = Sequence[GameSpec]


def agent_specs(agents: Sequence[str]) -> list[AgentSpec]:
    """Return agents in full; raises ConfigError for one that only this machine can run."""
    specs = []
    for agent in agents:
        options = resolved_options(agent)
        kind = options.pop("kind")
        if kind == "guest":
            raise ConfigError(f"--cluster: found {agent}, expected agents that are part of carc")
        specs.append((kind, options, agent))
    return specs


def play_unit(
    rules: Rules, agents: Sequence[AgentSpec], games: Games, luck: bool, version: str
) -> list[dict[str, Any]]:
    """Play some games on one thread; a pure function of its arguments."""
    if version != __version__:
        raise ConfigError(f"worker: found carc {__version__}, expected {version}")
    made = [load_agent(kind, options, name) for kind, options, name in agents]
    out: list[dict[str, Any]] = [{} for _ in games]

    def keep(index: int, result: GameResult) -> None:
        out[index] = {name: getattr(result, name) for name in COLUMNS}

    _core.play_games(rules, made, games, threads=1, luck=luck, on_result=keep)
    return out


def play_games(
    rules: Rules,
    agents: Sequence[str],
    games: Games,
    *,
    address: str,
    workers: int,
    luck: bool,
    on_result: Callable[[int, Any], object],
) -> int:
    """Play games on a cluster; `on_result` is called as in `carc.play_games`, with an object that
    has the attributes of a GameResult.

    workers: of a local cluster. Returns the number of games finished.
    """
    specs = agent_specs(agents)
    searching = any(kind_of(agent) in THINKING for agent in agents)
    size = DEAR_UNIT if searching else CHEAP_UNIT
    units = iter(range(0, len(games), size))
    finished, going_on = 0, True
    with connected(address, workers) as ray:
        task = ray.remote(num_cpus=1, max_retries=-1)(play_unit)
        shared = ray.put(rules), ray.put(specs)
        pending: dict[Any, int] = {}
        while True:
            if going_on:
                room = max(1, int(ray.cluster_resources().get("CPU", 1))) * IN_FLIGHT - len(pending)
                for first in islice(units, max(room, 0)):
                    unit = games[first : first + size]
                    pending[task.remote(*shared, unit, luck, __version__)] = first
            if not pending:
                return finished
            ready, _ = ray.wait(list(pending), num_returns=1)
            for reference in ready:
                first = pending.pop(reference)
                for offset, row in enumerate(ray.get(reference)):
                    finished += 1
                    going_on &= on_result(first + offset, SimpleNamespace(**row)) is not False


@contextmanager
def connected(address: str, workers: int) -> Iterator[Any]:
    """Give the module ray, connected to a cluster; raises ConfigError where there is none.

    workers: of a local cluster.
    """
    options: Mapping[str, Any] = {"address": address}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address == LOCAL:  # read when Ray is imported
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # there Ray keeps to the loopback
        options = {"num_cpus": workers, "include_dashboard": False}
    try:
        import ray
    except ImportError as error:
        raise ConfigError(
            "--cluster: found no Ray, expected it installed: pip install 'carc[ray]'"
        ) from error
    _check_reachable(address)
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(f"--cluster: found no Ray cluster at {address}: {reason}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise ConfigError if nobody listens at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        if address in (LOCAL, "auto"):
            return
        raise ConfigError(
            f"--cluster: found '{address}', expected {LOCAL}, auto, HOST:PORT or ray://HOST:PORT"
        )
    try:
        socket.create_connection((host, int(port)), timeout=REACHED_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"--cluster: found no Ray cluster at {address}: {error}") from error
