"""The command ``carc``: one module a group of commands, put together in ``app``."""

from carc.cli.app import main

__all__ = ["main"]
