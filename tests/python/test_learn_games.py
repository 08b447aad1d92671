"""Files of self-play games: they come back as they were, or are refused by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

import carc
from carc.learn.games import MAGIC, GamesFile, read_games, write_games
from carc.learn.selfplay import play_missing, shards_of, split_games
from carc.learn.stopping import StoppedError
from training import make_games, played, series


def assert_equal(left: GamesFile, right: GamesFile) -> None:
    assert sorted(left.arrays) == sorted(right.arrays)
    for name, array in left.arrays.items():
        np.testing.assert_array_equal(array, right.arrays[name])
        assert array.dtype == right.arrays[name].dtype
    assert (left.rules, left.seed, left.first_game) == (right.rules, right.seed, right.first_game)
    assert (left.network, left.options) == (right.network, right.options)


@pytest.mark.parametrize("players", [2, 5])
def test_games_come_back_as_they_were(players: int, tmp_path: Path) -> None:
    rules = carc.Rules(players=players, river="2021")
    games = make_games(3, rules=rules, seed=2**64 - 1, first=7)
    write_games(tmp_path / "a.parquet", games)
    assert_equal(read_games(tmp_path / "a.parquet"), games)


def test_policies_of_searches_come_back_as_they_were(tmp_path: Path) -> None:
    games = make_games(2, simulations=8)
    assert "policy_share" in games.arrays
    write_games(tmp_path / "a.parquet", games)
    assert_equal(read_games(tmp_path / "a.parquet"), games)


def test_games_do_not_depend_on_where_a_series_is_cut(tmp_path: Path) -> None:
    whole = [read_games(path) for path in played(tmp_path / "one", 6, 6)]
    parts = [read_games(path) for path in played(tmp_path / "many", 6, 2)]
    assert [part.first_game for part in parts] == [0, 2, 4]
    for name, array in whole[0].arrays.items():
        joined = np.concatenate([part.arrays[name] for part in parts])
        np.testing.assert_array_equal(array, joined)


def test_shards_that_are_there_are_not_played_again(tmp_path: Path) -> None:
    shards = shards_of([series(tmp_path)])
    with pytest.raises(StoppedError):
        play_missing(shards, stopped=lambda: shards[0].path.exists())
    assert [shard.path.exists() for shard in shards] == [True, False, False]
    before = shards[0].path.stat().st_mtime_ns
    assert play_missing(shards) == 8
    assert shards[0].path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("rules", {"rules": carc.Rules(players=3)}),
        ("seed", {"seed": 4}),
        ("games", {"shard": 3, "games": 3}),
        ("options", {"options": {"softmax_rate": 0.5}}),
    ],
)
def test_a_folder_with_other_games_is_refused_by_what_differs(
    key: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    played(tmp_path, 4, 4)
    with pytest.raises(carc.GamesError, match=f"found games of {key} "):
        play_missing(shards_of([series(tmp_path, **{"games": 4, "shard": 4, **changes})]))


def test_shares_of_games_add_up() -> None:
    assert split_games(10, [0.6, 0.3, 0.1]) == [6, 3, 1]
    assert split_games(1, [0.5, 0.5]) == [1, 0]
    assert split_games(100, [1 / 3] * 3) == [34, 33, 33]
    assert split_games(2, [0.9, 0.05, 0.05]) == [2, 0, 0]


@pytest.mark.parametrize("change", ["shape", "type", "missing", "empty"])
def test_arrays_that_do_not_fit_are_not_written(change: str, tmp_path: Path) -> None:
    games = make_games(2)
    arrays = dict(games.arrays)
    if change == "shape":
        arrays["tile"] = arrays["tile"][:-1]
    elif change == "type":
        arrays["placement"] = arrays["placement"].astype(np.int64)
    elif change == "missing":
        del arrays["final"]
    else:
        arrays = {name: array[:0] for name, array in arrays.items()}
    with pytest.raises(ValueError, match="expected"):
        write_games(tmp_path / "a.parquet", GamesFile(arrays, games.rules, 3, 0))
    assert list(tmp_path.iterdir()) == []


# --- Damaged files --------------------------------------------------------------------------------


def changed_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


def with_meta(**changes: Any) -> Callable[[Path], None]:
    """Change the metadata, None for a key that goes, and write the file anew."""

    def change(path: Path) -> None:
        table = pq.read_table(path)
        meta = {**json.loads(table.schema.metadata[MAGIC]), **changes}
        meta = {key: value for key, value in meta.items() if value is not None}
        pq.write_table(table.replace_schema_metadata({MAGIC: json.dumps(meta)}), path)

    return change


def without_metadata(path: Path) -> None:
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)


def with_table(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    def rewrite(path: Path) -> None:
        table = pq.read_table(path)
        pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)

    return rewrite


def with_column(name: str, change: Callable[[list[Any]], list[Any]], kind: Any = None) -> Any:
    def put(table: pa.Table) -> pa.Table:
        index = table.column_names.index(name)
        wanted = kind or table.schema.field(name).type
        column = pa.array(change(table.column(name).to_pylist()), wanted)
        return table.set_column(index, name, column)

    return with_table(put)


def moved(rows: list[Any]) -> list[Any]:
    """Move the last number of the first list to the second."""
    return [rows[0][:-1], [rows[0][-1], *rows[1]], *rows[2:]]


DAMAGES: dict[str, Callable[[Path], None]] = {
    "empty": changed_bytes(lambda _: b""),
    "text": changed_bytes(lambda _: b"PAR1 is how it begins"),
    "cut at the end": changed_bytes(lambda data: data[:-9]),
    "cut in the middle": changed_bytes(lambda data: data[: len(data) // 2]),
    "begins later": changed_bytes(lambda data: data[5:]),
    "zeros": changed_bytes(lambda data: bytes(len(data))),
    "no metadata": without_metadata,
    "another format": with_meta(format=2),
    "a format that is a text": with_meta(format="1"),
    "no seed": with_meta(seed=None),
    "an unknown key": with_meta(colour="red"),
    "another seed": with_meta(seed=4),
    "a negative seed": with_meta(seed=-1),
    "a seed that is true": with_meta(seed=True),
    "another first game": with_meta(first_game=1),
    "more games": with_meta(games=9),
    "another network": with_meta(network="0123456789abcdef"),
    "a network that is a number": with_meta(network=1),
    "rules that are a text": with_meta(rules="current"),
    "unknown rules": with_meta(rules={"dragons": True}),
    "another checksum": with_meta(checksum="0" * 16),
    "a column less": with_table(lambda table: table.drop_columns(["figure"])),
    "a column more": with_table(lambda table: table.append_column("x", table.column("tile"))),
    "a column twice": with_table(lambda table: table.append_column("tile", table.column("tile"))),
    "a row less": with_table(lambda table: table.slice(1)),
    "rows in another order": with_table(lambda table: table.take(pa.array([1, 0, 2]))),
    "no rows": with_table(lambda table: table.slice(0, 0)),
    "another type": with_column("tile", lambda rows: rows, pa.list_(pa.int64())),
    "no list": with_column("tile", lambda rows: [row[0] for row in rows], pa.uint8()),
    "a missing list": with_column("tile", lambda rows: [None, *rows[1:]]),
    "a missing number": with_column("tile", lambda rows: [[None, *rows[0][1:]], *rows[1:]]),
    "a number moved": with_column("tile", moved),
    "a shorter list": with_column("tile", lambda rows: [rows[0][1:], *rows[1:]]),
    "another number": with_column("placement", lambda rows: [[9, *rows[0][1:]], *rows[1:]]),
    "fewer turns": with_column("game_turns", lambda rows: [rows[0] - 1, *rows[1:]]),
    "no turns": with_column("game_turns", lambda rows: [0 for _ in rows]),
    "a final score less": with_column("final", lambda rows: [rows[0][1:], *rows[1:]]),
    "a final score more a game": with_column("final", lambda rows: [[*row, 0] for row in rows]),
}


@pytest.fixture(scope="module")
def good_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("games") / "good.parquet"
    write_games(path, make_games(3))
    return path.read_bytes()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused_by_name(damage: str, good_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(good_file)
    DAMAGES[damage](path)
    with pytest.raises(carc.GamesError, match=r"expected|unknown") as error:
        read_games(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_flipped_byte_is_refused_or_changes_nothing(good_file: bytes, tmp_path: Path) -> None:
    """Parquet holds bytes that nobody reads; whatever is read is covered by the checksum."""
    path = tmp_path / "bad.parquet"
    path.write_bytes(good_file)
    good = read_games(path)
    errors = []
    places = range(0, len(good_file), 37)
    for place in places:
        changed = bytearray(good_file)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            assert_equal(read_games(path), good)
        except carc.GamesError as error:
            errors.append(str(error))
    assert len(errors) > 0.5 * len(places)
    assert all(error.startswith(f"{path}: ") for error in errors)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_games(tmp_path / "none.parquet")
