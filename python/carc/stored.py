"""The rows of a results file: tables, checksums, and a finished game as the statistics see it.

Tables: ``meta`` (format, version, config as JSON, its SHA-256, carc, created), ``agents`` (one row
for each agent of the configuration, with all its options and their SHA-256) and ``games``, one row
for each (pairing, deck, rotation), with lists by seat as JSON and a CRC-32 over the other columns.
Times of day are UTC and no part of what makes games comparable.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from sys import intern
from typing import Any, TypeAlias

from carc._core import GameResult
from carc.errors import ResultsError

FORMAT = "carc-results"
VERSION = 3  # 2 added simulations; 3 forfeit, luck, finished and the table of agents
APPLICATION_ID = 0x63617263  # "carc", in the header of the database
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (
  position INTEGER PRIMARY KEY,  -- in the configuration's list
  name TEXT NOT NULL,
  version TEXT NOT NULL,         -- of carc, for its own agents
  options TEXT NOT NULL,         -- all of them as JSON: with kind, of its files and its own text
  sha256 TEXT NOT NULL           -- of options
);
CREATE TABLE games (
  id INTEGER PRIMARY KEY,
  pairing INTEGER NOT NULL,      -- index of the table of agents
  deck INTEGER NOT NULL,
  rotation INTEGER NOT NULL,     -- of the seats
  seed TEXT NOT NULL,            -- of the deck; 64 bits do not fit into an SQLite integer
  agents TEXT NOT NULL,          -- this and the next columns up to simulations: by seat
  scores TEXT NOT NULL,
  points TEXT NOT NULL,          -- by feature kind
  final_count TEXT NOT NULL,     -- the part of points paid after the last turn
  figures_set TEXT NOT NULL,
  think_seconds TEXT NOT NULL,
  simulations TEXT NOT NULL,     -- or positions searched; 0 for agents that do not search
  turns INTEGER NOT NULL,
  discarded TEXT NOT NULL,
  forfeit TEXT NOT NULL,         -- null, or [seat, reason, detail]
  luck TEXT NOT NULL,            -- null, or a number by seat: points that the draws gave it
  finished TEXT NOT NULL,        -- UTC
  record TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE (deck, pairing, rotation)  -- the order of the schedule
);
"""
NAMES = (
    "pairing, deck, rotation, seed, agents, scores, points, final_count, figures_set, "
    "think_seconds, simulations, turns, discarded, forfeit, luck, finished"
)
COLUMNS = f"{NAMES}, record"
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
ADVICE = "move it away or name another file"

GameKey: TypeAlias = tuple[int, int, int]  # pairing, deck, rotation


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A finished game without its record; lists are by seat.

    points, final_count: by feature kind; the second is the part paid after the last turn.
    simulations: or positions searched; 0 for agents that do not search.
    turns: tiles laid. discarded: ids of the tiles that fitted nowhere.
    forfeit: None, or (seat, reason in one word, detail) of who lost by not going on.
    luck: None, or points that the draws gave to each seat.
    finished: when, as UTC in ISO 8601.
    """

    pairing: int
    deck: int
    rotation: int
    agents: list[str]
    scores: list[int]
    think_seconds: list[float]
    simulations: list[int]
    turns: int
    seed: int = 0
    points: dict[str, list[int]] = field(default_factory=dict)
    final_count: dict[str, list[int]] = field(default_factory=dict)
    figures_set: list[int] = field(default_factory=list)
    discarded: tuple[str, ...] = ()
    forfeit: tuple[int, str, str] | None = None
    luck: list[float] | None = None
    finished: str = ""

    @property
    def key(self) -> GameKey:
        """What names the game in its tournament."""
        return self.pairing, self.deck, self.rotation


def game_row(key: GameKey, seed: int, agents: list[str], result: GameResult) -> tuple[Any, ...]:
    """Return the values of COLUMNS for a game that ends now."""
    lists = (
        agents,
        result.scores,
        result.points,
        result.final_count,
        result.figures_set,
        result.think_seconds,
        result.simulations,
    )
    last = (result.discarded, result.forfeit, getattr(result, "luck", None))
    return (
        *key,
        str(seed),
        *map(to_json, lists),
        result.turns,
        *map(to_json, last),
        utc_now(),
        result.record,
    )


def stored_game(row: tuple[Any, ...]) -> StoredGame:
    """Return the game that the values of NAMES stand for."""
    pairing, deck, rotation, seed, *lists = row[:11]
    turns, *last, finished = row[11:16]
    agents, scores, points, final_count, figures_set, think_seconds, simulations, *others = (
        json.loads(f"[{','.join((*lists, *last))}]")
    )
    discarded, forfeit, luck = others
    return StoredGame(
        pairing,
        deck,
        rotation,
        agents=list(map(intern, agents)),
        scores=scores,
        think_seconds=think_seconds,
        simulations=simulations,
        turns=turns,
        seed=int(seed),
        points={intern(kind): by_seat for kind, by_seat in points.items()},
        final_count={intern(kind): by_seat for kind, by_seat in final_count.items()},
        figures_set=figures_set,
        discarded=tuple(map(intern, discarded)),
        forfeit=None if forfeit is None else (forfeit[0], forfeit[1], forfeit[2]),
        luck=luck,
        finished=finished,
    )


def agent_rows(identity: Mapping[str, Any]) -> list[tuple[int, str, str, str, str]]:
    """Return the table of agents, which follows from the configuration."""
    options = identity.get("options", {})
    version = str(identity.get("carc", ""))
    rows = []
    for position, name in enumerate(identity.get("agents", ())):
        text = to_json(options.get(name))
        rows.append((position, name, version, text, sha256(text)))
    return rows


def check_header(header: bytes, path: Path) -> None:
    """Raise ResultsError unless these first 100 bytes are those of a results file."""
    if not header:
        raise ResultsError(
            f"{path}: found an empty file, expected a carc results database; {ADVICE}"
        )
    if header[:16] != b"SQLite format 3\0" or header[68:72] != APPLICATION_ID.to_bytes(4, "big"):
        raise ResultsError(f"{path}: no carc results database; {ADVICE}")
    version = int.from_bytes(header[60:64], "big")
    if version != VERSION:
        raise ResultsError(
            f"{path}: found version {version} of the results format, expected {VERSION}"
        )


def check_tables(database: sqlite3.Connection, path: Path) -> dict[str, str]:
    """Return the table meta of a sound database; raises ResultsError for a damaged one."""
    for (problem,) in database.execute("PRAGMA quick_check(1)"):
        if problem != "ok":
            raise ResultsError(f"{path}: damaged: {problem}; {ADVICE}")
    meta = {str(key): str(value) for key, value in database.execute("SELECT key, value FROM meta")}
    config = meta.get("config", "")
    if meta.get("config_sha256") != sha256(config):
        raise ResultsError(
            f"{path}: damaged: the configuration does not have its checksum; {ADVICE}"
        )
    agents = database.execute(
        "SELECT position, name, version, options, sha256 FROM agents ORDER BY position"
    )
    if agents.fetchall() != agent_rows(json.loads(config)):
        raise ResultsError(
            f"{path}: damaged: the table of agents is not that of the configuration; {ADVICE}"
        )
    return meta


def check_row(row: tuple[Any, ...], path: Path) -> None:
    """Raise ResultsError unless the values of COLUMNS have the checksum that follows them."""
    pairing, deck, rotation = row[:3]
    if checksum(row[:-1]) != row[-1]:
        where = f"pairing {pairing}, deck {deck}, rotation {rotation}"
        raise ResultsError(
            f"{path}: damaged: the game of {where} does not have its checksum; {ADVICE}"
        )


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ResultsError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise ResultsError(f"{path}: {error}; {ADVICE}") from error


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a database in one of SQLite's modes: rw, ro, ro&immutable=1."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
    )


def checksum(row: tuple[Any, ...]) -> int:
    """Return the CRC-32 of a row."""
    return zlib.crc32("\x1f".join(map(str, row)).encode())


def sha256(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def to_json(value: object) -> str:
    """Write a value in the one way that its checksum is made from."""
    return ENCODER.encode(value)


def utc_now() -> str:
    """Return this moment to the millisecond, as UTC in ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
