"""The gate accepts a candidate that is better beyond doubt, and no other."""

from pathlib import Path
from typing import Any

import pytest

import carc
from carc.learn.gate import GateOptions, GateResult, judge, play_gate
from carc.learn.stopping import StoppedError
from carc.results import StoredGame
from command_line import carc as run


def games_with(margins: list[int], **changes: Any) -> list[StoredGame]:
    """Return pairs of games with the candidate's margins, deck by deck; the seats change."""
    out = []
    for index, margin in enumerate(margins):
        deck, rotation = divmod(index, 2)
        agents, scores = ["candidate", "champion"], [50 + margin, 50]
        if rotation:
            agents, scores = agents[::-1], scores[::-1]
        out.append(
            StoredGame(
                pairing=0,
                deck=deck,
                rotation=rotation,
                agents=agents,
                scores=scores,
                think_seconds=[0, 0],
                simulations=[0, 0],
                turns=71,
                **changes,
            )
        )
    return out


BETTER = [9, 11, 2, 8, 12, 4, 7, 3, 10, 5]


def test_who_is_better_beyond_doubt_is_accepted() -> None:
    result = judge(games_with(BETTER), GateOptions(pairs=5), "old")
    assert result.accepted
    assert result.margin is not None
    assert result.margin.value == pytest.approx(7.1)
    assert result.margin.low is not None
    assert result.margin.low > 0
    assert result.score is not None
    assert result.score.value == 1
    assert "lower bound" in result.reason
    assert "is above 0" in result.reason


def test_who_is_better_by_chance_is_rejected_with_the_reason() -> None:
    result = judge(games_with([40, 30, -35, -22, 9, 1]), GateOptions(pairs=3), "old")
    assert not result.accepted
    assert result.margin is not None
    assert result.margin.value > 0
    assert result.reason.startswith("margin 3.833 points in 6 games against old: lower bound -")
    assert "is not above 0" in result.reason


def test_the_threshold_decides() -> None:
    games = games_with(BETTER)
    assert judge(games, GateOptions(above=4), "old").accepted
    assert not judge(games, GateOptions(above=7), "old").accepted
    assert judge(games, GateOptions(measure="score", above=0.4), "old").accepted
    assert not judge(games, GateOptions(measure="score", above=0.9), "old").accepted


def test_equal_play_is_rejected() -> None:
    assert not judge(games_with([5, -5] * 10), GateOptions(), "old").accepted


def test_forfeited_decks_have_no_margin_but_count_as_wins_or_losses() -> None:
    lost = games_with(BETTER, forfeit=(0, "illegal", ""))
    result = judge(lost, GateOptions(), "old")
    assert not result.accepted
    assert result.margin is None
    assert result.score is not None
    assert result.score.value == 0.5  # the first seat forfeits every game, and the seats change


def test_without_pairs_every_candidate_is_accepted(tmp_path: Path) -> None:
    result = play_gate("random", "greedy", GateOptions(pairs=0), seed=1, folder=tmp_path)
    assert result == GateResult(True, "accepted without games: pairs = 0", "greedy", 0, None, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("players", [2, 3])
def test_the_better_of_two_agents_passes_and_the_worse_does_not(
    players: int, tmp_path: Path
) -> None:
    options = GateOptions(pairs=10, rules=carc.Rules(players=players))
    good = play_gate("greedy", "random", options, seed=1, folder=tmp_path, threads=2)
    bad = play_gate("random", "greedy", options, seed=1, folder=tmp_path)
    assert (good.accepted, bad.accepted) == (True, False)
    assert good.games == bad.games == 10 * players
    assert "is not above" in bad.reason


def test_a_gate_that_was_stopped_goes_on(tmp_path: Path) -> None:
    options = GateOptions(pairs=6)
    count = 0

    def on_game() -> None:
        nonlocal count
        count += 1

    with pytest.raises(StoppedError):
        play_gate(
            "greedy",
            "random",
            options,
            seed=2,
            folder=tmp_path,
            on_game=on_game,
            stopped=lambda: count >= 3,
        )
    assert 3 <= count < 12
    resumed = play_gate("greedy", "random", options, seed=2, folder=tmp_path)
    through = play_gate("greedy", "random", options, seed=2, folder=tmp_path / "through")
    assert resumed == through


def test_the_command_tells_the_verdict_by_its_exit_code(tmp_path: Path) -> None:
    words = ("gate", "greedy", "random", "--pairs", 5, "-q")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Accepted: margin ")
    done = run(*words, "--above", 500, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("Rejected: margin ")
    done = run("gate", "greedy", "random", "--measure", "elo", cwd=tmp_path)
    assert done.returncode == 2
    assert "--measure: found 'elo', expected one of margin, score" in done.stderr
