"""Odd values for every argument of every public entry point.

What a call cannot use it refuses with a carc.Error, or with the TypeError of its signature. It
never raises anything else, never changes the value it was called on, and never ends the
interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import carc


class OddStr(str):
    __slots__ = ()


class OddInt(int):
    pass


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(500):
        value = [value]
    return value


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31,
    2**63,
    2**64,
    -(2**70),
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    1j,
    "",
    "D",
    "a\0b",
    "\ud800",
    "é" * 61,
    "x" * 100_000,
    OddStr("E"),
    OddInt(3),
    b"D",
    b"\xff\xfe",
    bytearray(b"E"),
    [],
    ["E"],
    [None],
    [[0]],
    (),
    {},
    {"a": 1},
    {1: 2},
    set(),
    deep(),
    object(),
    ...,
    carc.Rules(),
    carc.Action.no_figure(),
    carc.Action.from_int(0xFFFFFFFF),
    carc.TileSet.standard(),
    carc.Rng(1),
    carc.GameState(carc.Rules()),
    *(
        value.__new__(value)  # never initialised
        for value in vars(carc).values()
        if isinstance(value, type) and value.__module__ == "carc._core"
    ),
)
Call = Callable[[Any], Any]


def new_state() -> carc.GameState:
    rules = carc.Rules()
    return carc.GameState(rules, carc.Deck(rules, tiles=["E", "B", "U"]))


def new_record() -> carc.GameRecord:
    return carc.GameRecord(new_state())


RULES = carc.Rules()
CALLS: dict[str, Call] = {
    **{
        f"Rules({name}=)": lambda v, name=name: carc.Rules(**{name: v})
        for name, _, _ in carc.rules_options()
    },
    "Rules(odd=)": lambda v: carc.Rules(odd=v),
    "Rules.preset": lambda v: carc.Rules.preset(v),
    "Rules.from_dict": lambda v: carc.Rules.from_dict(v),
    "Rules.from_dict(value)": lambda v: carc.Rules.from_dict({"players": v}),
    "Rules.from_json": lambda v: carc.Rules.from_json(v),
    "Rules.replace": lambda v: RULES.replace(abbot=v),
    "TileSet.from_json": lambda v: carc.TileSet.from_json(v),
    "TileSet.from_json(name)": lambda v: carc.TileSet.from_json(
        carc.TileSet.standard().to_json(), v
    ).to_json(),
    "TileSet.load": lambda v: carc.TileSet.load(v),
    "Deck(rules)": lambda v: carc.Deck(v, seed=1),
    "Deck(seed)": lambda v: carc.Deck(RULES, seed=v),
    "Deck(tiles)": lambda v: carc.Deck(RULES, tiles=v),
    "GameState(rules)": lambda v: carc.GameState(v),
    "GameState(deck)": lambda v: carc.GameState(RULES, v),
    "GameState(first_player)": lambda v: carc.GameState(RULES, first_player=v),
    "GameState(start)": lambda v: carc.GameState(RULES, start=v),
    "GameState(start tile)": lambda v: carc.GameState(RULES, start=(v, 0, 0, 0)),
    "GameState(start x)": lambda v: carc.GameState(RULES, start=("D", v, 0, 0)),
    "GameState(start rotation)": lambda v: carc.GameState(RULES, start=("D", 0, 0, v)),
    "GameState.from_json": lambda v: carc.GameState.from_json(v),
    "Action.place(x)": lambda v: carc.Action.place(v, 0, 0),
    "Action.place(rotation)": lambda v: carc.Action.place(0, 0, v),
    "Action.meeple": lambda v: carc.Action.meeple(v),
    "Action.abbot": lambda v: carc.Action.abbot(v),
    "Action.from_int": lambda v: repr(carc.Action.from_int(v)),
    "GameRecord": lambda v: carc.GameRecord(v),
    "GameRecord.from_json": lambda v: carc.GameRecord.from_json(v),
    "GameRecord.from_text": lambda v: carc.GameRecord.from_text(v, RULES),
    "GameRecord.from_text(rules)": lambda v: carc.GameRecord.from_text("", v),
    "Rng": lambda v: carc.Rng(v),
    "Rng.below": lambda v: carc.Rng(1).below(v),
    "split_seed": lambda v: carc.split_seed(v, 1),
    "split_seed(index)": lambda v: carc.split_seed(1, v),
    "make_agent": lambda v: carc.make_agent(v),
    "NamedAgent.choose": lambda v: carc.make_agent("random").choose(v, carc.Rng(1)),
    "NamedAgent.choose(rng)": lambda v: carc.make_agent("random").choose(placing(), v),
    "play_game(rules)": lambda v: carc.play_game(v, ["random"] * 2),
    "play_game(agents)": lambda v: carc.play_game(RULES, v),
    "play_game(agent)": lambda v: carc.play_game(RULES, [v, "random"]),
    "play_game(seed)": lambda v: carc.play_game(RULES, ["random"] * 2, seed=v),
    "play_games(games)": lambda v: carc.play_games(RULES, ["random"], v),
    "play_games(game)": lambda v: carc.play_games(RULES, ["random"], [v]),
    "play_games(seats)": lambda v: carc.play_games(RULES, ["random"], [(1, v)]),
    "play_games(seat)": lambda v: carc.play_games(RULES, ["random"], [(1, [0, v])]),
    "play_games(threads)": lambda v: carc.play_games(RULES, ["random"], [(1, [0, 0])], threads=v),
    "play_games(records)": lambda v: carc.play_games(RULES, ["random"], [(1, [0, 0])], records=v),
    "play_games(on_result)": lambda v: carc.play_games(
        RULES, ["random"], [(1, [0, 0])], on_result=v
    ),
    "play_games(answer)": lambda v: carc.play_games(
        RULES, ["random"], [(1, [0, 0])], on_result=lambda *_: v
    ),
    "play_games(stopped)": lambda v: carc.play_games(RULES, ["random"], [(1, [0, 0])], stopped=v),
    "play_games(stopped's answer)": lambda v: carc.play_games(
        RULES, ["random"], [(1, [0, 0])], stopped=lambda: v
    ),
    "random_games(rules)": lambda v: carc.random_games(1, rules=v),
    "random_games(seed)": lambda v: carc.random_games(1, seed=v),
    "random_games(threads)": lambda v: carc.random_games(1, threads=v),
    "perft(state)": lambda v: carc.perft(v, ["E"], 1),
    "perft(tiles)": lambda v: carc.perft(new_state(), v, 1),
    "verify_document": lambda v: carc.verify_document(v),
    "playout_turn_values(states)": lambda v: carc.playout_turn_values(v, "random", 1),
    "playout_turn_values(agent)": lambda v: carc.playout_turn_values([last_placing()], v, 1),
    "playout_turn_values(playouts)": lambda v: carc.playout_turn_values([], "random", v),
    "playout_turn_values(seed)": lambda v: carc.playout_turn_values([], "random", 1, seed=v),
    "playout_turn_values(threads)": lambda v: carc.playout_turn_values([], "random", 1, threads=v),
    "heuristic_turn_values": lambda v: carc.heuristic_turn_values(v),
    "heuristic_turn_values(options)": lambda v: carc.heuristic_turn_values(
        last_placing(), options=v
    ),
    "read_weights": lambda v: carc.read_weights(v),
    "read_weights(format)": lambda v: carc.read_weights("none", v, 1),
    "read_weights(encoder)": lambda v: carc.read_weights("none", "carc-resnet", v),
    "write_weights(path)": lambda v: carc.write_weights(v, {}, {}),
    "write_weights(metadata)": lambda v: carc.write_weights("none", v, {}),
    "write_weights(entry)": lambda v: carc.write_weights("none", {"format": v}, {}),
    "write_weights(tensors)": lambda v: carc.write_weights("none", {}, v),
    "write_weights(tensor)": lambda v: carc.write_weights("none", {}, {"a": v}),
    "measure_clone_ns(state)": lambda v: carc.measure_clone_ns(v, 10),
}


def placing() -> carc.GameState:
    state = new_state()
    state.apply("E")
    return state


def last_placing() -> carc.GameState:
    state = carc.GameState(RULES, carc.Deck(RULES, tiles=["E"]))
    state.apply("E")
    return state


STATE_CALLS: dict[str, Callable[[carc.GameState, Any], Any]] = {
    "apply": lambda s, v: s.apply(v),
    "apply_action": lambda s, v: s.apply_action(v),
    "is_legal": lambda s, v: s.is_legal(v),
    "action_to_string": lambda s, v: s.action_to_string(v),
    "string_to_action": lambda s, v: s.string_to_action(v),
    "placements": lambda s, v: s.placements(v),
    "tile_at": lambda s, v: s.tile_at(v, 0),
    "draw": lambda s, v: s.draw(v),
    "equals": lambda s, v: s == v,
    "contains": lambda s, v: v in s.legal_actions(),
    "index": lambda s, v: s.legal_actions()[v],
}
RECORD_CALLS: dict[str, Callable[[carc.GameRecord, Any], Any]] = {
    "apply": lambda r, v: r.apply(v),
    "replay": lambda r, v: r.replay(v),
    "to_json": lambda r, v: r.to_json(v),
    "equals": lambda r, v: r == v,
}


def refused(call: Call, value: Any) -> bool:
    """Make a call; say whether it was refused in one of the two ways that are allowed."""
    try:
        call(value)
    except carc.Error as error:
        if not 0 < len(str(error)) < 1000:
            raise ValueError(f"message of {len(str(error))} characters") from error
        return True
    except TypeError as error:
        if "incompatible" not in str(error):  # with the signature
            raise
        return True
    return False


@pytest.mark.parametrize("name", CALLS)
def test_odd_values_are_used_or_refused(name: str) -> None:
    for value in ODD:
        refused(CALLS[name], value)


@pytest.mark.parametrize("name", STATE_CALLS)
@pytest.mark.parametrize("phase", ["draw", "place", "figure", "over"])
def test_refused_values_leave_the_state_as_it_was(name: str, phase: str) -> None:
    texts = ["E", "E@0,-1r2", "-", "B", "B@0,1r0", "-", "U", "U@1,0r1", "-"]
    for value in ODD:
        state = new_state()
        while state.phase != phase:
            state.apply(texts[len(applied(state))])
        before = state.to_json()

        def call(v: Any, state: carc.GameState = state) -> Any:
            try:
                return STATE_CALLS[name](state, v)
            except IndexError as error:
                assert name == "index"
                raise carc.Error(str(error)) from None

        if refused(call, value) or name not in ("apply", "apply_action"):
            assert state.to_json() == before, ascii(value)
        state.check_consistency()


def applied(state: carc.GameState) -> list[None]:
    """Return one item for each action that led to the state."""
    turns = len(state.tiles) - 1
    unfinished = {"draw": 0, "place": 1, "figure": -1, "over": 0}[state.phase]
    return [None] * (3 * turns + unfinished)


@pytest.mark.parametrize("name", RECORD_CALLS)
def test_refused_values_leave_the_record_as_it_was(name: str) -> None:
    for value in ODD:
        record = new_record()
        before = record.to_json()
        if refused(lambda v, r=record: RECORD_CALLS[name](r, v), value) or name != "apply":
            assert record.to_json() == before, ascii(value)


@pytest.mark.parametrize("name", ["agents", "seed"])
def test_attributes_of_a_record_are_kept_or_refused(name: str) -> None:
    for value in ODD:
        record = new_record()

        def call(v: Any, record: carc.GameRecord = record) -> None:
            setattr(record, name, v)
            carc.GameRecord.from_json(record.to_json())

        refused(call, value)


def test_everything_still_works_afterwards() -> None:
    result = carc.play_game(carc.Rules(), ["greedy", "random"], seed=1)
    carc.GameRecord.from_json(result.record).state.check_consistency()
