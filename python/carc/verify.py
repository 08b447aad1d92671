"""Finding files of games and cases, and comparing what they hold with the engine."""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from carc._core import TileSet, TileSetError, verify_document

LINE_FILES = (".jsonl", ".jsonl.gz")
DOCUMENT_FILES = (".json", ".json.gz")
GAME_KEYS = ("turns", "expect", "format")


@dataclass(frozen=True)
class Difference:
    """Where a file disagrees with the engine, or why it cannot be compared. Lines count from 1."""

    line: int
    text: str


@dataclass
class FileFindings:
    """What the comparison of one file found."""

    path: str
    games: int = 0
    cases: int = 0
    turns: int = 0
    values: int = 0
    differences: list[Difference] = field(default_factory=list)

    def note(self, line: int, text: str) -> None:
        """Add a difference."""
        self.differences.append(Difference(line, text))


@dataclass(frozen=True)
class Search:
    """Files to compare, and files of tile sets, which hold nothing to compare."""

    files: list[Path]
    skipped: list[Path]


def find_files(paths: Iterable[Path]) -> Search:
    """Find the files of games and cases: the named ones, and at any depth those in named folders.

    In a folder these are ``.jsonl`` and ``.jsonl.gz``, and of ``.json`` and ``.json.gz`` all but
    tile sets. Hidden files and folders are passed over. Raises OSError for a path that is not
    there.
    """
    files: dict[Path, None] = {}
    skipped: dict[Path, None] = {}
    for path in paths:
        path.stat()
        if not path.is_dir():
            files[path] = None
            continue
        for name in _names_below(path):
            if name.name.endswith(DOCUMENT_FILES) and _is_tile_set(name):
                skipped[name] = None
            else:
                files[name] = None
    return Search(list(files), list(skipped))


def verify_file(path: Path) -> FileFindings:
    """Replay everything in a file: a ``.json`` file is one document, any other has one a line.

    Damage of any kind is a difference; so is a file without anything to compare. Raises OSError if
    the file cannot be read.
    """
    findings = FileFindings(str(path))
    line = 0
    try:
        for line, data in _documents(path):
            _verify_document(data, line, findings)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        findings.note(line + 1, f"the compressed data is damaged: {error}")
    if findings.values == 0 and not findings.differences:
        findings.note(1, "found nothing to compare, expected a game or case")
    return findings


def _documents(path: Path) -> Iterator[tuple[int, bytes]]:
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rb") as file:
        if path.name.endswith(DOCUMENT_FILES):
            yield 1, file.read()
            return
        for line, data in enumerate(file, 1):
            if data.strip():
                yield line, data


def _verify_document(data: bytes, line: int, findings: FileFindings) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        findings.note(line, f"found byte {data[error.start]:#04x} at {error.start}, expected UTF-8")
        return
    found = verify_document(text)
    if _is_case(text):
        findings.cases += found.games
    else:
        findings.games += found.games
    findings.turns += found.turns
    findings.values += found.values
    for difference in found.differences:
        findings.note(line, difference)


def _is_case(text: str) -> bool:
    if '"expect"' not in text:
        return False
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "expect" in document


def _names_below(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(LINE_FILES + DOCUMENT_FILES) and not name.startswith("."):
                yield Path(where, name)


def _raise(error: OSError) -> None:
    raise error


def _is_tile_set(path: Path) -> bool:
    """Whether the file holds a whole tile set, and no game or case besides."""
    try:
        text = b"".join(data for _, data in _documents(path)).decode()
        document = json.loads(text)
        if not isinstance(document, dict) or any(key in document for key in GAME_KEYS):
            return False
        TileSet.from_json(text)
    except (ValueError, RecursionError, EOFError, zlib.error, OSError, TileSetError):
        return False
    return True
