"""Searches keep to their memory; rollout search plays by the rules with any number of players."""

import subprocess
import sys

import pytest

import carc

# Prints the resident size before a search and the largest one until its end, in bytes.
MEASURE = """
import resource
import carc
agent = carc.make_agent("champion", simulations={simulations}, memory_mb={memory})
rules = carc.Rules()
state, rng = carc.GameState(rules), carc.Rng(1)
state.apply(state.legal_actions()[0])
carc.make_agent("champion", simulations=1, memory_mb=0.1).choose(state, rng)
with open("/proc/self/statm") as file:
    before = int(file.read().split()[1]) * resource.getpagesize()
result = agent.analyse(state, rng)
with open("/proc/self/status") as file:  # getrusage would count the process that started this one
    most = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
print(before, most, result.simulations, result.bytes)
assert state.is_legal(result.best)
"""


def check_memory(simulations: int, memory: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE.format(simulations=simulations, memory=memory)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    before, most, searched, used = map(int, run.stdout.split())
    assert searched == simulations  # play went on when the tree was full
    assert 0.9 * memory * 1e6 < used <= memory * 1e6
    assert most <= before + 1.05 * memory * 1e6


def check_rollouts(players: int, decks: int) -> None:
    rules = carc.Rules.preset("current_river_abbot").replace(players=players)
    games = [(carc.split_seed(9, deck), (0,) * players) for deck in range(decks)]
    agent = carc.make_agent("uct-rollout", simulations=16)
    # An illegal choice would be refused with an error.
    assert carc.play_games(rules, [agent], games, threads=2, records=False) == decks


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_search_keeps_to_its_memory() -> None:
    check_memory(600_000, 40)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_rollout_search_makes_no_illegal_move(players: int) -> None:
    check_rollouts(players, 12)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_search_keeps_to_64_mb_over_ten_million_simulations() -> None:
    check_memory(10_000_000, 64)


@pytest.mark.long
@pytest.mark.parametrize("players", [3, 4, 5])
def test_rollout_search_makes_no_illegal_move_in_a_thousand_games(players: int) -> None:
    check_rollouts(players, 334)
