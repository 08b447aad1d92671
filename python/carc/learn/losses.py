"""What the feature network learns from: dense labels of every feature, and the whole margin."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from carc.learn.batch import Batch
from carc.learn.encoder import KINDS, UNIT
from carc.learn.network import BOUND, COMPLETE, MAIN, REST, RIVAL, FeatureNet, Outputs

# A user's own: loss(network, batch) returns a scalar.
Loss: TypeAlias = Callable[[nn.Module, Batch], Tensor]

LEARNED = (MAIN, RIVAL, REST, BOUND, COMPLETE)  # heads with labels, in the order of the targets
LABELS = ("main", "rival", "rest", "bound", "complete")
T = TypeVar("T")


def dense_parts(outputs: Outputs, batch: Batch) -> dict[str, Tensor]:
    """Return the mean squared errors by kind, float32 [5] in the order of `LABELS`, and the global
    net's, [1]; of points in units of 10.

    Means over the rows of a kind, 0 where there are none. What a rival gets counts 0 where there is
    no rival.
    """
    out = {}
    for kind in KINDS:
        rows, head = batch.features[kind], outputs.heads[kind]
        targets = _present(rows.targets)
        scale = targets.new_tensor([1 / UNIT, 1 / UNIT, 1 / UNIT, 1, 1])
        error = head[:, LEARNED] - targets * scale
        mask = torch.ones_like(error)
        mask[:, 1] = rows.has_rival
        error = torch.where(mask > 0, error, 0)  # not a product: what is missing is NaN
        out[kind] = error.square().sum(0) / max(len(error), 1)
    error = outputs.unclaimed[:, 0] - _present(batch.globals.targets) / UNIT
    out["global"] = (error.square().sum() / max(len(error), 1))[None]
    return out


def dense_loss(network: nn.Module, batch: Batch) -> Tensor:
    """Return the sum of the dense mean squared errors of a FeatureNet."""
    parts = dense_parts(_feature_net(network).outputs(batch), batch)
    return torch.cat(list(parts.values())).sum()


def joint_loss(weight: float) -> Loss:
    """Return the loss of the joint training: dense + weight * squared error of the margins."""

    def loss(network: nn.Module, batch: Batch) -> Tensor:
        outputs = _feature_net(network).outputs(batch)
        dense = torch.cat(list(dense_parts(outputs, batch).values())).sum()
        wanted = (_present(batch.target) - batch.score) / UNIT
        return dense + weight * margin_error(outputs.to_come - wanted, batch)

    return loss


def margin_loss(network: nn.Module, batch: Batch) -> Tensor:
    """Return the squared error of the margins of any network whose call gives points [P, 5]."""
    return margin_error((network(batch) - _present(batch.target)) / UNIT, batch)


def margin_error(error: Tensor, batch: Batch) -> Tensor:
    """Return the mean over positions of half the sum over players of the squared error of a margin.

    error: of the points, float [P, 5]. Half, so that a margin between two does not count twice.
    """
    return margins(error, batch).square().sum(1).mean() / 2


def margins(points: Tensor, batch: Batch) -> Tensor:
    """Return each player's points less the mean of the others', [P, 5]; 0 where nobody sits."""
    seated = points * batch.seated
    players = batch.players[:, None]
    return (players * seated - seated.sum(1, keepdim=True)) / (players - 1) * batch.seated


def _feature_net(network: nn.Module) -> FeatureNet:
    if not isinstance(network, FeatureNet):
        raise TypeError(
            f"found {type(network).__name__}, expected a FeatureNet or a loss of its own"
        )
    return network


def _present(value: T | None) -> T:
    if value is None:
        raise ValueError("found positions without targets, expected those of finished games")
    return value
