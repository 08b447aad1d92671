"""Games on a Ray cluster of this machine are those of one thread, also when workers die."""

import os
import signal
import time
from pathlib import Path

import pytest

import carc
from carc.cluster import agent_specs, play_unit
from command_line import carc as run
from command_line import carc_json, error_line, start
from stored_results import records_of

WORDS = ("--agents", "greedy,jcz,champion:simulations=16", "--seed", 4)
CLUSTER = ("--cluster", "local", "--concurrency", 2)


def test_a_unit_depends_on_its_arguments_alone() -> None:
    specs = agent_specs(["greedy", "jcz"])
    games = [(7, (0, 1)), (7, (1, 0))]
    rows = [play_unit(carc.Rules(), specs, games, True, carc.__version__) for _ in range(2)]
    assert [row["record"] for row in rows[0]] == [row["record"] for row in rows[1]]
    assert rows[0][0]["luck"] == rows[1][0]["luck"] is not None
    here: dict[int, str] = {}
    carc.play_games(
        carc.Rules(),
        ["greedy", "jcz"],
        games,
        on_result=lambda index, result: here.__setitem__(index, result.record),
    )
    assert [row["record"] for row in rows[0]] == [here[0], here[1]]


def test_workers_of_another_version_are_refused() -> None:
    with pytest.raises(carc.ConfigError, match=r"worker: found carc .*, expected 0\.0\.0"):
        play_unit(carc.Rules(), [], [], False, "0.0.0")


def test_guests_do_not_travel(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    done = run("match", "guest:command=cat", "greedy", "--pairs", 1, *CLUSTER, cwd=tmp_path)
    assert done.returncode == 2
    assert "expected agents that are part of carc" in done.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere"])
def test_an_address_without_a_cluster_is_one_error_at_once(address: str, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    words = ("match", "greedy", "random", "--pairs", 1, "-q", "--cluster", address)
    assert "--cluster: found" in error_line(run(*words, cwd=tmp_path))


def test_a_cluster_plays_the_games_of_one_thread_though_a_worker_dies(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    words = ("tournament", *WORDS, "--rounds", 40)
    with start(*words, *CLUSTER, "--results", "ray.sqlite", cwd=tmp_path) as process:
        victim = worker_of(process.pid)
        os.kill(victim, signal.SIGKILL)
        process.communicate()
        assert process.returncode == 0
    local = carc_json(*words, "--concurrency", 1, "--results", "here.sqlite", cwd=tmp_path)
    far = carc_json(*words, "--results", "ray.sqlite", cwd=tmp_path)
    assert far["played"] == 0
    assert records_of(tmp_path / "ray.sqlite") == records_of(tmp_path / "here.sqlite")
    assert len(records_of(tmp_path / "here.sqlite")) == local["games"] == 240


def worker_of(pid: int) -> int:
    """Wait for a worker of the cluster that this process has started, and return its id."""
    for _ in range(600):
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if b"ray::play_unit" in (folder / "cmdline").read_bytes() and descends(folder, pid):
                    return int(folder.name)
            except OSError:
                continue
        time.sleep(0.1)
    raise AssertionError("found no worker of the cluster")


def descends(folder: Path, ancestor: int) -> bool:
    """Say whether a process was started by another one, directly or not."""
    while folder.name not in ("0", "1", str(ancestor)):
        after_name = (folder / "stat").read_text().rpartition(")")[2]
        folder = folder.parent / after_name.split()[1]
    return folder.name == str(ancestor)
