"""Tables of a results file for other programs: a row for each game and seat, as CSV or Parquet."""

import csv
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from carc.errors import ConfigError
from carc.files import errors_naming, sync, temporary_beside
from carc.ratings import margins, win_shares
from carc.stored import StoredGame

KINDS = ("city", "road", "monastery", "garden", "field")
BATCH = 10_000  # rows held in memory

# (name, type, meaning); the types are those of Parquet, in CSV a missing value is an empty field.
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("game", "int64", "number in the schedule, from 1: that of carc results replay --game"),
    ("deck", "int64", "index of the deck, from 0"),
    ("pairing", "int64", "index of the table of agents, from 0"),
    ("rotation", "int64", "of the table's seats, from 0"),
    ("seed", "uint64", "of the deck"),
    ("seat", "int64", "1 moves first"),
    ("agent", "string", "name in the tournament"),
    ("score", "int64", "points; in a forfeited game those when it was broken off"),
    ("margin", "double", "points more than the mean of the others; empty in a forfeited game"),
    (
        "win_share",
        "double",
        "1 for a win, 0 for a loss or a forfeit, equal parts for all others with the best score",
    ),
    *((f"points_{kind}", "int64", f"points from features of kind {kind}") for kind in KINDS),
    *((f"final_{kind}", "int64", "the part of them paid after the last turn") for kind in KINDS),
    ("figures_set", "int64", "figures set during the game"),
    ("think_seconds", "double", "time spent deciding in the whole game"),
    ("simulations", "int64", "simulations or positions searched in the whole game"),
    ("turns", "int64", "tiles laid in the game by all"),
    ("discarded", "string", "ids of the tiles that fitted nowhere, with spaces between"),
    ("forfeit", "string", "reason, in the row of the seat that forfeited the game"),
    ("forfeit_detail", "string", "what happened"),
    (
        "luck",
        "double",
        "points of margin that the draws gave to the seat, where measured; empty in a forfeited "
        "game",
    ),
    ("finished", "string", "when the game ended, UTC"),
)
NAMES = [name for name, _, _ in COLUMNS]


def game_rows(number: int, game: StoredGame) -> Iterator[dict[str, Any]]:
    """Yield the rows of a game, one a seat, with the keys of COLUMNS in their order."""
    forfeiter = None if game.forfeit is None else game.forfeit[0]
    shares, leads = win_shares(game.scores, forfeiter), margins(game.scores, forfeiter)
    luck = game.luck if forfeiter is None else None
    for seat, agent in enumerate(game.agents):
        lost = game.forfeit if seat == forfeiter else None
        values: list[Any] = [
            number,
            game.deck,
            game.pairing,
            game.rotation,
            game.seed,
            seat + 1,
            agent,
            game.scores[seat],
            leads[seat] if leads is not None else None,
            shares[seat],
            *(game.points[kind][seat] if kind in game.points else 0 for kind in KINDS),
            *(game.final_count[kind][seat] if kind in game.final_count else 0 for kind in KINDS),
            game.figures_set[seat],
            game.think_seconds[seat],
            game.simulations[seat],
            game.turns,
            " ".join(game.discarded),
            lost[1] if lost else None,
            lost[2] if lost else None,
            luck[seat] if luck is not None else None,
            game.finished,
        ]
        yield dict(zip(NAMES, values, strict=True))


def writer_for(path: Path) -> Callable[[Path, Iterable[dict[str, Any]]], int]:
    """Return the function that writes this kind of file; raises ConfigError for other endings."""
    if path.suffix == ".csv":
        return write_csv
    if path.suffix == ".parquet":
        _pyarrow()
        return write_parquet
    raise ConfigError(f"{path}: found the ending '{path.suffix}', expected .csv or .parquet")


def write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as CSV (UTF-8, a header, RFC 4180) in place of `path`; returns their number."""
    count = 0
    with temporary_beside(path) as temporary, errors_naming(path):
        with temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, NAMES)
            writer.writeheader()
            for row in rows:
                writer.writerow(row)
                count += 1
        _put(temporary, path)
    return count


def write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as Parquet in place of `path`; returns their number.

    Each column's meaning is in the metadata of its field.
    """
    arrow, parquet = _pyarrow()
    schema = arrow.schema(
        [
            arrow.field(name, arrow.type_for_alias(kind), metadata={"meaning": meaning})
            for name, kind, meaning in COLUMNS
        ]
    )
    count, rest = 0, iter(rows)
    with temporary_beside(path) as temporary, errors_naming(path):
        with parquet.ParquetWriter(temporary, schema) as writer:
            while batch := list(islice(rest, BATCH)):
                writer.write_table(arrow.Table.from_pylist(batch, schema))
                count += len(batch)
        _put(temporary, path)
    return count


def _put(temporary: Path, path: Path) -> None:
    sync(temporary)
    temporary.replace(path)
    sync(path.parent)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(
            "Parquet: found no package pyarrow, expected the extra: pip install 'carc[data]'"
        ) from error
    return pyarrow, pyarrow.parquet
