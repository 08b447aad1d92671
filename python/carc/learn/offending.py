"""A batch that led to a loss or weights that are not finite, in a file to look at."""

import dataclasses
import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from carc.files import write_atomically
from carc.learn.batch import Batch


def save_batch(path: Path, batch: Batch) -> None:
    """Write the tensors of a batch as NumPy's .npz: ``score``, ``city.targets``, ..."""
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    parts: dict[str, Any] = {"": batch, "global.": batch.globals}
    parts |= {f"{kind}.": rows for kind, rows in batch.features.items()}
    for prefix, part in parts.items():
        for field in dataclasses.fields(part):
            value = getattr(part, field.name)
            if isinstance(value, Tensor):
                arrays[prefix + field.name] = value.numpy()
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, stream.getvalue())
