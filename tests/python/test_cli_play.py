"""``carc play``: games between agents, and a person at the terminal."""

import gzip
import json
import signal
from pathlib import Path

import pytest

import carc as package
from carc.files import write_atomically
from command_line import carc, carc_json, error_line, read_until, start


def test_a_game_shows_board_and_points() -> None:
    done = carc("play", "greedy", "random", "--seed", 3)
    assert done.returncode == 0, done.stderr
    result = package.play_game(package.Rules(), ["greedy", "random"], seed=3)
    assert str(package.GameRecord.from_json(result.record).state) in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    for seat, name in enumerate(("greedy", "random")):
        (row,) = (row for row in rows if row[:2] == [str(seat), name])
        assert str(result.scores[seat]) in row[2:]


def test_a_game_as_json_is_the_game_of_its_seed() -> None:
    document = carc_json(
        "play", "greedy", "random", "random", "--seed", 4, "--rules", "current_river_abbot"
    )
    rules = package.Rules.preset("current_river_abbot", players=3)
    result = package.play_game(rules, ["greedy", "random", "random"], seed=4)
    assert document["scores"] == result.scores
    assert document["points"] == result.points
    assert document["record"] == json.loads(result.record)


def test_without_a_seed_the_printed_one_repeats_the_game() -> None:
    first = carc_json("play")
    assert carc_json("play", "--seed", first["seed"])["scores"] == first["scores"]


@pytest.mark.parametrize("name", ["game.jsonl", "game.jsonl.gz"])
def test_a_recorded_game_verifies(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    document = carc_json("play", "--seed", 6, "--record", path)
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    assert json.loads(data) == document["record"]
    assert carc_json("verify", path)["total"]["games"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_no_record_file(tmp_path: Path) -> None:
    assert f"found the folder {tmp_path}" in error_line(carc("play", "--record", tmp_path))
    with pytest.raises(IsADirectoryError) as caught:
        write_atomically(tmp_path, b"")
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    done = carc("play", "--seed", 6, "--record", tmp_path / "file" / "game.jsonl", "--json")
    assert done.returncode == 0
    (tmp_path / "blocked").write_text("")
    done = carc("play", "--seed", 6, "--record", tmp_path / "blocked" / "game.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith("carc: error: ")


def test_a_person_plays_by_numbers_to_the_end() -> None:
    done = carc("play", "human", "random", "--seed", 5, stdin="0\n" * 200)
    assert done.returncode == 0, done.stderr
    assert "0 tiles left, phase over" in done.stdout
    assert "figures set" in done.stdout


def test_a_person_meets_the_same_game_as_an_agent_with_the_same_moves(tmp_path: Path) -> None:
    class First(package.Agent):
        name = "human"

        def choose(self, state: package.GameState, rng: package.Rng) -> package.Action:
            return state.legal_actions()[0]

    carc(
        "play",
        "human",
        "greedy",
        "--seed",
        5,
        "--record",
        tmp_path / "game.jsonl",
        stdin="0\n" * 200,
    )
    expected = package.play_game(package.Rules(), [First(), "greedy"], seed=5).record
    assert (tmp_path / "game.jsonl").read_text() == expected + "\n"


def test_a_person_answers_in_notation() -> None:
    rules = package.Rules()
    state = package.GameState(rules)
    state.draw(package.Deck(rules, seed=5))
    placement = state.action_to_string(state.legal_actions()[3])
    done = carc("play", "human", "greedy", "--seed", 5, stdin=f"{placement}\nfield:0\nquit\n")
    assert done.returncode == 0
    assert "player 1 (greedy): " in done.stdout
    assert "player 0: 0 points, 6 meeples" in done.stdout


def test_bad_answers_are_asked_again() -> None:
    done = carc(
        "play",
        "human",
        "greedy",
        "--seed",
        5,
        stdin="\nnonsense\n999\nD@0,0r0\n-1\n²\nlist\nboard\n0\nback:1,1\nquit\n",
    )
    assert done.returncode == 0
    assert "found 'nonsense', expected a placement such as D@0,-1r2" in done.stdout
    assert "found 999, expected a number from 0 to" in done.stdout
    assert done.stdout.count("player 0, lay ") == 9
    assert done.stdout.count("player 0, figure> ") == 2
    assert "The game was left before its end." in done.stdout


def test_help_explains_the_notation() -> None:
    done = carc("play", "human", "greedy", "--seed", 5, stdin="help\nquit\n")
    assert "city:N    a meeple on the city at the north edge" in done.stdout


def test_the_end_of_the_input_ends_the_game() -> None:
    done = carc("play", "random", "human", "--seed", 5, stdin="0\n")
    assert done.returncode == 130
    assert "The input ended before the game." in done.stdout
    assert done.stderr == ""


def test_an_interrupt_ends_a_persons_game() -> None:
    with start("play", "human", "greedy", "--seed", 5) as process:
        assert process.stdout is not None
        read_until(process.stdout, "lay V> ")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr is not None
        assert process.stderr.read().strip() == ""


def test_a_person_with_json_gets_the_questions_on_stderr() -> None:
    done = carc("play", "human", "random", "--seed", 5, "--json", stdin="0\n" * 200)
    assert done.returncode == 0
    assert json.loads(done.stdout)["agents"] == ["human", "random"]
    assert "player 0, lay " in done.stderr
