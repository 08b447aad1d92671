"""Matches of two agents: what is played, what is kept, and what the report says."""

import os
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carc
from carc.agents import limit_time
from carc.cli.match import details
from carc.config import TournamentConfig
from carc.match import MatchReport, apply_options, make_match_report, match_config
from carc.results import StoredGame
from command_line import carc as run
from command_line import carc_json, error_line, read_until, start

TINY = ("champion:simulations=16,trees=2,solve_tiles=0", "greedy")
PAIRS = 300  # more than can be played before the test has stopped it after the first tenth


def config_of(a: str = "champion", b: str = "greedy", **changes: Any) -> TournamentConfig:
    """Return the configuration of a match of one pair."""
    settings: dict[str, Any] = {"pairs": 1, "seed": 1, "rules": carc.Rules(), **changes}
    return match_config(a, b, **settings)


def games_of(path: Path) -> dict[tuple[int, int], str]:
    """Return the record of every kept game."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT deck, rotation, record FROM games").fetchall()
    return {(deck, rotation): record for deck, rotation, record in rows}


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    """Return a match's results without what differs from run to run."""
    timed = ("ms_per_turn", "sims_per_s", "seconds", "results", "kept", "played")
    return {key: value for key, value in document.items() if key not in timed}


def test_numbers_of_a_match_agree_with_each_other(tmp_path: Path) -> None:
    document = carc_json("match", *TINY, "--pairs", 4, "--seed", 3, cwd=tmp_path)
    assert document["agents"] == list(TINY)
    assert (document["pairs"], document["games"], document["seed"]) == (4, 8, 3)
    assert document["rules"] == carc.Rules().to_dict()
    assert document["wins"] + document["ties"] + document["losses"] == 8
    assert document["win_rate"] == (document["wins"] + document["ties"] / 2) / 8
    low, high = document["win_rate_ci95"]
    assert 0 <= low < document["win_rate"] <= high <= 1 or document["win_rate"] == low == 0
    low, high = document["margin_ci95"]
    assert low < document["margin_mean"] < high
    scores = document["score_mean"]
    assert document["margin_mean"] == pytest.approx(scores[TINY[0]] - scores["greedy"])
    assert set(document["ms_per_turn"]) == set(TINY)
    assert document["ms_per_turn"][TINY[0]] > document["ms_per_turn"]["greedy"] > 0
    assert document["sims_per_s"][TINY[0]] > 0
    assert document["sims_per_s"]["greedy"] is None
    assert document["seconds"] > 0
    assert document["options"][TINY[0]]["simulations"] == 16


def test_each_deck_is_played_once_from_either_seat(tmp_path: Path) -> None:
    carc_json("match", "greedy", "random", "--pairs", 3, "--results", "m.sqlite", cwd=tmp_path)
    records = {
        key: carc.GameRecord.from_json(text)
        for key, text in games_of(tmp_path / "m.sqlite").items()
    }
    assert set(records) == {(deck, rotation) for deck in range(3) for rotation in range(2)}
    for deck in range(3):
        one, other = records[deck, 0], records[deck, 1]
        assert one.seed == other.seed
        assert (one.agents, other.agents) == (["greedy", "random"], ["random", "greedy"])


def test_results_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    documents = [
        carc_json(
            *("match", *TINY, "--pairs", 2, "--concurrency", threads),
            *("--results", f"{threads}.sqlite"),
            cwd=tmp_path,
        )
        for threads in (1, 2)
    ]
    assert without_times(documents[0]) == without_times(documents[1])
    assert games_of(tmp_path / "1.sqlite") == games_of(tmp_path / "2.sqlite")


def test_the_same_agent_twice_is_numbered(tmp_path: Path) -> None:
    document = carc_json("match", "greedy", "greedy", "--pairs", 2, cwd=tmp_path)
    assert document["agents"] == ["greedy", "greedy#2"]
    assert set(document["ms_per_turn"]) == {"greedy", "greedy#2"}


def test_the_table_ends_with_who_is_better(tmp_path: Path) -> None:
    done = run("match", "greedy", "random", "--pairs", 10, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20 games in 10 pairs, seed 1, rules current\nagent ")
    assert "greedy is better than random (+" in done.stdout
    (path,) = (tmp_path / "carc-results").iterdir()
    assert f"Games are kept in carc-results/{path.name}" in done.stdout
    assert "If this is stopped, go on with: carc match greedy random --pairs 10" in done.stderr


def test_more_pairs_go_on_where_fewer_ended(tmp_path: Path) -> None:
    counts = [
        carc_json("match", "greedy", "random", "--pairs", pairs, cwd=tmp_path)
        for pairs in (2, 2, 3)
    ]
    assert [(each["kept"], each["played"]) for each in counts] == [(0, 4), (4, 0), (4, 2)]


def test_another_configuration_is_refused_by_what_differs(tmp_path: Path) -> None:
    file = ("--results", "m.sqlite", "--pairs", 1)
    carc_json("match", "greedy", "random", *file, cwd=tmp_path)
    other = run("match", "greedy", "random", *file, "--seed", 2, cwd=tmp_path)
    assert "seed is 1 there and 2 here" in error_line(other)


def test_an_agent_whose_file_has_changed_is_another_configuration(tmp_path: Path) -> None:
    agent = tmp_path / "mine.toml"
    words = ("match", "mine.toml", "greedy", "--pairs", 1, "--results", "m.sqlite")
    agent.write_text("base = 'champion'\nsimulations = 8\n")
    assert carc_json(*words, cwd=tmp_path)["options"]["mine.toml"]["simulations"] == 8
    agent.write_text("base = 'champion'\nsimulations = 16\n")
    message = error_line(run(*words, cwd=tmp_path))
    assert "options.mine.toml.simulations is 8 there and 16 here" in message


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]
)
def test_a_stopped_match_goes_on_where_it_was(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    words = ("match", "greedy", "random", "--pairs", PAIRS, "--concurrency", 1)
    words += ("--results", "m.sqlite")
    with start(*words, cwd=tmp_path) as process:
        assert process.stderr is not None
        read_until(process.stderr, f"games: {PAIRS * 2 // 10} of {PAIRS * 2}")
        os.killpg(process.pid, number)
        output, notes = process.communicate()
        assert process.returncode == code
    assert output == ""
    before = games_of(tmp_path / "m.sqlite")
    if number == signal.SIGINT:
        assert f"Interrupted: {len(before)} of {PAIRS * 2} games are kept in m.sqlite." in notes
        assert f"Go on with: carc match greedy random --pairs {PAIRS}" in notes
        assert "Traceback" not in notes
    document = carc_json(*words, cwd=tmp_path)
    assert document["kept"] == len(before) >= PAIRS * 2 // 10
    assert document["kept"] + document["played"] == PAIRS * 2
    after = games_of(tmp_path / "m.sqlite")
    assert all(after[key] == record for key, record in before.items())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["greedy"], "Missing argument 'B'"),
        (["greedy", "rnadom"], "unknown agent 'rnadom', did you mean 'random'?"),
        (["greedy", "none.toml"], "none.toml: No such file or directory"),
        (["greedy", "random", "--pairs", "0"], "found 0, expected a whole number from 1"),
        (["greedy", "random", "--rules", "players=3"], "found players 3, expected 2"),
        (["greedy", "random", "--time-ms", "10"], "--time-ms: found no agent that keeps to a time"),
        (["greedy", "champion", "--time-ms", "0"], "found 0, expected a number from 0.1"),
        (["greedy", "random", "-o", "simulations=5"], "unknown option 'simulations'"),
        (["champion", "random", "-o", "simulatons=5"], "did you mean 'simulations'?"),
        (["champion", "random", "-o", "b.trees=5"], "unknown option 'trees' of random"),
        (["champion", "random", "-o", "c.trees=5"], "expected a.option=value or b.option=value"),
        (["champion", "random", "-o", "trees"], "found 'trees', expected option=value"),
        (["champion", "random", "-o", "trees=0"], "trees: found 0, expected a whole number"),
        (
            ["star25", "random", "--time-ms", "5"],
            "--time-ms: 2.5 ms for each of a turn's 2 decisions",
        ),
        (["champion:tres=1", "random"], "unknown option 'tres', did you mean 'trees'?"),
    ],
)
def test_what_cannot_be_played_is_one_error_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    assert message in error_line(run("match", *words, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_an_option_goes_to_every_agent_that_has_it() -> None:
    assert apply_options(["champion", "greedy"], ["trees=2"]) == ["champion:trees=2", "greedy"]
    both = apply_options(["champion", "uct-rollout:trees=3"], ["trees=2", "b.simulations=9"])
    assert both == ["champion:trees=2", "uct-rollout:trees=2,simulations=9"]
    assert apply_options(["champion", "star25"], ["a.utility=win"]) == [
        "champion:utility=win",
        "star25",
    ]


def test_a_turns_time_is_half_for_each_decision_and_nothing_else_ends_it() -> None:
    agents = limit_time(["champion", "star25", "greedy"], 100, "--time-ms")
    options = [carc.make_agent(agent).options for agent in agents]
    assert (options[0]["time_ms"], options[0]["simulations"]) == (50, 10**12)
    assert (options[1]["time_ms"], options[1]["depth"]) == (50, 84)
    assert options[2] == {}
    (guest, _) = limit_time(["guest:command=cat", "greedy"], 100, "--time-ms")
    assert carc.make_agent(guest).options["move_ms"] == 50
    for time_ms, move_ms in ((5, 2), (0.5, 1)):  # whole milliseconds
        agents = limit_time(["guest:command=cat", "champion"], time_ms, "--time-ms")
        assert carc.make_agent(agents[0]).options["move_ms"] == move_ms
        assert carc.make_agent(agents[1]).options["time_ms"] == time_ms / 2
    settings = config_of("champion", "greedy", time_ms=5, options=["simulations=100"])
    assert carc.make_agent(settings.agents[0]).options["simulations"] == 100


def test_a_timed_match_is_played(tmp_path: Path) -> None:
    words = ("match", "champion", "star25", "--pairs", 1, "--time-ms", 2)
    document = carc_json(*words, cwd=tmp_path)
    assert document["agents"] == ["champion", "star25"]
    assert document["games"] == 2
    assert all(rate > 0 for rate in document["sims_per_s"].values())


def stored(deck: int, rotation: int, scores: tuple[int, int]) -> StoredGame:
    """Return a game; scores are those of greedy and random."""
    agents, both = ["greedy", "random"], list(scores)
    if rotation == 1:
        agents, both = agents[::-1], both[::-1]
    return StoredGame(0, deck, rotation, agents, both, [0.1, 0.1], [0, 0], 71)


def report_of(*scores: tuple[int, int]) -> MatchReport:
    """Return the report of these games, two a pair."""
    games = [stored(i // 2, i % 2, each) for i, each in enumerate(scores)]
    return make_match_report(config_of("greedy", "random", pairs=len(scores) // 2), games)


def test_report_of_two_pairs_worked_out_by_hand() -> None:
    report = report_of((50, 10), (40, 20), (30, 30), (20, 24)).to_dict()
    assert (report["wins"], report["ties"], report["losses"]) == (2, 1, 1)
    assert report["win_rate"] == 0.625
    low, high = report["win_rate_ci95"]
    assert 0 <= low < 0.1
    assert 0.9 < high <= 1
    assert report["margin_mean"] == 14
    assert report["margin_ci95"] == pytest.approx([14 - 12.706 * 16, 14 + 12.706 * 16], rel=1e-4)
    assert report["score_mean"] == {"greedy": 35, "random": 21}


def test_pairs_are_counted_by_their_points() -> None:
    report = report_of((50, 10), (40, 20), (30, 30), (20, 24), (1, 2), (2, 1)).to_dict()
    assert report["pentanomial"] == [0, 1, 1, 0, 1]
    assert report["seat_effect"] == pytest.approx((40 - 20 + 0 + 4 - 1 - 1) / 6)


def test_a_forfeited_game_is_lost_and_has_no_margin() -> None:
    games = [stored(0, 0, (50, 10)), stored(0, 1, (50, 10)), stored(1, 0, (50, 10))]
    games.append(replace(stored(1, 1, (90, 10)), forfeit=(1, "crash", "gone")))  # greedy's seat
    report = make_match_report(config_of("greedy", "random", pairs=2), games)
    assert report.names == ("greedy", "random")
    assert (report.a.wins, report.a.ties, report.a.losses) == (3, 0, 1)
    assert report.pentanomial == [0, 0, 1, 0, 1]
    assert report.forfeits == ({"crash": 1}, {})
    assert report.a.margin is not None
    assert report.a.margin.value == 40
    assert report.a.score == 50
    text = "\n".join(details(report))
    assert "greedy forfeited 1 games: crash 1" in text


def test_a_match_of_forfeits_alone_has_no_margin() -> None:
    games = [replace(stored(0, i, (9, 9)), forfeit=(0, "start", "none")) for i in (0, 1)]
    report = make_match_report(config_of("greedy", "random", pairs=1), games)
    assert report.a.margin is None
    assert (report.a.wins, report.a.losses) == (1, 1)
    document = report.to_dict()
    assert document["margin_mean"] is None
    assert "points a game" not in report.verdict()


# --- Sequential matches ---------------------------------------------------------------------------

SPRT = ("--elo0", 0, "--elo1", 100, "--seed", 3)


def test_a_sequential_match_stops_with_a_verdict(tmp_path: Path) -> None:
    document = carc_json("match", "greedy", "random", *SPRT, cwd=tmp_path)
    test = document["sprt"]
    assert test["verdict"] == "H1"
    assert test["llr"] >= test["bounds"][1]
    assert document["pairs"] == test["pairs"] < 200
    reverse = carc_json("match", "random", "greedy", *SPRT, cwd=tmp_path)
    assert reverse["sprt"]["verdict"] == "H0"


def test_the_verdict_depends_on_the_decks_alone(tmp_path: Path) -> None:
    words = ("match", "greedy", "jcz", "--margin0", -30, "--margin1", -20, "--seed", 5)
    whole = carc_json(*words, "--concurrency", 1, "--results", "1.sqlite", cwd=tmp_path)
    for pairs in (3, 11):
        carc_json(*words, "--pairs", pairs, "--results", "2.sqlite", cwd=tmp_path)
    parts = carc_json(*words, "--concurrency", 2, "--results", "2.sqlite", cwd=tmp_path)
    assert without_times(whole) == without_times(parts)
    again = carc_json(*words, "--results", "2.sqlite", cwd=tmp_path)
    assert again["played"] == 0
    assert without_times(again) == without_times(whole)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--elo0", "5"], "found elo0 5 and elo1 0, expected elo0 below elo1"),
        (["--alpha", "0.1"], "expected elo0 and elo1 or margin0 and margin1"),
        (["--elo1", "5", "--margin1", "5"], "expected elo0 and elo1 or margin0 and margin1"),
        (["--elo1", "5", "--beta", "0.7"], "found 0.7, expected a number from 1e-06 to 0.49"),
        (["--elo1", "nan"], "found nan, expected a number from -1000 to 1000"),
    ],
)
def test_a_wrong_sequential_test_is_one_error_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    assert message in error_line(run("match", "greedy", "random", *words, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


# --- Luck -----------------------------------------------------------------------------------------


def test_luck_is_measured_where_an_agent_searches(tmp_path: Path) -> None:
    searching = carc_json("match", *TINY, "--pairs", 3, cwd=tmp_path)
    assert searching["luck"]["coefficient"] == 0.3
    low, high = searching["luck"]["margin_ci95"]
    assert low < searching["luck"]["margin_mean"] < high
    assert carc_json("match", *TINY, "--pairs", 3, "--no-luck", cwd=tmp_path)["luck"] is None
    quick = ("match", "greedy", "jcz", "--pairs", 3)
    assert carc_json(*quick, cwd=tmp_path)["luck"] is None
    measured = carc_json(*quick, "--luck", cwd=tmp_path)
    assert measured["luck"]["margin_mean"] != measured["margin_mean"]


def test_the_verdict_says_who_where_the_interval_leaves_no_doubt() -> None:
    won = report_of(*[(50, 40)] * 20).verdict()
    assert won.startswith("greedy is better than random (+10.0 points a game)")
    lost = report_of(*[(40, 50)] * 20).verdict()
    assert lost.startswith("random is better than greedy (+10.0 points a game)")
    assert report_of((50, 40), (40, 50)).verdict().startswith("Neither is ahead")
    close = report_of((50, 40), (50, 40), (50, 40), (40, 50)).verdict()
    assert close.startswith("Too close to call: greedy is ahead (+5.0 points a game)")
    assert report_of((50, 40), (50, 40)).verdict().startswith("Too close to call")


def test_an_agent_against_itself_is_reported(tmp_path: Path) -> None:
    words = ("match", "greedy", "greedy", "--pairs", 5, "--luck")
    document = carc_json(*words, cwd=tmp_path)
    assert document["margin_mean"] == 0
    assert document["win_rate"] == 0.5
    assert document["variance"] == {"pairs": {"factor": 0, "ci95": [0, 0]}}
    text = run(*words, cwd=tmp_path)
    assert text.returncode == 0
    assert "Warning" not in text.stderr
    assert "nan" not in text.stdout


def test_a_margin_test_of_equal_games_ends(tmp_path: Path) -> None:
    words = ("match", "greedy", "greedy", "--margin0", 0, "--margin1", 2)
    document = carc_json(*words, cwd=tmp_path)
    assert document["sprt"]["verdict"] == "H0"
    assert document["pairs"] == 10


def test_fewer_pairs_than_the_verdict_took_are_judged_alone(tmp_path: Path) -> None:
    words = ("match", "greedy", "random", *SPRT, "--results", "m.sqlite")
    pairs = carc_json(*words, cwd=tmp_path)["pairs"]
    fewer = carc_json(*words, "--pairs", pairs - 2, cwd=tmp_path)
    assert fewer["sprt"]["verdict"] is None
    assert fewer["pairs"] == pairs - 2


def test_a_tournament_with_a_test_stops_and_reports_what_the_test_saw(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(
        "agents = ['greedy', 'random']\nrounds = 400\nsprt = { elo0 = 0, elo1 = 100 }\n"
    )
    documents = [
        carc_json(
            "tournament", "t.toml", "--concurrency", n, "--results", f"{n}.sqlite", cwd=tmp_path
        )
        for n in (1, 3)
    ]
    assert documents[0]["sprt"]["verdict"] == "H1"
    for document in documents:
        assert document["games"] == 2 * document["sprt"]["pairs"]
        assert document["sprt"] == documents[0]["sprt"]
        assert document["cross"] == documents[0]["cross"]


def test_tournaments_take_options_and_files(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("base = 'champion'\nsimulations = 8\ntrees = 1\n")
    agents = "champion:simulations=8,trees=2, mine.toml,star25:depth=1,hope=[0.1,0.2,0],greedy"
    document = carc_json("tournament", "--agents", agents, "--rounds", 1, cwd=tmp_path)
    assert document["settings"]["agents"] == [
        "champion:simulations=8,trees=2",
        "mine.toml",
        "star25:depth=1,hope=[0.1,0.2,0]",
        "greedy",
    ]
    assert document["games"] == 12
    rates = {agent["name"]: agent["sims_per_s"] for agent in document["agents"]}
    assert rates["mine.toml"] > 0
    assert rates["greedy"] is None
