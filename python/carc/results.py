"""Results of a tournament in one SQLite file, from which a stopped run goes on.

ResultsFile writes: one process at a time, a game as one transaction, with write-ahead logging, so
that a killed process loses none that had ended. Results reads, also while another process writes.
The tables are those of `carc.stored`.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from carc._core import GameResult
from carc._version import __version__
from carc.errors import ResultsError
from carc.files import appear, sync, temporary_beside
from carc.stored import (
    APPLICATION_ID,
    COLUMNS,
    FORMAT,
    NAMES,
    SCHEMA,
    VERSION,
    GameKey,
    StoredGame,
    agent_rows,
    check_header,
    check_row,
    check_tables,
    checksum,
    connect,
    damage_named,
    game_row,
    sha256,
    stored_game,
    to_json,
    utc_now,
)

__all__ = ["GameKey", "Results", "ResultsFile", "StoredGame", "read_results"]

ORDER = "deck, pairing, rotation"  # of the schedule

Self = TypeVar("Self", bound="_Opened")


class _Opened:
    """What is closed at the end of a with statement."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        raise NotImplementedError


class ResultsFile(_Opened):
    """A results file opened for writing, which no other process may write at the same time.

    `identity` is the configuration that makes games comparable: a file of another one is refused
    with ResultsError, which names the keys that differ. So is a file that is damaged or none of
    ours; it is left as it was. Of the games only their keys are held in memory.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        if not path.exists():
            _create(path, identity)
        # Kept until the database is closed: closing any handle of a file gives up SQLite's locks.
        self._handle = os.open(path, os.O_RDWR)
        try:
            _lock(self._handle, path)
            check_header(os.pread(self._handle, 100, 0), path)
            with damage_named(path):
                with closing(connect(path, _reading_mode(path))) as database:
                    _check_identity(check_tables(database, path), path, identity)
                    self._keys = {row[:3] for row in _checked_rows(database, path)}
                self._database = connect(path, "rw")
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = NORMAL")
                self._database.execute("PRAGMA wal_autocheckpoint = 4000")  # pages: fewer waits
        except BaseException:
            os.close(self._handle)
            raise

    def close(self) -> None:
        """Close the database and let other processes use it."""
        self._database.close()
        os.close(self._handle)

    def finished_keys(self) -> frozenset[GameKey]:
        """Return the keys of all finished games."""
        return frozenset(self._keys)

    def games(self) -> list[StoredGame]:
        """Return all finished games by deck, pairing and rotation."""
        with damage_named(self.path):
            rows = self._database.execute(f"SELECT {NAMES} FROM games ORDER BY {ORDER}")
            return list(map(stored_game, rows))

    def add(self, key: GameKey, seed: int, agents: list[str], result: GameResult) -> None:
        """Write a finished game in one transaction."""
        row = game_row(key, seed, agents, result)
        places = ", ".join("?" * (len(row) + 1))
        with damage_named(self.path):
            self._database.execute(
                f"INSERT INTO games ({COLUMNS}, checksum) VALUES ({places})", (*row, checksum(row))
            )
        self._keys.add(key)


class Results(_Opened):
    """A results file opened for reading by `read_results`, which changes nothing.

    identity: the configuration that makes its games comparable.
    agents: (name, version, options, SHA-256 of the options) of every agent.
    created: when, as UTC in ISO 8601. carc: the version that made the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            check_header(file.read(100), path)
        mode = _shared_mode(path)
        self._unchanged = _stamp(path) if "immutable" in mode else None
        with damage_named(path):
            self._database = connect(path, mode)
            try:
                meta = check_tables(self._database, path)
                rows = self._database.execute(
                    "SELECT name, version, options, sha256 FROM agents ORDER BY position"
                )
                self.agents: list[tuple[str, str, dict[str, Any], str]] = [
                    (name, version, json.loads(options), digest)
                    for name, version, options, digest in rows
                ]
            except BaseException:
                self._database.close()
                raise
        self.identity: dict[str, Any] = json.loads(meta["config"])
        self.created = meta.get("created", "")
        self.carc = meta.get("carc", "")

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __len__(self) -> int:
        """Return the number of finished games."""
        with damage_named(self.path):
            (count,) = self._database.execute("SELECT COUNT(*) FROM games").fetchone()
        return int(count)

    def decks(self) -> int:
        """Return one more than the highest index of a deck of which a game is there."""
        with damage_named(self.path):
            (last,) = self._database.execute("SELECT MAX(deck) FROM games").fetchone()
        return 0 if last is None else int(last) + 1

    def games(self) -> Iterator[StoredGame]:
        """Yield the games by deck, pairing and rotation; raises ResultsError for a damaged one."""
        with damage_named(self.path):
            for row in _checked_rows(self._database, self.path, self._check_unchanged):
                yield stored_game(row)
        self._check_unchanged()

    def game(self, key: GameKey) -> tuple[StoredGame, str]:
        """Return one game and its record; raises KeyError where there is none."""
        where = "WHERE pairing = ? AND deck = ? AND rotation = ?"
        with damage_named(self.path):
            row = self._database.execute(
                f"SELECT {COLUMNS}, checksum FROM games {where}", key
            ).fetchone()
        self._check_unchanged()
        if row is None:
            raise KeyError(key)
        check_row(row, self.path)
        return stored_game(row), row[-2]

    def _check_unchanged(self) -> None:
        if self._unchanged is not None and _stamp(self.path) != self._unchanged:
            raise ResultsError(f"{self.path}: was written while it was read; read it again")


def read_results(path: Path) -> Results:
    """Open a results file for reading, whatever its configuration, also while it is written.

    Games that end after a reading has begun may be missing from it. Raises ResultsError for a file
    that is damaged or none of ours, and OSError for one that cannot be read.
    """
    return Results(path)


def _create(path: Path, identity: Mapping[str, Any]) -> None:
    """Make a results file without games, which appears complete, and never in place of another."""
    config = to_json(identity)
    meta = {
        "format": FORMAT,
        "version": str(VERSION),
        "config": config,
        "config_sha256": sha256(config),
        "carc": __version__,
        "created": utc_now(),
    }
    with temporary_beside(path) as temporary, damage_named(path):
        with closing(connect(temporary, "rw")) as database:
            database.executescript(SCHEMA)
            database.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            database.executemany("INSERT INTO agents VALUES (?, ?, ?, ?, ?)", agent_rows(identity))
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {VERSION}")
        sync(temporary)
        with suppress(
            FileExistsError
        ):  # another process was faster: its file is opened, or refused as in use
            appear(temporary, path)
        sync(path.parent)


def _reading_mode(path: Path) -> str:
    """Say how to look at a database without changing it: "immutable" makes no files beside it, but
    sees no log.
    """
    log = path.with_name(path.name + "-wal")
    return "ro" if log.exists() and log.stat().st_size > 0 else "ro&immutable=1"


def _shared_mode(path: Path) -> str:
    """Say how to read beside a writer, whose log is there for as long as it has the file open."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and (log.stat().st_size > 0 or os.access(path.parent, os.W_OK)):
        return "ro"
    return "ro&immutable=1"


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ResultsError(
            f"{path}: in use by another process; wait for it or name another file"
        ) from error


def _checked_rows(
    database: sqlite3.Connection, path: Path, before_refusal: Callable[[], None] = lambda: None
) -> Iterator[tuple[Any, ...]]:
    """Yield the games' columns by deck, pairing and rotation; raises ResultsError for damage."""
    for row in database.execute(f"SELECT {COLUMNS}, checksum FROM games ORDER BY {ORDER}"):
        if checksum(row[:-1]) != row[-1]:
            before_refusal()
        check_row(row, path)
        yield row


def _check_identity(meta: Mapping[str, str], path: Path, identity: Mapping[str, Any]) -> None:
    differences = list(_differences(json.loads(meta["config"]), json.loads(to_json(identity))))
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
    text = to_json(value)
    return text if len(text) <= 60 else text[:57] + "..."
