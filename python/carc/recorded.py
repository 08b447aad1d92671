"""Reading a recorded game: a record, a file of records, or moves as text."""

import errno
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import BinaryIO

from carc._core import Error, GameRecord, Rules
from carc.errors import ConfigError

LARGEST = 1 << 28  # bytes, unpacked


def read_game(source: bytes, name: str, rules: Rules | None, game: int = 1) -> GameRecord:
    """Read the game with this number (from 1) from the bytes of a file.

    They are records or golden games, one a line or one document, or moves as
    GameRecord.to_text writes them, both also packed by gzip. `rules` are those of moves; records
    have their own. Raises ConfigError, whose message begins with `name`.
    """
    text = _unpacked(source, name)
    if not text.lstrip().startswith("{"):
        if game != 1:
            raise ConfigError(f"{name}: found moves of one game, expected --game 1, not {game}")
        try:
            return GameRecord.from_text(text, rules or Rules())
        except Error as error:
            raise ConfigError(f"{name}: {error}") from error
    if rules is not None:
        raise ConfigError(f"{name}: found a record, which has its own rules, expected no --rules")
    games = _documents(text)
    if not 1 <= game <= len(games):
        raise ConfigError(f"{name}: found {len(games)} games, expected a game {game} (--game)")
    line, document = games[game - 1]
    try:
        return GameRecord.from_json(document)
    except Error as error:
        raise ConfigError(f"{name}: line {line}: {error}") from error


def read_file(path: Path) -> bytes:
    """Read a file; raises OSError for one of unreasonable size."""
    with path.open("rb") as file:
        return read_stream(file, str(path))


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """Read a stream to its end; raises OSError for one of unreasonable size."""
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"found more than {LARGEST} bytes", name)
    return data


def is_moves(text: str) -> bool:
    """Whether an argument is the moves themselves, not the name of a file."""
    return "@" in text or "\n" in text


def moves_bytes(text: str) -> bytes:
    """Return moves given on the command line, turns with ';' or line ends between them."""
    return text.replace(";", "\n").encode("utf-8", "replace")


def _unpacked(source: bytes, name: str) -> str:
    if source[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(source)) as file:
                source = file.read(LARGEST + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise ConfigError(f"{name}: the compressed data is damaged: {error}") from error
        if len(source) > LARGEST:
            raise ConfigError(f"{name}: found more than {LARGEST} bytes, expected fewer")
    try:
        text = source.decode()
    except UnicodeDecodeError as error:
        found = f"byte {source[error.start]:#04x} at {error.start}"
        raise ConfigError(f"{name}: found {found}, expected UTF-8") from error
    if not text.strip():
        raise ConfigError(f"{name}: found nothing, expected a record or moves")
    return text


def _documents(text: str) -> list[tuple[int, str]]:
    """List (line, text) of the documents: the whole, or a line each."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > 1:
        try:
            json.loads(lines[0][1])
        except (ValueError, RecursionError):
            return [(lines[0][0], text)]
    return lines
