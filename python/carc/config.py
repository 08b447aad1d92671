"""Configuration of tournaments from TOML: every key and value is known, or refused by name."""

import difflib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from carc._core import Error, Rules, TileSet, rules_options, rules_presets
from carc.errors import ConfigError
from carc.files import read_bounded

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST_FILE = 1 << 20  # bytes
MAX_ROUNDS = 1_000_000
MAX_GAMES = 10_000_000
MAX_SEED = 2**64 - 1
TOURNAMENT_KEYS = ("agents", "rounds", "seed", "players", "rules")


@dataclass(frozen=True, kw_only=True)
class TournamentConfig:
    """What is played in a tournament; the defaults are those of ``carc tournament`` without a file.

    agents: names of the agent table; the same name may stand twice.
    rounds: number of decks. Each table of agents plays each deck in every rotation of the seats.
    seed: deck i has the seed ``split_seed(seed, i)``.
    rules: with the number of players at a table.
    """

    agents: tuple[str, ...] = ("random", "greedy")
    rounds: int = 100
    seed: int = 1
    rules: Rules = field(default_factory=Rules)

    @property
    def players(self) -> int:
        """Number of players at a table."""
        return self.rules.players

    @property
    def games(self) -> int:
        """Number of games: tables of agents * rotations of the seats * decks."""
        return comb(len(self.agents), self.players) * self.players * self.rounds


def load_tournament(
    path: Path | None, overrides: Mapping[str, Any] | None = None
) -> TournamentConfig:
    """Read a tournament from a TOML file (the defaults, if None).

    `overrides` replace keys of the file and are called ``--key`` in messages. Raises ConfigError,
    or OSError if the file cannot be read.
    """
    options = read_toml(path) if path else {}
    check_keys(options, TOURNAMENT_KEYS, str(path))
    labels = {key: f"{path}: {key}" for key in options}
    overrides = overrides or {}
    labels.update({key: f"--{key}" for key in overrides})
    rules_base = path.parent if path and "rules" not in overrides else Path()
    return _tournament({**options, **overrides}, labels, rules_base)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raises ConfigError for text that is none."""
    data = read_bounded(path, LARGEST_FILE)
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: found byte {data[error.start]:#04x} at {error.start}, expected UTF-8"
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: no TOML: {error}") from error


def parse_toml_value(text: str) -> Any:
    """Read a value as TOML writes it; other text is a text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text


def check_keys(options: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise ConfigError for the first unknown key, with the nearest known one."""
    known = list(known)
    for key in options:
        if key not in known:
            raise ConfigError(
                f"{where}: unknown key '{key}', did you mean '{nearest(key, known)}'?"
            )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name most like this one."""
    return max(
        known, key=lambda other: difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio()
    )


def parse_rules(value: object, label: str = "rules", base: Path = Path()) -> Rules:
    """Read rules from a table of options or from text.

    Text is a preset, ``option=value`` pairs, or a preset and pairs, with commas between them. A
    table may name a ``preset``, whose other options it changes. A tile set file is sought from the
    folder `base`. Raises ConfigError, whose message begins with `label`.
    """
    options = rules_table(value, label)
    tiles = options.get("tiles")
    if isinstance(tiles, str) and tiles != "base":
        options["tiles"] = _tile_set(base / tiles, f"{label}: tiles")
    preset = options.pop("preset", "current")
    if not isinstance(preset, str):
        raise ConfigError(f"{label}: preset: found {preset!r}, expected a name")
    try:
        return Rules.preset(preset).replace(**options)
    except Error as error:
        raise ConfigError(f"{label}: {error}") from error


def _tile_set(path: Path, label: str) -> TileSet:
    try:
        return TileSet.from_json(read_bounded(path, LARGEST_FILE).decode(), path.stem)
    except OSError as error:
        raise ConfigError(f"{label}: {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{label}: {path}: found bytes that are not UTF-8, expected a tile set in JSON"
        ) from error
    except Error as error:
        raise ConfigError(f"{label}: {path}: {error}") from error


def rules_table(value: object, label: str) -> dict[str, Any]:
    """Return the table that rules given as text stand for; a table is copied."""
    if isinstance(value, dict):
        return dict(value)
    if not isinstance(value, str):
        raise ConfigError(f"{label}: found {value!r}, expected a preset or a table of options")
    known = {name: {str(v).lower(): v for v in values} for name, values, _ in rules_options()}
    options: dict[str, Any] = {}
    for position, part in enumerate(value.split(",")):
        name, equals, text = (piece.strip() for piece in part.partition("="))
        if equals:
            options[name] = known.get(name, {}).get(text.lower(), text)
        elif position == 0:
            options["preset"] = name
        else:
            raise ConfigError(f"{label}: found '{name}', expected option=value")
    return options


def describe_rules(rules: Rules) -> str:
    """Write rules as text that `parse_rules` reads, but for the number of players."""
    wanted = rules.replace(players=2).to_dict()
    candidates: list[list[str]] = []
    for name, _ in rules_presets():
        preset = Rules.preset(name).to_dict()
        changed = {option: value for option, value in wanted.items() if value != preset[option]}
        if "tiles" in changed:
            changed["tiles"] = rules.tiles.name
        candidates.append(
            [name, *(f"{option}={str(value).lower()}" for option, value in changed.items())]
        )
    nearest_preset = min(candidates, key=len)
    return ",".join(nearest_preset)


def _tournament(
    options: dict[str, Any], labels: Mapping[str, str], rules_base: Path
) -> TournamentConfig:
    given = options.get("rules", {})
    rules = parse_rules(given, labels.get("rules", "rules"), rules_base)
    if "players" in options:
        players = _whole(options["players"], labels["players"], 2, 5)
        stated = rules_table(given, "rules").get("players", players)
        if stated != players:
            found = f"{labels['rules']}: found players {stated}"
            raise ConfigError(f"{found}, expected {players} as in {labels['players']}")
        rules = rules.replace(players=players)
    agents = _agents(options.get("agents", TournamentConfig.agents), labels.get("agents", "agents"))
    if len(agents) < rules.players:
        label = labels.get("agents") or labels.get("players") or labels.get("rules", "agents")
        found = f"{label}: found {len(agents)} agents for {rules.players} players"
        raise ConfigError(f"{found}, expected as many at least")
    config = TournamentConfig(
        agents=agents,
        rounds=_whole(
            options.get("rounds", TournamentConfig.rounds),
            labels.get("rounds", "rounds"),
            1,
            MAX_ROUNDS,
        ),
        seed=_whole(
            options.get("seed", TournamentConfig.seed), labels.get("seed", "seed"), 0, MAX_SEED
        ),
        rules=rules,
    )
    if config.games > MAX_GAMES:
        raise ConfigError(
            f"found {config.games} games for these agents and rounds, expected at most {MAX_GAMES}"
        )
    return config


def _whole(value: object, label: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        shown = "2^64 - 1" if most == MAX_SEED else str(most)
        raise ConfigError(f"{label}: found {value!r}, expected an integer from {least} to {shown}")
    return value


def _agents(value: object, label: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"{label}: found {value!r}, expected a list of names")
    from carc.agents import make_agent  # which reads its files by this module

    for name in value:
        try:
            make_agent(name)
        except Error as error:
            raise ConfigError(f"{label}: {error}") from error
    return tuple(value)
