"""``carc verify`` accepts what is right and names every difference, damage and gap."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import carc as package
from command_line import DATA, carc, carc_json, error_line


@pytest.fixture(scope="module")
def golden() -> list[dict[str, Any]]:
    """Return the games of one golden file."""
    with gzip.open(DATA / "golden" / "abbot.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def differences(path: Path) -> list[tuple[int, str]]:
    """Verify a file that must differ, and return its differences as (line, text)."""
    done = carc("verify", path, "--json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["ok"] is False
    found = [(d["line"], d["text"]) for file in document["files"] for d in file["differences"]]
    assert document["total"]["differences"] == len(found) > 0
    return found


def test_all_golden_games_and_cases_agree() -> None:
    document = carc_json("verify", DATA)
    total = document["total"]
    assert document["ok"] is True
    assert (total["games"], total["cases"], total["differences"]) == (682, 32, 0)
    assert total["files"] == 39
    assert total["turns"] > 50_000
    assert total["values"] > 300_000


def test_output_is_a_line_a_file_and_a_total() -> None:
    done = carc("verify", DATA / "cases")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 33
    assert lines[0].endswith("1 case, 6 turns, 36 values, 0 differences")
    assert lines[-1].startswith("total: 32 files, 32 cases, ")


def locate(game: dict[str, Any], key: str) -> tuple[Any, ...]:
    """Return where the first number under `key` of a turn stands, late enough in the game to be
    interesting.
    """
    for i, turn in enumerate(game["turns"][20:], 20):
        value = turn.get(key)
        if isinstance(value, int):
            return ("turns", i, key)
        if isinstance(value, list) and value and isinstance(value[0], int):
            return ("turns", i, key, 0)
    raise AssertionError(f"no turn has {key}")


def changed(game: dict[str, Any], where: tuple[Any, ...], by: int = 1) -> dict[str, Any]:
    """Return a copy of a game with one number changed."""
    copied = copy.deepcopy(game)
    place: Any = copied
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] += by
    return copied


@pytest.mark.parametrize("key", ["player", "x", "y", "rot", "n_raw", "scores", "meeples", "abbots"])
def test_one_changed_number_of_a_turn_is_reported(
    golden: list[dict[str, Any]], key: str, tmp_path: Path
) -> None:
    where = locate(golden[3], key)
    games = [*golden[:3], changed(golden[3], where), *golden[4:6]]
    path = tmp_path / "changed.jsonl"
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    found = differences(path)
    assert {line for line, _ in found} == {4}
    assert f"turn {where[1]}: " in found[0][1]


@pytest.mark.parametrize("key", ["scores", "from_fields"])
def test_one_changed_number_of_the_final_count_is_reported(
    golden: list[dict[str, Any]], key: str, tmp_path: Path
) -> None:
    path = tmp_path / "changed.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(changed(golden[0], ("final", key, 1), -1)).encode()))
    assert differences(path)[0][1].startswith(f"final {key}: found [")


def test_a_missing_and_an_invented_spot_are_reported(
    golden: list[dict[str, Any]], tmp_path: Path
) -> None:
    index = next(i for i, turn in enumerate(golden[0]["turns"]) if len(turn.get("spots", [])) > 1)
    fewer, more = copy.deepcopy(golden[0]), copy.deepcopy(golden[0])
    fewer["turns"][index]["spots"].pop()
    more["turns"][index]["spots"].append({"kind": "road", "feature": 9, "who": "normal"})
    path = tmp_path / "spots.jsonl"
    path.write_text(json.dumps(fewer) + "\n" + json.dumps(more) + "\n")
    found = differences(path)
    assert [line for line, _ in found] == [1, 2]
    assert all(text.startswith(f"turn {index}: spots: found [") for _, text in found)


def test_a_changed_case_is_reported(tmp_path: Path) -> None:
    case = json.loads((DATA / "cases" / "road_merge_tie.json").read_text())
    case["expect"]["final"]["scores"][0] += 1
    (tmp_path / "case.json").write_text(json.dumps(case, indent=1))
    assert "final scores: found" in differences(tmp_path / "case.json")[0][1]


def test_a_played_game_verifies_and_its_checksum_protects_it(tmp_path: Path) -> None:
    record = package.play_game(
        package.Rules(players=3), ["greedy", "random", "random"], seed=8
    ).record
    path = tmp_path / "game.jsonl"
    path.write_text(record + "\n")
    assert carc_json("verify", path)["total"]["games"] == 1
    path.write_text(record.replace('"seed":8', '"seed":9') + "\n")
    assert "checksum" in differences(path)[0][1]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("empty.jsonl", b"", "found nothing to compare"),
        ("blank.jsonl", b"\n \n\n", "found nothing to compare"),
        ("empty.json", b"", "line 1"),
        ("empty.jsonl.gz", b"", "found nothing to compare"),
        ("nothing.jsonl.gz", gzip.compress(b""), "found nothing to compare"),
        ("no_turns.jsonl", b'{"players": 2, "turns": []}\n', "found no value to compare"),
        ("garbage.jsonl", bytes(range(128, 256)), "expected UTF-8"),
        ("garbage.jsonl.gz", bytes(range(256)), "the compressed data is damaged"),
        ("nul.jsonl", b"\0\0\0\n", "document"),
        ("list.jsonl", b"[]\n", "game"),
        ("number.json", b"7", "game"),
        ("half.json", b'{"players": 2, "turns": [', "document"),
        ("deep.jsonl", b"[" * 200_000, "nested deeper"),
        ("other.txt", b"no game at all\n", "document"),
    ],
)
def test_what_cannot_be_compared_is_a_difference(
    name: str, content: bytes, text: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = carc("verify", path)
    assert done.returncode == 1
    assert text in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("kept", [1, 12, 5_000, 79_000])
def test_a_truncated_gzip_file_is_a_difference(kept: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes((DATA / "golden" / "abbot.jsonl.gz").read_bytes()[:kept])
    assert "damaged" in differences(path)[-1][1]


def test_games_before_the_damage_are_still_compared(tmp_path: Path) -> None:
    data = bytearray((DATA / "golden" / "abbot.jsonl.gz").read_bytes())
    data[60_000] ^= 0xFF
    (tmp_path / "flipped.jsonl.gz").write_bytes(data)
    done = carc("verify", tmp_path, "--json")
    assert done.returncode == 1
    (file,) = json.loads(done.stdout)["files"]
    assert file["games"] > 10
    assert file["differences"]


def test_a_folder_is_searched_at_any_depth_and_other_files_are_passed_over(
    golden: list[dict[str, Any]], tmp_path: Path
) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "one.jsonl").write_text(json.dumps(golden[0]))
    (tmp_path / "two.json").write_text(json.dumps(golden[1]))
    (tmp_path / "tiles.json").write_text(package.TileSet.standard().to_json())
    (tmp_path / "notes.md").write_text("no game")
    (tmp_path / ".hidden.jsonl").write_text("no game")
    done = carc("verify", tmp_path, "--json")
    assert done.returncode == 0, done.stdout
    document = json.loads(done.stdout)
    assert [Path(file["path"]).name for file in document["files"]] == ["two.json", "one.jsonl"]
    assert [Path(path).name for path in document["skipped"]] == ["tiles.json"]
    assert "tiles.json: skipped, holds a tile set" in done.stderr


def test_a_damaged_json_file_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    text = (DATA / "cases" / "road_merge_tie.json").read_text()
    (tmp_path / "case.json").write_text(text[: len(text) // 2])
    assert len(differences(tmp_path)) == 1


@pytest.mark.parametrize(
    "content", ["{}", "[]", "7", '{"base": []}', '{"agents": ["greedy"]}', '{"scores": [1, 2]}']
)
def test_a_json_file_in_a_folder_with_nothing_to_compare_is_a_difference(
    content: str, golden: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "game.jsonl").write_text(json.dumps(golden[0]))
    (tmp_path / "other.json").write_text(content)
    done = carc("verify", tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path / 'other.json'}: " in done.stdout
    assert len(differences(tmp_path)) == 1


def test_a_tile_set_that_is_named_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "tiles.json").write_text(package.TileSet.standard().to_json())
    assert len(differences(tmp_path / "tiles.json")) == 1


def test_a_file_named_twice_is_compared_once() -> None:
    cases = DATA / "cases"
    assert carc_json("verify", cases, cases / "road_merge_tie.json")["total"]["cases"] == 32


def test_a_folder_without_games_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("no game")
    assert "found no games or cases in" in error_line(carc("verify", tmp_path))
