"""The feature network as a kind of network that a run can train."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from carc import _core
from carc._core import Rules
from carc.agents import with_options
from carc.errors import ConfigError
from carc.learn.games import Arrays
from carc.learn.kinds import TrainingJob, Watch
from carc.learn.labels import LabelOptions
from carc.learn.options import Range, read_options, read_table
from carc.learn.settings import SCHEDULES, FitOptions
from carc.learn.torch_import import need_torch


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """Width of the hidden layers, of the features' nets and of the global one."""

    hidden: int = 32
    hidden_global: int = 16


@dataclass(frozen=True, kw_only=True)
class SelfPlayOptions:
    """How games are played; see `carc._core.self_play`.

    softmax_rate, softmax_points: probability that a turn is drawn from the softmax of the values,
        and its scale in points. uniform_rate: that it is any legal one.
    simulations: of a search for each decision; 0: the best turn by the network's values.
    fast_simulations, full_rate: of most decisions, and the share of those with all simulations,
        whose choices alone teach; 0 and 1: all are alike.
    """

    softmax_rate: float = 0.12
    softmax_points: float = 2.5
    uniform_rate: float = 0.04
    simulations: int = 0
    fast_simulations: int = 0
    full_rate: float = 1.0


LABELS = {"keep": (0, 1), "keep_explored": (0, 1), "blend": (0, 1), "bag_average": None}
LABELS_SPELLED = {"blend": "lambda"}
NETWORK: dict[str, Range] = {"hidden": (1, 1024), "hidden_global": (1, 1024)}
SELF_PLAY: dict[str, Range] = {
    "softmax_rate": (0, 1),
    "softmax_points": (0.01, 1000),
    "uniform_rate": (0, 1),
    "simulations": (0, 10**9),
    "fast_simulations": (0, 10**9),
    "full_rate": (0, 1),
}
FIT: dict[str, Range] = {
    "dense_passes": (0, 10_000),
    "joint_passes": (0, 10_000),
    "joint_weight": (0, 1000),
    "learning_rate": (1e-9, 10),
    "weight_decay": (0, 10),
    "schedule": SCHEDULES,
    "average": (0, 0.999999),
    "batch": (1, 1 << 20),
    "block": (1, 1 << 20),
    "threads": (1, 1024),
}
SEARCH = "search"  # table of options of the search, which the engine checks


class FeatureLearner:
    """Trains and plays the feature network."""

    def check(self, section: str, table: object, label: str) -> dict[str, Any]:
        """Return a section with all defaults."""
        if section == "network":
            return asdict(read_options(NetworkOptions(), NETWORK, table, label))
        if section == "labels":
            read = read_options(LabelOptions(), LABELS, table, label, LABELS_SPELLED)
            return {LABELS_SPELLED.get(name, name): getattr(read, name) for name in LABELS}
        if section == "fit":
            fit = read_options(FitOptions(), FIT, table, label)
            if fit.dense_passes + fit.joint_passes == 0:
                raise ConfigError(f"{label}: found 0 passes, expected one at least")
            return asdict(fit)
        given = read_table(table, label)
        search = read_table(given.pop(SEARCH, {}), f"{label}: {SEARCH}")
        return {**asdict(read_options(SelfPlayOptions(), SELF_PLAY, given, label)), SEARCH: search}

    def agent(self, network: Path) -> str:
        """Return the one-ply agent of a network."""
        return with_options("feature-net", {"network": str(network)})

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
        """Play games of a network against itself, or of the hand-made evaluation."""
        given = {**options, "network": str(network or "")}
        arrays: Arrays = _core.self_play(rules, given, seed, first_game, games, threads=threads)
        return arrays

    def train(self, job: TrainingJob, watch: Watch) -> dict[str, Any]:
        """Rebuild the positions, train and write the network."""
        need_torch()
        from carc.learn.examples import load_examples
        from carc.learn.fit import Step, fit
        from carc.learn.network import FeatureNet

        labels = {LABELS_OF_KEY.get(key, key): value for key, value in job.labels.items()}
        player = str(job.player or "") if labels["bag_average"] else ""
        if not player:  # the hand-made evaluation plays, whose values are no labels
            labels["bag_average"] = False
        taught, held_out = load_examples(
            job.shards,
            labels=LabelOptions(**labels, network=player),
            threads=job.threads,
            on_file=watch.on_file,
        )
        widths = NetworkOptions(**job.network)
        network = FeatureNet(widths.hidden, widths.hidden_global, seed=job.seed)
        if job.start is not None:
            network = FeatureNet.load(job.start)

        def on_step(step: Step) -> None:
            watch.on_step(step.step, step.steps, step.loss)

        _, passes = fit(
            taught,
            held_out,
            network=network,
            options=FitOptions(**job.fit),
            seed=job.seed,
            folder=job.folder,
            on_step=on_step,
            on_pass=watch.on_pass,
            stopped=watch.stopped,
        )
        network.save(job.out, job.metadata)
        examples = {"taught": taught.statistics(), "held_out": held_out.statistics()}
        return {"passes": passes, "examples": examples}


LABELS_OF_KEY = {key: name for name, key in LABELS_SPELLED.items()}
