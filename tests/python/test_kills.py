"""A tournament killed at any moment goes on from its results file as if nothing had happened."""

import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command_line import carc_json, start
from stored_results import records_of

# Slow enough that most kills hit a game in progress, and quick enough to come to an end.
WORDS = ("tournament", "--agents", "greedy,jcz,champion:simulations=24", "--seed", 6)


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report without what differs from run to run."""
    timed = ("ms_per_turn", "sims_per_s")
    agents = [{k: v for k, v in each.items() if k not in timed} for each in report["agents"]]
    return {"agents": agents, "games": report["games"], "seats": report["seats"]}


@pytest.mark.parametrize("kills", [6, pytest.param(50, marks=pytest.mark.long)])
def test_killed_and_resumed_it_ends_as_if_it_had_run_through(kills: int, tmp_path: Path) -> None:
    words = (*WORDS, "--rounds", 4 * kills, "--concurrency", 2)
    moments = random.Random(kills)
    kept: dict[tuple[int, int, int], str] = {}
    for _ in range(kills):
        with start(*words, "--results", "killed.sqlite", cwd=tmp_path) as process:
            try:
                process.wait(timeout=moments.uniform(0.3, 1.5))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if (tmp_path / "killed.sqlite").exists():
            now = records_of(tmp_path / "killed.sqlite")
            assert kept.items() <= now.items()
            kept = now
    resumed = carc_json(*words, "--results", "killed.sqlite", cwd=tmp_path)
    through = carc_json(*words, "--results", "through.sqlite", cwd=tmp_path)
    assert without_times(resumed) == without_times(through)
    assert records_of(tmp_path / "killed.sqlite") == records_of(tmp_path / "through.sqlite")
    assert resumed["kept"] == len(kept)
    assert resumed["kept"] + resumed["played"] == resumed["games"]
