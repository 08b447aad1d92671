"""``carc tournament``: its results, and that no finished game is lost or played twice."""

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from command_line import carc, carc_json, error_line, read_until, start

ROUNDS = 600  # more than can be played before the test has stopped it after the first tenth
AGENTS = ("--agents", "greedy,random")
LONG = ("tournament", "--rounds", ROUNDS, *AGENTS, "--concurrency", 1, "--results", "run.sqlite")


def games(path: Path) -> dict[tuple[int, int, int], str]:
    """Return the record of every kept game; fails if one is there twice."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT pairing, deck, rotation, record FROM games").fetchall()
    kept = {(pairing, deck, rotation): record for pairing, deck, rotation, record in rows}
    assert len(kept) == len(rows)
    return kept


def without_times(document: dict[str, Any]) -> Any:
    """Return a tournament's results without what differs from run to run."""
    text = json.dumps(
        {key: document[key] for key in ("settings", "games", "agents", "pairings", "seats")}
    )
    return json.loads(
        text, object_hook=lambda values: {k: v for k, v in values.items() if k != "ms_per_turn"}
    )


@pytest.fixture
def running(tmp_path: Path) -> Any:
    """Start a long tournament and wait for its first progress line."""
    with start(*LONG, cwd=tmp_path) as process:
        assert process.stderr is not None
        read_until(process.stderr, f"games: {ROUNDS * 2 // 10} of {ROUNDS * 2}")
        yield process
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def test_the_learned_agent_wins_the_first_tournament(tmp_path: Path) -> None:
    document = carc_json("tournament", "--rounds", 20, cwd=tmp_path)
    assert [agent["name"] for agent in document["agents"]] == ["feature-net", "greedy", "random"]
    assert document["agents"][0]["win_rate"] >= 0.95


def test_greedy_beats_random(tmp_path: Path) -> None:
    document = carc_json("tournament", "--rounds", 50, *AGENTS, cwd=tmp_path)
    first, second = document["agents"]
    assert (first["name"], second["name"]) == ("greedy", "random")
    assert first["games"] == 100
    assert first["win_rate"] >= 0.98
    assert first["margin_mean"] >= 50
    low, high = first["margin_ci95"]
    assert low < first["margin_mean"] < high
    assert first["elo"] == -second["elo"] > 200
    low, high = first["elo_ci95"]
    assert low < first["elo"] < high


def test_the_table_names_agents_results_and_file(tmp_path: Path) -> None:
    done = carc("tournament", "--rounds", 5, *AGENTS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("10 games on 5 decks, 2 players, rules current\n")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["1", "greedy", "10"] in [row[:3] for row in rows]
    assert ["2", "random", "10"] in [row[:3] for row in rows]
    (path,) = (tmp_path / "carc-results").iterdir()
    assert done.stdout.endswith(f"Games are kept in carc-results/{path.name}\n")
    assert "If this is stopped, go on with: carc tournament --rounds 5" in done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_the_same_command_plays_nothing_twice(tmp_path: Path) -> None:
    first = carc_json("tournament", "--rounds", 5, *AGENTS, cwd=tmp_path)
    second = carc_json("tournament", "--rounds", 5, *AGENTS, cwd=tmp_path)
    assert (first["kept"], first["played"]) == (0, 10)
    assert (second["kept"], second["played"]) == (10, 0)
    third = carc_json("tournament", "--rounds", 7, *AGENTS, cwd=tmp_path)
    assert (third["kept"], third["played"]) == (10, 4)
    assert first["agents"] == second["agents"]


def test_another_seed_gets_another_default_file(tmp_path: Path) -> None:
    paths = {
        carc_json("tournament", "--rounds", 2, "--seed", seed, cwd=tmp_path)["results"]
        for seed in (1, 2)
    }
    assert len(paths) == 2


def test_a_file_configures_the_tournament(tmp_path: Path) -> None:
    (tmp_path / "three.toml").write_text(
        'agents = ["random", "greedy", "random", "greedy"]\n'
        "rounds = 3\nseed = 8\nplayers = 3\n[rules]\nabbot = true\n"
    )
    document = carc_json("tournament", "three.toml", cwd=tmp_path)
    assert document["settings"]["rules"]["abbot"] is True
    assert document["settings"]["players"] == 3
    assert document["games"] == 4 * 3 * 3
    assert {agent["name"] for agent in document["agents"]} == {
        "random",
        "greedy",
        "random#2",
        "greedy#2",
    }
    assert len(document["pairings"]) == 4
    assert len(document["seats"]) == 3
    assert Path(document["results"]).name.startswith("three-")


def test_a_wrong_file_is_one_error_line(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("ronds = 3\n")
    assert "bad.toml: unknown key 'ronds', did you mean 'rounds'?" in error_line(
        carc("tournament", "bad.toml", cwd=tmp_path)
    )


def test_results_of_another_configuration_are_refused(tmp_path: Path) -> None:
    carc_json("tournament", "--rounds", 2, "--results", "r.sqlite", cwd=tmp_path)
    before = (tmp_path / "r.sqlite").read_bytes()
    done = carc(
        "tournament",
        "--rounds",
        2,
        "--results",
        "r.sqlite",
        "--seed",
        5,
        "--rules",
        "family",
        cwd=tmp_path,
    )
    message = error_line(done)
    assert "seed is 1 there and 5 here" in message
    assert "rules.farmers is true there and false here" in message
    assert (tmp_path / "r.sqlite").read_bytes() == before


def test_a_file_that_is_no_results_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "no carc results database" in error_line(
        carc("tournament", "--results", "notes.txt", cwd=tmp_path)
    )
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_killed_tournament_goes_on_where_it_was(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    os.killpg(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    before = games(tmp_path / "run.sqlite")
    assert ROUNDS * 2 // 10 <= len(before) < ROUNDS * 2
    document = carc_json(*LONG, cwd=tmp_path)
    assert document["kept"] == len(before)
    assert document["played"] == ROUNDS * 2 - len(before)
    after = games(tmp_path / "run.sqlite")
    assert set(after) == {(0, deck, rotation) for deck in range(ROUNDS) for rotation in range(2)}
    assert all(after[key] == record for key, record in before.items())
    whole = carc_json(
        "tournament", "--rounds", ROUNDS, *AGENTS, "--results", "whole.sqlite", cwd=tmp_path
    )
    assert without_times(whole) == without_times(document)
    assert games(tmp_path / "whole.sqlite") == after


def test_an_interrupted_tournament_says_how_to_go_on(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    running.send_signal(signal.SIGINT)
    output, notes = running.communicate()
    assert running.returncode == 130
    assert output == ""
    kept = len(games(tmp_path / "run.sqlite"))
    assert f"Interrupted: {kept} of {ROUNDS * 2} games are kept in run.sqlite." in notes
    assert (
        f"Go on with: carc tournament --rounds {ROUNDS} --agents greedy,random --concurrency 1 "
        "--results run.sqlite" in notes
    )
    assert "Traceback" not in notes
    assert carc_json(*LONG, cwd=tmp_path)["kept"] == kept


def test_two_tournaments_cannot_use_one_file(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert "run.sqlite: in use by another process" in error_line(carc(*LONG, cwd=tmp_path))
    assert running.poll() is None
