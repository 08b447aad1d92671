"""The network on board planes as a kind of network that a run can train."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from carc import _core
from carc._core import Rules
from carc.agents import with_options
from carc.learn.games import Arrays
from carc.learn.kinds import TrainingJob, Watch
from carc.learn.options import Range, read_options, read_table
from carc.learn.resnet_settings import (
    ResnetFitOptions,
    ResnetLabels,
    ResnetSelfPlayOptions,
    ResnetShape,
)
from carc.learn.torch_import import need_torch

SELF_PLAY: dict[str, Range] = {
    "simulations": (1, 10**6),
    "fast_simulations": (1, 10**6),
    "full_rate": (0, 1),
    "root_noise": (0, 1),
    "root_noise_alpha": (0.001, 100),
    "temperature": (0, 100),
    "lanes": (1, 256),
}
NETWORK: dict[str, Range] = {"channels": (1, 1024), "blocks": (0, 256)}
LABELS: dict[str, Range] = {"keep": (0, 1), "keep_policy": (0, 1), "search_share": (0, 1)}
FIT: dict[str, Range] = {
    "passes": (1, 10_000),
    "batch": (1, 1 << 16),
    "learning_rate": (1e-9, 10),
    "weight_decay": (0, 10),
    "value_weight": (0, 1000),
    "lead_weight": (0, 1000),
    "cells_weight": (0, 1000),
    "policy_weight": (0, 1000),
    "threads": (1, 1024),
}
SIMULATIONS = 128  # of a decision in matches of networks, which are many
SEARCH = "search"  # table of options of the search, which the engine checks


class ResnetLearner:
    """Trains and plays the network on board planes."""

    def check(self, section: str, table: object, label: str) -> dict[str, Any]:
        """Return a section with all defaults."""
        if section == "selfplay":
            given = read_table(table, label)
            search = read_table(given.pop(SEARCH, {}), f"{label}: {SEARCH}")
            read = read_options(ResnetSelfPlayOptions(), SELF_PLAY, given, label)
            return {**asdict(read), SEARCH: search}
        if section == "network":
            return asdict(read_options(ResnetShape(), NETWORK, table, label))
        if section == "labels":
            return asdict(read_options(ResnetLabels(), LABELS, table, label))
        return asdict(read_options(ResnetFitOptions(), FIT, table, label))

    def agent(self, network: Path) -> str:
        """Return the agent that searches with a network."""
        options = {"network": str(network), "simulations": SIMULATIONS}
        return with_options("resnet-search", options)

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
        arrays: Arrays = _core.resnet_self_play(
            rules, given, seed, first_game, games, threads=threads
        )
        return arrays

    def train(self, job: TrainingJob, watch: Watch) -> dict[str, Any]:
        """Rebuild the positions, train and write the network."""
        need_torch()
        from carc.learn.resnet import load_resnet, make_resnet, save_resnet
        from carc.learn.resnet_examples import resnet_examples
        from carc.learn.resnet_fit import fit_resnet

        taught, held_out = resnet_examples(
            job.shards, labels=ResnetLabels(**job.labels), on_file=watch.on_file
        )
        if job.start is not None:
            network = load_resnet(job.start)
        else:
            network = make_resnet(ResnetShape(**job.network), seed=job.seed)
        passes = fit_resnet(
            taught,
            held_out,
            network=network,
            options=ResnetFitOptions(**job.fit),
            seed=job.seed,
            folder=job.folder,
            on_step=watch.on_step,
            on_pass=watch.on_pass,
            stopped=watch.stopped,
        )
        save_resnet(network, job.out, **job.metadata)
        examples = {"taught": taught.statistics(), "held_out": held_out.statistics()}
        return {"passes": passes, "examples": examples}
