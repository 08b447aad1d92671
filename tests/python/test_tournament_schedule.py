"""Which games a tournament has, that they are played once each, and what the report says about
them.
"""

from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

import carc
from carc.config import TournamentConfig
from carc.report import make_report
from carc.results import ResultsFile, StoredGame
from carc.tournament import entrants, identity, identity_hash, play_missing, schedule, tables

TWO = ("random", "greedy")


def test_every_table_plays_every_deck_in_every_rotation() -> None:
    config = TournamentConfig(agents=("random", "greedy", "greedy"), rounds=2, seed=9)
    games = list(schedule(config))
    assert tables(config) == [(0, 1), (0, 2), (1, 2)]
    assert len(games) == len({game.key for game in games}) == config.games == 12
    assert [game.seats for game in games[:6]] == [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
    assert [game.seed for game in games] == [
        carc.split_seed(9, deck) for deck in (0, 1) for _ in range(6)
    ]


def test_four_players_rotate() -> None:
    config = TournamentConfig(agents=("random",) * 4, rounds=1, rules=carc.Rules(players=4))
    assert [game.seats for game in schedule(config)] == [
        (0, 1, 2, 3),
        (1, 2, 3, 0),
        (2, 3, 0, 1),
        (3, 0, 1, 2),
    ]


FIVE = ("random",) * 5


def test_in_a_gauntlet_challengers_do_not_meet() -> None:
    config = TournamentConfig(agents=FIVE, rounds=1, format="gauntlet", seeds=2)
    assert tables(config) == [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]
    three = TournamentConfig(agents=FIVE, format="gauntlet", rules=carc.Rules(players=3))
    assert all(table[0] == 0 and len(set(table)) == 3 for table in tables(three))


def test_all_orders_round_a_table() -> None:
    config = TournamentConfig(
        agents=FIVE[:4], rounds=1, seatings="all", rules=carc.Rules(players=4)
    )
    seats = [game.seats for game in schedule(config)]
    assert sorted(seats) == sorted(permutations(range(4)))


def test_sampled_orders_and_tables_depend_on_seed_and_deck_alone() -> None:
    changes = {"seatings": "sampled", "tables": 3, "rules": carc.Rules(players=4)}
    few = TournamentConfig(agents=FIVE, rounds=40, **changes)
    games = list(schedule(few))
    assert list(schedule(replace(few, rounds=90)))[: len(games)] == games
    assert list(schedule(replace(few, seed=2, rounds=40))) != games
    drawn = Counter(game.key[0] for game in games if game.key[2] == 0)
    # Each of five tables comes 24 times in the mean of 40 decks, standard deviation 3.1.
    assert len(drawn) == 5
    assert all(9 <= count <= 39 for count in drawn.values())
    leading = {game.seats for game in games if game.key[2] == 0 and game.key[0] == 0}
    assert len(leading) == 6  # all orders of three others


def test_without_repetition_the_rotations_take_turns() -> None:
    config = TournamentConfig(agents=FIVE[:2], rounds=4, repeat=False)
    assert [game.seats for game in schedule(config)] == [(0, 1), (1, 0)] * 2


def test_a_repeated_agent_is_numbered() -> None:
    assert entrants(TournamentConfig(agents=("greedy", "random", "greedy", "greedy"))) == [
        "greedy",
        "random",
        "greedy#2",
        "greedy#3",
    ]


def test_rounds_are_no_part_of_the_identity() -> None:
    assert identity_hash(TournamentConfig(agents=TWO, rounds=3)) == identity_hash(
        TournamentConfig(agents=TWO, rounds=4)
    )
    others = [
        TournamentConfig(agents=TWO, seed=2),
        TournamentConfig(agents=("greedy", "random")),
        TournamentConfig(agents=TWO, rules=carc.Rules(abbot=True)),
        TournamentConfig(agents=("random",) * 3, rules=carc.Rules(players=3)),
    ]
    assert len({identity_hash(config) for config in [TournamentConfig(agents=TWO), *others]}) == 5


def play(
    folder: Path, config: TournamentConfig, concurrency: int = 1, name: str = "r.sqlite"
) -> list[StoredGame]:
    """Play what is missing and return all games."""
    with ResultsFile(folder / name, identity(config)) as results:
        play_missing(config, results, concurrency=concurrency)
        return results.games()


def test_results_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    config = TournamentConfig(agents=TWO, rounds=6)
    one, three = (play(tmp_path, config, threads, f"{threads}.sqlite") for threads in (1, 3))
    assert [(g.key, g.agents, g.scores, g.turns) for g in one] == [
        (g.key, g.agents, g.scores, g.turns) for g in three
    ]


def test_more_rounds_add_games_and_fewer_count_fewer(tmp_path: Path) -> None:
    few = play(tmp_path, TournamentConfig(agents=TWO, rounds=2))
    many = play(tmp_path, TournamentConfig(agents=TWO, rounds=5))
    assert (len(few), len(many)) == (4, 10)
    assert many[:4] == few
    assert len(play(tmp_path, TournamentConfig(agents=TWO, rounds=2))) == 10
    assert make_report(TournamentConfig(agents=TWO, rounds=2), many).games == 4


def test_stopping_keeps_the_games_played(tmp_path: Path) -> None:
    config = TournamentConfig(agents=TWO, rounds=50)
    with ResultsFile(tmp_path / "r.sqlite", identity(config)) as results:
        left = iter([True, True, False])
        played = play_missing(config, results, on_game=lambda *_: next(left, False))
        kept = len(results.games())
        assert 3 <= played == kept < config.games
        few = play_missing(config, results, stopped=lambda: True)
        kept += few
        assert kept < config.games
        assert play_missing(config, results) == config.games - kept
        assert len(results.games()) == config.games


def stored(
    deck: int, rotation: int, agents: list[str], scores: list[int], turns: int = 71
) -> StoredGame:
    """Return a game in which every agent thought 10 ms for each point of its score."""
    seconds = [score / 100 for score in scores]
    searched = [1000 * (agent == "greedy") for agent in agents]
    return StoredGame(0, deck, rotation, agents, scores, seconds, searched, turns)


def test_report_of_two_decks_worked_out_by_hand() -> None:
    config = TournamentConfig(agents=TWO, rounds=2)
    games = [
        stored(0, 0, ["random", "greedy"], [10, 50]),
        stored(0, 1, ["greedy", "random"], [40, 20]),
        stored(1, 0, ["random", "greedy"], [30, 30]),
        stored(1, 1, ["greedy", "random"], [20, 24]),
    ]
    report = make_report(config, games).to_dict()
    greedy, random = report["agents"]
    assert (greedy["rank"], greedy["name"], random["name"]) == (1, "greedy", "random")
    assert (greedy["games"], greedy["wins"], greedy["ties"], greedy["losses"]) == (4, 2, 1, 1)
    assert greedy["win_rate"] == 0.625
    assert greedy["score_mean"] == 35
    # Margins 40, 20 on the first deck, 0, -4 on the second: means 30, -2; t(1; 0.975) = 12.706.
    assert greedy["margin_mean"] == 14
    assert greedy["margin_ci95"] == pytest.approx([14 - 12.706 * 16, 14 + 12.706 * 16], rel=1e-4)
    # greedy laid 35 of the 71 tiles in the second seat and 36 in the first.
    assert greedy["ms_per_turn"] == pytest.approx(1000 * 1.40 / (35 + 36 + 35 + 36))
    assert greedy["sims_per_s"] == pytest.approx(4000 / 1.40)
    assert random["sims_per_s"] is None
    assert [seat["margin_mean"] for seat in report["seats"]] == [-6, 6]
    assert report["pairings"][0]["agents"] == ["random", "greedy"]
    assert [result["wins"] for result in report["pairings"][0]["results"]] == [1, 2]


def test_a_deck_that_is_not_complete_does_not_count() -> None:
    games = [
        stored(0, 0, ["random", "greedy"], [10, 50]),
        stored(0, 1, ["greedy", "random"], [40, 20]),
        stored(1, 0, ["random", "greedy"], [90, 0]),
    ]
    report = make_report(TournamentConfig(agents=TWO, rounds=2), games)
    assert (report.games, report.decks) == (2, 1)


def test_an_agent_against_itself_is_equal_within_the_interval(tmp_path: Path) -> None:
    # 95 % intervals: one seed in twenty would miss; this one is fixed.
    config = TournamentConfig(
        agents=("greedy", "greedy"), rounds=40, seed=3, common_random_numbers=False
    )
    report = make_report(config, play(tmp_path, config, concurrency=2))
    for tally, elo in report.standings:
        assert tally.margin is not None
        assert tally.margin.low is not None
        assert tally.margin.high is not None
        assert tally.margin.low < 0 < tally.margin.high
        assert elo.low is not None
        assert elo.high is not None
        assert elo.low < 0 < elo.high


def test_with_common_random_numbers_an_agent_plays_one_game_against_itself(tmp_path: Path) -> None:
    config = TournamentConfig(agents=("greedy", "greedy"), rounds=10, seed=3)
    games = play(tmp_path, config, concurrency=2)
    by_key = {game.key: game.scores for game in games}
    assert all(by_key[0, deck, 0] == by_key[0, deck, 1] for deck in range(10))
