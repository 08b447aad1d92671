"""The oracle agrees with the golden games, with the cases, and with values counted by hand.

Every 8th golden game of each file is replayed; all of them with --long or CARC_LONG=1.
"""

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from oracle.oracle import Choice, Feature, Oracle  # noqa: E402
from oracle.replay import (  # noqa: E402
    all_cases,
    case_choice,
    case_rules,
    case_tiles,
    golden_games,
    meeple_choice,
    spot_choice,
)

TILES: dict[str, Any] = json.loads((TESTS.parent / "python/carc/data/tiles.json").read_text())
SHORT_STRIDE = 8

CITY_2000 = {"field_scoring": "city_2000"}
TRANSITIONAL = {"field_scoring": "transitional"}
SPLIT = {"tie_points": "split"}
FORBIDDEN = {"join_cities": "forbidden"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "golden_game" in metafunc.fixturenames:
        long = metafunc.config.getoption("--long", False) or os.environ.get("CARC_LONG") == "1"
        games = golden_games(1 if long else SHORT_STRIDE)
        metafunc.parametrize("golden_game", games.values(), ids=games.keys())
    if "case" in metafunc.fixturenames:
        cases = all_cases()
        metafunc.parametrize("case", cases.values(), ids=cases.keys())


# Golden games


def test_golden_game_agrees_in_every_turn(golden_game: str) -> None:
    game = json.loads(golden_game)
    rules = {"players": game["players"], "abbot": game["abbots"]}
    rules["river"] = "2014" if game["river"] else "off"
    oracle = Oracle(rules, TILES, game["start"])
    for number, turn in enumerate(game["turns"]):
        where = f"turn {number} of seed {game['seed']}"
        if turn.get("discarded"):
            assert oracle.placements(turn["tile"]) == set(), where
            oracle.discard(turn["tile"])
            continue
        assert oracle.player == turn["player"], where
        assert len(oracle.placements(turn["tile"])) == turn["n_raw"], where
        oracle.place(turn["tile"], turn["x"], turn["y"], turn["rot"])
        choices = {spot_choice(spot) for spot in turn["spots"]} | {("none",)}
        assert oracle.figures() == choices, where
        oracle.figure(spot_choice(turn["meeple"]))
        assert oracle.scores == turn["scores"], where
        assert oracle.meeples == turn["meeples"], where
        assert oracle.abbots == turn.get("abbots", [0] * game["players"]), where
        by_player = zip(*oracle.points.values(), strict=True)
        assert oracle.scores == [sum(points) for points in by_player], where
    assert oracle.final_scores() == game["final"]["scores"]
    assert oracle.final_points()["field"] == game["final"]["from_fields"]


# Cases


def test_case_gives_the_expected_values(case: dict[str, Any]) -> None:
    expect = case["expect"]
    oracle = Oracle(case_rules(case), TILES, case["start"], case.get("first_player", 0))
    for number, turn in enumerate(case["turns"]):
        check_before_turn(oracle, case, number)
        if turn.get("discarded"):
            oracle.discard(turn["tile"])
        else:
            assert oracle.player == turn["player"], number
            oracle.place(turn["tile"], turn["x"], turn["y"], turn["rot"])
            check_figures(oracle, case, number)
            oracle.figure(case_choice(oracle, case_tiles(case, TILES), turn))
        for after in expect.get("after", []):
            if after["turn"] == number:
                assert oracle.scores == after["scores"], number
                assert oracle.meeples == after["meeples"], number
                assert oracle.abbots == after.get("abbots", oracle.abbots), number
    check_before_turn(oracle, case, len(case["turns"]))
    final = oracle.final_scores()
    assert final == expect["final"]["scores"]
    assert oracle.final_points()["field"] == expect["final"]["from_fields"]
    winners = [player for player, score in enumerate(final) if score == max(final)]
    assert winners == expect["final"]["winners"]


def test_cases_ask_nothing_that_is_not_checked() -> None:
    asked = {kind for case in all_cases().values() for kind in case["expect"]}
    checked = {"after", "meeple", "placement", "placeable", "abbot_return", "deck", "final"}
    assert asked <= checked


def check_before_turn(oracle: Oracle, case: dict[str, Any], number: int) -> None:
    """Check the questions that are asked before a turn."""

    def asked(kind: str) -> list[dict[str, Any]]:
        return [q for q in case["expect"].get(kind, []) if q["before_turn"] == number]

    for question in asked("placeable"):
        assert len(oracle.placements(question["tile"])) == question["n_raw"], question
    for question in asked("placement"):
        place = (question["x"], question["y"], question["rot"])
        assert (place in oracle.placements(question["tile"])) == question["legal"], question
    for question in asked("deck"):
        left = {tile["id"]: tile["count"] for tile in TILES["base"]}
        for gone in (case["start"], *case["turns"][:number]):
            left[gone["tile"]] -= 1
        assert sum(left.values()) == question["left"], question
        assert {tile: left[tile] for tile in question["of"]} == question["of"], question


def check_figures(oracle: Oracle, case: dict[str, Any], number: int) -> None:
    """Check the questions about the figures that may be set, or taken back, in a turn."""
    turn = case["turns"][number]
    for question in case["expect"].get("meeple", []):
        if question["turn"] == number:
            assert question["player"] == oracle.player, question
            choice = meeple_choice(case_tiles(case, TILES), turn["tile"], question["meeple"])
            assert (choice in oracle.figures()) == question["legal"], question
    for question in case["expect"].get("abbot_return", []):
        if question["turn"] == number:
            possible = any(choice[0] == "back" for choice in oracle.figures())
            assert possible == question["legal"], question


# Values counted by hand

Move = tuple[str, int, int, int] | tuple[str, int, int, int, Choice]
NONE: Choice = ("none",)


def play(rules: dict[str, Any], *moves: Move, **options: Any) -> Oracle:
    """Play (tile, x, y, rot, figure or nothing) moves from the start tile D."""
    oracle = Oracle(rules, options.pop("tiles", TILES), **options)
    for tile, x, y, rot, *choice in moves:
        oracle.place(tile, x, y, rot)
        oracle.figure(choice[0] if choice else NONE)
    return oracle


def feature_at(oracle: Oracle, x: int, y: int, index: int) -> Feature:
    return next(f for f in oracle.features() if (x, y, index) in f.segments)


def changed_tiles(*tiles: dict[str, Any]) -> dict[str, Any]:
    """Return the tile set with more base tiles."""
    changed = copy.deepcopy(TILES)
    changed["base"] += tiles
    return changed


@pytest.mark.parametrize(("small_city", "points"), [(4, 6), (2, 3)])
def test_small_city_with_a_shield(small_city: int, points: int) -> None:
    cap = copy.deepcopy(next(tile for tile in TILES["base"] if tile["id"] == "E"))
    cap["id"] = "cap with shield"
    cap["features"][0]["shields"] = 1
    move = ("cap with shield", 0, -1, 2, ("meeple", 0))
    oracle = play({"small_city": small_city}, move, tiles=changed_tiles(cap))
    assert oracle.points["city"] == [points, 0]


def test_small_city_leaves_larger_and_unfinished_cities_alone() -> None:
    oracle = play({"small_city": 2}, ("N", 0, -1, 1, ("meeple", 0)))
    assert oracle.final_points()["city"] == [2, 0]
    oracle.place("E", 1, -1, 3)
    oracle.figure(NONE)
    assert oracle.points["city"] == [6, 0]


def test_small_city_is_worth_as_much_to_farmers() -> None:
    oracle = play({"small_city": 2}, ("E", 0, -1, 2, ("meeple", 1)))
    assert oracle.final_points()["field"] == [3, 0]


# Player 0 and 1 share a road of seven tiles; no one else scores.
SHARED_ROAD: tuple[Move, ...] = (
    ("V", 1, 0, 1, ("meeple", 0)),
    ("V", 0, 1, 0, ("meeple", 0)),
    ("V", -1, 1, 2),
    ("V", -1, 0, 3),
    ("A", 1, -1, 0),
    ("A", 0, 2, 2),
)


@pytest.mark.parametrize(("rules", "share"), [({}, 7), (SPLIT, 3)])
def test_tied_road(rules: dict[str, Any], share: int) -> None:
    oracle = play(rules, *SHARED_ROAD)
    assert oracle.points["road"] == [share, share]
    assert oracle.scores == [share, share]
    assert oracle.meeples == [7, 7]


@pytest.mark.parametrize(("rules", "share"), [({}, 5), (SPLIT, 2)])
def test_tied_unfinished_road(rules: dict[str, Any], share: int) -> None:
    assert play(rules, *SHARED_ROAD[:-2]).final_points()["road"] == [share, share]


# One city of two tiles between two fields. In the field above the city: a farmer of player 0. In
# the field round the monastery in the west: one of player 1, and a second of player 0 if wanted.
def one_city_two_fields(rules: dict[str, Any], second_farmer: bool) -> list[int]:
    oracle = play(
        rules,
        ("E", 0, -1, 2, ("meeple", 1)),
        ("U", 1, 0, 1, ("meeple", 1)),
        ("B", 0, 1, 0, ("meeple", 1) if second_farmer else NONE),
        ("A", -1, 0, 3),
    )
    points = oracle.final_points()
    assert all(points[kind] == [0, 0] for kind in points if kind != "field")
    return points["field"]


@pytest.mark.parametrize(
    ("rules", "points"),
    [
        ({}, [6, 3]),
        (SPLIT, [4, 1]),
        (TRANSITIONAL, [3, 3]),
        (TRANSITIONAL | SPLIT, [3, 1]),
        (CITY_2000, [4, 0]),
        (CITY_2000 | SPLIT, [4, 0]),
    ],
)
def test_one_city_two_fields_one_of_them_tied(rules: dict[str, Any], points: list[int]) -> None:
    assert one_city_two_fields(rules, second_farmer=True) == points


@pytest.mark.parametrize(
    ("rules", "points"),
    [
        ({}, [3, 3]),
        (SPLIT, [3, 3]),
        (TRANSITIONAL, [3, 3]),
        (TRANSITIONAL | SPLIT, [3, 3]),
        (CITY_2000, [4, 4]),
        (CITY_2000 | SPLIT, [2, 2]),
    ],
)
def test_one_city_two_fields_of_one_farmer_each(rules: dict[str, Any], points: list[int]) -> None:
    assert one_city_two_fields(rules, second_farmer=False) == points


@pytest.mark.parametrize(
    ("rules", "points"), [({}, [6, 0]), (TRANSITIONAL, [3, 0]), (CITY_2000, [4, 0])]
)
def test_one_player_in_both_fields_of_a_city(rules: dict[str, Any], points: list[int]) -> None:
    oracle = play(
        rules, ("E", 0, -1, 2, ("meeple", 1)), ("V", 0, 1, 0), ("U", 1, 0, 1, ("meeple", 1))
    )
    assert oracle.final_points()["field"] == points


@pytest.mark.parametrize(
    ("rules", "points"), [({}, [6, 0]), (TRANSITIONAL, [6, 0]), (CITY_2000, [8, 0])]
)
def test_one_field_two_cities(rules: dict[str, Any], points: list[int]) -> None:
    # The strip of H touches the city below and the city above.
    oracle = play(rules, ("H", 0, -1, 1, ("meeple", 2)), ("E", 0, -2, 2))
    assert oracle.final_points()["field"] == points


def test_split_field_shares_the_value_of_all_its_cities() -> None:
    # Field of two farmers and two cities: 6 // 2 = 3 each; with one city 3 // 2 = 1.
    moves: tuple[Move, ...] = (
        ("E", 0, -1, 2),
        ("U", 1, 0, 1, ("meeple", 1)),
        ("B", 0, 1, 0, ("meeple", 1)),
        ("A", -1, 0, 3),
    )
    oracle = play(SPLIT, *moves)
    assert oracle.final_points()["field"] == [1, 1]
    # A second small city in the west, behind a cap whose grass joins that of the monastery.
    oracle = play(SPLIT, *moves, ("E", -2, 0, 3), ("E", -3, 0, 1))
    assert oracle.final_points()["field"] == [3, 3]


CLAIMED_CAPS: tuple[Move, ...] = (
    ("U", 1, 0, 1),
    ("U", -1, 0, 1),
    ("E", 1, -1, 3, ("meeple", 0)),
    ("E", -1, -1, 1, ("meeple", 0)),
)


def test_forbidden_join_of_two_players_cities() -> None:
    allowed = play({}, *CLAIMED_CAPS)
    forbidden = play(FORBIDDEN, *CLAIMED_CAPS)
    assert allowed.placements("R") == {(0, -1, 2)} | forbidden.placements("R")
    assert (0, -1, 2) not in forbidden.placements("R")
    with pytest.raises(ValueError, match="illegal"):
        forbidden.place("R", 0, -1, 2)


def test_tile_that_could_only_join_fits_nowhere() -> None:
    assert play({}, *CLAIMED_CAPS).placements("C") == {(0, -1, rot) for rot in range(4)}
    forbidden = play(FORBIDDEN, *CLAIMED_CAPS)
    assert forbidden.placements("C") == set()
    forbidden.discard("C")
    assert forbidden.player == 0


def test_own_and_empty_cities_may_be_joined() -> None:
    own = play(FORBIDDEN, *CLAIMED_CAPS[:3], ("B", 0, 1, 0), ("E", -1, -1, 1, ("meeple", 0)))
    assert (0, -1, 2) in own.placements("R")
    empty = play(FORBIDDEN, *CLAIMED_CAPS[:3], ("E", -1, -1, 1))
    assert (0, -1, 2) in empty.placements("R")


def test_two_cities_on_one_tile_are_not_joined() -> None:
    # The cell 0,2 lies between a cap of player 1 in the east and one of player 0 in the west. H has
    # a city for each of them, G one for both.
    moves: tuple[Move, ...] = (
        ("B", 0, 1, 0),
        ("B", 1, 1, 0),
        ("B", -1, 1, 0),
        ("E", 1, 2, 3, ("meeple", 0)),
        ("E", -1, 2, 1, ("meeple", 0)),
    )
    between = {(0, 2, 0), (0, 2, 2)}
    oracle = play(FORBIDDEN, *moves)
    assert between <= oracle.placements("H")
    assert oracle.placements("G") == play({}, *moves).placements("G") - between
    assert between <= play({}, *moves).placements("G")


TWO_CORNERS = {
    "id": "two corners",
    "count": 1,
    "edges": {"N": "city", "E": "city", "S": "city", "W": "city"},
    "features": [
        {"kind": "city", "edges": ["N", "W"], "shields": 0},
        {"kind": "city", "edges": ["E", "S"], "shields": 0},
    ],
    "garden_count": 0,
}


@pytest.mark.parametrize(
    ("rules", "second", "fits"),
    [({}, ("meeple", 0), True), (FORBIDDEN, ("meeple", 0), False), (FORBIDDEN, NONE, True)],
)
def test_join_of_two_segments_through_an_empty_city(
    rules: dict[str, Any], second: Choice, fits: bool
) -> None:
    # The empty city in the north-east touches both corners of the tile; the caps in the west and
    # in the south touch one each.
    oracle = play(
        rules,
        ("N", 0, -1, 1),
        ("N", 1, 0, 3),
        ("B", -1, -1, 0),
        ("B", 1, 1, 0),
        ("E", -1, 0, 1, ("meeple", 0)),
        ("E", 0, 1, 0, second),
        tiles=changed_tiles(TWO_CORNERS),
        start={"tile": "N", "x": 1, "y": -1, "rot": 2},
    )
    assert ((0, 0, 0) in oracle.placements("two corners")) == fits


def test_farmer_is_recalled_for_no_points() -> None:
    oracle = play({"farmer_recall": True}, ("E", 0, -1, 2, ("meeple", 1)), ("U", 1, 0, 1))
    assert oracle.meeples == [6, 7]
    oracle.place("B", 0, 1, 0)
    assert oracle.figures() == {NONE, ("meeple", 0), ("meeple", 1), ("back", 0, -1)}
    oracle.figure(("back", 0, -1))
    assert (oracle.meeples, oracle.scores, oracle.player) == ([7, 7], [0, 0], 1)
    assert oracle.final_scores() == [0, 0]


def test_only_own_farmers_are_recalled_and_only_by_the_rule() -> None:
    moves: tuple[Move, ...] = (("E", 0, -1, 2, ("meeple", 1)), ("U", 1, 0, 1, ("meeple", 0)))
    # Player 1 has a thief, and the farmer belongs to player 0.
    with_rule = play({"farmer_recall": True}, *moves, ("B", 0, 1, 0))
    with_rule.place("B", 0, 2, 0)
    without_rule = play({}, *moves)
    without_rule.place("B", 0, 1, 0)
    for oracle in (with_rule, without_rule):
        assert not any(choice[0] == "back" for choice in oracle.figures())


@pytest.mark.parametrize(
    ("river_turns", "right_turns"),
    [
        ("no_u_turn", {"R05": {0}, "R07": {3}, "R09": {1}, "R10": {1}}),
        ("no_double_curve", {"R05": set(), "R07": set(), "R09": set(), "R10": set()}),
    ],
)
def test_curve_after_curve(river_turns: str, right_turns: dict[str, set[int]]) -> None:
    # The river comes from the north; R07 turns it east, which is to its left.
    rules = {"river": "2021", "river_turns": river_turns}
    oracle = play(rules, ("R07", 0, 1, 1))
    for curve, rots in right_turns.items():
        assert oracle.placements(curve) == {(1, 1, rot) for rot in rots}
    assert oracle.placements("R04") == {(1, 1, 1), (1, 1, 3)}
    assert oracle.placements("R12") == {(1, 1, 3)}
    oracle.place("R04", 1, 1, 1)
    oracle.figure(NONE)
    # After the straight both hands are free again: R07 may go north or south.
    assert oracle.placements("R07") == {(2, 1, 0), (2, 1, 3)}


def test_discarded_curve_is_no_curve_of_the_river() -> None:
    oracle = play({"river": "2021", "river_turns": "no_double_curve"}, ("R07", 0, 1, 1))
    oracle.discard("R05")
    assert oracle.placements("R09") == set()
    assert len(oracle.placements("R06")) == 2


def test_river_starts_with_the_spring_of_its_set() -> None:
    kinds_2021 = [f.kind for f in Oracle({"river": "2021"}, TILES).features()]
    kinds_2014 = [f.kind for f in Oracle({"river": "2014"}, TILES).features()]
    assert kinds_2021 == ["road", "field", "field", "field"]
    assert kinds_2014 == ["field"]


def test_no_farmers_without_the_farmers_rule() -> None:
    oracle = Oracle({"farmers": False}, TILES)
    oracle.place("U", 1, 0, 1)
    assert oracle.figures() == {NONE, ("meeple", 0)}


def test_garden_counts_only_with_abbots() -> None:
    plain = Oracle({}, TILES)
    plain.place("Vg", 0, 1, 0)
    assert plain.figures() == {NONE, ("meeple", 0), ("meeple", 2), ("meeple", 3)}
    assert "garden" not in {feature.kind for feature in plain.features()}
    abbots = Oracle({"abbot": True}, TILES)
    abbots.place("Vg", 0, 1, 0)
    assert abbots.figures() == plain.figures() | {("abbot", 1)}


def test_completed_but_unscored_city_counts_as_completed() -> None:
    oracle = play({}, ("N", 0, -1, 1, ("meeple", 0)))
    assert oracle.final_points()["city"] == [2, 0]
    oracle.place("E", 1, -1, 3)
    assert oracle.final_points()["city"] == [6, 0]
    assert oracle.scores == [0, 0]
    oracle.figure(NONE)
    assert oracle.scores == oracle.final_scores() == [6, 0]


def test_features_of_a_small_board() -> None:
    oracle = play({}, ("N", 0, -1, 1, ("meeple", 0)), ("A", 1, 0, 1, ("meeple", 1)))
    city = feature_at(oracle, 0, 0, 0)
    assert city.segments == {(0, 0, 0), (0, -1, 0)}
    assert (city.kind, city.tiles, city.shields, city.open_edges) == ("city", 2, 0, 1)
    assert not city.complete
    assert city.figures == [(0, "meeple", 0, -1)]
    monastery = feature_at(oracle, 1, 0, 1)
    assert (monastery.open_edges, monastery.figures) == (6, [(1, "meeple", 1, 0)])
    field = feature_at(oracle, 0, 0, 2)
    # Round the end of the road at the monastery both sides of the start tile are one field.
    assert field.segments == {(0, 0, 2), (0, 0, 3), (1, 0, 2)}
    assert [oracle.features()[i] for i in field.cities] == [city]
    assert (field.open_edges, field.complete) == (0, False)
    assert len(oracle.features()) == 5


@pytest.mark.parametrize(
    "rules", [{"players": 6}, {"small_city": 3}, {"farmer": True}, {"river": "2001"}]
)
def test_unknown_rules_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="rule"):
        Oracle(rules, TILES)


def test_illegal_calls_are_refused() -> None:
    oracle = Oracle({}, TILES)
    with pytest.raises(ValueError, match="illegal"):
        oracle.place("E", 0, 0, 0)
    with pytest.raises(ValueError, match="tile 'R02'"):
        oracle.place("R02", 0, -1, 0)
    with pytest.raises(ValueError, match="fits"):
        oracle.discard("E")
    with pytest.raises(ValueError, match="no tile"):
        oracle.figure(NONE)
    oracle.place("E", 0, -1, 2)
    with pytest.raises(ValueError, match="not decided"):
        oracle.place("E", 0, 1, 2)
    with pytest.raises(ValueError, match="illegal"):
        oracle.figure(("abbot", 0))
