"""``carc results``: listing, showing and exporting games, and refusing what is none."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

import carc as package
from carc.export import COLUMNS, NAMES, game_rows, write_csv, writer_for
from carc.replay import numbered, stored_config
from carc.results import read_results
from command_line import carc, carc_json, error_line
from stored_results import invent, play

LONG = "最強 bot:" + ",".join(f"option_{i}={i}" for i in range(30))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a small results file, run.sqlite."""
    play(tmp_path / "run.sqlite", "greedy", "random", "jcz")
    return tmp_path


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows that an export of this file must have."""
    with read_results(path) as results:
        pairs = numbered(stored_config(results.identity), results.games(), path)
        return [row for number, game in pairs for row in game_rows(number, game)]


def test_a_file_is_summed_up(folder: Path) -> None:
    done = carc("results", "run.sqlite", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("run.sqlite\n12 games on 2 decks, 2 decks complete\n")
    assert "2 players, seed 1, rules current" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["jcz", "8", "0"] in [row[:3] for row in rows]
    assert carc("results", "files", "run.sqlite", cwd=folder).stdout == done.stdout


def test_several_files_are_summed_up(folder: Path) -> None:
    invent(folder / "b.sqlite", ["x", "y"], rounds=3, forfeits=[(2, (0, "time", "late"))])
    documents = carc_json("results", "run.sqlite", "b.sqlite", cwd=folder)["files"]
    assert [document["file"] for document in documents] == ["run.sqlite", "b.sqlite"]
    first, second = documents
    assert (first["games"], first["decks"], first["complete_decks"]) == (12, 2, 2)
    assert first["agents"][0]["options"] == {"kind": "greedy"}
    assert second["forfeits"] == {"time": 1}
    assert [agent["forfeits"] for agent in second["agents"]] == [0, 1]
    assert "Forfeited: 1 time" in carc("results", "b.sqlite", cwd=folder).stdout


def test_a_file_without_games_is_summed_up(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", rounds=0)
    done = carc("results", "run.sqlite", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 games on 0 decks, 0 decks complete" in done.stdout
    assert carc("results", "list", "run.sqlite", cwd=tmp_path).stdout == "0 games\n"


def test_games_are_listed_and_chosen(folder: Path) -> None:
    def numbers(*words: object) -> list[int]:
        document = carc_json("results", "list", "run.sqlite", *words, cwd=folder)
        assert document["matching"] >= len(document["games"])
        return [game["game"] for game in document["games"]]

    assert numbers() == list(range(1, 13))
    assert numbers("--agent", "jcz") == [3, 4, 5, 6, 9, 10, 11, 12]
    assert numbers("--agent", "jcz", "--deck", 1, "--limit", 2) == [9, 10]
    assert numbers("--forfeits") == []
    assert numbers("--deck", 7) == []
    shown = carc("results", "list", "run.sqlite", "--limit", 2, cwd=folder).stdout
    assert shown.endswith("2 of 12 games; all with --limit 0\n")


def test_forfeited_games_are_listed_with_their_reasons(tmp_path: Path) -> None:
    why = (1, "illegal", "found | a ☃")
    invent(tmp_path / "run.sqlite", [LONG, "b"], rounds=3, forfeits=[(3, why)])
    document = carc_json("results", "list", "run.sqlite", "--forfeits", cwd=tmp_path)
    (game,) = document["games"]
    assert game["game"] == 3
    assert game["forfeit"] == {"seat": 2, "reason": "illegal", "detail": "found | a ☃"}
    assert game["agents"] == [LONG, "b"]
    assert "seat 2:" in carc("results", "list", "run.sqlite", "--forfeits", cwd=tmp_path).stdout


def test_a_game_is_shown_as_the_file_has_it(folder: Path) -> None:
    shown = carc("results", "show", "run.sqlite", "--game", 3, cwd=folder).stdout
    with read_results(folder / "run.sqlite") as results:
        _, record = results.game((1, 0, 0))
    assert shown == record + "\n"
    text = carc("results", "show", "run.sqlite", "--game", 3, "--text", cwd=folder).stdout
    assert text.rstrip("\n") == package.GameRecord.from_json(record).to_text().rstrip("\n")
    assert json.loads(shown)["agents"] == ["greedy", "jcz"]


def test_csv_read_again_is_equal(folder: Path) -> None:
    assert carc("results", "export", "run.sqlite", "out.csv", cwd=folder).returncode == 0
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    expected = rows_of(folder / "run.sqlite")
    as_text = [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in expected
    ]
    assert found == as_text
    assert len(found) == 24


def test_parquet_read_again_is_equal(tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="needs the extra carc[data]")
    why = (0, "crash", 'quote " comma , line\nend ☃')
    invent(tmp_path / "run.sqlite", [LONG, "b"], forfeits=[(1, why)], luck=[0.5, -0.5])
    done = carc("results", "export", "run.sqlite", "out.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.to_pylist() == rows_of(tmp_path / "run.sqlite")
    assert table.column_names == NAMES
    assert str(table.schema.field("seed").type) == "uint64"
    meanings = {name: meaning for name, _, meaning in COLUMNS}
    assert table.schema.field("margin").metadata[b"meaning"].decode() == meanings["margin"]
    assert carc("results", "export", "run.sqlite", "out.csv", cwd=tmp_path).returncode == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["forfeit"], first["forfeit_detail"]) == ("crash", why[2])
    assert first["agent"] == LONG


def test_sums_of_exported_points_are_scores(folder: Path) -> None:
    for row in rows_of(folder / "run.sqlite"):
        points = [value for key, value in row.items() if key.startswith("points_")]
        assert sum(points) == row["score"]
        assert 1 <= row["seat"] <= 2
    totals: dict[int, float] = {}
    for row in rows_of(folder / "run.sqlite"):
        totals[row["game"]] = totals.get(row["game"], 0) + row["win_share"]
    assert set(totals.values()) == {1.0}


def test_a_forfeited_game_is_lost_and_has_no_margin(tmp_path: Path) -> None:
    lost = [(1, (0, "crash", "")), (2, (1, "time", ""))]
    invent(tmp_path / "run.sqlite", ["a", "b"], forfeits=lost, luck=[0.5, -0.5])
    rows = rows_of(tmp_path / "run.sqlite")
    forfeited, finished = rows[:4], rows[4:]
    assert [row["win_share"] for row in forfeited] == [0, 1, 1, 0]
    assert {(row["margin"], row["luck"]) for row in forfeited} == {(None, None)}
    assert [row["forfeit"] for row in forfeited] == ["crash", None, None, "time"]
    assert [row["luck"] for row in finished] == [0.5, -0.5] * 2
    assert all(row["margin"] is not None for row in finished)


def test_columns_are_documented(tmp_path: Path) -> None:
    document = carc_json("results", "columns", cwd=tmp_path)
    assert [column["name"] for column in document["columns"]] == NAMES
    meanings = {column["name"]: column["meaning"] for column in document["columns"]}
    assert all(meanings.values())
    for name in ("score", "margin", "win_share", "luck"):
        assert "forfeit" in meanings[name]
    assert "win_share" in carc("results", "columns", cwd=tmp_path).stdout


def test_an_export_replaces_a_file_of_its_name(folder: Path) -> None:
    (folder / "out.csv").write_text("old")
    assert carc("results", "export", "run.sqlite", "out.csv", "-q", cwd=folder).returncode == 0
    assert (folder / "out.csv").read_text(encoding="utf-8").startswith("game,deck,")
    assert sorted(path.name for path in folder.iterdir()) == ["out.csv", "run.sqlite"]


def test_an_export_does_not_replace_the_results(tmp_path: Path) -> None:
    play(tmp_path / "run.csv", "greedy", "random", rounds=1)
    before = (tmp_path / "run.csv").read_bytes()
    message = error_line(carc("results", "export", "run.csv", "./run.csv", cwd=tmp_path))
    assert "found the results file itself" in message
    assert (tmp_path / "run.csv").read_bytes() == before


def test_a_failed_export_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def rows() -> Any:
        yield dict.fromkeys(NAMES, 1)
        raise package.ResultsError("damaged")

    with pytest.raises(package.ResultsError):
        write_csv(target, rows())
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(package.ConfigError, match=r"carc\[data\]"):
        writer_for(Path("out.parquet"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.sqlite",), "none.sqlite: No such file or directory"),
        ((".",), ".: Is a directory"),
        (("text.sqlite",), "text.sqlite: no carc results database"),
        (("empty.sqlite",), "empty.sqlite: found an empty file"),
        (("lst", "run.sqlite"), "lst: no such file or command, did you mean 'list'?"),
        (("list",), "Missing argument 'FILE'"),
        (("list", "none.sqlite"), "none.sqlite: No such file or directory"),
        (
            ("list", "run.sqlite", "--agent", "gredy"),
            "found 'gredy', which does not play in run.sqlite, did you mean 'greedy'?",
        ),
        (("list", "run.sqlite", "--limit", "-1"), "expected a whole number from 0"),
        (("show", "run.sqlite"), "Missing option '--game'"),
        (("show", "run.sqlite", "--game", "0"), "expected a whole number from 1"),
        (("show", "run.sqlite", "--game", "13"), "found no finished game 13 among 12"),
        (
            ("show", "run.sqlite", "--game", "1000000000"),
            "found no finished game 1000000000",
        ),
        (("replay", "run.sqlite", "--game", "x"), "expected a whole number from 1"),
        (
            ("export", "run.sqlite", "out.xlsx"),
            "out.xlsx: found the ending '.xlsx', expected .csv or .parquet",
        ),
        (("export", "run.sqlite", "out"), "out: found the ending '', expected .csv or .parquet"),
        (("export", "run.sqlite", "."), ".: found a folder"),
        (("export", "run.sqlite", "text.sqlite/out.csv"), "text.sqlite"),
        (("export", "none.sqlite", "out.csv"), "none.sqlite: No such file or directory"),
        (("export", "run.sqlite"), "Missing argument 'OUT'"),
    ],
)
def test_odd_use_is_one_clear_message(folder: Path, words: tuple[str, ...], message: str) -> None:
    (folder / "text.sqlite").write_text("no database\n" * 40)
    (folder / "empty.sqlite").touch()
    before = sorted(path.name for path in folder.iterdir())
    assert message in error_line(carc("results", *words, cwd=folder))
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_what_may_not_be_read_or_written_is_named(folder: Path) -> None:
    (folder / "locked").mkdir(mode=0o500)
    assert "locked/out.csv: Permission denied" in error_line(
        carc("results", "export", "run.sqlite", "locked/out.csv", cwd=folder)
    )
    (folder / "run.sqlite").chmod(0)
    assert "run.sqlite: Permission denied" in error_line(carc("results", "run.sqlite", cwd=folder))


def test_help_without_words(tmp_path: Path) -> None:
    done = carc("results", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == carc("results", "--help", cwd=tmp_path).stdout
    for command in ("list", "show", "replay", "export", "columns"):
        assert command in done.stdout
