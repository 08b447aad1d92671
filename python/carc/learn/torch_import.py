"""Importing what learning needs, with one clear error where it is missing."""

from types import ModuleType

from carc.errors import ConfigError

WITH = "pip install 'carc[train]'"


def need_torch() -> ModuleType:
    """Return the module torch; raises ConfigError where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise ConfigError(f"learning: found no PyTorch, expected it installed: {WITH}") from error
    return torch


def need_pyarrow() -> None:
    """Raise ConfigError where pyarrow, which reads and writes Parquet, is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"learning: found no pyarrow, expected it installed: {WITH}") from error
