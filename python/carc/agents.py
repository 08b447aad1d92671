"""Agents by name: each is a kind of agent in C++ with the options of a small TOML file.

An agent is written ``NAME``, ``FILE.toml``, or either with options:
``champion:simulations=688,trees=4``. Keys of a file: ``kind`` (see ``carc agents --options KIND``),
``summary`` (one line: how it decides), ``base`` (another agent, whose keys it changes), ``weights``
(another TOML file, whose keys it takes), and the options of the kind.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from carc import _core
from carc._core import Agent, GameResult, NamedAgent, Rules, agent_kinds
from carc.config import nearest, parse_toml_value, read_toml
from carc.errors import ConfigError

# Every agent that can be named, weakest first. To add one, add its TOML file and its name.
AGENTS = (
    "random",
    "greedy",
    "star25",
    "flat-mc",
    "uct-rave",
    "uct-rollout",
    "jcz",
    "champion",
)
FOLDER = Path(_core.__file__).parent / "data" / "agents"  # installed beside the extension module
DEEPEST = 8  # bases of bases
LONGEST = 60  # characters of a value in a message

AgentLike: TypeAlias = str | Agent


def agent_table() -> list[tuple[str, str]]:
    """Return every agent that can be named, weakest first: (name, how it decides)."""
    return [(name, str(_read(_file_of(name)).get("summary", ""))) for name in AGENTS]


def make_agent(name: str, **options: Any) -> NamedAgent:
    """Make an agent from its name or TOML file, with options in place of its own.

    Raises ConfigError for an unknown name or a bad file, OptionError for a bad option.
    """
    if not isinstance(name, str):
        raise ConfigError(
            f"agent: found {_found(name)} ({type(name).__name__}), expected the name of an agent"
        )
    plain, given = split_options(name)
    given = {**given, **options}
    kind, own = agent_settings(plain)
    short = Path(plain).stem if plain.endswith(".toml") else plain
    return _core.make_agent(kind, {**own, **given}, _joined(short, given))


def agent_settings(name: str) -> tuple[str, dict[str, Any]]:
    """Return the kind and the options of an agent named or in a TOML file."""
    options = _settings(_file_of(name), 0)
    options.pop("summary", None)
    kind = options.pop("kind", None)
    kinds = [kind for kind, _, _ in agent_kinds()]
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{name}: kind: found {kind!r}, expected one of {', '.join(kinds)}")
    return kind, options


def resolved_options(name: str) -> dict[str, Any]:
    """Return the kind and every option of an agent, of its files and its own text."""
    plain, given = split_options(name)
    kind, own = agent_settings(plain)
    return {"kind": kind, **own, **given}


def option_names(kind: str) -> list[str]:
    """Return the names of a kind's options."""
    return [option[0] for name, _, options in agent_kinds() if name == kind for option in options]


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``name:option=value,...`` into the name and the options."""
    name, colon, rest = text.partition(":")
    if not colon:
        return text, {}
    return name, dict(parse_option(part) for part in _parts(rest))


def split_agents(text: str) -> list[str]:
    """Split ``A,B:option=value,option=value,C`` into agents."""
    agents: list[str] = []
    for part in map(str.strip, _parts(text)):
        if agents and "=" in part and ":" not in part.partition("=")[0]:
            agents[-1] += f",{part}"
        else:
            agents.append(part)
    return agents


def with_options(text: str, options: Mapping[str, Any]) -> str:
    """Write an agent with more options as one text."""
    name, own = split_options(text)
    return _joined(name, {**own, **options})


def parse_option(text: str) -> tuple[str, Any]:
    """Read ``option=value``, the value as in TOML; a bare word is a text."""
    key, equals, value = (piece.strip() for piece in text.partition("="))
    if not equals or not key or not value:
        raise ConfigError(f"found {_found(text)}, expected option=value")
    return key, parse_toml_value(value)


def play_game(rules: Rules, agents: Sequence[AgentLike], seed: int = 0) -> GameResult:
    """Play one game between the agents (names or Agent objects), one a seat."""
    return _core.play_game(rules, _made(agents), seed)


def play_games(
    rules: Rules,
    agents: Sequence[AgentLike],
    games: Sequence[tuple[int, Sequence[int]]],
    *,
    threads: int = 1,
    records: bool = True,
    on_result: Callable[[int, GameResult], object] | None = None,
) -> int:
    """Play many games on threads.

    `games` lists (seed of the deck, agent index by seat). `on_result(index, result)` is called for
    each as it ends and may return False to stop; games that have begun are finished. Returns the
    number of games finished. Results do not depend on `threads` (1 to 1024). All threads call the
    same Python object for an agent, interleaved under the interpreter lock.
    """
    return _core.play_games(
        rules, _made(agents), games, threads=threads, records=records, on_result=on_result
    )


def _made(agents: Sequence[AgentLike]) -> Sequence[Agent]:
    if isinstance(agents, str) or not isinstance(agents, Sequence):
        raise ConfigError(
            f"agents: found {_found(agents)} ({type(agents).__name__}), expected a list"
        )
    return [make_agent(agent) if isinstance(agent, str) else agent for agent in agents]


def _found(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _file_of(name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    if name not in AGENTS:
        raise ConfigError(
            f"unknown agent {_found(name)}, did you mean '{nearest(name[:LONGEST], AGENTS)}'?"
        )
    return FOLDER / f"{name}.toml"


@lru_cache(maxsize=256)
def _cached(path: Path, changed: int) -> str:
    return json.dumps(read_toml(path), default=str)


def _read(path: Path) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads(_cached(path, path.stat().st_mtime_ns))
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}, expected the TOML file of an agent"
        ) from error
    except ValueError as error:
        raise ConfigError(f"{str(path)!r}: {error}, expected the TOML file of an agent") from error
    return settings


def _settings(path: Path, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise ConfigError(f"{path}: found a base of a base more than {DEEPEST} deep")
    own = _read(path)
    settings: dict[str, Any] = {}
    base = own.pop("base", None)
    if base is not None:
        if not isinstance(base, str):
            raise ConfigError(f"{path}: base: found {base!r}, expected the name of an agent")
        beside = path.parent / base
        settings |= _settings(beside if base.endswith(".toml") else _file_of(base), depth + 1)
    weights = own.pop("weights", None)
    if weights is not None:
        if not isinstance(weights, str):
            raise ConfigError(f"{path}: weights: found {weights!r}, expected the name of a file")
        settings |= _read(path.parent / weights)
    return settings | own


def _parts(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _joined(name: str, options: Mapping[str, Any]) -> str:
    shown = ",".join(
        f"{key}={value if isinstance(value, str) else _json(value)}"
        for key, value in options.items()
    )
    return f"{name}:{shown}" if shown else name


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), default=repr)
