"""The luck of the draws as Python sees it: measured with games, and draw by draw from a record."""

import json
from typing import TypeAlias

import pytest

import carc

AGENTS = ["greedy", "random"]
Game: TypeAlias = tuple[int, list[int]] | tuple[int, list[int], int]
GAMES: list[Game] = [(1, [0, 1]), (1, [1, 0]), (2, [0, 1])]


def measured(threads: int = 1, **options: bool) -> dict[int, carc.GameResult]:
    results: dict[int, carc.GameResult] = {}
    carc.play_games(
        carc.Rules(), AGENTS, GAMES, threads=threads, on_result=results.__setitem__, **options
    )
    return results


def test_luck_is_measured_only_on_demand() -> None:
    assert all(result.luck is None for result in measured().values())


def test_luck_of_a_game_is_the_sum_over_its_draws() -> None:
    for result in measured(luck=True).values():
        record = carc.GameRecord.from_json(result.record)
        draws = carc.luck_of_record(record)
        assert result.luck is not None
        assert result.luck == pytest.approx([sum(luck[s] for _, _, luck in draws) for s in (0, 1)])
        assert result.luck[0] == pytest.approx(-result.luck[1])


def test_draws_are_those_of_the_record() -> None:
    result = measured()[0]
    draws = carc.luck_of_record(carc.GameRecord.from_json(result.record))
    turns = json.loads(result.record)["turns"]
    assert [tile for _, tile, _ in draws] == [turn["tile"] for turn in turns]
    for (player, _, luck), turn in zip(draws, turns, strict=True):
        assert turn.get("player", player) == player
        assert not turn.get("discarded") or luck == [0, 0]


def test_luck_does_not_depend_on_threads_and_changes_no_game() -> None:
    one, three, plain = measured(1, luck=True), measured(3, luck=True), measured()
    for i in range(len(GAMES)):
        assert one[i].luck == three[i].luck
        assert one[i].record == plain[i].record


def test_equal_agents_play_the_same_game_in_both_seatings() -> None:
    records: dict[int, carc.GameResult] = {}
    games: list[Game] = [(5, [0, 1]), (5, [1, 0]), (5, [1, 0], 7)]
    carc.play_games(carc.Rules(), ["greedy", "greedy"], games, on_result=records.__setitem__)
    actions = [carc.GameRecord.from_json(records[i].record).actions for i in range(3)]
    assert actions[0] == actions[1]
    assert actions[0] != actions[2]


@pytest.mark.parametrize("record", [None, "{}", 3])
def test_luck_wants_a_record(record: object) -> None:
    with pytest.raises(TypeError):
        carc.luck_of_record(record)  # type: ignore[arg-type]


def test_noise_makes_greedy_weaker() -> None:
    results: dict[int, carc.GameResult] = {}
    games = [(seed, seats) for seed in range(15) for seats in ([0, 1], [1, 0])]
    agents = ["greedy", "greedy:noise=0.5"]
    carc.play_games(carc.Rules(), agents, games, on_result=results.__setitem__)
    margins = [
        results[i].scores[seats.index(0)] - results[i].scores[seats.index(1)]
        for i, (_, seats) in enumerate(games)
    ]
    assert sum(margins) / len(margins) > 20
