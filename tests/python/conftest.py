"""The option --long of all Python tests: what takes minutes, too."""

import os

# Threads of linear algebra only wait for each other in matrices as small as ours; read by NumPy.
for library in ("OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="all that takes minutes, too")


def pytest_configure(config: pytest.Config) -> None:
    long = config.getoption("--long") or os.environ.get("CARC_LONG") == "1"
    if long and config.option.markexpr == "not long":  # the default of pyproject.toml
        config.option.markexpr = ""
