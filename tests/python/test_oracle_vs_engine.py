"""The engine and the slow oracle play the same random games, over all options, and agree each turn.

A failure names the game's number; `play(number)` plays it again.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import carc
from oracle.oracle import OPTIONS, Oracle

DATA = Path(__file__).resolve().parents[2] / "python" / "carc" / "data" / "tiles.json"
GAMES = 300
LONG_GAMES = 5000
SIDES = "NESW"


def whole_turn(choice: carc.Action) -> tuple[str | int, ...]:
    """Return a figure decision as the oracle writes it."""
    if choice.figure == "none":
        return ("none",)
    if choice.figure == "back":
        return ("back", choice.x, choice.y)
    return (choice.figure, choice.feature)


def odd_tiles(rng: random.Random) -> list[dict[str, Any]]:
    """Return tiles that no box has: cities that stay apart, shields on caps, roads to nowhere."""
    four_cities = {
        "id": "four",
        "count": rng.randrange(5),
        "edges": dict.fromkeys(SIDES, "city"),
        "features": [
            {"kind": "city", "edges": [side], "shields": rng.randrange(2)} for side in SIDES
        ],
    }
    cap = {
        "id": "cap",
        "count": rng.randrange(5),
        "edges": {"N": "city", "E": "field", "S": "field", "W": "road"},
        "features": [
            {"kind": "city", "edges": ["N"], "shields": 2},
            {"kind": "road", "edges": ["W"]},
            {"kind": "monastery", "edges": []},
            {"kind": "field", "half_edges": [2, 3], "cities": [0]},
            {"kind": "field", "half_edges": [4, 5, 6, 7], "cities": []},
        ],
    }
    apart = {
        "id": "apart",
        "count": rng.randrange(5),
        "edges": {"N": "city", "E": "road", "S": "city", "W": "road"},
        "features": [
            {"kind": "city", "edges": ["N", "S"], "shields": 0},
            {"kind": "road", "edges": ["E"]},
            {"kind": "road", "edges": ["W"]},
            {"kind": "garden", "edges": []},
            {"kind": "field", "half_edges": [2, 3], "cities": [0]},
            {"kind": "field", "half_edges": [6, 7], "cities": [0]},
        ],
    }
    return [four_cities, cap, apart]


def random_tiles(rng: random.Random) -> dict[str, Any]:
    """Return the standard tile set with other counts and odd tiles, at most 71 base tiles."""
    tiles: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    for tile in tiles["base"]:
        tile["count"] = rng.choice([0, 0, 1, 2, tile["count"]])
        if tile["id"] == tiles["start"]:
            tile["count"] = max(tile["count"], 1)
    tiles["base"] += odd_tiles(rng)
    while sum(tile["count"] for tile in tiles["base"]) > 71:
        rng.choice([t for t in tiles["base"] if t["count"] and t["id"] != "D"])["count"] -= 1
    return tiles


def compare(what: str, engine: object, oracle: object) -> None:
    assert engine == oracle, f"{what}: engine {engine}, oracle {oracle}"


def compare_placements(state: carc.GameState, oracle: Oracle, others: list[str]) -> None:
    tile = state.drawn_tile
    assert tile is not None
    raw = {
        (x, y, rotation)
        for x, y in state.open_cells
        for rotation in range(4)
        if state.is_legal(carc.Action.place(x, y, rotation))
    }
    compare(f"placements of {tile}", raw, oracle.placements(tile))
    for other in others:
        # The engine names one of several rotations that give the same tile.
        engine = {(a.x, a.y, a.rotation) for a in state.placements(other)}
        expected = oracle.placements(other)
        assert engine <= expected, f"placements of {other}: {engine - expected} are illegal"
        compare(
            f"cells for {other}", {(x, y) for x, y, _ in engine}, {(x, y) for x, y, _ in expected}
        )


def compare_values(state: carc.GameState, oracle: Oracle) -> None:
    compare("meeples", state.meeples, oracle.meeples)
    compare("abbots", state.abbots, oracle.abbots)
    if not state.is_terminal():
        compare("points", state.points, oracle.points)
        compare("scores", state.scores, oracle.scores)
        compare("projected", state.projected(), oracle.final_points())
        compare("player", state.turn_player, oracle.player)


def compare_features(state: carc.GameState, oracle: Oracle) -> None:
    tiles = state.tiles
    engine = Counter(
        (
            f.kind,
            frozenset((tiles[t].x, tiles[t].y, segment) for t, segment in f.segments),
            f.tiles,
            f.shields,
            f.open,
            f.is_complete,
            tuple(
                sorted((g.player, g.figure, tiles[g.tile].x, tiles[g.tile].y) for g in f.figures)
            ),
            len(f.cities),
        )
        for f in state.features()
        if f.kind != "river"
    )
    expected = Counter(
        (
            f.kind,
            f.segments,
            f.tiles,
            f.shields,
            f.open_edges,
            f.complete,
            tuple(sorted(f.figures)),
            len(f.cities),
        )
        for f in oracle.features()
    )
    compare("features", engine - expected, expected - engine)


def play(number: int) -> Counter[str]:
    """Play one game on both sides; return how often each option's value was in force."""
    rng = random.Random(number)
    options = {name: rng.choice(values) for name, values in OPTIONS.items()}
    tiles: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    is_custom = rng.random() < 0.2
    if is_custom:
        tiles = random_tiles(rng)
    tile_set = carc.TileSet.from_json(json.dumps(tiles)) if is_custom else "base"
    rules = carc.Rules(**options, tiles=tile_set)
    deck = carc.Deck(rules, seed=number)
    first_player = rng.randrange(rules.players)
    state = carc.GameState(rules, first_player=first_player)
    oracle = Oracle(options, tiles, first_player=first_player)
    kinds = sorted(set(deck.tiles))
    keep = rng.random()  # how often a figure is set: full boards and empty ones
    turn = 0
    while not state.is_terminal():
        if state.is_chance_node():
            before = len(state.discarded)
            state.apply(deck.draw())
            for tile in state.discarded[before:]:
                oracle.discard(tile)
            continue
        if state.phase == "place":
            compare_placements(state, oracle, rng.sample(kinds, 2))
            tile = state.drawn_tile
            assert tile is not None
            x, y, rotation = rng.choice(sorted(oracle.placements(tile)))
            oracle.place(tile, x, y, rotation)
            state.apply(carc.Action.place(x, y, rotation))
            compare("projected", state.projected(), oracle.final_points())
            continue
        choices = list(state.legal_actions())
        compare("figures", {whole_turn(a) for a in choices}, oracle.figures())
        assert len(choices) == len(set(choices))
        choice = choices[0] if rng.random() < keep else rng.choice(choices)
        oracle.figure(whole_turn(choice))
        state.apply(choice)
        compare_values(state, oracle)
        if turn % 8 == 0:
            compare_features(state, oracle)
            state.check_consistency()
        turn += 1
    compare("final scores", state.scores, oracle.final_scores())
    compare_features(state, oracle)
    used = Counter(f"{name}={value}" for name, value in options.items())
    used["custom tiles"] += is_custom
    used["discarded"] += len(state.discarded) > 0
    return used


def checked(number: int) -> tuple[Counter[str], str]:
    try:
        return play(number), ""
    except Exception as error:
        return Counter(), f"game {number}: {type(error).__name__}: {error}"


def play_all(numbers: range) -> None:
    used: Counter[str] = Counter()
    failures = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for counts, failure in pool.map(checked, numbers, chunksize=5):
            used += counts
            if failure:
                failures.append(failure)
    assert not failures, "\n".join(failures[:10])
    wanted = {f"{name}={value}" for name, values in OPTIONS.items() for value in values}
    assert wanted | {"custom tiles", "discarded"} <= set(used)


def test_engine_and_oracle_agree_on_random_games_over_all_options() -> None:
    play_all(range(GAMES))


@pytest.mark.long
def test_engine_and_oracle_agree_on_many_random_games() -> None:
    play_all(range(GAMES, GAMES + LONG_GAMES))
