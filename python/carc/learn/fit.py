"""Training a network on examples: first the dense labels, then the margin as a whole with them.

On one thread the weights are a function of examples, options and seed, bit for bit, also of a
training that was stopped and taken up again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import cos, isfinite, pi
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from carc._core import split_seed
from carc.errors import TrainingError
from carc.learn.batch import Batch
from carc.learn.checkpoint import load_checkpoint, save_checkpoint
from carc.learn.examples import Examples
from carc.learn.losses import Loss, dense_loss, joint_loss, margin_loss
from carc.learn.measure import measure
from carc.learn.network import FeatureNet
from carc.learn.offending import save_batch
from carc.learn.settings import CHECKPOINT, FitOptions
from carc.learn.stopping import StoppedError

WARM_UP = 0.3  # of a one-cycle schedule, which begins at 1 / 25 of the rate
CHECKPOINT_STEPS = 50
OFFENDING = "offending-batch.npz"


@dataclass(frozen=True)
class Step:
    """Where a training is, after a step: counted over all passes, from 1."""

    step: int
    steps: int
    phase: str
    loss: float


@dataclass(frozen=True)
class Phase:
    """Some passes with one loss."""

    name: str
    passes: int
    loss: Loss


def fit(
    examples: Examples,
    held_out: Examples | None = None,
    *,
    network: nn.Module | None = None,
    loss: Loss | None = None,
    options: FitOptions | None = None,
    seed: int = 1,
    folder: Path | None = None,
    on_step: Callable[[Step], object] = lambda _: None,
    on_pass: Callable[[dict[str, Any]], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[nn.Module, list[dict[str, Any]]]:
    """Train a network; returns it with the metrics of each pass.

    network: trained in place; a FeatureNet with the seed's first weights if None. Of your own, a
        call with a Batch gives points at the end, float32 [P, 5].
    loss: loss(network, batch) gives a scalar; of a FeatureNet by default the dense loss, then the
        joint one; of another network the margins' squared error.
    held_out: examples that the metrics are measured on.
    folder: keeps a checkpoint, from which the same call goes on, and a batch that led to NaN.
    stopped: asked after each step; True raises `carc.learn.stopping.StoppedError`.

    Raises TrainingError when the loss or a weight is no longer finite.
    """
    options = options or FitOptions()
    if not len(examples):
        raise TrainingError("fit: found no positions, expected one at least")
    network = FeatureNet(seed=seed) if network is None else network
    training = _Training(examples, held_out, network, _phases(network, loss, options), options)
    before = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        return network, training.run(seed, folder, on_step, on_pass, stopped)
    finally:
        torch.set_num_threads(before)


class _Training:
    """One training: the optimizer and how far it is."""

    def __init__(
        self,
        examples: Examples,
        held_out: Examples | None,
        network: nn.Module,
        phases: list[Phase],
        options: FitOptions,
    ) -> None:
        self.examples, self.held_out, self.network = examples, held_out, network
        self.phases, self.options = phases, options
        self.weights = [each for each in network.parameters() if each.requires_grad]
        self.optimizer = torch.optim.AdamW(
            self.weights, options.learning_rate, weight_decay=options.weight_decay, fused=True
        )
        averaged = self.weights if options.average else []
        self.average = [each.detach().clone() for each in averaged]
        starts = range(0, len(examples), options.block)
        self.blocks = [(begin, min(begin + options.block, len(examples))) for begin in starts]
        self.blocks_a_step = max(1, options.batch // options.block)
        self.steps_a_pass = -(-len(self.blocks) // self.blocks_a_step)
        # Passes and steps that are done, the losses of the pass's steps, metrics of done passes.
        self.passes, self.steps, self.total, self.metrics = 0, 0, 0.0, list[dict[str, Any]]()

    def run(
        self,
        seed: int,
        folder: Path | None,
        on_step: Callable[[Step], object],
        on_pass: Callable[[dict[str, Any]], object],
        stopped: Callable[[], bool],
    ) -> list[dict[str, Any]]:
        checkpoint = folder / CHECKPOINT if folder else None
        fingerprint = self._fingerprint(seed) if folder else ""
        if checkpoint:
            self._take_up(checkpoint, fingerprint)
        all_steps = sum(phase.passes for phase in self.phases) * self.steps_a_pass
        for number, phase, within in self._passes():
            self.network.train()
            for batch in self._rest_of_pass(seed, number):
                begin = within * self.steps_a_pass + self.steps
                share = begin / (phase.passes * self.steps_a_pass)
                loss = self._step(phase, batch, self._rate(share), folder)
                done = number * self.steps_a_pass + self.steps
                on_step(Step(done, all_steps, phase.name, loss))
                is_stopped = stopped()
                if checkpoint and (is_stopped or done % CHECKPOINT_STEPS == 0):
                    self._save(checkpoint, fingerprint)
                if is_stopped:
                    raise StoppedError
            self.metrics.append(self._pass_metrics(number, phase))
            self.passes, self.steps, self.total = number + 1, 0, 0.0
            on_pass(self.metrics[-1])
            if checkpoint:
                self._save(checkpoint, fingerprint)
        self._use_average()
        self.network.eval()
        return self.metrics

    def _passes(self) -> Iterator[tuple[int, Phase, int]]:
        """Yield the passes that are not done: number, phase, number within the phase."""
        number = 0
        for phase in self.phases:
            for within in range(phase.passes):
                if number >= self.passes:
                    yield number, phase, within
                number += 1

    def _rest_of_pass(self, seed: int, number: int) -> Iterator[Batch]:
        order = np.random.default_rng(split_seed(seed, number)).permutation(len(self.blocks))
        for step in range(self.steps, self.steps_a_pass):
            chosen = order[step * self.blocks_a_step : (step + 1) * self.blocks_a_step]
            yield self.examples.batch(self.blocks[each] for each in chosen)

    def _step(self, phase: Phase, batch: Batch, rate: float, folder: Path | None) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        loss = phase.loss(self.network, batch)
        value = loss.item()
        if isfinite(value):
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
        self._check(value, phase, batch, folder)
        decay = self.options.average
        for mean, weight in zip(self.average, self.weights, strict=False):
            mean.lerp_(weight.detach(), 1 - decay)
        self.steps += 1
        self.total += value
        return value

    def _check(self, loss: float, phase: Phase, batch: Batch, folder: Path | None) -> None:
        """Raise TrainingError, with the batch saved, unless loss and weights are finite."""
        sums = torch.stack([weight.detach().sum() for weight in self.weights]).sum().item()
        if isfinite(loss) and isfinite(sums):
            return
        found = f"loss {loss}" if not isfinite(loss) else "weights that are not finite"
        where = (
            f"fit: found {found} in pass {self.passes + 1} ({phase.name}), step {self.steps + 1}"
        )
        saved = ""
        if folder:
            save_batch(folder / OFFENDING, batch)
            saved = f"; the batch is saved in {folder / OFFENDING}"
        raise TrainingError(f"{where}, expected finite numbers{saved}")

    def _rate(self, share: float) -> float:
        """Return the learning rate after a share of the phase."""
        top, schedule = self.options.learning_rate, self.options.schedule
        if schedule == "constant":
            return top
        if schedule == "one-cycle":
            if share < WARM_UP:
                return top * (1 + 24 * (1 - cos(pi * share / WARM_UP)) / 2) / 25
            share = (share - WARM_UP) / (1 - WARM_UP)
        return top * (1 + cos(pi * share)) / 2

    def _pass_metrics(self, number: int, phase: Phase) -> dict[str, Any]:
        out = {"pass": number + 1, "phase": phase.name, "loss": self.total / self.steps_a_pass}
        if not self.held_out:
            return out
        kept = [each.detach().clone() for each in self.weights]
        self._use_average()
        measured = measure(self.network, self.held_out, self.options.batch)
        _assign(self.weights, kept)
        return {**out, **measured}

    def _use_average(self) -> None:
        if self.average:
            _assign(self.weights, self.average)

    def _fingerprint(self, seed: int) -> str:
        """Return what stands for this training: a checkpoint of another one is not taken up."""
        phases = [(phase.name, phase.passes) for phase in self.phases]
        shapes = [list(each.shape) for each in self.network.state_dict().values()]
        text = json.dumps([asdict(self.options), seed, phases, shapes, self.examples.checksum()])
        return hashlib.sha256(text.encode()).hexdigest()

    def _take_up(self, path: Path, fingerprint: str) -> None:
        progress = load_checkpoint(path, self.network, self.optimizer, self.average, fingerprint)
        if progress is not None:
            self.passes, self.steps = progress["passes"], progress["steps"]
            self.total, self.metrics = progress["total"], progress["metrics"]

    def _save(self, path: Path, fingerprint: str) -> None:
        progress = {
            "fingerprint": fingerprint,
            "passes": self.passes,
            "steps": self.steps,
            "total": self.total,
            "metrics": self.metrics,
        }
        save_checkpoint(path, self.network, self.optimizer, self.average, progress)


def _phases(network: nn.Module, loss: Loss | None, options: FitOptions) -> list[Phase]:
    if loss is None and isinstance(network, FeatureNet):
        return [
            Phase("dense", options.dense_passes, dense_loss),
            Phase("joint", options.joint_passes, joint_loss(options.joint_weight)),
        ]
    return [Phase("own", options.dense_passes + options.joint_passes, loss or margin_loss)]


@torch.no_grad()
def _assign(weights: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for weight, value in zip(weights, values, strict=True):
        weight.copy_(value)
