"""The kinds of network that can be trained: what a run asks of each.

To add one, write a module with a class that has the methods of `Learner`, and add its line to
`LEARNERS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from carc._core import Rules
from carc.config import nearest
from carc.errors import ConfigError
from carc.learn.games import Arrays

LEARNERS = {  # module and class by kind; a module is imported when its kind is used
    "feature-net": ("carc.learn.feature_learner", "FeatureLearner"),
    "resnet": ("carc.learn.resnet_learner", "ResnetLearner"),
}


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """One training: from files of games to a network.

    shards: files of games. out: the network's file.
    start: a network whose weights are the first ones, or None.
    player: the network that values positions where labels ask for one; None: by hand.
    network, labels, fit: tables as `Learner.check` has returned them.
    seed: of first weights and order. threads: for rebuilding positions.
    folder: keeps what the training needs to go on after a stop.
    metadata: texts that are kept in the network's file.
    """

    shards: list[Path]
    out: Path
    start: Path | None
    player: Path | None
    network: Mapping[str, Any]
    labels: Mapping[str, Any]
    fit: Mapping[str, Any]
    seed: int
    threads: int
    folder: Path
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Who is told how far a training is.

    on_file: after each file of games. on_step(done, steps, loss): after each step.
    on_pass: metrics after each pass, which has a key ``pass``.
    stopped: asked after each step; True ends the training with StoppedError.
    """

    on_file: Callable[[], object] = lambda: None
    on_step: Callable[[int, int, float], object] = lambda *_: None
    on_pass: Callable[[dict[str, Any]], object] = lambda _: None
    stopped: Callable[[], bool] = lambda: False


class Learner(Protocol):
    """What a kind of network can do."""

    def check(self, section: str, table: object, label: str) -> dict[str, Any]:
        """Return a section of a configuration with all defaults; raises ConfigError.

        section: ``network``, ``labels``, ``selfplay`` or ``fit``. label: begins messages.
        """

    def agent(self, network: Path) -> str:
        """Return the agent that plays a network, as `carc.make_agent` reads it."""

    def self_play(
        self,
        rules: Rules,
        options: Mapping[str, Any],
        network: Path | None,
        seed: int,
        first_game: int,
        games: int,
        threads: int,
    ) -> Arrays:
        """Play games, as `carc._core.self_play`; with the hand-made evaluation without network."""

    def train(self, job: TrainingJob, watch: Watch) -> dict[str, Any]:
        """Train a network and write its file; returns the metrics.

        They have the keys ``passes`` (a list, metrics of each pass), ``examples`` (statistics).
        """


def learner(kind: str) -> Learner:
    """Return the learner of a kind; raises ConfigError for an unknown one."""
    if kind not in LEARNERS:
        raise ConfigError(f"kind: found '{kind}', did you mean '{nearest(kind, LEARNERS)}'?")
    module, name = LEARNERS[kind]
    try:
        made: Learner = getattr(import_module(module), name)()
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ConfigError(f"kind: found '{kind}', which this carc cannot train") from error
    return made
