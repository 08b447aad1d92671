"""How well a network explains games that it has not seen."""

from typing import Any

import torch
from torch import nn

from carc.learn.encoder import UNIT
from carc.learn.examples import Examples
from carc.learn.losses import LABELS, dense_parts, margins
from carc.learn.network import FeatureNet, Outputs


@torch.no_grad()
def measure(network: nn.Module, examples: Examples, size: int = 4096) -> dict[str, Any]:
    """Return metrics of a network on examples.

    explained: share of the residual margin's variance that the network explains; the residual
        margin is what the player who moves next will still gain on the mean of the others.
    margin_rmse: root mean square error of that, in points.
    explained_by_players: the share, by the number of players.
    dense: of a FeatureNet, mean squared errors by kind and label, points in units of 10.
    """
    network.eval()
    errors, residuals, players = [], [], []
    dense: dict[str, torch.Tensor] = {}
    rows = dict.fromkeys(examples.rows, 0)
    for batch in examples.batches(size):
        outputs = network.outputs(batch) if isinstance(network, FeatureNet) else None
        values = batch.score + UNIT * outputs.to_come if outputs else network(batch)
        assert batch.target is not None
        mover = torch.arange(len(batch)), batch.next
        errors.append(margins(values - batch.target, batch)[mover])
        residuals.append(margins(batch.target - batch.score, batch)[mover])
        players.append(batch.players)
        if outputs:
            _add_dense(dense, rows, outputs, batch)
    error, residual = torch.cat(errors).double(), torch.cat(residuals).double()
    count = torch.cat(players)
    out: dict[str, Any] = {
        "explained": _explained(error, residual),
        "margin_rmse": float(error.square().mean().sqrt()),
        "explained_by_players": {
            str(n): _explained(error[count == n], residual[count == n])
            for n in sorted(set(count.tolist()))
        },
    }
    if dense:
        out["dense"] = {
            kind: dict(zip(LABELS, (part / max(rows[kind], 1)).tolist(), strict=False))
            for kind, part in dense.items()
            if kind != "global"
        }
        out["dense"]["global"] = float(dense["global"] / max(rows["global"], 1))
    return out


def _add_dense(
    dense: dict[str, torch.Tensor], rows: dict[str, int], outputs: Outputs, batch: Any
) -> None:
    """Add the squared errors of a batch's rows to their sums."""
    for kind, part in dense_parts(outputs, batch).items():
        here = len(outputs.unclaimed if kind == "global" else outputs.heads[kind])
        dense[kind] = dense.get(kind, torch.zeros(())) + part * here
        rows[kind] += here


def _explained(error: torch.Tensor, residual: torch.Tensor) -> float | None:
    """Return 1 - error / variance; None where the residual does not vary."""
    variance = float(residual.var(correction=0))
    return 1 - float(error.square().mean()) / variance if variance > 0 else None
