"""Bad input gets a carc.Error that says what was found and what was expected, and changes nothing.

Each row of a table names the call and a part of the message. Values of every other kind, for every
argument of every entry point, are in test_odd_values.py.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import pickle
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carc

RULES = carc.Rules()
SURROGATE = "\ud800"
DEEP = "[" * 100_000 + "]" * 100_000


class Hostile:
    """What cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Named(carc.Agent):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def small_game() -> carc.GameState:
    rules = carc.Rules(abbot=True)
    return carc.GameState(rules, carc.Deck(rules, tiles=["E", "Vg", "B", "C"]))


def state_in(phase: str) -> carc.GameState:
    state = small_game()
    texts = ["E", "E@0,-1r2", "city:N", "Vg", "Vg@0,1r0", "-", "B", "B@1,1r0", "-", "C"]
    while state.phase != phase:
        state.apply(texts.pop(0))
    return state


def small_record() -> carc.GameRecord:
    record = carc.GameRecord(small_game())
    for text in ("E", "E@0,-1r2", "city:N", "Vg", "Vg@0,1r0", "abbot:garden", "B", "B@1,1r0", "-"):
        record.apply(text)
    record.agents = ["left", "right"]
    record.seed = 7
    return record


def signed(document: dict[str, Any]) -> str:
    """Return the document with the checksum that belongs to it."""
    document = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(document | {"checksum": f"crc32:{zlib.crc32(text.encode()):08x}"})


# Actions and notation


@pytest.mark.parametrize("phase", ["draw", "place", "figure", "over"])
@pytest.mark.parametrize(
    "action",
    [
        carc.Action.place(0, 0, 0),
        carc.Action.place(-128, 127, 3),
        carc.Action.meeple(13),
        carc.Action.abbot(0),
        carc.Action.from_int(0xFFFFFFFF),
        carc.Action.from_int(3),
        "",
        " ",
        "-\n",
        "E@0,-1",
        "E@0,-1r9",
        "E@99999999999999999999,0r0",
        "Q7",
        "city",
        "field:9",
        "back:0,0",
        "back:999,0",
        "E\0",
        "é" * 1000,
        SURROGATE,
        None,
        3,
        2**70,
        float("nan"),
        b"E",
        [],
        ("E",),
        object(),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_action_that_is_none_is_refused_in_every_phase(phase: str, action: Any) -> None:
    state = state_in(phase)
    before = state.to_json()
    for method in (state.apply, state.apply_action):
        with pytest.raises((carc.IllegalAction, carc.NotationError)) as caught:
            method(action)
        assert any(word in str(caught.value) for word in ("found", "unknown tile"))
        assert state.to_json() == before
    record = carc.GameRecord(small_game())
    written = record.to_json()
    with pytest.raises(carc.Error):
        record.apply(action if action != "E\0" else "E ")
    assert record.to_json() == written


def test_stale_action_is_refused() -> None:
    state = small_game()
    actions = []
    while not state.is_terminal():
        actions.append(state.legal_actions()[0])
        state.apply(actions[-1])
    for number, action in enumerate(actions):
        state = small_game()
        for applied in actions[: number + 1]:
            state.apply(applied)
        before = state.to_json()
        if state.is_legal(action):
            continue
        with pytest.raises(carc.IllegalAction, match=r"found .* in phase .*, expected "):
            state.apply(action)
        assert state.to_json() == before


def test_illegal_action_says_what_is_legal() -> None:
    state = state_in("place")
    with pytest.raises(carc.IllegalAction) as caught:
        state.apply("E@0,1r0")
    assert str(caught.value) == (
        "found E@0,1r0 in phase place, expected one of 4 legal actions: "
        "E@0,-1r2 E@0,1r1 E@0,1r2 E@0,1r3"
    )


# Rules, tile sets, decks


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # Rules
        (lambda: carc.Rules(players=6), "players: found 6, expected one of 2, 3, 4, 5"),
        (lambda: carc.Rules(players="2"), 'players: found "2", expected one of 2, 3, 4, 5'),
        (lambda: carc.Rules(players=2.0), "players: found 2.0, expected one of 2"),
        (lambda: carc.Rules(players=True), "players: found true, expected one of 2"),
        (lambda: carc.Rules(players=None), "players: found null, expected one of 2"),
        (lambda: carc.Rules(players=float("nan")), "players: found nan .float., expected one of"),
        (lambda: carc.Rules(players=10**30), "players: found 10{30} .int., expected one of"),
        (lambda: carc.Rules(players={2}), r"players: found \{2\} \(set\), expected one of 2"),
        (lambda: carc.Rules(players=b"2"), "players: found b'2' .bytes., expected one of 2"),
        (lambda: carc.Rules(players=Hostile()), "players: found a value without repr"),
        (lambda: carc.Rules(player=2), "did you mean 'players'"),
        (lambda: carc.Rules(player={2}), "did you mean 'players'"),
        (lambda: carc.Rules(**{"": 2}), "unknown rules option ''"),
        (lambda: carc.Rules(**{SURROGATE: 2}), "found the option '.ud800' .str., expected a name"),
        (lambda: carc.Rules(river=SURROGATE), 'river: found .*, expected one of "off", "2021"'),
        (lambda: carc.Rules(river="2022"), 'river: found "2022", expected one of "off"'),
        (lambda: carc.Rules(river="20\0"), "river: found"),
        (lambda: carc.Rules(abbot="yes"), 'abbot: found "yes", expected one of false, true'),
        (lambda: carc.Rules().replace(tie_points=1), "tie_points: found 1"),
        (lambda: carc.Rules.preset("currant"), "did you mean 'current'"),
        (lambda: carc.Rules.preset("current", players=9), "players: found 9"),
        (lambda: carc.Rules.preset(SURROGATE), "name: found '.ud800' .str., expected a text"),
        (lambda: carc.Rules.from_dict({1: 2}), r"found the option 1 \(int\)"),
        (lambda: carc.Rules.from_json("{"), "rules is not valid JSON"),
        (lambda: carc.Rules.from_json("[]"), "expected an object"),
        (lambda: carc.Rules.from_json(DEEP), "nested deeper"),
        (lambda: carc.Rules.from_json('{"players":1e400}'), "not valid JSON"),
        (lambda: carc.Rules.from_json(SURROGATE), "text: found '.ud800' .str., expected a text"),
        # Tile sets
        (lambda: carc.Rules(tiles="/no/such/file"), "cannot read .* '/no/such/file'"),
        (lambda: carc.Rules(tiles=Path("/no/such/file")), "cannot read the tile set file"),
        (lambda: carc.Rules(tiles="/"), "tile set file '/': found nothing to read"),
        (lambda: carc.Rules(tiles=SURROGATE), "path: found '.ud800' .str., expected the path"),
        (lambda: carc.Rules(tiles="a\0b"), "path: found 'a.x00b' .str., expected the path"),
        (lambda: carc.Rules(tiles=3), "tiles: found 3"),
        (lambda: carc.Rules(tiles={}), "'base'"),
        (lambda: carc.Rules(tiles={1: 2}), "tiles: found the key 1"),
        (lambda: carc.Rules(tiles={"base": [[]]}), "expected an object"),
        (lambda: carc.TileSet.load(""), "cannot read"),
        (lambda: carc.TileSet.load(3), "path: found 3 .int., expected the path of a file"),
        (lambda: carc.TileSet.from_json(""), "not valid JSON"),
        (lambda: carc.TileSet.from_json(b"\xff"), "text: found b'.xff' .bytes., expected a text"),
        (lambda: carc.TileSet.from_json("{}", SURROGATE), "name: found"),
        (lambda: carc.TileSet.from_json(DEEP), "nested deeper"),
        # Decks and states
        (lambda: carc.Deck(RULES, seed=-1), "seed: found -1 .int., expected a whole number"),
        (lambda: carc.Deck(RULES, seed=2**64), f"seed: found {2**64} .*{2**64 - 1}$"),
        (lambda: carc.Deck(RULES, seed=True), "seed: found True .bool., expected"),
        (lambda: carc.Deck(RULES, tiles=["Z"]), "unknown tile 'Z', did you mean"),
        (lambda: carc.Deck(RULES, tiles=["B\0"]), "unknown tile"),
        (lambda: carc.Deck(RULES, tiles="B"), "tiles: found 'B' .str., expected a list"),
        (lambda: carc.Deck(RULES, tiles=[3]), "tiles: found 3 .int., expected a text"),
        (lambda: carc.Deck(RULES, tiles=["B"] * 84), "found 84 tiles"),
        (lambda: carc.Deck(carc.Rules(river="2014"), tiles=["A", "R02"]), "R02 at position 1"),
        (lambda: carc.Deck(RULES, tiles=[]).draw(), "found no tile left"),
        (lambda: carc.GameState(RULES, first_player=2), "first_player: found 2"),
        (lambda: carc.GameState(RULES, first_player=-1), "first_player: found -1"),
        (lambda: carc.GameState(RULES, first_player=10**30), "first_player: found 10* "),
        (lambda: carc.GameState(RULES, start=("Z", 0, 0, 0)), "unknown tile 'Z'"),
        (lambda: carc.GameState(RULES, start=("D", 41, 0, 0)), "start x: found 41 .*-40 to 40"),
        (lambda: carc.GameState(RULES, start=("D", 0, -(10**30), 0)), "start y: found -10*"),
        (lambda: carc.GameState(RULES, start=("D", 0, 0, 4)), "start rotation: found 4 .*0 to 3"),
        (lambda: carc.GameState(RULES, start="D"), r"start: found 'D' \(str\), expected \(tile, x"),
        (lambda: carc.GameState(RULES, start=("D", 0, 0)), "start: found"),
        (lambda: carc.GameState(RULES, start=(SURROGATE, 0, 0, 0)), "start tile: found"),
        (lambda: carc.GameState(RULES, start=Hostile()), "start: found a value without repr"),
        (lambda: carc.GameState(RULES, carc.Deck(carc.Rules(abbot=True), seed=1)), "other rules"),
        (lambda: carc.GameState(RULES).placements("R02"), "unknown tile 'R02'"),
        (lambda: carc.GameState(RULES).tile_at(2**40, 0), "x: found 1099511627776 .int., expected"),
        (lambda: small_game().string_to_action(SURROGATE), "text: found"),
        # Actions
        (lambda: carc.Action.place(128, 0, 0), "coordinate: found 128 .*from -128 to 127"),
        (lambda: carc.Action.place(0, -(10**30), 0), "coordinate: found -1000.*from -128 to 127"),
        (lambda: carc.Action.place(0, 0, 4), "rotation: found 4 .*from 0 to 3"),
        (lambda: carc.Action.meeple(256), "feature: found 256 .*from 0 to 1"),
        (lambda: carc.Action.abbot(-1), "feature: found -1 .*from 0 to 1"),
        (lambda: carc.Action.from_int(2**32), "bits: found 4294967296 .*from 0 to 4294967295"),
        # Random numbers and agents
        (lambda: carc.Rng(-1), "seed: found -1"),
        (lambda: carc.Rng(1).below(0), "bound: found 0 .*from 1 to 4294967295"),
        (lambda: carc.split_seed(1, 2**64), "index: found 18446744073709551616"),
        (lambda: carc.make_agent("gready"), "did you mean 'greedy'"),
        (lambda: carc.make_agent(SURROGATE), "unknown agent '.ud800', did you mean"),
        (lambda: carc.make_agent("random").choose(state_in("draw"), carc.Rng(1)), "phase draw"),
        (lambda: carc.make_agent("greedy").choose(state_in("over"), carc.Rng(1)), "phase over"),
        # Games
        (lambda: carc.play_game(RULES, ["random"]), "found 1, expected one agent for each of 2"),
        (lambda: carc.play_game(RULES, ["random", "nobody"]), "unknown agent 'nobody'"),
        (lambda: carc.play_game(RULES, ["random", SURROGATE]), "unknown agent '.ud800'"),
        (lambda: carc.play_game(RULES, ["random", None]), "agent: found None"),
        (lambda: carc.play_game(RULES, ["random", carc.Agent]), "agent: found <class"),
        (lambda: carc.play_game(RULES, ["random", Named(SURROGATE)]), "name of an agent: found"),
        (lambda: carc.play_game(RULES, "random"), "agents: found 'random' .str., expected a list"),
        (lambda: carc.play_game(RULES, ["random"] * 2, seed=-1), "seed: found -1"),
        (lambda: carc.play_games(RULES, ["random"], [(1, [0, 1])]), "found agent 1, .*0 to 0"),
        (lambda: carc.play_games(RULES, [], [(1, [0, 0])]), "agents: found none, expected 1"),
        (lambda: carc.play_games(RULES, ["random"], [1]), "games: found 1 .*seed of the deck"),
        (lambda: carc.play_games(RULES, ["random"], [(-1, [0, 0])]), "seed: found -1"),
        (lambda: carc.play_games(RULES, ["random"], [(1, [0, 2**40])]), "seats: found 10995"),
        (lambda: carc.play_games(RULES, [], [], threads=0), "threads: found 0 .*from 1 to 1024"),
        (lambda: carc.play_games(RULES, [], [], records=3), "records: found 3 .*True or False"),
        (
            lambda: carc.play_games(RULES, [], [], on_result=3),
            "on_result: found 3 .int., expected a",
        ),
        (lambda: carc.random_games(-1), "n: found -1 .*from 0 to 100000000"),
        (lambda: carc.random_games(10**12), "n: found 1000000000000 .*from 0 to 100000000"),
        (lambda: carc.random_games(2**63), "n: found 9223372036854775808 .*from 0 to 100000000"),
        (lambda: carc.random_games(1.5), r"n: found 1.5 \(float\), expected a whole number"),
        (lambda: carc.random_games(1, threads=40000), "threads: found 40000 .*from 1 to 1024"),
        (lambda: carc.random_games(1, seed=2**64), "seed: found 18446744073709551616"),
        (lambda: carc.perft(small_game(), ["E"], 3), "deck of 1 tiles"),
        (lambda: carc.perft(small_game(), ["E"], -1), "turns: found -1"),
        (lambda: carc.perft(small_game(), ["A", "A"], 1), "found A in phase draw"),
        (lambda: carc.perft(small_game(), ["Z"], 1), "unknown tile 'Z'"),
        (lambda: carc.measure_clone_ns(small_game(), 0), "n: found 0 .*from 1 to"),
        (lambda: carc.measure_clone_ns(small_game(), -1), "n: found -1 .*from 1 to"),
    ],
)
def test_bad_value_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(carc.Error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_message_with_long_foreign_text_is_still_a_message() -> None:
    for length in range(20, 80):
        text = "é" * length
        for call in (
            lambda text=text: state_in("figure").apply([text]),
            lambda text=text: state_in("figure").apply(text),
            lambda text=text: carc.Rules(players=[text]),
            lambda text=text: carc.Rules(players={text}),
            lambda text=text: carc.Rules.from_json(f'{{"players":"{text}'),
            lambda text=text: carc.GameState(carc.Rules(), start=[text]),
            lambda text=text: carc.GameRecord.from_json(f'{{"{text}"'),
            lambda text=text: carc.play_game(carc.Rules(), [{text}, "random"]),
        ):
            with pytest.raises(carc.Error, match=r"found|not valid JSON"):
                call()


def test_value_that_hides_its_repr_is_named_by_its_type() -> None:
    state = state_in("draw")
    with pytest.raises(carc.IllegalAction, match=r"found a value without repr \(Hostile\)"):
        state.apply(Hostile())  # type: ignore[arg-type]

    class Surrogate:
        def __repr__(self) -> str:
            return SURROGATE

    with pytest.raises(carc.IllegalAction, match=r"found \\ud800 \(Surrogate\)"):
        state.apply(Surrogate())  # type: ignore[arg-type]


def test_interruption_while_a_value_is_shown_is_no_bad_input() -> None:
    class Interrupted:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carc.Rules(players=Interrupted())


def test_value_that_changes_its_dict_while_it_is_read_harms_nothing() -> None:
    class Clearing:
        def __init__(self, items: dict[str, Any]) -> None:
            self.items = items

        def __index__(self) -> int:
            self.items.clear()
            return 3

    options: dict[str, Any] = {}
    options.update(players=Clearing(options), abbot=True)
    assert carc.Rules.from_dict(options) == carc.Rules(players=3, abbot=True)
    tiles: dict[str, Any] = {}
    tiles.update(name=Clearing(tiles), base=[[] for _ in range(1000)])
    with pytest.raises(carc.TileSetError):
        carc.Rules(tiles=tiles)


def test_whole_numbers_of_numpy_are_numbers() -> None:
    assert carc.Rng(np.uint64(7)).next() == carc.Rng(7).next()
    rules = carc.Rules(players=np.int64(3), abbot=np.bool_(True))
    assert rules == carc.Rules(players=3, abbot=True)


def test_tile_set_may_be_given_by_any_path(tmp_path: Path) -> None:
    file = tmp_path / "tiles é.json"
    file.write_text(carc.TileSet.standard().to_json(), encoding="utf-8")
    tiles = carc.TileSet.load(file)
    assert tiles == carc.TileSet.load(str(file)) == carc.Rules(tiles=file).tiles
    for path in (f"{file}\0", f"{file}\0.json"):
        with pytest.raises(carc.TileSetError, match="path: found"):
            carc.TileSet.load(path)


def test_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(carc.RulesError, match="tiles: found a value nested deeper"):
        carc.Rules(tiles={"base": endless})
    with pytest.raises(carc.RulesError, match=r"players: found \[\[\.\.\.\]\] \(list\)"):
        carc.Rules(players=endless)


def test_failed_draw_leaves_state_and_deck_as_they_were() -> None:
    rules = carc.Rules()
    state = carc.GameState(rules, carc.Deck(rules, tiles=["E", "C", "B", "B"]))
    state.apply("E")
    state.apply("E@0,-1r2")
    state.apply("-")
    # C fits nowhere and leaves the game, then the deck ends, or offers what is not in the bag.
    for tiles in (["C"], ["C", "A"]):
        deck = carc.Deck(rules, tiles=tiles)
        before = state.to_json()
        with pytest.raises(carc.Error):
            state.draw(deck)
        assert state.to_json() == before
        assert deck.left == len(tiles)
    with pytest.raises(carc.IllegalAction, match="found phase place"):
        state_in("place").draw(carc.Deck(carc.Rules(abbot=True), seed=1))
    with pytest.raises(carc.DeckError, match="other rules"):
        state.draw(carc.Deck(carc.Rules(players=3), seed=1))


# Records and states in text


def test_every_truncation_of_a_record_is_refused() -> None:
    text = small_record().to_json()
    for length in range(len(text)):
        with pytest.raises(carc.Error):
            carc.GameRecord.from_json(text[:length])


def test_a_thousand_byte_flips_are_refused_or_give_a_legal_game() -> None:
    text = small_record().to_json().encode()
    rng = random.Random(1)
    legal = 0
    for _ in range(1000):
        damaged = bytearray(text)
        damaged[rng.randrange(len(text))] ^= rng.randrange(1, 256)
        try:
            record = carc.GameRecord.from_json(damaged.decode(errors="surrogateescape"))
        except carc.Error:
            continue
        record.state.check_consistency()
        assert record.replay() == record.state
        legal += 1
    assert legal < 20


def test_documents_are_text() -> None:
    for text in (small_record().to_json().encode(), b"\xff", SURROGATE, None, 3):
        for read in (carc.GameRecord.from_json, carc.GameState.from_json):
            with pytest.raises(carc.RecordError, match=r"text: found .*, expected a text"):
                read(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": {"players": 9}}, "players: found 9"),
        ({"rules": None}, "expected an object"),
        ({"version": 2}, "version: found 2"),
        ({"version": 1.0}, "version: found 1.0"),
        ({"format": "carc-state"}, "format: found 'carc-state'"),
        ({"format": 1}, "format: found 1"),
        ({"turns": None}, "turns: found null, expected a list"),
        ({"turns": [None]}, "turn 0"),
        ({"turns": [{"tile": "Z"}]}, "unknown tile 'Z'"),
        ({"turns": [{"tile": "E", "discarded": True}]}, "turn 0: found tile E discarded"),
        ({"turns": [{"tile": "E", "x": 0, "y": 0, "rot": 0}]}, "turn 0: found E@0,0r0"),
        ({"turns": [{"tile": "E", "x": 2**40, "y": 0, "rot": 0}]}, "turn 0: x: found"),
        ({"seed": -1}, "seed: found -1"),
        ({"seed": "x"}, 'seed: found "x"'),
        ({"agents": ["one"]}, "agents: found 1 names, expected 2"),
        ({"agents": [1, 2]}, "agents: found 1, expected a text"),
        ({"players": 3}, "players: found 3, expected 2"),
        ({"start": {"tile": "D", "x": 99, "y": 0, "rot": 0}}, "start x: found 99"),
        ({"bag": {"E": 200}}, "bag 'E': found 200"),
        ({"bag": {"A": 84}}, "84"),
        ({"first_player": 5}, "first_player: found 5"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_record_that_contradicts_itself_is_refused(change: dict[str, Any], message: str) -> None:
    document = json.loads(small_record().to_json())
    with pytest.raises(carc.Error, match=message):
        carc.GameRecord.from_json(signed(document | change))


def test_changed_record_is_found_by_its_checksum() -> None:
    document = json.loads(small_record().to_json())
    assert carc.GameRecord.from_json(signed(document)) == small_record()
    document["seed"] = 8
    with pytest.raises(carc.RecordError, match=r"checksum: found .*, expected .*: the doc"):
        carc.GameRecord.from_json(json.dumps(document))


def test_state_with_a_changed_value_is_refused() -> None:
    for phase in ("draw", "place", "figure", "over"):
        document = state_in(phase).to_dict()
        assert carc.GameState.from_json(signed(document)) == state_in(phase)
        for key in document.keys() - {"checksum"}:
            changed = signed(document | {key: ["odd"]})
            try:
                carc.GameState.from_json(changed)
            except carc.Error:
                continue
            pytest.fail(f"{key} of a state in phase {phase} is not read")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([SURROGATE, "b"], "agents: found '.ud800' .str., expected a text"),
        ([b"a", "b"], "agents: found b'a' .bytes., expected a text"),
        (["a"], "agents: found 1 names, expected 2 or none"),
        (["a", "b", "c"], "agents: found 3 names, expected 2 or none"),
        ("ab", "agents: found 'ab' .str., expected a list"),
        (None, "agents: found None .NoneType., expected a list"),
    ],
    ids=ascii,
)
def test_names_that_a_record_cannot_hold_are_refused(names: Any, message: str) -> None:
    record = small_record()
    with pytest.raises(carc.Error, match=message):
        record.agents = names
    assert record == small_record()


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_seed_that_a_record_cannot_hold_is_refused(seed: Any) -> None:
    record = small_record()
    with pytest.raises(carc.Error, match=r"seed: found .*, expected a whole number"):
        record.seed = seed
    assert record.seed == 7


def test_verify_reports_damage_instead_of_raising() -> None:
    for text in ("", "{", "[]", "null", DEEP, '{"players":9,"turns":[]}', '{"expect":{}}', "\0"):
        findings = carc.verify_document(text)
        assert len(findings.differences) == 1
        assert findings.differences[0]


def test_turn_of_a_case_without_figure_is_reported() -> None:
    case = {
        "players": 2,
        "river": False,
        "rules": {},
        "start": {"tile": "D", "x": 0, "y": 0, "rot": 0},
        "turns": [{"player": 0, "tile": "B", "x": 0, "y": 1, "rot": 0}],
        "expect": {"placeable": [{"before_turn": 0}], "final": {"scores": [0, 0]}},
    }
    assert len(carc.verify_document(json.dumps(case)).differences) == 1


# Objects that were never initialised, and pickles

CLASSES = [
    value
    for value in vars(carc).values()
    if isinstance(value, type)
    and value.__module__ == "carc._core"
    and not issubclass(value, Exception)
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_object_that_was_never_initialised_is_refused_everywhere(cls: type) -> None:
    others = (state_in("place"), carc.Rng(1), RULES, carc.Action.no_figure(), 0, "", slice(1), {})
    for name in dir(cls):
        member = getattr(cls, name)
        if isinstance(member, property):
            with pytest.raises(carc.Error, match=f"found an uninitialised {cls.__name__},"):
                getattr(cls.__new__(cls), name)
        elif callable(member) and name != "__class__":
            for count in range(3):
                for arguments in itertools.product(others, repeat=count):
                    with contextlib.suppress(Exception):  # what must not happen is a crash
                        member(cls.__new__(cls), *arguments)
                    with contextlib.suppress(Exception):
                        member(*arguments, cls.__new__(cls))


def test_iterators_and_bases_end_nothing() -> None:
    iterator: Any = type(iter(state_in("place").legal_actions()))
    with pytest.raises(TypeError):
        next(iterator.__new__(iterator))
    base: Any = carc.Rules.__base__
    with pytest.raises(TypeError, match="found the base of all classes"):
        base()
    with pytest.raises(TypeError, match="protocol 2"):
        pickle.dumps(RULES, protocol=0)


@pytest.mark.parametrize(
    "value",
    [
        RULES,
        carc.TileSet.standard(),
        carc.Deck(RULES, seed=1),
        carc.GameState(RULES),
        carc.GameRecord(carc.GameState(RULES)),
        carc.Action.no_figure(),
        carc.Rng(1),
        carc.random_games(2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_pickle_is_refused(value: Any) -> None:
    wrong: tuple[Any, ...] = (
        (),
        (1.5,),
        (None,),
        ("",),
        ("[]",),
        (SURROGATE,),
        ([0, 0, 0, 0],),
        ([1, 2, 3],),
        ((9, [1, 2], [1], [1], [1], [1]),),
        ((2, [1, 2, 3], [1], [1], [1], [1]),),
        ((2, [1, 2], [1], [1], ["a"], [1]),),
        ((2, [1, 2], [[1]], [1], [1], [1]),),
        (-1,),
        (2**64,),
        (*value.__getstate__(), 1),
        [],
        None,
        "",
    )
    for pickled in wrong:
        empty = type(value).__new__(type(value))
        with pytest.raises(carc.Error):
            empty.__setstate__(pickled)
        with pytest.raises(carc.Error, match="found an uninitialised"):
            empty.__getstate__()


@pytest.mark.parametrize(
    "change", [{"next": 72}, {"next": -1}, {"tiles": ["Z"]}, {"rules": {"players": 9}}], ids=str
)
def test_wrong_pickle_of_a_deck_is_refused(change: dict[str, Any]) -> None:
    good = json.loads(carc.Deck(RULES, seed=1).__getstate__()[0])
    with pytest.raises(carc.Error, match=r"next: found|unknown tile 'Z'|players: found 9"):
        carc.Deck.__new__(carc.Deck).__setstate__((json.dumps(good | change),))
