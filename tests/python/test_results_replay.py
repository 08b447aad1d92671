"""``carc results replay``: every game of a file can be played again from the file alone."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import carc
from carc.replay import (
    find_game,
    first_difference,
    numbered,
    replay_game,
    stored_config,
    why_not_reproducible,
)
from carc.results import ResultsFile, read_results
from carc.tournament import identity, play_missing, schedule
from command_line import carc as run
from command_line import carc_json, error_line
from small_networks import feature_net
from stored_results import altered, invent, play

CHEAP = {
    "uct-rave": "uct-rave:simulations=8,trees=2",
    "uct-rollout": "uct-rollout:simulations=8,trees=2",
    "flat-mc": "flat-mc:simulations=50",
    "champion": "champion:simulations=50,trees=2",
    "star25": "star25:depth=1",
    "feature-net-search": "feature-net-search:simulations=50",
}


@pytest.mark.parametrize("name", [name for name, _ in carc.agent_table()])
def test_a_game_of_any_agent_is_the_same_again(name: str, tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    play(file, CHEAP.get(name, name), "greedy", rounds=1, seed=11)
    with read_results(file) as results:
        for number in (1, 2):
            repeated = replay_game(results, number)
            assert repeated.difference is None
            assert repeated.again == repeated.record


@pytest.mark.parametrize(
    "rules",
    [
        carc.Rules(players=5, abbot=True, river="2021"),
        carc.Rules.preset("family", players=3),
        carc.Rules(players=2, farmers=False, small_city=2, farmer_recall=True),
    ],
)
def test_rules_come_from_the_file(rules: carc.Rules, tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    agents = ("greedy", "jcz", "random", "jcz", "greedy", "greedy")[: rules.players + 1]
    play(file, *agents, rounds=1, rules=rules)
    with read_results(file) as results:
        assert stored_config(results.identity).rules == rules
        for number in range(1, len(results) + 1, 3):
            assert replay_game(results, number).difference is None


def test_a_tile_set_comes_from_the_file(tmp_path: Path) -> None:
    tiles = json.loads(carc.TileSet.standard().to_json())
    tiles["base"] = [tile for tile in tiles["base"] if tile["id"] != "C"]
    rules = carc.Rules(tiles=carc.TileSet.from_json(json.dumps(tiles), "own"))
    file = tmp_path / "run.sqlite"
    play(file, "greedy", "random", rounds=1, rules=rules)
    with read_results(file) as results:
        assert stored_config(results.identity).rules == rules
        assert replay_game(results, 2).difference is None


def test_an_agent_in_a_file_that_has_gone_can_play_again(tmp_path: Path) -> None:
    agent = tmp_path / "mine.toml"
    agent.write_text('base = "jcz"\nfields = 0.25\n')
    file = tmp_path / "run.sqlite"
    play(file, str(agent), "greedy", rounds=1)
    agent.unlink()
    with read_results(file) as results:
        assert replay_game(results, 1).difference is None


@pytest.mark.parametrize("agent", ["feature-net", "feature-net-search:simulations=20"])
def test_a_game_of_a_network_is_replayed_with_its_weights_and_no_others(
    agent: str, tmp_path: Path
) -> None:
    checksum = feature_net(tmp_path / "mine.safetensors")
    name = carc.agents.with_options(agent, {"network": str(tmp_path / "mine.safetensors")})
    play(tmp_path / "run.sqlite", name, "greedy", rounds=1, seed=3)
    words = ("results", "replay", "run.sqlite", "--game", 1)
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert "is the same again" in done.stdout

    other = feature_net(tmp_path / "mine.safetensors", seed=2)
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    message = error_line(done)
    assert "game 1 is not reproducible" in message
    assert f"with the checksum {other}, expected {checksum}" in message

    assert feature_net(tmp_path / "mine.safetensors") == checksum
    assert run(*words, cwd=tmp_path).returncode == 0
    (tmp_path / "mine.safetensors").unlink()
    assert "found no file" in error_line(run(*words, cwd=tmp_path))


def test_games_are_not_added_with_other_weights(tmp_path: Path) -> None:
    feature_net(tmp_path / "mine.safetensors")
    agent = f"feature-net:network={tmp_path / 'mine.safetensors'}"
    words = ("match", agent, "greedy", "--pairs", 1, "--results", "run.sqlite", "-q")
    assert run(*words, cwd=tmp_path).returncode == 0
    before = (tmp_path / "run.sqlite").read_bytes()
    feature_net(tmp_path / "mine.safetensors", seed=2)
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "network_checksum" in error_line(done)
    assert (tmp_path / "run.sqlite").read_bytes() == before


def test_numbers_are_places_in_the_schedule(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    config = play(file, "greedy", "random", "jcz", rounds=3)
    with read_results(file) as results:
        pairs = list(numbered(stored_config(results.identity), results.games(), file))
        assert [number for number, _ in pairs] == list(range(1, 19))
        assert [game.key for _, game in pairs] == [game.key for game in schedule(config)]
        game, _ = find_game(results, 8)
        assert (game.deck, game.pairing, game.rotation) == (1, 0, 1)
        assert game.agents == ["random", "greedy"]


def test_numbers_do_not_depend_on_which_games_have_ended(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    config = play(file, "greedy", "random", "jcz", rounds=2)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("DELETE FROM games WHERE deck = 0 AND pairing < 2")
    with read_results(file) as results:
        pairs = list(numbered(stored_config(results.identity), results.games(), file))
        assert [number for number, _ in pairs] == [5, 6, 7, 8, 9, 10, 11, 12]
        with pytest.raises(carc.ResultsError, match="found no finished game 2 among 8"):
            replay_game(results, 2)
    with ResultsFile(file, identity(config)) as writer:
        assert play_missing(config, writer) == 4
    with read_results(file) as results:
        assert replay_game(results, 2).difference is None


def test_a_game_outside_of_the_schedule_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    config = play(file, "greedy", "random", rounds=1)
    result = carc.play_game(carc.Rules(), ["greedy", "random"])
    with ResultsFile(file, identity(config)) as writer:
        writer.add((7, 0, 0), 1, ["greedy", "random"], result)
    with read_results(file) as results, pytest.raises(carc.ResultsError, match="pairing 7, deck 0"):
        list(numbered(stored_config(results.identity), results.games(), file))


def with_another_game(file: Path) -> None:
    """Write a file whose second game is not that of its seed."""
    config = play(file.with_name("whole.sqlite"), "greedy", "random", rounds=1)
    first, second = schedule(config)
    with ResultsFile(file, identity(config)) as writer:
        right = carc.play_game(config.rules, ["greedy", "random"], first.seed)
        writer.add(first.key, first.seed, ["greedy", "random"], right)
        wrong = carc.play_game(config.rules, ["random", "greedy"], second.seed + 1)
        writer.add(second.key, second.seed, ["random", "greedy"], wrong)


def test_another_game_is_told_by_its_first_difference(tmp_path: Path) -> None:
    with_another_game(tmp_path / "run.sqlite")
    done = run("results", "replay", "run.sqlite", "--game", 2, cwd=tmp_path)
    assert done.returncode == 1
    assert "Game 2 (deck 0: random" in done.stdout
    assert "is another one now: seed is" in done.stdout
    assert "in the file and" in done.stdout
    done = run("results", "replay", "run.sqlite", "--game", 1, cwd=tmp_path)
    assert done.returncode == 0
    assert "is the same again" in done.stdout


def test_other_points_of_the_same_record_are_told(tmp_path: Path) -> None:
    config = play(tmp_path / "whole.sqlite", "greedy", "random", rounds=1)
    first, _ = schedule(config)
    result = carc.play_game(config.rules, ["greedy", "random"], first.seed)
    file = tmp_path / "run.sqlite"
    with ResultsFile(file, identity(config)) as writer:
        changed = altered(result, figures_set=[1, 2])
        writer.add(first.key, first.seed, ["greedy", "random"], changed)
    with read_results(file) as results:
        assert replay_game(results, 1).difference == (
            f"figures_set is [1, 2] in the file and {result.figures_set} now"
        )


def test_the_difference_is_the_first_one() -> None:
    a = {"seed": 1, "turns": [{"x": 1}, {"x": 2, "meeple": {"kind": "city"}}], "final": {}}
    b = {"seed": 1, "turns": [{"x": 1}, {"x": 2, "meeple": None}], "final": {"scores": [1]}}
    assert first_difference(a, b) == ('turn 2.meeple is {"kind": "city"} in the file and null now')
    assert first_difference(a, {**a, "turns": a["turns"][:1]}) == "2 turns in the file and 1 now"
    assert first_difference(a, a) is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kind": "mcts", "time_ms": 50}, "plays by the clock (time_ms=50)"),
        ({"kind": "mcts", "time_ms": 0, "simulations": 9}, None),
        ({"kind": "greedy"}, None),
        ({"kind": "something"}, "is another program"),
    ],
)
def test_what_cannot_be_repeated_is_known(options: dict[str, object], reason: str | None) -> None:
    found = why_not_reproducible(options)
    assert found == reason or (reason is not None and found is not None and reason in found)


def test_a_timed_game_is_said_to_be_not_reproducible(tmp_path: Path) -> None:
    words = ("champion", "random", "--pairs", 1, "--time-ms", 2, "--results", "run.sqlite", "-q")
    assert run("match", *words, cwd=tmp_path).returncode == 0
    message = error_line(run("results", "replay", "run.sqlite", "--game", 1, cwd=tmp_path))
    assert "game 1 is not reproducible" in message
    assert "plays by the clock (time_ms=1)" in message


def test_a_game_of_a_guest_is_said_to_be_not_reproducible(tmp_path: Path) -> None:
    invent(tmp_path / "run.sqlite", ["guest", "other"], rounds=1)
    message = error_line(run("results", "replay", "run.sqlite", "--game", 2, cwd=tmp_path))
    assert "game 2 is not reproducible: guest is another program" in message


def test_json_holds_both_records(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", rounds=1)
    document = carc_json("results", "replay", "run.sqlite", "--game", 2, cwd=tmp_path)
    assert document["equal"] is True
    assert document["difference"] is None
    assert document["record"] == document["again"]
    assert document["record"]["agents"] == ["random", "greedy"] == document["agents"]


def test_replaying_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    play(file, "greedy", "random", rounds=1)
    before = (file.read_bytes(), os.listdir(tmp_path))  # noqa: PTH208
    assert run("results", "replay", file, "--game", 1).returncode == 0
    assert (file.read_bytes(), os.listdir(tmp_path)) == before  # noqa: PTH208
