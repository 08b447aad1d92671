"""Tiles on a table, and what is connected to what.

A segment (x, y, i) is feature number i of the tile that lies at (x, y), i counted in the `features`
list of its type. Sides are 0..3 = N E S W, half-edges 0..7 clockwise from the west half of north.
x grows east, y grows south, and rotations are clockwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Cell = tuple[int, int]
SegmentId = tuple[int, int, int]

STEPS: tuple[Cell, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
# The half-edge of the neighbour that lies against half-edge h: north-west meets south-west, ...
FACING_HALF = (5, 4, 7, 6, 1, 0, 3, 2)


@dataclass(frozen=True)
class Segment:
    """One entry of a tile type's `features` list, in the reference orientation."""

    kind: str
    edges: tuple[int, ...]
    half_edges: tuple[int, ...]
    cities: tuple[int, ...]
    shields: int


@dataclass(frozen=True)
class Tile:
    """A tile type: what lies on each side, and its segments."""

    name: str
    sides: tuple[str, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Laid:
    """A tile on the table, turned `rot` quarter turns clockwise."""

    tile: Tile
    rot: int

    def side(self, side: int) -> str:
        """Return what lies on a side of the table: city, road, field or river."""
        return self.tile.sides[(side - self.rot) % 4]

    def river_sides(self) -> list[int]:
        return [side for side in range(4) if self.side(side) == "river"]

    def segment_on_side(self, side: int) -> int:
        """Return the road, city or river segment that reaches a side."""
        wanted = (side - self.rot) % 4
        return next(i for i, s in enumerate(self.tile.segments) if wanted in s.edges)

    def segment_on_half(self, half: int) -> int:
        """Return the field segment that reaches a half-edge."""
        wanted = (half - 2 * self.rot) % 8
        return next(i for i, s in enumerate(self.tile.segments) if wanted in s.half_edges)


def parse_tile(facts: dict[str, Any]) -> Tile:
    """Read one tile type of tiles.json."""
    return Tile(
        name=facts["id"],
        sides=tuple(facts["edges"][letter] for letter in "NESW"),
        segments=tuple(
            Segment(
                kind=f["kind"],
                edges=tuple("NESW".index(letter) for letter in f.get("edges", ())),
                half_edges=tuple(f.get("half_edges", ())),
                cities=tuple(f.get("cities", ())),
                shields=f.get("shields", 0),
            )
            for f in facts["features"]
        ),
    )


Board = dict[Cell, Laid]


def neighbour(x: int, y: int, side: int) -> Cell:
    return x + STEPS[side][0], y + STEPS[side][1]


def surrounding(x: int, y: int) -> list[Cell]:
    """Return the eight cells round a cell."""
    return [(x + dx, y + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dx, dy) != (0, 0)]


def turn(heading: int, exit_side: int) -> int:
    """Return how water that flows towards `heading` turns: 0 straight on, 1 right, 3 left."""
    return (exit_side - heading) % 4


def touching(board: Board, segment: SegmentId) -> Iterator[SegmentId]:
    """Yield the segments of neighbour tiles that are connected to a segment."""
    x, y, index = segment
    laid = board[x, y]
    for edge in laid.tile.segments[index].edges:
        side = (edge + laid.rot) % 4
        cell = neighbour(x, y, side)
        if cell in board:
            yield *cell, board[cell].segment_on_side((side + 2) % 4)
    for reference_half in laid.tile.segments[index].half_edges:
        half = (reference_half + 2 * laid.rot) % 8
        cell = neighbour(x, y, half // 2)
        if cell in board:
            yield *cell, board[cell].segment_on_half(FACING_HALF[half])


def flood(board: Board, start: SegmentId) -> frozenset[SegmentId]:
    """Return the whole feature that a segment belongs to."""
    reached = {start}
    waiting = [start]
    while waiting:
        for segment in touching(board, waiting.pop()):
            if segment not in reached:
                reached.add(segment)
                waiting.append(segment)
    return frozenset(reached)


def fits(board: Board, tile: Tile, x: int, y: int, rot: int) -> bool:
    """Tell whether the cell is free, touches a laid tile, and all touching edges match."""
    if (x, y) in board:
        return False
    laid = Laid(tile, rot)
    sides = [side for side in range(4) if neighbour(x, y, side) in board]
    return bool(sides) and all(
        laid.side(side) == board[neighbour(x, y, side)].side((side + 2) % 4) for side in sides
    )
