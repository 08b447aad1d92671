"""Where points came from: means by feature kind, and how they grew over the turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carc._core import GameRecord
from carc.export import KINDS
from carc.ratings import Array
from carc.results import Results
from carc.stored import StoredGame

SAMPLE = 400  # games that are replayed at most


@dataclass(frozen=True)
class Course:
    """Mean points of one agent by feature kind over the turns of its games.

    points: shape [turns + 1, kinds], after that many tiles laid by all; without the final count.
    final: shape [kinds], the points after the final count.
    """

    points: Array
    final: Array


def points_by_kind(name: str, games: Sequence[StoredGame]) -> tuple[Array, Array] | None:
    """Return an agent's mean points by kind (in the order of KINDS), and the final count's part.

    Of games that were played to their end; None where it has none.
    """
    seen = [
        (game, game.agents.index(name))
        for game in games
        if name in game.agents and game.forfeit is None
    ]
    if not seen:
        return None
    total, final = (
        np.array(
            [[points[kind][seat] if kind in points else 0 for kind in KINDS] for points, seat in of]
        ).mean(axis=0)
        for of in (
            [(game.points, seat) for game, seat in seen],
            [(game.final_count, seat) for game, seat in seen],
        )
    )
    return total, final


def sample_evenly(games: Sequence[StoredGame], most: int = SAMPLE) -> list[StoredGame]:
    """Choose games that were played to their end, evenly from all of them."""
    whole = [game for game in games if game.forfeit is None]
    step = max(1, -(-len(whole) // most))
    return whole[::step]


def courses(
    results: Results, games: Sequence[StoredGame], names: Sequence[str]
) -> dict[str, Course]:
    """Replay games and return the course of the points of every agent that plays in them."""
    longest = max((game.turns for game in games), default=0)
    sums = {name: np.zeros((longest + 1, len(KINDS))) for name in names}
    finals = {name: np.zeros(len(KINDS)) for name in names}
    counts = dict.fromkeys(names, 0)
    for game in games:
        _, record = results.game(game.key)
        by_turn, final = _replayed(GameRecord.from_json(record))
        for seat, name in enumerate(game.agents):
            own = by_turn[:, :, seat]
            sums[name][: len(own)] += own
            sums[name][len(own) :] += own[-1]  # a shorter game keeps its last points
            finals[name] += final[:, seat]
            counts[name] += 1
    return {
        name: Course(sums[name] / counts[name], finals[name] / counts[name])
        for name in names
        if counts[name]
    }


def _replayed(record: GameRecord) -> tuple[Array, Array]:
    """Return points [turn, kind, seat] before the final count, and [kind, seat] after it."""
    state = record.replay(0)
    rows, laid = [_kinds(state.points)], len(state.tiles)
    for action in record.actions:
        state.apply(action)
        if action.kind != "figure" and len(state.tiles) == laid:
            continue
        laid = len(state.tiles)
        turn = laid - 1
        values = _kinds(state.points)
        if state.is_terminal():
            values = values - _kinds(state.final_count)
        if turn < len(rows):
            rows[turn] = values
        else:
            rows.append(values)
    return np.array(rows), _kinds(state.points)


def _kinds(points: dict[str, list[int]]) -> Array:
    players = len(next(iter(points.values())))
    return np.array([points.get(kind, [0] * players) for kind in KINDS], dtype=float)
