"""Results of a tournament in one SQLite file, from which a stopped run goes on.

Tables: ``meta`` (format, version, config as JSON, its SHA-256) and ``games``, one row for each
(pairing, deck, rotation), with lists by seat as JSON and a CRC-32 over the other columns. The file
uses write-ahead logging: a game is one transaction, and a killed process loses none that had ended.
"""

import fcntl
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from carc._core import GameResult
from carc.errors import ResultsError
from carc.files import appear, sync, temporary_beside

FORMAT = "carc-results"
VERSION = 2  # 2 added the column simulations
APPLICATION_ID = 0x63617263  # "carc", in the header of the database
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
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
  record TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE (pairing, deck, rotation)
);
"""
COLUMNS = (
    "pairing, deck, rotation, seed, agents, scores, points, final_count, figures_set, "
    "think_seconds, simulations, turns, discarded, record"
)
ADVICE = "move it away or name another file"

GameKey: TypeAlias = tuple[int, int, int]  # pairing, deck, rotation


@dataclass(frozen=True)
class StoredGame:
    """What the statistics need of a finished game; lists are by seat."""

    pairing: int
    deck: int
    rotation: int
    agents: list[str]
    scores: list[int]
    think_seconds: list[float]
    simulations: list[int]
    turns: int

    @property
    def key(self) -> GameKey:
        """What names the game in its tournament."""
        return self.pairing, self.deck, self.rotation


class ResultsFile:
    """An open results file, which no other process may use at the same time.

    `identity` is the configuration that makes games comparable: a file of another one is refused
    with ResultsError, which names the keys that differ. So is a file that is damaged or none of
    ours; it is left as it was.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        if not path.exists():
            _create(path, identity)
        # Kept until the database is closed: closing any handle of a file gives up SQLite's locks.
        self._handle = os.open(path, os.O_RDWR)
        try:
            _lock(self._handle, path)
            _check_header(os.pread(self._handle, 100, 0), path)
            with _damage_named(path):
                with closing(_connect(path, _reading_mode(path))) as database:
                    _check_content(database, path, identity)
                    self._games = _read_games(database, path)
                self._database = _connect(path, "rw")
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            os.close(self._handle)
            raise

    def __enter__(self) -> "ResultsFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and let other processes use it."""
        self._database.close()
        os.close(self._handle)

    def games(self) -> list[StoredGame]:
        """All finished games by deck, pairing and rotation."""
        return sorted(self._games, key=lambda game: (game.deck, game.pairing, game.rotation))

    def add(self, key: GameKey, seed: int, agents: list[str], result: GameResult) -> None:
        """Write a finished game in one transaction."""
        lists = (
            agents,
            result.scores,
            result.points,
            result.final_count,
            result.figures_set,
            result.think_seconds,
            result.simulations,
        )
        row = (
            *key,
            str(seed),
            *map(_json, lists),
            result.turns,
            _json(result.discarded),
            result.record,
        )
        places = ", ".join("?" * (len(row) + 1))
        with _damage_named(self.path):
            self._database.execute(
                f"INSERT INTO games ({COLUMNS}, checksum) VALUES ({places})", (*row, _checksum(row))
            )
        self._games.append(
            StoredGame(
                *key,
                agents,
                result.scores,
                result.think_seconds,
                result.simulations,
                result.turns,
            )
        )


def _create(path: Path, identity: Mapping[str, Any]) -> None:
    """Make a results file without games, which appears complete, and never in place of another."""
    config = _json(identity)
    meta = {
        "format": FORMAT,
        "version": str(VERSION),
        "config": config,
        "config_sha256": hashlib.sha256(config.encode()).hexdigest(),
    }
    with temporary_beside(path) as temporary, _damage_named(path):
        with closing(_connect(temporary, "rw")) as database:
            database.executescript(SCHEMA)
            database.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {VERSION}")
        sync(temporary)
        with suppress(
            FileExistsError
        ):  # another process was faster: its file is opened, or refused as in use
            appear(temporary, path)
        sync(path.parent)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
    )


def _reading_mode(path: Path) -> str:
    """Say how to look at a database without changing it: "immutable" makes no files beside it, but
    sees no log.
    """
    log = path.with_name(path.name + "-wal")
    return "ro" if log.exists() and log.stat().st_size > 0 else "ro&immutable=1"


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ResultsError(
            f"{path}: in use by another process; wait for it or name another file"
        ) from error


def _check_header(header: bytes, path: Path) -> None:
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


def _check_content(database: sqlite3.Connection, path: Path, identity: Mapping[str, Any]) -> None:
    for (problem,) in database.execute("PRAGMA quick_check(1)"):
        if problem != "ok":
            raise ResultsError(f"{path}: damaged: {problem}; {ADVICE}")
    meta = dict(database.execute("SELECT key, value FROM meta"))
    config = meta.get("config", "")
    if meta.get("config_sha256") != hashlib.sha256(str(config).encode()).hexdigest():
        raise ResultsError(
            f"{path}: damaged: the configuration does not have its checksum; {ADVICE}"
        )
    differences = list(_differences(json.loads(config), json.loads(_json(identity))))
    if differences:
        what = f"{path}: holds games of another configuration"
        raise ResultsError(f"{what}: {'; '.join(differences)}; name another file")


def _differences(
    found: Mapping[str, Any], expected: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    for key in sorted(found.keys() | expected.keys()):
        a, b = found.get(key), expected.get(key)
        if isinstance(a, dict) and isinstance(b, dict) and "tiles" not in prefix:
            yield from _differences(a, b, f"{prefix}{key}.")
        elif a != b:
            yield f"{prefix}{key} is {_shortened(a)} there and {_shortened(b)} here"


def _shortened(value: object) -> str:
    text = _json(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _read_games(database: sqlite3.Connection, path: Path) -> list[StoredGame]:
    return [
        _stored_game(row, path)
        for row in database.execute(f"SELECT {COLUMNS}, checksum FROM games")
    ]


def _stored_game(row: tuple[Any, ...], path: Path) -> StoredGame:
    pairing, deck, rotation, _, agents, scores, *_ = row
    think_seconds, simulations, turns, _, _, checksum = row[9:]
    if _checksum(row[:-1]) != checksum:
        where = f"pairing {pairing}, deck {deck}, rotation {rotation}"
        raise ResultsError(
            f"{path}: damaged: the game of {where} does not have its checksum; {ADVICE}"
        )
    return StoredGame(
        pairing,
        deck,
        rotation,
        json.loads(agents),
        json.loads(scores),
        json.loads(think_seconds),
        json.loads(simulations),
        turns,
    )


def _checksum(row: tuple[Any, ...]) -> int:
    return zlib.crc32("\x1f".join(map(str, row)).encode())


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ResultsError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise ResultsError(f"{path}: {error}; {ADVICE}") from error
