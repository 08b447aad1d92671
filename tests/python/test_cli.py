"""What all commands have in common, and the small ones: exit codes, error lines, JSON, help."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

import carc as package
from carc.bench import measure_neural, measure_resnet, measure_search, turn_after
from command_line import CARC, DATA, carc, carc_json, error_line

COMMANDS = (
    "match",
    "tournament",
    "play",
    "analyse",
    "verify",
    "perft",
    "bench",
    "rules",
    "agents",
    "version",
)


def test_no_command_shows_help() -> None:
    done = carc()
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = carc(command, "--help")
    assert done.returncode == 0
    assert f"Example: carc {command}" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tournamnet"], "no such command: tournamnet, did you mean tournament?"),
        (["--jsn"], "no such option: --jsn, did you mean"),
        (["tournament", "--round", "3"], "no such option: --round, did you mean --rounds?"),
        (
            ["tournament", "--rounds", "many"],
            "found many, expected a whole number from 1 to 1000000",
        ),
        (["tournament", "--rounds", "0"], "found 0, expected a whole number from 1"),
        (["tournament", "--seed", "-1"], "found -1, expected a whole number from 0"),
        (
            ["tournament", "--seed", str(2**64)],
            f"found {2**64}, expected a whole number from 0 to {2**64 - 1}",
        ),
        (["tournament", "--players", "6"], "found 6, expected a whole number from 2 to 5"),
        (
            ["tournament", "--agents", "greedy,rnadom"],
            "--agents: unknown agent 'rnadom', did you mean 'random'?",
        ),
        (
            ["tournament", "--rules", "famly"],
            "--rules: unknown rules preset 'famly', did you mean 'family'?",
        ),
        (
            ["tournament", "--rules", "abot=true"],
            "--rules: unknown rules option 'abot', did you mean 'abbot'?",
        ),
        (["tournament", "none.toml"], "none.toml: No such file or directory"),
        (["tournament", "--concurrency", "0"], "found 0, expected a whole number from 1"),
        (["verify"], "Missing argument"),
        (["verify", "none.jsonl"], "none.jsonl: No such file or directory"),
        (["perft", "--turns", "0"], "found 0, expected a whole number from 1"),
        (["perft", "--rules", "river=2020"], "river: found"),
        (["bench", "cor"], "found subject 'cor', did you mean 'core'?"),
        (["bench", "--seconds", "-1"], "found -1, expected a number from 0.01"),
        (["play", "greedy"], "found 1 agents, expected 2 to 5"),
        (["play", "greedy", "greedy", "--players", "3"], "found 2 agents, expected 3"),
        (["play", "greedy", "hmuan"], "unknown agent 'hmuan', did you mean 'human'?"),
        (["play", "--rules", "players=3"], "--rules: found players 3, expected 2 as agents"),
        (["rules", "extra"], "extra"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    words: list[str], message: str, tmp_path: Path
) -> None:
    assert message in error_line(carc(*words, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_rules_lists_options_and_presets() -> None:
    done = carc("rules")
    assert done.returncode == 0
    for name, _, _ in package.rules_options():
        assert name in done.stdout
    for name, _ in package.rules_presets():
        assert name in done.stdout


def test_rules_as_json_say_what_a_preset_changes() -> None:
    document = carc_json("rules")
    assert [option["name"] for option in document["options"]] == [
        name for name, _, _ in package.rules_options()
    ]
    assert all(option["values"][0] == option["default"] for option in document["options"])
    presets = {preset["name"]: preset["options"] for preset in document["presets"]}
    assert presets["current"] == {}
    assert presets["family"] == {"farmers": False, "join_cities": "forbidden"}
    for name, options in presets.items():
        assert package.Rules.preset(name) == package.Rules(**options)


def test_agents_as_json() -> None:
    names = [agent["name"] for agent in carc_json("agents")["agents"]]
    assert names == [name for name, _ in package.agent_table()]
    assert "greedy" in carc("agents").stdout


def test_version() -> None:
    assert carc("version").stdout.startswith(f"carc {package.__version__} ")
    assert carc_json("version")["carc"] == package.__version__


def test_perft_counts_the_sequences_of_a_deck() -> None:
    document = carc_json("perft", "--turns", 3, "--seed", 5, "--rules", "abbot=true")
    rules = package.Rules(abbot=True)
    tiles = package.Deck(rules, seed=5).tiles
    state = package.GameState(rules)
    counts = [package.perft(state, tiles, turns) for turns in (1, 2, 3)]
    assert [depth["sequences"] for depth in document["depths"]] == counts
    assert document["first_tiles"] == tiles[:3]
    assert (
        f"{counts[2]:,}" in carc("perft", "--turns", 3, "--seed", 5, "--rules", "abbot=true").stdout
    )


def test_bench_measures_everything() -> None:
    document = carc_json("bench", "core", "--seconds", 0.01)
    keys = {
        "random_games_per_s",
        "random_games_per_s_2_threads",
        "python_random_games_per_s",
        "perft_nodes_per_s",
        "clone_ns",
        "state_bytes",
        "base_ns_per_tile",
        "river_abbot_5p_ns_per_tile",
    }
    assert keys <= document.keys()
    assert all(document[key] > 0 for key in keys)
    assert document["state_bytes"] == package.STATE_BYTES


def test_bench_measures_searches() -> None:
    measures = asdict(measure_search(0.01, champion="champion:simulations=64"))
    assert all(value > 0 for value in measures.values())
    assert measures["nodes_bytes"] > 64
    ratio = measures["champion_sims_per_s_two_threads"] / measures["champion_sims_per_s"]
    assert measures["two_threads_ratio"] == ratio


@pytest.mark.long
def test_bench_search_prints_its_measures() -> None:
    document = carc_json("bench", "search", "--seconds", 0.01)
    assert {
        "rollouts_per_s_opening",
        "rollouts_per_s_middle",
        "champion_sims_per_s",
        "champion_sims_per_s_two_threads",
        "two_threads_ratio",
        "nodes_bytes",
    } <= document.keys()


RESNET_KEYS = {"resnet_cpp_ms_batch32", "resnet_torch_ms_batch32", "resnet_batch_fill"}


def test_bench_measures_networks() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("carc._torch", exc_type=ImportError)
    steps: list[int] = []
    measures = asdict(
        measure_neural(0.01, lambda: steps.append(1), "feature-net-search:simulations=8")
    )
    assert measures.keys() >= RESNET_KEYS
    assert all(value > 0 for value in measures.values())
    assert 0.5 <= measures["resnet_batch_fill"] <= 1
    assert len(steps) == 4


def test_bench_leaves_out_what_needs_torch_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in ("torch", "carc._torch"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)  # as if it were not installed
            for loaded in [name for name in sys.modules if name.startswith("carc.learn.resnet")]:
                patch.delitem(sys.modules, loaded)
            assert measure_resnet(0.01) == {}


@pytest.mark.long
def test_bench_neural_prints_its_measures() -> None:
    document = carc_json("bench", "neural", "--seconds", 0.01)
    feature_net = {"feature_net_turn_us", "feature_net_sims_per_s", "selfplay_games_per_s"}
    assert document.keys() >= feature_net | RESNET_KEYS


def test_positions_to_measure_searches_in_have_a_tile_to_lay() -> None:
    for tiles in (1, 36):
        state = turn_after(tiles)
        assert (len(state.tiles), state.phase) == (tiles, "place")


def test_agents_options_are_listed() -> None:
    document = carc_json("agents", "--options", "champion")
    values = {option["name"]: option["value"] for option in document["options"]}
    assert (document["kind"], values["simulations"]) == ("mcts", "11008")
    assert "simulations" in carc("agents", "--options", "mcts").stdout
    assert "which has no options" in carc("agents", "--options", "random").stdout
    assert "did you mean 'champion'?" in error_line(carc("agents", "--options", "champoin"))


def test_quiet_leaves_stderr_empty() -> None:
    assert carc("bench", "--seconds", 0.01, "--quiet").stderr == ""


@pytest.mark.parametrize(
    "words", [["rules"], ["rules", "--json"], ["verify", str(DATA)], ["play"], ["--help"]]
)
def test_a_reader_that_has_gone_is_no_error_message(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*CARC, *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == b""


def with_shell(redirection: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command with its streams redirected as a shell does it."""
    line = f"{shlex.join([*CARC, *words])} {redirection}"
    command = ["/bin/sh", "-c", line]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("words", [["rules"], ["agents", "--json"], ["--help"], ["nonsense"]])
def test_a_closed_stdout_is_bad_usage(words: list[str]) -> None:
    assert "standard output is closed" in error_line(with_shell(">&-", *words))


def test_closed_stdin_and_stderr_are_as_good_as_empty_ones() -> None:
    done = with_shell("<&- 2>&-", "version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "carc")
    done = with_shell("2>&-", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert with_shell("<&-", "play", "human", "greedy").returncode == 130


@pytest.mark.parametrize("words", [["rules"], ["rules", "--json"], ["version"], ["--help"]])
def test_a_full_disk_is_one_line(words: list[str]) -> None:
    assert "No space left on device" in error_line(with_shell(">/dev/full", *words))


def test_a_terminal_without_unicode_gets_all_it_can_show(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [*CARC, "tournament", "--rounds", "2", "--quiet"]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"greedy" in done.stdout


def test_json_is_the_only_output(tmp_path: Path) -> None:
    done = carc("tournament", "--rounds", 2, "--json", cwd=tmp_path)
    assert isinstance(json.loads(done.stdout), dict)
    assert "Games are kept in" in done.stderr
