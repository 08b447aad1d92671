"""Training the network `resnet`: values, the final lead's distribution, tiles' points and policies.

On one thread the weights are a function of examples, options and seed, bit for bit, also of a
training that was stopped and taken up again.
"""

import dataclasses
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from carc._core import split_seed
from carc.errors import TrainingError
from carc.files import write_atomically
from carc.learn.checkpoint import load_checkpoint, save_checkpoint
from carc.learn.resnet import ENCODER, LEAD_BINS, POINTS_UNIT, Outputs, Resnet
from carc.learn.resnet_examples import ResnetBatch, ResnetExamples
from carc.learn.resnet_settings import ResnetFitOptions
from carc.learn.settings import CHECKPOINT
from carc.learn.stopping import StoppedError

CHECKPOINT_STEPS = 100
OFFENDING = "offending-batch.npz"


def resnet_losses(out: Outputs, batch: ResnetBatch) -> dict[str, Tensor]:
    """Return the four parts of the loss, each a mean over the positions that have its target."""
    seats = batch.seats
    value = ((out.value - batch.value / POINTS_UNIT) ** 2 * seats).sum() / seats.sum()
    lead = -(lead_target(batch.lead) * torch.log_softmax(out.lead, 1)).sum(1).mean()
    own = batch.mask * seats[:, :, None, None]
    cells = ((out.cells - batch.cells / POINTS_UNIT) ** 2 * own).sum() / seats.sum()
    return {"value": value, "lead": lead, "cells": cells, "policy": policy_loss(out, batch)}


def lead_target(lead: Tensor) -> Tensor:
    """Share leads out to the two nearest bins each, so that the mean is kept; [N, LEAD_BINS]."""
    at = (lead - ENCODER["lead_lowest"]) / ENCODER["lead_bin_points"]
    at = at.clamp(0, LEAD_BINS - 1)
    low = at.floor().clamp(max=LEAD_BINS - 2)
    target = torch.zeros(len(lead), LEAD_BINS)
    rows = torch.arange(len(lead))
    target[rows, low.long()] = 1 - (at - low)
    target[rows, low.long() + 1] = at - low
    return target


def policy_loss(out: Outputs, batch: ResnetBatch) -> Tensor:
    """Return the mean cross-entropy of the rows with a policy, over their legal actions only."""
    if not len(batch.policy_row):
        return out.no_figure.sum() * 0
    logits = torch.cat([out.policy.flatten(1), out.no_figure[:, None]], dim=1)
    chosen = logits[batch.policy_row, batch.policy_index]
    legal = torch.full_like(logits, -torch.inf)
    legal = legal.index_put((batch.policy_row, batch.policy_index), chosen)
    rows = torch.unique(batch.policy_row)
    total = torch.logsumexp(legal[rows], 1)
    return (total.sum() - (batch.policy_share * chosen).sum()) / len(rows)


def fit_resnet(
    examples: ResnetExamples,
    held_out: ResnetExamples | None = None,
    *,
    network: Resnet,
    options: ResnetFitOptions | None = None,
    seed: int = 1,
    folder: Path | None = None,
    on_step: Callable[[int, int, float], object] = lambda *_: None,
    on_pass: Callable[[dict[str, Any]], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[dict[str, Any]]:
    """Train a network in place; returns the metrics of each pass.

    held_out: examples that the metrics are measured on.
    folder: keeps a checkpoint, from which the same call goes on, and a batch that led to NaN.
    on_step(done, steps, loss): after each step. on_pass(metrics): after each pass.
    stopped: asked after each step; True raises `carc.learn.stopping.StoppedError`.

    Raises TrainingError when the loss or a weight is no longer finite.
    """
    if not len(examples):
        raise TrainingError("fit: found no positions, expected one at least")
    options = options or ResnetFitOptions()
    before = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        training = _Training(examples, held_out, network, options, seed, folder)
        return training.run(on_step, on_pass, stopped)
    finally:
        torch.set_num_threads(before)


class _Training:
    """One training: the optimizer and how far it is."""

    def __init__(
        self,
        examples: ResnetExamples,
        held_out: ResnetExamples | None,
        network: Resnet,
        options: ResnetFitOptions,
        seed: int,
        folder: Path | None,
    ) -> None:
        self.examples, self.held_out, self.network = examples, held_out, network
        self.options, self.seed, self.folder = options, seed, folder
        self.optimizer = torch.optim.AdamW(
            network.parameters(), options.learning_rate, weight_decay=options.weight_decay
        )
        self.weights = {
            name: getattr(options, f"{name}_weight")
            for name in ("value", "lead", "cells", "policy")
        }
        self.steps_a_pass = len(examples.batches(options.batch))
        # Passes and steps that are done, sums of the pass's losses, metrics of the passes.
        self.passes, self.steps = 0, 0
        self.sums = dict.fromkeys(self.weights, 0.0)
        self.metrics: list[dict[str, Any]] = []

    def run(
        self,
        on_step: Callable[[int, int, float], object],
        on_pass: Callable[[dict[str, Any]], object],
        stopped: Callable[[], bool],
    ) -> list[dict[str, Any]]:
        fingerprint = self._fingerprint()
        self._take_up(fingerprint)
        steps = self.options.passes * self.steps_a_pass
        while self.passes < self.options.passes:
            order = self.examples.batches(self.options.batch, split_seed(self.seed, self.passes))
            self.network.train()
            for batch in order[self.steps :]:
                loss = self._step(self.examples.load(batch), steps)
                done = self.passes * self.steps_a_pass + self.steps
                on_step(done, steps, loss)
                is_stopped = stopped()
                if is_stopped or done % CHECKPOINT_STEPS == 0:
                    self._save(fingerprint)
                if is_stopped:
                    raise StoppedError
            means = {name: total / self.steps_a_pass for name, total in self.sums.items()}
            metrics: dict[str, Any] = {"pass": self.passes + 1, **_prefixed("loss", means)}
            if self.held_out is not None and len(self.held_out):
                metrics |= _prefixed("held_out", measure_resnet(self.network, self.held_out))
            self.metrics.append(metrics)
            self.passes, self.steps, self.sums = self.passes + 1, 0, dict.fromkeys(self.sums, 0.0)
            on_pass(metrics)
            self._save(fingerprint)
        self.network.eval()
        return self.metrics

    def _step(self, batch: ResnetBatch, steps: int) -> float:
        done = self.passes * self.steps_a_pass + self.steps
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate * (1 + float(np.cos(np.pi * done / steps))) / 2
        self.optimizer.zero_grad()
        parts = resnet_losses(self.network(batch.planes, batch.mask, batch.numbers), batch)
        loss = sum((self.weights[name] * part for name, part in parts.items()), torch.tensor(0.0))
        value = loss.item()
        if isfinite(value):
            loss.backward()
            self.optimizer.step()
        self._check(value, batch)
        self.steps += 1
        for name, part in parts.items():
            self.sums[name] += part.item()
        return value

    def _check(self, loss: float, batch: ResnetBatch) -> None:
        """Raise TrainingError, with the batch saved, unless loss and weights are finite."""
        sums = sum(weight.detach().sum().item() for weight in self.network.parameters())
        if isfinite(loss) and isfinite(sums):
            return
        found = "weights that are not finite" if isfinite(loss) else f"loss {loss}"
        where = f"fit: found {found} in pass {self.passes + 1}, step {self.steps + 1}"
        saved = ""
        if self.folder:
            path = self.folder / OFFENDING
            stream = io.BytesIO()
            fields = dataclasses.fields(batch)
            np.savez_compressed(stream, **{f.name: getattr(batch, f.name).numpy() for f in fields})
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, stream.getvalue())
            saved = f"; the batch is saved in {path}"
        raise TrainingError(f"{where}, expected finite numbers{saved}")

    def _fingerprint(self) -> str:
        """Return what stands for this training: a checkpoint of another one is not taken up."""
        parts = [asdict(self.options), self.seed, asdict(self.network.shape)]
        text = json.dumps([*parts, self.examples.checksum()])
        return hashlib.sha256(text.encode()).hexdigest()

    def _take_up(self, fingerprint: str) -> None:
        if not self.folder:
            return
        path = self.folder / CHECKPOINT
        progress = load_checkpoint(path, self.network, self.optimizer, [], fingerprint)
        if progress is not None:
            self.passes, self.steps = progress["passes"], progress["steps"]
            self.sums, self.metrics = progress["sums"], progress["metrics"]

    def _save(self, fingerprint: str) -> None:
        if not self.folder:
            return
        progress = {
            "fingerprint": fingerprint,
            "passes": self.passes,
            "steps": self.steps,
            "sums": self.sums,
            "metrics": self.metrics,
        }
        save_checkpoint(self.folder / CHECKPOINT, self.network, self.optimizer, [], progress)


@torch.no_grad()
def measure_resnet(network: Resnet, examples: ResnetExamples) -> dict[str, float]:
    """Measure a network on examples.

    Returns the four losses, and ``explained``: the share of the variance of the points to come
    (beyond those if the game ended now) that the values explain.
    """
    network.eval()
    sums: dict[str, float] = {}
    total = wrong = mean = squares = 0.0
    positions = 0
    for batch in examples:
        out = network(batch.planes, batch.mask, batch.numbers)
        for name, part in resnet_losses(out, batch).items():
            sums[name] = sums.get(name, 0.0) + part.item() * len(batch)
        target = batch.value / POINTS_UNIT
        wrong += ((out.value - target) ** 2 * batch.seats).sum().item()
        squares += (target**2 * batch.seats).sum().item()
        mean += target.sum().item()
        total += batch.seats.sum().item()
        positions += len(batch)
    variance = squares / total - (mean / total) ** 2
    explained = 1 - wrong / total / variance if variance > 0 else 0.0
    return {**{name: each / positions for name, each in sums.items()}, "explained": explained}


def _prefixed(prefix: str, values: dict[str, float]) -> dict[str, float]:
    return {f"{prefix}_{name}": value for name, value in values.items()}
