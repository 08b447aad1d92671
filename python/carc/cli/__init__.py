"""The command ``carc``: one module a group of commands, put together in ``app``."""

import os

# Threads of linear algebra only wait for each other in matrices as small as ours; read by NumPy.
for library in ("OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from carc.cli.app import main  # noqa: E402

__all__ = ["main"]
