"""The folder of one training run: what it holds, who may write in it, and where the run stands.

    config.json            the whole configuration, with all defaults, and the version of carc
    state.json             which stages of which rounds have ended
    metrics.jsonl          a line for each pass of a training, each stage and each round
    tensorboard/           the same for TensorBoard, where it is installed
    games/round-000/       self-play games in Parquet
    fit/round-000/         what a training needs to go on
    networks/              every network that was trained, also rejected ones
    champion.safetensors   the last network that was accepted
    gates/                 the games of the gates

Every file is there completely or not at all, so a run may be killed at any moment.
"""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from carc._version import __version__
from carc.errors import ConfigError, TrainingError
from carc.files import write_atomically
from carc.learn.config import TrainingConfig
from carc.learn.selfplay import network_hash

FORMAT = 1
CHAMPION = "champion.safetensors"
INITIAL = "initial.safetensors"
LARGEST_STATE = 1 << 26  # bytes


class RunFolder:
    """A run folder that this process alone writes in, until it is closed.

    rounds: by round what its stages came to, under the names of the stages that have ended, and
        with ``champion`` once the round is over: the champion's file in the folder, or None.
    metrics: bytes of the metrics that count.

    Raises TrainingError for a folder that is in use or damaged, ConfigError for one of another
    configuration.
    """

    def __init__(self, path: Path, config: TrainingConfig) -> None:
        self.path = path.resolve()
        self.rounds: list[dict[str, Any]] = []
        self.metrics = 0
        path.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.path / ".lock")
        try:
            self._open(config)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others write in the folder."""
        os.close(self._lock)

    def save(self) -> None:
        """Write where the run stands."""
        state = {"format": FORMAT, "metrics": self.metrics, "rounds": self.rounds}
        write_atomically(self.path / "state.json", _json(state))

    def champion_before(self, number: int) -> Path | None:
        """Return the champion that plays in a round, or None for the hand-made evaluation."""
        if number > 0:
            name = self.rounds[number - 1]["champion"]
            return self.path / name if name else None
        initial = self.networks / INITIAL
        return initial if initial.exists() else None

    def crown(self, network: Path) -> None:
        """Make a network the champion's file."""
        write_atomically(self.path / CHAMPION, network.read_bytes())

    @property
    def networks(self) -> Path:
        """Where the networks lie."""
        return self.path / "networks"

    def part(self, kind: str, number: int) -> Path:
        """Return a round's folder or file stem: ``games``, ``fit``, ..."""
        return self.path / kind / f"round-{number:03d}"

    def _open(self, config: TrainingConfig) -> None:
        initial = network_hash(config.initial)
        wanted = {"carc": __version__, "initial": initial, **config.resolved()}
        wanted = json.loads(json.dumps(wanted))
        path = self.path / "config.json"
        if path.exists():
            _check_same(self.path, _read(path), wanted)
        elif any(not each.name.startswith(".") for each in self.path.iterdir()):
            raise TrainingError(
                f"{self.path}: found other files, expected a run or an empty folder"
            )
        for left in self.path.rglob(".*.part"):  # of files that a killed process was writing
            left.unlink()
        write_atomically(path, _json(wanted))
        if config.initial is not None:
            write_atomically(self.networks / INITIAL, config.initial.read_bytes())
        state_path = self.path / "state.json"
        if not state_path.exists():
            return
        state = _read(state_path)
        rounds, metrics = state.get("rounds"), state.get("metrics")
        if state.get("format") != FORMAT or not isinstance(rounds, list):
            raise TrainingError(f"{state_path}: found another format, expected {FORMAT}")
        if not isinstance(metrics, int) or not all(isinstance(each, dict) for each in rounds):
            raise TrainingError(f"{state_path}: found other fields, expected metrics and rounds")
        self.rounds, self.metrics = rounds, metrics


def _locked(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise TrainingError(
            f"{path.parent}: found another process that trains in it, expected none"
        ) from error
    return handle


def _check_same(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise ConfigError if a run is of another configuration; it may get more rounds."""
    for key in sorted(found.keys() | wanted.keys()):
        before, now = found.get(key), wanted.get(key)
        if key == "rounds" and isinstance(before, list) and isinstance(now, list):
            now = now[: len(before)]
        if before != now:
            raise ConfigError(
                f"{path}: found a run with {key} {_short(before)}, expected {_short(now)} "
                "as in the configuration; another --run takes another configuration"
            )


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes()[:LARGEST_STATE])
    except (ValueError, RecursionError) as error:
        raise TrainingError(f"{path}: found no JSON, expected what a run writes") from error
    if not isinstance(value, dict):
        raise TrainingError(f"{path}: found {type(value).__name__}, expected an object")
    return value
