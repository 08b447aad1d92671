"""Self-play games in Parquet: a row a game, its turns as lists, and what it was played with.

A file holds the games `first_game`, `first_game` + 1, ... of one series: same rules, options, seed
and network. It is there completely or not at all, carries its format's version and a checksum of
everything in it, and is refused by name of what is wrong. Reading gives the arrays of
`carc._core.self_play` back, so positions are rebuilt from old files with a new encoder.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from carc._core import Error, Rules
from carc._version import __version__
from carc.errors import GamesError
from carc.files import errors_naming, sync, temporary_beside
from carc.learn.torch_import import need_pyarrow

FORMAT = 1
MAGIC = b"carc-self-play"  # key of the file's metadata that holds ours
LARGEST_FILE = 1 << 32  # bytes
TURNS = "game_turns"
# Numbers a turn and their types; a column of lists, one a game.
TURN_COLUMNS = {
    "tile": np.uint8,
    "placement": np.uint32,
    "figure": np.uint32,
    "explored": np.uint8,
    "value": np.float32,  # one a player
}
POLICY_COLUMNS = {"policy_size": np.uint16, "policy_action": np.uint32, "policy_share": np.float32}
DECISIONS = 2  # of a turn, with a policy each
META_KEYS = (
    *("carc", "checksum", "first_game", "format", "games"),
    *("network", "options", "rules", "seed"),
)

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class GamesFile:
    """Games of one series.

    arrays: as `carc._core.self_play` gives them.
    rules: as `Rules.to_dict` gives them.
    seed, first_game: of the series, and the number of the first game here.
    network: checksum of the network that played; empty for the hand-made evaluation.
    options: of the self-play, without the path of the network.
    version: of carc that played.
    """

    arrays: Arrays
    rules: dict[str, Any]
    seed: int
    first_game: int
    network: str = ""
    options: Mapping[str, Any] | None = None
    version: str = __version__

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.arrays[TURNS])

    @property
    def turns(self) -> int:
        """Number of turns of all games."""
        return int(self.arrays[TURNS].sum())


def write_games(path: Path, games: GamesFile) -> None:
    """Write games atomically; raises ValueError for arrays that do not fit together."""
    need_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    wrong = _misfit(games)
    if wrong:
        raise ValueError(wrong)
    meta = {
        "format": FORMAT,
        "carc": games.version,
        "rules": games.rules,
        "seed": games.seed,
        "first_game": games.first_game,
        "games": games.games,
        "network": games.network,
        "options": dict(games.options or {}),
    }
    meta["checksum"] = _checksum(meta, games.arrays)
    columns = {TURNS: pa.array(games.arrays[TURNS])}
    for name, counts in _list_lengths(games).items():
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        values = pa.array(np.ascontiguousarray(games.arrays[name]).reshape(-1))
        columns[name] = pa.ListArray.from_arrays(pa.array(offsets), values)
    table = pa.table(columns).replace_schema_metadata({MAGIC: json.dumps(meta, sort_keys=True)})
    with temporary_beside(path) as temporary, errors_naming(path):
        pq.write_table(table, temporary, compression="zstd", write_statistics=False)
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)


def read_games(path: Path) -> GamesFile:
    """Read a file of games; raises GamesError for one that is damaged, foreign or too new."""
    with _opened(path) as file:
        meta = _metadata(path, file.schema_arrow.metadata or {})
        table = file.read()
    arrays = _arrays(path, table)
    games = GamesFile(
        arrays,
        meta["rules"],
        meta["seed"],
        meta["first_game"],
        meta["network"],
        meta["options"],
        meta["carc"],
    )
    wrong = _misfit(games)
    if wrong:
        raise GamesError(f"{path}: {wrong}")
    if games.games != meta["games"]:
        raise _refused(path, f"{games.games} games", f"{meta['games']} as its metadata say")
    found = _checksum({key: meta[key] for key in META_KEYS if key != "checksum"}, arrays)
    if found != meta["checksum"]:
        raise _refused(path, f"checksum {found}", str(meta["checksum"]))
    return games


def read_metadata(path: Path) -> dict[str, Any]:
    """Read what a file says of its games, not the games; raises GamesError as `read_games`.

    Returns format, carc (version), rules, seed, first_game, games (how many), network, options and
    checksum.
    """
    with _opened(path) as file:
        return _metadata(path, file.schema_arrow.metadata or {})


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file; raises GamesError for what is wrong with it, now or when it is read."""
    need_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.stat().st_size > LARGEST_FILE:
        raise _refused(path, f"more than {LARGEST_FILE} bytes", "a smaller file")
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "no Parquet"
        raise _refused(path, reason, "Parquet with self-play games") from error


def _metadata(path: Path, table: Mapping[bytes, bytes]) -> dict[str, Any]:
    if MAGIC not in table:
        raise _refused(path, "Parquet without our metadata", f"the key {MAGIC.decode()}")
    try:
        meta = json.loads(table[MAGIC])
    except (ValueError, RecursionError) as error:
        raise _refused(path, "metadata that are no JSON", "an object") from error
    if not isinstance(meta, dict):
        raise _refused(path, f"metadata {type(meta).__name__}", "an object")
    if meta.get("format") != FORMAT:
        raise _refused(path, f"format {meta.get('format')!r}", f"{FORMAT}")
    if sorted(meta) != sorted(META_KEYS):
        raise _refused(path, f"metadata {', '.join(sorted(meta))}", ", ".join(META_KEYS))
    for key, kind in (("rules", dict), ("options", dict), ("network", str), ("carc", str)):
        if not isinstance(meta[key], kind):
            raise _refused(path, f"{key} {meta[key]!r}", f"{kind.__name__}")
    for key in ("seed", "first_game", "games"):
        if type(meta[key]) is not int or meta[key] < 0:
            raise _refused(path, f"{key} {meta[key]!r}", "a whole number from 0")
    try:
        Rules.from_dict(meta["rules"])
    except (Error, TypeError) as error:
        raise GamesError(f"{path}: rules: {error}") from error
    return meta


def _arrays(path: Path, table: Any) -> Arrays:
    import pyarrow as pa

    expected = {TURNS: pa.uint16(), "final": pa.list_(pa.int16())}
    for name, kind in TURN_COLUMNS.items():
        expected[name] = pa.list_(pa.from_numpy_dtype(kind))
    if any(name in table.column_names for name in POLICY_COLUMNS):
        for name, kind in POLICY_COLUMNS.items():
            expected[name] = pa.list_(pa.from_numpy_dtype(kind))
    if sorted(table.column_names) != sorted(expected):
        raise _refused(path, f"columns {', '.join(table.column_names)}", ", ".join(expected))
    out = {}
    for name, kind in expected.items():
        column = table.column(name)
        if column.type != kind:
            raise _refused(path, f"column {name} of {column.type}", f"{kind}")
        flat = column.combine_chunks()
        if flat.null_count:
            raise _refused(path, f"nothing in {name}", "a value in every row")
        if pa.types.is_list(kind):
            flat = flat.flatten()
        if flat.null_count:
            raise _refused(path, f"nothing in {name}", "numbers only")
        out[name] = flat.to_numpy(zero_copy_only=True)
    games = max(len(out[TURNS]), 1)
    if len(out["final"]) % games or len(out["value"]) % max(int(out[TURNS].sum()), 1):
        found = f"{len(out['final'])} final scores, {len(out['value'])} values"
        raise _refused(path, found, "one a player")
    out["final"] = out["final"].reshape(games, -1)
    out["value"] = out["value"].reshape(max(int(out[TURNS].sum()), 1), -1)
    # Lists of wrong lengths that add up right would come back as other games.
    for name, counts in _list_lengths(GamesFile(out, {}, 0, 0)).items():
        lengths = table.column(name).combine_chunks().value_lengths().to_numpy()
        if len(lengths) != len(counts) or (lengths != counts).any():
            raise _refused(path, f"{name} of other lengths", f"those of {TURNS}")
    return out


def _list_lengths(games: GamesFile) -> dict[str, npt.NDArray[np.int64]]:
    """Return how many numbers each game has, by column of lists."""
    arrays = games.arrays
    turns = arrays[TURNS].astype(np.int64)
    players = arrays["final"].shape[1]
    lengths = {name: turns * (players if name == "value" else 1) for name in TURN_COLUMNS}
    lengths["final"] = np.full(len(turns), players)
    if "policy_size" in arrays:
        lengths["policy_size"] = DECISIONS * turns
        sizes = np.concatenate([[0], np.cumsum(arrays["policy_size"], dtype=np.int64)])
        ends = np.minimum(DECISIONS * np.cumsum(turns), len(sizes) - 1)
        actions = np.diff(sizes[np.concatenate([[0], ends])])
        lengths |= {"policy_action": actions, "policy_share": actions}
    return lengths


def _misfit(games: GamesFile) -> str:
    """Say what does not fit together in the arrays; nothing if all does."""
    arrays = games.arrays
    players, turns = int(games.rules.get("players", 2)), games.turns
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(TURN_COLUMNS, (turns,))
    shapes |= {"value": (turns, players), "final": (games.games, players), TURNS: (games.games,)}
    kinds: dict[str, Any] = {**TURN_COLUMNS, "final": np.int16, TURNS: np.uint16}
    policies = [name for name in POLICY_COLUMNS if name in arrays]
    if policies:
        actions = int(arrays["policy_size"].sum()) if "policy_size" in arrays else -1
        shapes |= dict.fromkeys(POLICY_COLUMNS, (actions,))
        shapes["policy_size"] = (DECISIONS * turns,)
        kinds |= POLICY_COLUMNS
    if sorted(arrays) != sorted(shapes):
        return f"found arrays {', '.join(sorted(arrays))}, expected {', '.join(sorted(shapes))}"
    for name, shape in shapes.items():
        found = arrays[name]
        if found.shape != shape or found.dtype != np.dtype(kinds[name]):
            expected = f"{np.dtype(kinds[name])} {list(shape)}"
            return f"{name}: found {found.dtype} {list(found.shape)}, expected {expected}"
    if games.games == 0 or (arrays[TURNS] == 0).any():
        return "found no games or games without turns, expected one turn at least"
    return ""


def _checksum(meta: Mapping[str, Any], arrays: Arrays) -> str:
    """Return 16 hexadecimal digits that stand for metadata and arrays."""
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {list(arrays[name].shape)}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:16]


def _refused(path: Path, found: str, expected: str) -> GamesError:
    return GamesError(f"{path}: found {found}, expected {expected}")
