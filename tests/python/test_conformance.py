"""Values of the package can be copied, pickled, written and read in every phase of a game.

Games here are random ones of several rules; `positions` yields every so many states of them.
"""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import carc

DATA = Path(__file__).resolve().parents[1] / "data"
ALL_RULES = (
    carc.Rules(),
    carc.Rules(players=5, river="2021", abbot=True),
    carc.Rules(players=3, river="2014", river_start_tile="shuffled", river_turns="no_double_curve"),
    carc.Rules.preset("first_edition_2000", players=4, tie_points="split"),
    carc.Rules.preset("transitional", abbot=True, farmer_recall=True),
    carc.Rules.preset("family", players=3),
)
COPIES: tuple[Callable[[Any], Any], ...] = (
    copy.copy,
    copy.deepcopy,
    lambda value: pickle.loads(pickle.dumps(value)),
    lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
)


def random_action(state: carc.GameState, rng: random.Random) -> carc.Action:
    if state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        return rng.choices(actions, weights)[0]
    return rng.choice(list(state.legal_actions()))


def positions(rules: carc.Rules, seed: int, every: int = 7) -> Iterator[carc.GameState]:
    """Yield every so many states of one random game, the first and the last included."""
    rng = random.Random(seed)
    state = carc.GameState(rules)
    number = 0
    while not state.is_terminal():
        if number % every == 0:
            yield state.clone()
        state.apply(random_action(state, rng))
        number += 1
    yield state


def finished_record(rules: carc.Rules, seed: int) -> carc.GameRecord:
    rng = random.Random(seed)
    record = carc.GameRecord(carc.GameState(rules, first_player=1))
    while not record.state.is_terminal():
        record.apply(random_action(record.state, rng))
    record.agents = [f"agent {p} é" for p in range(rules.players)]
    record.seed = 2**64 - 1
    return record


# Rules and tile sets


@pytest.mark.parametrize("rules", ALL_RULES, ids=repr)
def test_rules_survive_every_way(rules: carc.Rules) -> None:
    ways = [*(way(rules) for way in COPIES)]
    ways += [carc.Rules.from_json(rules.to_json()), carc.Rules.from_dict(rules.to_dict())]
    ways += [carc.Rules(**rules.to_dict()), rules.replace()]
    for other in ways:
        assert other == rules
        assert hash(other) == hash(rules)
        assert other.to_json() == rules.to_json()
    assert json.loads(rules.to_json()) == rules.to_dict()


def test_every_option_can_be_read_and_replaced() -> None:
    for name, values, meaning in carc.rules_options():
        assert meaning
        for value in values:
            changed = carc.Rules(**{name: value})
            assert changed.to_dict()[name] == value
            assert (changed == carc.Rules()) == (value == values[0])
            assert carc.Rules().replace(**{name: value}) == changed
            if name != "tiles":
                assert getattr(changed, name) == value


def test_rules_cannot_be_changed() -> None:
    rules = carc.Rules()
    for name, values, _ in carc.rules_options():
        with pytest.raises(AttributeError):
            setattr(rules, name, values[0])
    assert rules == carc.Rules()


def test_rules_differ_from_anything_else() -> None:
    for other in (None, 3, "current", carc.Rules().to_dict(), carc.TileSet.standard()):
        assert carc.Rules() != other


def test_rules_are_keys() -> None:
    table = {rules: i for i, rules in enumerate(ALL_RULES)}
    for i, rules in enumerate(ALL_RULES):
        assert table[copy.deepcopy(rules)] == i


def test_repr_of_rules_names_what_differs_from_the_defaults() -> None:
    assert repr(carc.Rules()) == "Rules()"
    assert repr(carc.Rules(players=3, river="2021")) == "Rules(players=3, river='2021')"


def custom_tiles() -> carc.TileSet:
    tiles = json.loads(carc.TileSet.standard().to_json())
    tiles["name"] = "custom é"
    tiles["base"][0]["count"] = 5
    return carc.TileSet.from_json(json.dumps(tiles))


@pytest.mark.parametrize("tiles", [carc.TileSet.standard(), custom_tiles()], ids=lambda t: t.name)
def test_tile_sets_survive_every_way(tiles: carc.TileSet) -> None:
    for other in [*(way(tiles) for way in COPIES), carc.TileSet.from_json(tiles.to_json())]:
        assert other == tiles
        assert hash(other) == hash(tiles)
        assert other.to_json() == tiles.to_json()
        assert (other.name, other.start, other.ids) == (tiles.name, tiles.start, tiles.ids)


def test_custom_tiles_come_with_their_rules(tmp_path: Path) -> None:
    tiles = custom_tiles()
    file = tmp_path / "mine.json"
    file.write_text(tiles.to_json(), encoding="utf-8")
    rules = carc.Rules(tiles=tiles, players=3)
    assert rules == carc.Rules(tiles=str(file), players=3)
    assert rules == carc.Rules(tiles=json.loads(tiles.to_json()), players=3)
    assert rules != carc.Rules(players=3)
    assert carc.TileSet.load(str(file)) == tiles == rules.tiles
    for way in COPIES:
        assert way(rules) == rules
        assert way(carc.GameState(rules)) == carc.GameState(rules)
    assert rules.tiles_to_draw == 74


# Actions


def test_actions_survive_every_way() -> None:
    for rules in ALL_RULES[:2]:
        for state in positions(rules, 1, every=20):
            for action in state.legal_actions():
                ways = [*(way(action) for way in COPIES), carc.Action.from_int(int(action))]
                ways.append(state.string_to_action(state.action_to_string(action)))
                for other in ways:
                    assert other == action
                    assert hash(other) == hash(action)
                    assert state.is_legal(other)


def test_actions_are_compared_by_value() -> None:
    assert carc.Action.place(1, -2, 3) == carc.Action.place(1, -2, 3)
    assert len({carc.Action.meeple(1), carc.Action.meeple(1), carc.Action.abbot(1)}) == 2
    for other in (None, 3, "-", int(carc.Action.no_figure())):
        assert carc.Action.no_figure() != other


def test_actions_tell_their_parts() -> None:
    place = carc.Action.place(-3, 40, 2)
    assert (place.kind, place.x, place.y, place.rotation) == ("place", -3, 40, 2)
    meeple = carc.Action.meeple(4)
    assert (meeple.kind, meeple.figure, meeple.feature) == ("figure", "meeple", 4)
    assert carc.Action.abbot(1).figure == "abbot"
    assert carc.Action.no_figure().figure == "none"
    assert repr(place) == "<Action place -3,40 r2>"


def test_action_list_is_a_sequence() -> None:
    for state in positions(ALL_RULES[4], 2):
        actions = state.legal_actions()
        items = list(actions)
        assert len(actions) == len(items) == state.num_legal_actions()
        assert [actions[i] for i in range(len(items))] == items
        assert [actions[-i - 1] for i in range(len(items))] == items[::-1]
        assert list(reversed(actions)) == items[::-1]
        assert all(action in actions for action in items)
        assert carc.Action.place(100, 100, 0) not in actions
        assert None not in actions
        assert bool(actions) == (not state.is_terminal())
        for index in (len(items), -len(items) - 1, 2**40):
            with pytest.raises(IndexError, match="found index"):
                actions[index]
        for part in (slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, 1)):
            assert actions[part] == items[part]
        if items:
            assert random.Random(1).choice(actions) in items


def test_action_list_stays_when_its_state_moves_on() -> None:
    state = carc.GameState(carc.Rules())
    actions = state.legal_actions()
    items = list(actions)
    state.apply(actions[0])
    del state
    assert list(actions) == items


# States


@pytest.mark.parametrize("rules", ALL_RULES, ids=repr)
def test_states_survive_every_way_in_every_phase(rules: carc.Rules) -> None:
    phases = set()
    for state in positions(rules, 3):
        phases.add(state.phase)
        for other in [
            *(way(state) for way in COPIES),
            state.clone(),
            carc.GameState.from_json(state.to_json()),
        ]:
            assert other == state
            assert other.hash() == state.hash()
            assert other.to_json() == state.to_json()
            assert str(other) == str(state)
            assert list(other.legal_actions()) == list(state.legal_actions())
            assert (other.scores, other.points, other.projected()) == (
                state.scores,
                state.points,
                state.projected(),
            )
            other.check_consistency()
        assert json.loads(state.to_json()) == state.to_dict()
    assert phases == {"draw", "place", "figure", "over"}


def test_copies_of_a_state_are_independent() -> None:
    rng = random.Random(4)
    for state in positions(carc.Rules(), 4):
        if state.is_terminal():
            continue
        before = state.to_json()
        for way in (*COPIES, carc.GameState.clone):
            other = way(state)
            other.apply(random_action(other, rng))
            assert other != state
            assert state.to_json() == before


def test_states_outlive_the_rules_and_decks_they_were_made_from() -> None:
    rules = carc.Rules(players=4)
    deck = carc.Deck(rules, tiles=["E", "B"])
    state = carc.GameState(rules, deck)
    tiles, features, actions = state.tiles, state.features(), state.legal_actions()
    copied = state.clone()
    del rules, deck, state
    assert copied.rules.players == 4
    assert (tiles[0].id, features[0].kind, len(actions)) == ("D", "city", 2)


def test_states_are_no_keys() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(carc.GameState(carc.Rules()))
    for other in (None, 1, carc.Rules(), str(carc.GameState(carc.Rules()))):
        assert carc.GameState(carc.Rules()) != other


def test_text_board_shows_every_tile_and_the_scores() -> None:
    for rules in ALL_RULES:
        for state in positions(rules, 5, every=25):
            text = str(state)
            lines = text.splitlines()
            assert all(line == line.rstrip() for line in lines)
            assert text.count("+") == 4 * len(state.tiles)
            for player in range(rules.players):
                assert f"player {player}: {state.scores[player]} points" in text
            assert f"{state.tiles_left} tiles left, phase {state.phase}" in text
            assert repr(state).startswith("<GameState: ")


def test_values_of_a_state_fit_together() -> None:
    for rules in ALL_RULES:
        for state in positions(rules, 6, every=11):
            in_hand = state.phase == "place"
            bag = sum(state.bag.values())
            assert bag == state.tiles_left
            laid = len(state.tiles) - 1
            assert laid + len(state.discarded) + bag + in_hand == rules.tiles_to_draw
            assert state.scores == [
                sum(by_player) for by_player in zip(*state.points.values(), strict=True)
            ]
            assert (state.drawn_tile is None) == (state.phase in ("draw", "over"))
            assert state.is_terminal() == (state.phase == "over") == (state.current_player() == -4)
            assert state.is_chance_node() == (state.current_player() == -1)
            best = max(state.scores)
            assert state.winners == [p for p, s in enumerate(state.scores) if s == best]
            assert sum(probability for _, probability in state.chance_outcomes()) == pytest.approx(
                float(state.is_chance_node())
            )
            figures = [figure.player for figure in state.figures if figure.figure == "meeple"]
            for player in range(rules.players):
                assert state.meeples[player] + figures.count(player) == 7
            for tile in state.tiles:
                found = state.tile_at(tile.x, tile.y)
                assert found is not None
                assert (found.id, found.rotation) == (tile.id, tile.rotation)
            assert all(state.tile_at(x, y) is None for x, y in state.open_cells)


# Decks and random numbers


def test_copies_of_a_deck_are_independent() -> None:
    deck = carc.Deck(carc.Rules(), seed=1)
    deck.draw()
    for way in COPIES:
        other = way(deck)
        assert (other.tiles, other.left) == (deck.tiles, 70)
        other.draw()
        assert (other.left, deck.left) == (69, 70)


@pytest.mark.parametrize("rules", [*ALL_RULES, carc.Rules(tiles=custom_tiles())], ids=repr)
def test_decks_survive_every_way(rules: carc.Rules) -> None:
    for deck in (carc.Deck(rules, seed=3), carc.Deck(rules, tiles=[])):
        for other in (way(deck) for way in COPIES):
            assert (other.tiles, other.left) == (deck.tiles, deck.left)
            assert carc.GameState(rules, other) == carc.GameState(rules, deck)


def test_copies_of_a_generator_are_independent() -> None:
    rng = carc.Rng(1)
    rng.next()
    for way in COPIES:
        before, other = copy.copy(rng), way(rng)
        numbers = [other.next() for _ in range(5)]
        assert numbers == [before.next() for _ in range(5)]
    assert numbers == [rng.next() for _ in range(5)]


def test_deck_of_a_seed_holds_the_bag_of_its_rules() -> None:
    for rules in ALL_RULES:
        deck = carc.Deck(rules, seed=9)
        assert deck.tiles == carc.Deck(rules, seed=9).tiles
        assert len(deck) == deck.left == rules.tiles_to_draw
        counts = {tile: deck.tiles.count(tile) for tile in set(deck.tiles)}
        assert counts == carc.GameState(rules).bag == carc.GameState(rules, deck).bag


def test_drawing_from_a_deck_counts_the_discarded_tiles() -> None:
    rules = carc.Rules()
    deck = carc.Deck(rules, tiles=["E", "C", "C", "B", "C"])
    state = carc.GameState(rules, deck)
    assert state.draw(deck) == 0
    state.apply("E@0,-1r2")
    state.apply("-")
    assert state.draw(deck) == 2
    assert (state.drawn_tile, state.discarded, deck.left) == ("B", ["C", "C"], 1)
    state.apply("B@0,1r0")
    state.apply("-")
    assert state.draw(deck) == 1
    assert state.is_terminal()


def test_random_numbers_are_those_of_the_published_generator() -> None:
    def splitmix(x: int) -> int:
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    def rotated(x: int, by: int) -> int:
        return (x << by | x >> 64 - by) % 2**64

    for seed in (0, 1, 2**64 - 1):
        s = [splitmix((seed + i * 0x9E3779B97F4A7C15) % 2**64) for i in range(1, 5)]
        rng = carc.Rng(seed)
        for _ in range(100):
            assert rng.next() == rotated(s[1] * 5 % 2**64, 7) * 9 % 2**64
            shifted = s[1] << 17 & 2**64 - 1
            s[2] ^= s[0]
            s[3] ^= s[1]
            s[1] ^= s[2]
            s[0] ^= s[3]
            s[2] ^= shifted
            s[3] = rotated(s[3], 45)
        assert all(0 <= rng.below(n) < n for n in (1, 2, 71, 2**32 - 1))
        assert all(0 <= rng.uniform() < 1 for _ in range(100))


# Records


@pytest.mark.parametrize("rules", ALL_RULES, ids=repr)
def test_records_survive_every_way(rules: carc.Rules) -> None:
    record = finished_record(rules, 7)
    for other in [
        *(way(record) for way in COPIES),
        carc.GameRecord.from_json(record.to_json()),
        carc.GameRecord.from_json(record.to_json(details=True)),
    ]:
        assert other == record
        assert other.actions == record.actions
        assert other.state == record.state
        assert (other.agents, other.seed, other.rules) == (record.agents, record.seed, rules)
    from_text = carc.GameRecord.from_text(record.to_text(), rules)
    assert from_text.actions == record.actions
    assert from_text.state == record.state


def test_copies_of_a_record_are_independent() -> None:
    record = carc.GameRecord(carc.GameState(carc.Rules()))
    record.apply("E")
    for way in COPIES:
        other = way(record)
        other.apply("E@0,-1r2")
        assert (len(record.actions), len(other.actions)) == (1, 2)
        assert other != record


def test_record_replays_to_every_position() -> None:
    record = finished_record(carc.Rules(abbot=True), 8)
    state = record.replay(0)
    for i, action in enumerate(record.actions):
        if i % 10 == 0:
            assert record.replay(i) == state
        state.apply(action)
    assert record.replay() == record.replay(10**6) == record.state == state


def test_record_agrees_with_itself_when_verified() -> None:
    for rules in ALL_RULES:
        findings = carc.verify_document(finished_record(rules, 9).to_json(details=True))
        assert findings.differences == []
        assert findings.games == 1
        assert findings.values > 100


def test_all_cases_agree() -> None:
    cases = sorted((DATA / "cases").glob("*.json"))
    assert len(cases) == 32
    for path in cases:
        findings = carc.verify_document(path.read_text(encoding="utf-8"))
        assert (findings.differences, findings.games) == ([], 1), path


def test_perft_counts_the_decisions() -> None:
    rules = carc.Rules()
    deck = carc.Deck(rules, seed=1)
    state = carc.GameState(rules)
    state.apply(deck.draw())
    sequences = 0
    for placement in state.legal_actions():
        placed = state.clone()
        placed.apply(placement)
        sequences += placed.num_legal_actions()
    assert carc.perft(carc.GameState(rules), deck.tiles, 1) == sequences
