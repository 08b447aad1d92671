"""What a run measures: lines of ``metrics.jsonl``, and TensorBoard's files where it is installed.

Lines written while a stage runs are only shown; when it ends they are replaced by those that count,
and the length of the file is kept in the run's state. So a run that was killed says nothing twice.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from carc.files import sync

FILE = "metrics.jsonl"
TENSORBOARD = "tensorboard"
PASS = "pass"  # the stage of a line about one pass, and its key with the pass's number


class RunLog:
    """The metrics of one run.

    length: bytes of ``metrics.jsonl`` that count; what follows is cut off.
    """

    def __init__(self, folder: Path, length: int) -> None:
        self.path = folder / FILE
        self.length = length
        self.path.touch()
        self._cut()
        self._passes = self.path.read_bytes().count(b'"stage": "pass"')  # that count
        self._writer = _tensorboard(folder / TENSORBOARD)

    def show(self, record: Mapping[str, Any]) -> None:
        """Write a line about a pass of a training that has not ended."""
        with self.path.open("ab") as file:
            file.write(_line(record))
        self._chart(record)

    def keep(self, records: Iterable[Mapping[str, Any]]) -> int:
        """Put the lines of a stage that has ended in place of what it has shown.

        Returns the length of the file that counts now.
        """
        self._cut()
        with self.path.open("ab") as file:
            for record in records:
                file.write(_line(record))
                if record.get("stage") == PASS:
                    self._passes += 1
                else:
                    self._chart(record)
            self.length = file.tell()
        sync(self.path)
        return self.length

    def _chart(self, record: Mapping[str, Any]) -> None:
        """Draw a line in TensorBoard: passes one after the other, other stages by round."""
        if self._writer is None:
            return
        stage, step = str(record.get("stage")), int(record.get("round", 0))
        if stage == PASS:
            step = self._passes + int(record[PASS])
        for name, value in _scalars(f"{stage}/", record):
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Close TensorBoard's file."""
        if self._writer is not None:
            self._writer.close()

    def _cut(self) -> None:
        if self.path.stat().st_size > self.length:
            os.truncate(self.path, self.length)


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _scalars(prefix: str, record: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from _scalars(f"{prefix}{key}/", value)
        elif isinstance(value, int | float) and key not in ("round", PASS):
            yield f"{prefix}{key}", float(value)


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder))
