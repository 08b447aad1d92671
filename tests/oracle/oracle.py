"""Answer every question about a Carcassonne game by flood fill over the laid tiles.

It shares only the tile facts with the engine that it checks. Nothing is kept from turn to turn but
the tiles, the figures and the points; the features are found from scratch in every new position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .board import (
    Board,
    Cell,
    Laid,
    SegmentId,
    Tile,
    fits,
    flood,
    neighbour,
    parse_tile,
    surrounding,
    turn,
)

Choice = tuple[str | int, ...]

KINDS = ("road", "city", "monastery", "garden", "field")
MEEPLES = 7

# Option -> allowed values, the default first. The key `tiles` is let through besides: a full set of
# rules has it, but here the tile set itself is handed to the Oracle.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "players": (2, 3, 4, 5),
    "farmers": (True, False),
    "field_scoring": ("field", "city_2000", "transitional"),
    "small_city": (4, 2),
    "river": ("off", "2021", "2014"),
    "river_turns": ("no_u_turn", "no_double_curve"),
    "river_start_tile": ("boxed", "shuffled"),
    "abbot": (False, True),
    "join_cities": ("allowed", "forbidden"),
    "farmer_recall": (False, True),
    "tie_points": ("full", "split"),
}
RIVER_SETS = {"2021": "river", "2014": "river_c2"}


@dataclass(frozen=True)
class Figure:
    """A meeple or abbot on the table."""

    player: int
    what: str
    x: int
    y: int
    segment: int


@dataclass(frozen=True)
class Feature:
    """A whole road, city, monastery, garden or field of the present position."""

    kind: str
    segments: frozenset[SegmentId]
    tiles: int  # distinct tiles
    shields: int
    open_edges: int  # monastery and garden: missing neighbours; field: 0
    complete: bool  # never true for a field
    figures: list[tuple[int, str, int, int]]  # (player, "meeple" or "abbot", x, y)
    cities: frozenset[int]  # field: adjacent cities, as indices into Oracle.features()


@dataclass(frozen=True)
class RiverEnd:
    """The cell where the river must go on, and how it gets there."""

    cell: Cell
    heading: int  # side towards which the water flows when it enters the cell
    last_turn: int  # of the last river tile, as `turn` gives it


def majority(players: list[int]) -> list[int]:
    """Return the players named most often, lowest first; the list names one player per figure."""
    most = max((players.count(p) for p in players), default=0)
    return sorted({p for p in players if players.count(p) == most})


def complete_rules(rules: dict[str, Any]) -> dict[str, Any]:
    """Return the rules with every missing option at its default; refuse unknown ones."""
    for key, value in rules.items():
        if key not in OPTIONS and key != "tiles":
            raise ValueError(f"rule {key!r}: expected one of {', '.join(OPTIONS)}")
        if key in OPTIONS and value not in OPTIONS[key]:
            raise ValueError(f"rule {key}={value!r}: expected one of {OPTIONS[key]}")
    return {key: values[0] for key, values in OPTIONS.items()} | rules


class Oracle:
    """One game. A turn is `place`, then `figure`; a tile that fits nowhere is `discard`ed."""

    def __init__(
        self,
        rules: dict[str, Any],
        tiles: dict[str, Any],
        start: dict[str, Any] | None = None,
        first_player: int = 0,
    ) -> None:
        self.rules = complete_rules(rules)
        self.players: int = self.rules["players"]
        if not 0 <= first_player < self.players:
            raise ValueError(f"first player {first_player}: expected 0..{self.players - 1}")
        self.player = first_player
        self.scores = [0] * self.players
        self.points = self._nothing()
        self.meeples = [MEEPLES] * self.players
        self.abbots = [int(self.rules["abbot"])] * self.players

        river = tiles[RIVER_SETS[self.rules["river"]]] if self.rules["river"] != "off" else []
        self._tiles = {facts["id"]: parse_tile(facts) for facts in tiles["base"] + river}
        if start is None:
            springs = (t["id"] for t in river if list(t["edges"].values()).count("river") == 1)
            start = {"tile": next(springs) if river else tiles["start"], "x": 0, "y": 0, "rot": 0}
        self._start: Cell = (start["x"], start["y"])
        self._board: Board = {self._start: Laid(self._tile(start["tile"]), start["rot"])}
        if len(self._board[self._start].river_sides()) > 1:
            raise ValueError(f"start tile {start['tile']}: a river starts at a spring")
        self._figures: list[Figure] = []
        self._new: Cell | None = None  # the tile just laid, until its figure is decided
        self._found: tuple[list[Feature], dict[SegmentId, int]] | None = None

    # Placing a tile

    def placements(self, tile: str) -> set[tuple[int, int, int]]:
        """Return every legal (x, y, rot) for a tile, all four rotations counted."""
        tile_type = self._tile(tile)
        cells = {neighbour(x, y, side) for x, y in self._board for side in range(4)}
        return {
            (x, y, rot) for x, y in cells for rot in range(4) if self._may_lie(tile_type, x, y, rot)
        }

    def discard(self, tile: str) -> None:
        """Put aside a tile that fits nowhere; the same player goes on."""
        if self._new is not None:
            raise ValueError("discard: the figure of the last tile is not decided yet")
        if self.placements(tile):
            raise ValueError(f"discard {tile}: the tile fits")

    def place(self, tile: str, x: int, y: int, rot: int) -> None:
        """Lay a tile for the player to move."""
        if self._new is not None:
            raise ValueError("place: the figure of the last tile is not decided yet")
        if rot not in range(4) or not self._may_lie(self._tile(tile), x, y, rot):
            raise ValueError(f"place {tile} at {x},{y} rot {rot}: illegal")
        self._board[x, y] = Laid(self._tile(tile), rot)
        self._new = (x, y)
        self._found = None

    def _may_lie(self, tile: Tile, x: int, y: int, rot: int) -> bool:
        return (
            fits(self._board, tile, x, y, rot)
            and ("river" not in tile.sides or self._continues_river(tile, x, y, rot))
            and (self.rules["join_cities"] == "allowed" or not self._joins_cities(tile, x, y, rot))
        )

    def _continues_river(self, tile: Tile, x: int, y: int, rot: int) -> bool:
        end = self._river_end()
        if end is None or (x, y) != end.cell:
            return False
        entry = (end.heading + 2) % 4
        exits = [side for side in Laid(tile, rot).river_sides() if side != entry]
        if not exits:  # the lake
            return True
        bend = turn(end.heading, exits[0])
        if bend == 0 or end.last_turn == 0:
            return True
        return self.rules["river_turns"] == "no_u_turn" and bend != end.last_turn

    def _river_end(self) -> RiverEnd | None:
        """Follow the river from the spring to its open end; None when it has none."""
        cell, last_turn = self._start, 0
        exits = self._board[cell].river_sides()
        while exits:
            heading = exits[0]
            cell = neighbour(*cell, heading)
            if cell not in self._board:
                return RiverEnd(cell, heading, last_turn)
            exits = [s for s in self._board[cell].river_sides() if s != (heading + 2) % 4]
            last_turn = turn(heading, exits[0]) if exits else 0
        return None

    def _joins_cities(self, tile: Tile, x: int, y: int, rot: int) -> bool:
        """Tell whether the tile would make one city out of cities of different players."""
        features, index_of = self._find_features()
        board = self._board | {(x, y): Laid(tile, rot)}
        for i, segment in enumerate(tile.segments):
            if segment.kind == "city":
                whole = flood(board, (x, y, i))
                joined = {index_of[s] for s in whole if s in index_of}
                occupied = [features[j] for j in joined if features[j].figures]
                owners = {player for city in occupied for player, *_ in city.figures}
                if len(occupied) > 1 and len(owners) > 1:
                    return True
        return False

    # Setting a figure

    def figures(self) -> set[Choice]:
        """Return what the player may do after laying the tile.

        ("none",), ("meeple", i) and ("abbot", i) for feature i of the tile type, ("back", x, y).
        """
        if self._new is None:
            raise ValueError("figures: no tile has been laid")
        x, y = self._new
        features, index_of = self._find_features()
        meeple_kinds = {"road", "city", "monastery"} | (
            {"field"} if self.rules["farmers"] else set()
        )
        choices: set[Choice] = {("none",)}
        for i, segment in enumerate(self._board[x, y].tile.segments):
            # Rivers, and gardens without abbots, are no features.
            if (x, y, i) not in index_of or features[index_of[x, y, i]].figures:
                continue
            if self.meeples[self.player] > 0 and segment.kind in meeple_kinds:
                choices.add(("meeple", i))
            if self.abbots[self.player] > 0 and segment.kind in ("monastery", "garden"):
                choices.add(("abbot", i))
        for feature in features:
            for player, what, figure_x, figure_y in feature.figures:
                if player == self.player and (
                    (what == "abbot" and not feature.complete)
                    or (feature.kind == "field" and self.rules["farmer_recall"])
                ):
                    choices.add(("back", figure_x, figure_y))
        return choices

    def figure(self, choice: Choice) -> None:
        """Do one of figures(), score everything that is complete, and pass the turn on."""
        if choice not in self.figures():
            raise ValueError(f"figure {choice!r}: illegal")
        assert self._new is not None
        match choice:
            case ("meeple" | "abbot" as what, int(i)):
                self._figures.append(Figure(self.player, str(what), *self._new, i))
                self._supply(str(what))[self.player] -= 1
            case ("back", int(x), int(y)):
                self._take_back(x, y)
        self._found = None
        for feature in self.features():
            if feature.complete and feature.figures:
                self._pay(feature.kind, self._shares(feature, self._value(feature)))
                for _, _, x, y in feature.figures:
                    self._send_home(self._figure_at(x, y))
        self._found = None
        self._new = None
        self.player = (self.player + 1) % self.players

    def _take_back(self, x: int, y: int) -> None:
        figure = self._figure_at(x, y)
        if figure.what == "abbot":
            features, index_of = self._find_features()
            feature = features[index_of[x, y, figure.segment]]
            self._pay(feature.kind, self._shares(feature, self._value(feature)))
        self._send_home(figure)

    def _figure_at(self, x: int, y: int) -> Figure:
        # At most one figure stands on a tile: only the tile just laid may be given one.
        return next(f for f in self._figures if (f.x, f.y) == (x, y))

    def _send_home(self, figure: Figure) -> None:
        self._figures.remove(figure)
        self._supply(figure.what)[figure.player] += 1

    def _supply(self, what: str) -> list[int]:
        return self.abbots if what == "abbot" else self.meeples

    # Points

    def final_points(self) -> dict[str, list[int]]:
        """Return what each kind would pay each player in addition if the game ended now."""
        paid = self._nothing()
        for feature in self.features():
            if feature.kind != "field":
                add(paid[feature.kind], self._shares(feature, self._value(feature)))
        match self.rules["field_scoring"]:
            case "field":
                self._pay_fields(paid["field"])
            case "city_2000":
                self._pay_cities_to_farmers(paid["field"])
            case "transitional":
                self._pay_cities_once_a_player(paid["field"])
        return paid

    def final_scores(self) -> list[int]:
        """Return the scores if the game ended now."""
        totals = list(self.scores)
        for points in self.final_points().values():
            add(totals, points)
        return totals

    def _pay_fields(self, paid: list[int]) -> None:
        """Pay each field 3 for every completed city, to its majority."""
        features = self.features()
        for field in features:
            if field.kind == "field":
                cities = sum(features[i].complete for i in field.cities)
                add(paid, self._shares(field, 3 * cities))

    def _pay_cities_to_farmers(self, paid: list[int]) -> None:
        """Pay 4 for each completed city, to the majority of the farmers of all its fields."""
        for fields in self._fields_of_completed_cities():
            winners = majority([player for field in fields for player, *_ in field.figures])
            for player in winners:
                paid[player] += self._share(4, len(winners))

    def _pay_cities_once_a_player(self, paid: list[int]) -> None:
        """Pay 3 for each completed city, once to each player who leads in some field of it."""
        for fields in self._fields_of_completed_cities():
            shares = [self._shares(field, 3) for field in fields]
            add(paid, [max(of_player) for of_player in zip(*shares, strict=True)])

    def _fields_of_completed_cities(self) -> list[list[Feature]]:
        features = self.features()
        return [
            [field for field in features if field.kind == "field" and i in field.cities]
            for i, city in enumerate(features)
            if city.kind == "city" and city.complete
        ]

    def _value(self, feature: Feature) -> int:
        """Return the points of a road, city, monastery or garden as it is now."""
        if feature.kind == "road":
            return feature.tiles
        if feature.kind == "city":
            small = self.rules["small_city"] == 2 and feature.tiles == 2
            each = 2 if feature.complete and not small else 1
            return each * (feature.tiles + feature.shields)
        return 9 - feature.open_edges

    def _shares(self, feature: Feature, value: int) -> list[int]:
        """Return what each player gets from a feature that is worth `value`."""
        winners = majority([player for player, *_ in feature.figures])
        share = self._share(value, len(winners))
        return [share if player in winners else 0 for player in range(self.players)]

    def _share(self, value: int, winners: int) -> int:
        return value // winners if self.rules["tie_points"] == "split" and winners else value

    def _pay(self, kind: str, shares: list[int]) -> None:
        add(self.points[kind], shares)
        add(self.scores, shares)

    def _nothing(self) -> dict[str, list[int]]:
        return {kind: [0] * self.players for kind in KINDS}

    # Features

    def features(self) -> list[Feature]:
        """Return all features, in the order in which their first tile was laid.

        Rivers are left out, and gardens too in a game without abbots: nobody can stand there.
        """
        return self._find_features()[0]

    def _find_features(self) -> tuple[list[Feature], dict[SegmentId, int]]:
        """Return all features, and of each segment the index of its feature."""
        if self._found is None:
            wholes: list[frozenset[SegmentId]] = []
            index_of: dict[SegmentId, int] = {}
            for (x, y), laid in self._board.items():
                for i, segment in enumerate(laid.tile.segments):
                    if (x, y, i) not in index_of and self._counts(segment.kind):
                        whole = flood(self._board, (x, y, i))
                        index_of |= dict.fromkeys(whole, len(wholes))
                        wholes.append(whole)
            self._found = [self._describe(whole, index_of) for whole in wholes], index_of
        return self._found

    def _counts(self, kind: str) -> bool:
        return kind in KINDS and (kind != "garden" or self.rules["abbot"])

    def _describe(self, whole: frozenset[SegmentId], index_of: dict[SegmentId, int]) -> Feature:
        parts = [(x, y, self._board[x, y].tile.segments[i]) for x, y, i in whole]
        kind = parts[0][2].kind
        if kind in ("road", "city"):
            open_edges = sum(
                neighbour(x, y, (edge + self._board[x, y].rot) % 4) not in self._board
                for x, y, segment in parts
                for edge in segment.edges
            )
        elif kind in ("monastery", "garden"):
            x, y, _ = parts[0]
            open_edges = sum(cell not in self._board for cell in surrounding(x, y))
        else:
            open_edges = 0
        return Feature(
            kind=kind,
            segments=whole,
            tiles=len({(x, y) for x, y, _ in parts}),
            shields=sum(segment.shields for _, _, segment in parts),
            open_edges=open_edges,
            complete=kind != "field" and open_edges == 0,
            figures=[
                (figure.player, figure.what, figure.x, figure.y)
                for figure in self._figures
                if (figure.x, figure.y, figure.segment) in whole
            ],
            cities=frozenset(
                index_of[x, y, city] for x, y, segment in parts for city in segment.cities
            ),
        )

    def _tile(self, name: str) -> Tile:
        if name not in self._tiles:
            raise ValueError(f"tile {name!r}: expected one of {', '.join(self._tiles)}")
        return self._tiles[name]


def add(totals: list[int], points: list[int]) -> None:
    """Add the points of each player to his total."""
    for player, value in enumerate(points):
        totals[player] += value
