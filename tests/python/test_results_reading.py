"""Reading results files: whole, beside a writer, and damaged ones refused by name."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest

import carc
from carc.results import ResultsFile, StoredGame, read_results
from carc.tournament import identity, schedule
from stored_results import altered, invent, play


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a results file of two decks."""
    file = tmp_path / "run.sqlite"
    play(file, "greedy", "random")
    return file


def test_a_file_is_read_without_its_configuration(path: Path) -> None:
    before = sorted(file.name for file in path.parent.iterdir())
    with read_results(path) as results:
        assert len(results) == 4
        assert results.identity["agents"] == ["greedy", "random"]
        assert results.carc == carc.__version__
        games = list(results.games())
        again = list(results.games())
    assert games == again
    assert [game.key for game in games] == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    assert sorted(file.name for file in path.parent.iterdir()) == before


def test_a_game_comes_back_with_everything_but_its_record(tmp_path: Path) -> None:
    file = tmp_path / "one.sqlite"
    config = play(file, "greedy", "random", rounds=1)
    (first, _) = list(schedule(config))
    result = carc.play_game(config.rules, ["greedy", "random"], first.seed)
    with read_results(file) as results:
        game, record = results.game(first.key)
        assert game == next(iter(results.games()))
    assert record == result.record
    expected = StoredGame(
        *first.key,
        agents=["greedy", "random"],
        scores=result.scores,
        think_seconds=game.think_seconds,
        simulations=[0, 0],
        turns=71,
        seed=first.seed,
        points=result.points,
        final_count=result.final_count,
        figures_set=result.figures_set,
        discarded=tuple(result.discarded),
        finished=game.finished,
    )
    assert game == expected


def test_forfeit_and_luck_come_back(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    why = (1, "illegal", 'found "D@0,0r1", expected a ; legal\nmove, ☃')
    invent(file, ["a", "b"], rounds=1, forfeits=[(2, why)], luck=[1.5, -2.25])
    with read_results(file) as results:
        first, second = results.games()
    assert (first.forfeit, second.forfeit) == (None, why)
    assert first.luck == second.luck == [1.5, -2.25]


def test_a_result_that_knows_no_luck_can_be_kept(tmp_path: Path) -> None:
    result = altered(carc.play_game(carc.Rules(), ["random", "greedy"]))
    del result.luck
    with ResultsFile(tmp_path / "run.sqlite", {"agents": []}) as results:
        results.add((0, 0, 0), 1, ["random", "greedy"], result)
        assert results.games()[0].luck is None


def test_times_are_utc_and_in_order(path: Path) -> None:
    with read_results(path) as results:
        finished = [datetime.fromisoformat(g.finished.rstrip("Z")) for g in results.games()]
        created = datetime.fromisoformat(results.created.rstrip("Z"))
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    assert created <= min(finished) <= max(finished) <= now


def test_agents_are_kept_with_all_their_options_and_their_hash(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    play(file, "jcz:fields=0.5", "jcz", "greedy", rounds=1)
    with read_results(file) as results:
        agents = results.agents
    assert [name for name, _, _, _ in agents] == ["jcz:fields=0.5", "jcz", "greedy"]
    assert [version for _, version, _, _ in agents] == [carc.__version__] * 3
    assert agents[0][2]["fields"] == 0.5
    assert agents[0][2] != agents[1][2]
    assert len({digest for _, _, _, digest in agents}) == 3
    assert all(len(digest) == 64 for _, _, _, digest in agents)


def test_the_order_of_writing_does_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    result = carc.play_game(carc.Rules(), ["random", "greedy"])
    keys = [(1, 2, 0), (0, 2, 1), (0, 0, 1), (1, 0, 0), (0, 2, 0)]
    with ResultsFile(file, {"agents": []}) as results:
        for key in keys:
            results.add(key, 1, ["random", "greedy"], result)
        assert results.finished_keys() == set(keys)
        written = results.games()
    expected = sorted(keys, key=lambda key: (key[1], key[0], key[2]))
    assert [game.key for game in written] == expected
    with read_results(file) as reading:
        assert [game.key for game in reading.games()] == expected


def test_a_file_is_read_while_it_is_written(path: Path) -> None:
    config = play(path.with_name("other.sqlite"), "greedy", "random", rounds=3)
    result = carc.play_game(carc.Rules(), ["greedy", "random"])
    with ResultsFile(path, identity(config)) as writer:
        writer.add((0, 2, 0), 7, ["greedy", "random"], result)
        with read_results(path) as reader:
            assert len(list(reader.games())) == 5
            writer.add((0, 2, 1), 7, ["random", "greedy"], result)
            assert len(list(reader.games())) == 6
        assert len(writer.finished_keys()) == 6
    with read_results(path) as reader:
        assert len(reader) == 6


KILLED = """
import sys, os, signal
from pathlib import Path
import carc
from carc.results import ResultsFile
result = carc.play_game(carc.Rules(), ["greedy", "random"])
results = ResultsFile(Path(sys.argv[1]), {"agents": []})
for deck in range(40):
    results.add((0, deck, 0), 1, ["greedy", "random"], result)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_had_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    done = subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    assert done.returncode == -signal.SIGKILL
    with read_results(file) as results:
        assert len(list(results.games())) == 40
    with ResultsFile(file, {"agents": []}) as writer:
        assert len(writer.finished_keys()) == 40


@pytest.mark.skipif(os.geteuid() == 0, reason="everything may be written by root")
def test_a_file_in_a_folder_that_cannot_be_written_is_read(path: Path) -> None:
    path.parent.chmod(0o500)
    try:
        with read_results(path) as results:
            assert len(list(results.games())) == 4
    finally:
        path.parent.chmod(0o700)


def test_a_file_that_changes_while_it_is_read_is_refused(path: Path) -> None:
    config = play(path.with_name("other.sqlite"), "greedy", "random", rounds=3)
    result = carc.play_game(carc.Rules(), ["greedy", "random"])
    with read_results(path) as reader:
        games = reader.games()
        next(games)
        with ResultsFile(path, identity(config)) as writer:
            writer.add((0, 2, 0), 7, ["greedy", "random"], result)
        with pytest.raises(carc.ResultsError, match="was written while it was read"):
            list(games)


def sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(statement)


def changed_options(path: Path) -> None:
    sql(path, 'UPDATE agents SET options = \'{"kind":"jcz"}\' WHERE position = 0')


def removed_agent(path: Path) -> None:
    sql(path, "DELETE FROM agents WHERE position = 1")


def changed_forfeit(path: Path) -> None:
    sql(path, 'UPDATE games SET forfeit = \'[0,"time",""]\' WHERE deck = 1 AND rotation = 1')


def changed_luck(path: Path) -> None:
    sql(path, "UPDATE games SET luck = '[1.0,2.0]' WHERE deck = 0 AND rotation = 0")


def removed_record(path: Path) -> None:
    sql(path, "UPDATE games SET record = '' WHERE deck = 0 AND rotation = 0")


def older(path: Path) -> None:
    sql(path, "PRAGMA user_version = 2")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("{}\n" * 100)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (changed_options, "the table of agents is not that of the configuration"),
        (removed_agent, "the table of agents is not that of the configuration"),
        (changed_forfeit, "the game of pairing 0, deck 1, rotation 1 does not have its checksum"),
        (changed_luck, "the game of pairing 0, deck 0, rotation 0 does not have its checksum"),
        (removed_record, "the game of pairing 0, deck 0, rotation 0 does not have its checksum"),
        (older, "found version 2 of the results format, expected 3"),
        (empty, "found an empty file"),
        (text, "no carc results database"),
        (truncated, "run.sqlite: "),
    ],
)
def test_a_damaged_file_is_refused(
    path: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(path)
    with pytest.raises(carc.ResultsError) as caught, read_results(path) as results:
        list(results.games())
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_results(tmp_path / "none.sqlite")
    with pytest.raises(IsADirectoryError):
        read_results(tmp_path)


def test_forfeits_are_json_for_other_programs(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    invent(file, ["a", "b"], rounds=1, forfeits=[(1, (0, "time", "2.5 s"))])
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT forfeit, luck FROM games ORDER BY deck, rotation")
        values = [(json.loads(forfeit), json.loads(luck)) for forfeit, luck in rows]
    assert values == [([0, "time", "2.5 s"], None), (None, None)]
