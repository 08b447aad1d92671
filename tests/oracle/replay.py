"""The golden games and the cases of tests/data, translated into what the Oracle is asked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from .oracle import Choice, Oracle

DATA = Path(__file__).resolve().parents[1] / "data"


# Golden games


def golden_games(stride: int) -> dict[str, str]:
    """Return every stride-th line of each golden file, named file:line; no games is an error."""
    games: dict[str, str] = {}
    for path in sorted((DATA / "golden").glob("*.jsonl.gz")):
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        if not lines:
            raise ValueError(f"{path}: no games")
        name = path.name.removesuffix(".jsonl.gz")
        games |= {f"{name}:{i + 1}": lines[i] for i in range(0, len(lines), stride)}
    if not games:
        raise ValueError("tests/data/golden: no games")
    return games


def spot_choice(spot: dict[str, Any] | None) -> Choice:
    """Translate a figure spot of a golden game."""
    if spot is None:
        return ("none",)
    if "return" in spot:
        return ("back", *spot["return"])
    return ("abbot" if spot.get("who") == "abbot" else "meeple", spot["feature"])


# Cases


def all_cases() -> dict[str, dict[str, Any]]:
    """Return each case, and each of its variants as a case of its own."""
    cases: dict[str, dict[str, Any]] = {}
    for path in sorted((DATA / "cases").glob("*.json")):
        case = json.loads(path.read_text())
        cases[case["id"]] = case
        for number, variant in enumerate(case.get("variants", [])):
            cases[f"{case['id']}-variant{number}"] = case | {
                "rules": case["rules"] | variant["rules"],
                "expect": variant["expect"],
            }
    if not cases:
        raise ValueError("tests/data/cases: no cases")
    return cases


def case_rules(case: dict[str, Any]) -> dict[str, Any]:
    """Translate the rules of a case into options of RULES.md."""
    rules: dict[str, Any] = {"players": case["players"]}
    if case["river"]:
        rules["river"] = {"river": "2021", "river_c2": "2014"}[case["river_set"]]
    for key, value in case["rules"].items():
        match key, value:
            case "abbot", bool():
                rules["abbot"] = value
            case "two_tile_city", "half":
                rules["small_city"] = 2
            case "farm_scoring", "first_edition":
                rules["field_scoring"] = "city_2000"
            case _:
                raise ValueError(f"{case['id']}: unknown rule {key}={value!r}")
    return rules


def case_tiles(case: dict[str, Any], tiles: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tile types that a case may name."""
    return [*tiles["base"], *(tiles[case["river_set"]] if case["river"] else [])]


def case_choice(oracle: Oracle, tiles: list[dict[str, Any]], turn: dict[str, Any]) -> Choice:
    """Translate what the player of a case does with the figures."""
    if turn.get("return_abbot"):
        return next(choice for choice in oracle.figures() if choice[0] == "back")
    if turn["meeple"] is None:
        return ("none",)
    return meeple_choice(tiles, turn["tile"], turn["meeple"])


def meeple_choice(tiles: list[dict[str, Any]], tile: str, meeple: dict[str, Any]) -> Choice:
    """Translate a figure of a case."""
    features = next(t for t in tiles if t["id"] == tile)["features"]
    (index,) = (
        i
        for i, feature in enumerate(features)
        if feature["kind"] == meeple["kind"]
        and set(meeple.get("edges", [])) <= set(feature.get("edges", []))
        and set(meeple.get("half_edges", [])) <= set(feature.get("half_edges", []))
    )
    return (meeple.get("figure", "meeple"), index)
