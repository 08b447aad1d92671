"""Configuration of tournaments from TOML: every key and value is known, or refused by name."""

import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, factorial, isfinite
from pathlib import Path
from typing import Any, Literal

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
FORMATS = ("round-robin", "gauntlet")
SEATINGS = ("fixed", "all", "sampled")
TOURNAMENT_KEYS = (
    "agents",
    "rounds",
    "seed",
    "players",
    "rules",
    "format",
    "seeds",
    "tables",
    "seatings",
    "repeat",
    "common_random_numbers",
    "recover",
    "sprt",
    "luck",
    "reference",
    "time_ms",
    "concurrency",
)


@dataclass(frozen=True, kw_only=True)
class SprtConfig:
    """A sequential test of agent A against agent B.

    kind: ``elo``: low and high are A's advantage in Elo; ``margin``: in points a game.
    low, high: the two hypotheses.
    alpha, beta: highest probabilities to accept `high` where `low` is true, and the reverse.
    """

    kind: Literal["elo", "margin"] = "elo"
    low: float = 0.0
    high: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05


@dataclass(frozen=True, kw_only=True)
class TournamentConfig:
    """What is played in a tournament; the defaults are those of ``carc tournament`` without a file.

    agents: names of the agent table or TOML files, with options; the same may stand twice.
    names: what the agents are called in tables; as they are written if empty.
    rounds: number of decks.
    seed: deck i has the seed ``split_seed(seed, i)``.
    rules: with the number of players at a table.
    format: ``round-robin``, where every combination of agents that fills a table meets; or
        ``gauntlet``, where one of the first `seeds` agents meets others.
    tables: number of tables a deck, drawn from all of them by the seed; 0 = all.
    seatings: the order in which agents sit round a table of three or more: ``fixed`` (as they are
        listed), ``all`` ((players - 1)! orders), or ``sampled`` (one a deck, drawn by the seed).
    repeat: play each deck in every rotation of the seats, else in one of them by turns.
    common_random_numbers: decide every turn of a deck with the same random numbers, whoever decides
        it, so that agents that are nearly equal play nearly equal games.
    recover: go on after a game that an agent forfeited.
    sprt: of two agents, the options of a test that ends the tournament; see `carc.sprt`.
    luck: measure the luck of the draws, or None: where an agent thinks for much longer than that.
    reference: the agent whose rating is 0; None: the mean is.
    concurrency: number of threads; None: one a core.
    """

    agents: tuple[str, ...] = ("random", "greedy", "feature-net")
    names: tuple[str, ...] = ()
    rounds: int = 100
    seed: int = 1
    rules: Rules = field(default_factory=Rules)
    format: str = "round-robin"
    seeds: int = 1
    tables: int = 0
    seatings: str = "fixed"
    repeat: bool = True
    common_random_numbers: bool = True
    recover: bool = True
    sprt: SprtConfig | None = None
    luck: bool | None = None
    reference: str | None = None
    concurrency: int | None = None

    @property
    def entrants(self) -> tuple[str, ...]:
        """The agents' names, a repeated one numbered: greedy, greedy#2."""
        out: list[str] = []
        for name in self.names or self.agents:
            number, numbered = 1, name
            while numbered in out:
                number += 1
                numbered = f"{name}#{number}"
            out.append(numbered)
        return tuple(out)

    @property
    def players(self) -> int:
        """Number of players at a table."""
        return self.rules.players

    @property
    def orders(self) -> int:
        """Number of orders round a table in which each deck is played."""
        return factorial(self.players - 1) if self.seatings == "all" else 1

    @property
    def all_tables(self) -> int:
        """Number of combinations of agents that may meet."""
        if self.format == "gauntlet":
            return self.seeds * comb(len(self.agents) - self.seeds, self.players - 1)
        return comb(len(self.agents), self.players)

    @property
    def games_a_deck(self) -> int:
        """Number of games on each deck: tables * orders * rotations."""
        tables = min(self.tables, self.all_tables) if self.tables else self.all_tables
        return tables * self.orders * (self.players if self.repeat else 1)

    @property
    def games(self) -> int:
        """Number of games if no test ends the tournament."""
        return self.games_a_deck * self.rounds


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
    base = path.parent if path else Path()
    bases = {key: Path() if key in overrides else base for key in ("rules", "agents")}
    return _tournament({**options, **overrides}, labels, bases)


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
    except (ValueError, RecursionError):  # no TOML, or a number of thousands of digits
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
    options: dict[str, Any], labels: Mapping[str, str], bases: Mapping[str, Path]
) -> TournamentConfig:
    def label(key: str) -> str:
        return labels.get(key, key)

    rules = _rules(options, labels, bases["rules"])
    agents, names = _agents(
        options.get("agents", TournamentConfig.agents), label("agents"), bases["agents"]
    )
    if "time_ms" in options:
        from carc.agents import limit_time  # which reads its files by this module

        time_ms = read_number(options["time_ms"], label("time_ms"), 0.1, 10_000_000)
        names = names or agents
        agents = tuple(limit_time(agents, time_ms, label("time_ms")))
    if len(agents) < rules.players:
        blamed = labels.get("agents") or labels.get("players") or labels.get("rules", "agents")
        found = f"{blamed}: found {len(agents)} agents for {rules.players} players"
        raise ConfigError(f"{found}, expected as many at least")

    def whole(key: str, default: int, least: int, most: int) -> int:
        return read_whole(options.get(key, default), label(key), least, most)

    default = TournamentConfig
    config = TournamentConfig(
        agents=agents,
        names=names,
        rounds=whole("rounds", default.rounds, 1, MAX_ROUNDS),
        seed=whole("seed", default.seed, 0, MAX_SEED),
        rules=rules,
        format=read_choice(options.get("format", default.format), label("format"), FORMATS),
        seeds=whole("seeds", default.seeds, 1, len(agents) - rules.players + 1),
        tables=whole("tables", default.tables, 0, MAX_GAMES),
        seatings=read_choice(
            options.get("seatings", default.seatings), label("seatings"), SEATINGS
        ),
        repeat=read_flag(options.get("repeat", default.repeat), label("repeat")),
        common_random_numbers=read_flag(
            options.get("common_random_numbers", default.common_random_numbers),
            label("common_random_numbers"),
        ),
        recover=read_flag(options.get("recover", default.recover), label("recover")),
        sprt=read_sprt(options["sprt"], label("sprt")) if "sprt" in options else None,
        luck=read_flag(options["luck"], label("luck")) if "luck" in options else None,
        reference=options.get("reference"),
        concurrency=whole("concurrency", 1, 1, 1024) if "concurrency" in options else None,
    )
    if config.reference is not None and config.reference not in config.entrants:
        found = f"{label('reference')}: found {config.reference!r}"
        raise ConfigError(f"{found}, expected one of the agents: {', '.join(config.entrants)}")
    if config.sprt and (len(agents) != 2 or not config.repeat):
        found = f"{label('sprt')}: found {len(agents)} agents"
        raise ConfigError(f"{found}, expected two, with repeat = true")
    if config.games > MAX_GAMES:
        raise ConfigError(
            f"found {config.games} games for these agents and rounds, expected at most {MAX_GAMES}"
        )
    return config


def _rules(options: Mapping[str, Any], labels: Mapping[str, str], base: Path) -> Rules:
    given = options.get("rules", {})
    rules = parse_rules(given, labels.get("rules", "rules"), base)
    if "players" not in options:
        return rules
    players = read_whole(options["players"], labels["players"], 2, 5)
    stated = rules_table(given, "rules").get("players", players)
    if stated != players:
        found = f"{labels['rules']}: found players {stated}"
        raise ConfigError(f"{found}, expected {players} as in {labels['players']}")
    return rules.replace(players=players)


def read_sprt(value: object, label: str) -> SprtConfig:
    """Read a sequential test: elo0 and elo1 (or margin0 and margin1), alpha, beta."""
    if not isinstance(value, dict):
        raise ConfigError(f"{label}: found {value!r}, expected a table such as {{ elo1 = 20 }}")
    kinds: dict[Literal["elo", "margin"], tuple[str, str]] = {
        "elo": ("elo0", "elo1"),
        "margin": ("margin0", "margin1"),
    }
    check_keys(value, ["alpha", "beta", *kinds["elo"], *kinds["margin"]], label)
    used = [kind for kind, keys in kinds.items() if any(key in value for key in keys)]
    if len(used) != 1:
        raise ConfigError(
            f"{label}: found {value!r}, expected elo0 and elo1 or margin0 and margin1"
        )
    (kind,) = used
    default = SprtConfig()
    low_key, high_key = kinds[kind]
    test = SprtConfig(
        kind=kind,
        low=read_number(value.get(low_key, 0), f"{label}: {low_key}", -1000, 1000),
        high=read_number(value.get(high_key, 0), f"{label}: {high_key}", -1000, 1000),
        alpha=read_number(value.get("alpha", default.alpha), f"{label}: alpha", 1e-6, 0.49),
        beta=read_number(value.get("beta", default.beta), f"{label}: beta", 1e-6, 0.49),
    )
    if not test.low < test.high:
        found = f"{label}: found {low_key} {test.low:g} and {high_key} {test.high:g}"
        raise ConfigError(f"{found}, expected {low_key} below {high_key}")
    return test


def read_whole(value: object, label: str, least: int, most: int) -> int:
    """Read a whole number; raises ConfigError, whose message begins with `label`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        shown = "2^64 - 1" if most == MAX_SEED else str(most)
        raise ConfigError(f"{label}: found {value!r}, expected an integer from {least} to {shown}")
    return value


def read_number(value: object, label: str, least: float, most: float) -> float:
    """Read a finite number, as `read_whole`."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not good or not least <= value <= most:  # type: ignore[operator]
        raise ConfigError(f"{label}: found {value!r}, expected a number from {least} to {most}")
    return float(value)  # type: ignore[arg-type]


def read_flag(value: object, label: str) -> bool:
    """Read true or false, as `read_whole`."""
    if not isinstance(value, bool):
        raise ConfigError(f"{label}: found {value!r}, expected true or false")
    return value


def read_choice(value: object, label: str, choices: Sequence[str]) -> str:
    """Read one of some texts, as `read_whole`."""
    if value not in choices:
        raise ConfigError(f"{label}: found {value!r}, expected one of {', '.join(choices)}")
    return str(value)


def _agents(value: object, label: str, base: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the list of agents: texts, or tables of ``agent``, ``name`` and options."""
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{label}: found {value!r}, expected a list of names")
    from carc.agents import make_agent, with_options  # which read their files by this module

    agents: list[str] = []
    names: list[str] = []
    for entry in value:
        if isinstance(entry, str):
            agent, name = entry, entry
        elif isinstance(entry, dict) and isinstance(entry.get("agent"), str):
            options = {key: v for key, v in entry.items() if key not in ("agent", "name")}
            agent = with_options(entry["agent"], options)
            name = entry.get("name", agent)
            if not isinstance(name, str) or not name:
                raise ConfigError(f"{label}: name: found {name!r}, expected a text")
        else:
            raise ConfigError(
                f"{label}: found {entry!r}, expected a name or a table with agent and options"
            )
        plain = agent.partition(":")[0]
        if plain.endswith(".toml") and base != Path() and (base / plain).exists():
            agent = f"{base / plain}{agent[len(plain) :]}"
        try:
            make_agent(agent)
        except Error as error:
            raise ConfigError(f"{label}: {error}") from error
        agents.append(agent)
        names.append(name)
    return tuple(agents), tuple(names) if names != agents else ()
