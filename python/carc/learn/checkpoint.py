"""A training that was stopped, in one file: weights, the optimizer's moments, and how far it was.

Arrays in NumPy's .npz, without pickle, whose parts carry checksums of their own.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from carc.files import write_atomically

FORMAT = 1


def save_checkpoint(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: list[Tensor],
    progress: dict[str, Any],
) -> None:
    """Write where a training is.

    average: of the weights, or empty. progress: what JSON can hold.
    """
    arrays = {f"network/{name}": value.numpy() for name, value in network.state_dict().items()}
    for index, state in optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer/{index}/{key}": value.numpy() for key, value in state.items()}
    arrays |= {f"average/{index}": value.numpy() for index, value in enumerate(average)}
    text = json.dumps({"format": FORMAT, **progress}).encode()
    arrays["progress"] = np.frombuffer(text, np.uint8)
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, stream.getvalue())


def load_checkpoint(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: list[Tensor],
    fingerprint: str,
) -> dict[str, Any] | None:
    """Take up a training, whose weights and moments are set; returns its progress.

    Returns None, with nothing changed, where there is no checkpoint, a damaged one, or one of
    another training, whose progress has another fingerprint: then the training starts anew.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        progress: dict[str, Any] = json.loads(arrays.pop("progress").tobytes())
        if (progress["format"], progress["fingerprint"]) != (FORMAT, fingerprint):
            return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "optimizer": {}, "average": {}}
    for name, array in arrays.items():
        part, _, rest = name.partition("/")
        parts[part][rest] = torch.from_numpy(array)
    network.load_state_dict(parts["network"])
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in parts["optimizer"].items():
        number, _, key = name.partition("/")
        state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )
    for index, value in enumerate(average):
        value.copy_(parts["average"][str(index)])
    return progress
