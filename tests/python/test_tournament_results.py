"""The results file: what it keeps, and that a damaged, foreign or busy one is refused and left as
it was.
"""

import errno
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import carc
from carc.config import TournamentConfig
from carc.files import appear
from carc.results import ResultsFile
from carc.tournament import identity, play_missing

TWO = ("random", "greedy")
CONFIG = TournamentConfig(agents=TWO, rounds=3)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database as any other program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        yield database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a results file of three decks."""
    file = tmp_path / "results.sqlite"
    with ResultsFile(file, identity(CONFIG)) as results:
        play_missing(CONFIG, results)
    return file


def refusal(path: Path, config: TournamentConfig = CONFIG) -> str:
    """Open a file that must be refused, check that nothing was changed, and return the message."""
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(carc.ResultsError) as caught, ResultsFile(path, identity(config)):
        pass
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_game_is_kept_with_everything_known_about_it(path: Path) -> None:
    with opened(path) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute("SELECT * FROM games ORDER BY deck, rotation").fetchall()
    assert [(row["pairing"], row["deck"], row["rotation"]) for row in rows] == [
        (0, deck, rotation) for deck in range(3) for rotation in range(2)
    ]
    for row in rows:
        values = {
            name: json.loads(row[name])
            for name in ("agents", "scores", "points", "final_count", "figures_set", "simulations")
        }
        record = carc.GameRecord.from_json(row["record"])
        assert record.agents == values["agents"]
        assert record.seed == int(row["seed"]) == carc.split_seed(CONFIG.seed, row["deck"])
        assert record.state.scores == values["scores"]
        assert record.state.points == values["points"]
        assert record.state.final_count == values["final_count"]
        assert values["simulations"] == [0, 0]
        assert row["turns"] == len(record.state.tiles) - 1
        assert json.loads(row["discarded"]) == record.state.discarded
        assert len(json.loads(row["think_seconds"])) == 2
    assert rows[0]["agents"] == '["random","greedy"]'
    assert rows[1]["agents"] == '["greedy","random"]'


def test_the_file_states_its_format(path: Path) -> None:
    with opened(path) as database:
        meta = dict(database.execute("SELECT key, value FROM meta"))
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert (meta["format"], meta["version"]) == ("carc-results", "3")
    assert json.loads(meta["config"]) == identity(CONFIG)


def test_a_game_cannot_be_kept_twice(path: Path) -> None:
    result = carc.play_game(carc.Rules(), ["random", "greedy"])
    with ResultsFile(path, identity(CONFIG)) as results:
        with pytest.raises(carc.ResultsError, match="UNIQUE"):
            results.add((0, 0, 0), 1, ["random", "greedy"], result)
        assert len(results.games()) == 6


@pytest.mark.parametrize(
    ("config", "difference"),
    [
        (TournamentConfig(agents=TWO, seed=2), "seed is 1 there and 2 here"),
        (TournamentConfig(agents=("greedy", "random")), 'agents is ["random","greedy"] there'),
        (
            TournamentConfig(agents=TWO, rules=carc.Rules(abbot=True)),
            "rules.abbot is false there and true here",
        ),
        (
            TournamentConfig(agents=("random", "greedy", "greedy"), rules=carc.Rules(players=3)),
            "players is 2 there and 3 here",
        ),
    ],
)
def test_another_configuration_is_refused_by_its_keys(
    path: Path, config: TournamentConfig, difference: str
) -> None:
    assert difference in refusal(path, config)


def test_games_of_another_version_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carc.tournament.__version__", "9.9.9")
    assert 'carc is "' in refusal(path)


def test_a_busy_file_is_refused(path: Path) -> None:
    with ResultsFile(path, identity(CONFIG)):
        assert "in use by another process" in refusal(path)
    with ResultsFile(path, identity(CONFIG)) as results:
        assert len(results.games()) == 6


def empty(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("agents = []\n" * 100)


def foreign_database(path: Path) -> None:
    path.unlink()
    with opened(path) as database:
        database.execute("CREATE TABLE games (id)")


def newer_version(path: Path) -> None:
    with opened(path) as database:
        database.execute("PRAGMA user_version = 4")


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def only_a_header(path: Path) -> None:
    os.truncate(path, 100)


def zeroed_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(bytes(4096))


def without_meta(path: Path) -> None:
    with opened(path) as database:
        database.execute("DROP TABLE meta")


def changed_meta(path: Path) -> None:
    with opened(path) as database:
        database.execute(
            "UPDATE meta SET value = replace(value, 'greedy', 'greedz') WHERE key = 'config'"
        )


def changed_score(path: Path) -> None:
    with opened(path) as database:
        database.execute("UPDATE games SET scores = '[1,2]' WHERE deck = 1 AND rotation = 0")


def changed_record(path: Path) -> None:
    data = path.read_bytes()
    place = data.index(b'"meeples":[7,')
    path.write_bytes(data[:place] + b'"meeples":[6,' + data[place + 13 :])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (empty, "found an empty file"),
        (text, "no carc results database"),
        (foreign_database, "no carc results database"),
        (newer_version, "found version 4 of the results format, expected 3"),
        (truncated, "results.sqlite: "),
        (only_a_header, "results.sqlite: "),
        (zeroed_page, "results.sqlite: "),
        (without_meta, "no such table: meta"),
        (changed_meta, "the configuration does not have its checksum"),
        (changed_score, "the game of pairing 0, deck 1, rotation 0 does not have its checksum"),
        (changed_record, "does not have its checksum"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_untouched(
    path: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(path)
    assert message in refusal(path)
    assert "move it away or name another file" in refusal(path) or "version" in message


def without_links(source: object, target: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", without_links)
    file = tmp_path / "results.sqlite"
    with ResultsFile(file, identity(CONFIG)) as results:
        play_missing(CONFIG, results)
    with ResultsFile(file, identity(CONFIG)) as results:
        assert len(results.games()) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["results.sqlite"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_name_that_is_taken_keeps_its_file(
    has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_links:
        monkeypatch.setattr(os, "link", without_links)
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    new.write_text("new")
    with pytest.raises(FileExistsError):
        appear(new, old)
    assert (old.read_text(), new.read_text()) == ("old", "new")


def test_a_folder_is_no_results_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        ResultsFile(tmp_path, identity(CONFIG))
