"""Agents by name: each is a kind of agent in C++ with the options of a small TOML file.

An agent is written ``NAME``, ``FILE.toml``, or either with options:
``champion:simulations=688,trees=4``. Values are those of TOML, a bare word is a text; a text with
commas needs quotes. A program of your own is ``guest:command=./bot``. Keys of a file: ``kind``
(see ``carc agents --options KIND``), ``summary`` (one line: how it decides), ``base`` (another
agent, whose keys it changes), ``weights`` (another TOML file, whose keys it takes), and the
options of the kind. The option ``network`` names a network as in `carc.networks`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from carc import _core
from carc._core import Agent, GameResult, NamedAgent, Rules, agent_kinds
from carc.config import nearest, parse_toml_value, read_toml
from carc.errors import ConfigError
from carc.networks import from_file_of, with_checksum, with_file

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
    "feature-net",
    "feature-net-search",
)
# Agents that play a network of the user's: NAME:network=FILE.
NEED_NETWORK = ("resnet-search",)
GUEST = "guest"  # another program, named with its command: guest:command=./bot
COMMAND = "command"  # its option that names the program
FOLDER = Path(_core.__file__).parent / "data" / "agents"  # installed beside the extension module
DEEPEST = 8  # bases of bases
LONGEST = 60  # characters of a value in a message
# A text in quotes, as TOML writes it, or one other character. Within a word, as in bob's, and where
# no second one follows, a quote is a character like others.
TOKEN = re.compile(r'(?<!\w)"(?:\\.|[^"\\])*"|(?<!\w)\'[^\']*\'|.', re.DOTALL)
PLAIN = re.compile(r'[^,=:"\'\[\]{}]+')  # a text that may stand without quotes
DECISIONS = 2  # of a turn: placement and figure
# Option of a decision's time in ms, and what must not end a search before it, by kind of agent.
CLOCKS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "mcts": ("time_ms", {"simulations": 10**12}),
    "expectiminimax": ("time_ms", {"depth": 84}),
    "guest": ("move_ms", {}),
}

AgentLike: TypeAlias = str | Agent
# Seed of the deck, agent (by index) in each seat, and the seed of the agents' random numbers.
GameSpec: TypeAlias = tuple[int, Sequence[int]] | tuple[int, Sequence[int], int]


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
    return load_agent(kind, {**own, **given}, _joined(short, given))


def load_agent(kind: str, options: Mapping[str, Any], name: str) -> NamedAgent:
    """Make an agent of a kind from all its options, as `resolved_options` gives them.

    Raises ConfigError if its network is not the one whose checksum is among them.
    """
    return _core.make_agent(kind, with_file(options), name)


def agent_settings(name: str) -> tuple[str, dict[str, Any]]:
    """Return the kind and the options of an agent named or in a TOML file."""
    options = {"kind": GUEST} if name == GUEST else _settings(_file_of(name), 0)
    options.pop("summary", None)
    kind = options.pop("kind", None)
    kinds = [kind for kind, _, _ in agent_kinds()]
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{name}: kind: found {kind!r}, expected one of {', '.join(kinds)}")
    return kind, options


def resolved_options(name: str) -> dict[str, Any]:
    """Return the kind and every option of an agent, of its files and its own text.

    With a network, the checksum of its weights is among them.
    """
    plain, given = split_options(name)
    kind, own = agent_settings(plain)
    return with_checksum({"kind": kind, **own, **given})


def kind_of(agent: str) -> str:
    """Return the kind of an agent, which may be written with options."""
    return agent_settings(split_options(agent)[0])[0]


def limit_time(agents: Sequence[str], time_ms: float, label: str) -> list[str]:
    """Give every agent that can keep to a time half of a turn's time for a decision.

    What else would end its search is lifted. Raises ConfigError, whose message begins with `label`,
    if no agent can keep to a time.
    """
    half = time_ms / DECISIONS
    out = []
    for agent in agents:
        kind = kind_of(agent)
        share = int(half) if half == int(half) else half
        if kind == GUEST:  # whose clock has whole milliseconds
            share = max(1, int(half))
        clock, lifted = CLOCKS.get(kind, ("", {}))
        out.append(with_options(agent, {clock: share, **lifted}) if clock else agent)
        try:
            make_agent(out[-1])
        except _core.Error as error:
            half_text = f"{share:g} ms for each of a turn's {DECISIONS} decisions"
            raise ConfigError(f"{label}: {half_text} of {agent}: {error}") from error
    if out == list(agents):
        names = " nor ".join(dict.fromkeys(agents))
        raise ConfigError(
            f"{label}: found no agent that keeps to a time in {names}, "
            f"expected one of kind {', '.join(CLOCKS)}"
        )
    return out


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
    """Read ``option=value``, the value as in TOML; a bare word is a text.

    So is what stands for a program: ``command=true`` runs ``true``.
    """
    key, equals, value = (piece.strip() for piece in text.partition("="))
    if not equals or not key or not value:
        raise ConfigError(f"found {_found(text)}, expected option=value")
    read = parse_toml_value(value)
    if key.rpartition(".")[2] == COMMAND and not isinstance(read, str | list):
        return key, value
    return key, read


def play_game(rules: Rules, agents: Sequence[AgentLike], seed: int = 0) -> GameResult:
    """Play one game between the agents (names or Agent objects), one a seat."""
    return _core.play_game(rules, _made(agents), seed)


def play_games(
    rules: Rules,
    agents: Sequence[AgentLike],
    games: Sequence[GameSpec],
    *,
    threads: int = 1,
    records: bool = True,
    luck: bool = False,
    on_result: Callable[[int, GameResult], object] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> int:
    """Play many games on threads.

    `games` lists (seed of the deck, agent index by seat) or (seed of the deck, agent index by seat,
    seed of the agents' random numbers); without the latter all games of a deck have the same random
    numbers turn by turn. `luck` measures GameResult.luck. `on_result(index, result)` is called for
    each as it ends and may return False to stop; `stopped()`, asked about ten times a second, may
    return True to stop. Games that have begun are finished. Returns the number of games finished.
    Results do not depend on `threads` (1 to 1024). All threads call the same Python object for an
    agent, interleaved under the interpreter lock.
    """
    return _core.play_games(
        rules,
        _made(agents),
        games,
        threads=threads,
        records=records,
        luck=luck,
        on_result=on_result,
        stopped=stopped,
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
    if name not in AGENTS + NEED_NETWORK:
        known = (*AGENTS, *NEED_NETWORK, GUEST)
        raise ConfigError(
            f"unknown agent {_found(name)}, did you mean '{nearest(name[:LONGEST], known)}'?"
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
    own = from_file_of(_read(path), path.parent)
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
        settings |= from_file_of(_read(path.parent / weights), (path.parent / weights).parent)
    return settings | own


def _parts(text: str) -> list[str]:
    """Split at commas outside of quotes and brackets."""
    parts, depth = [""], 0
    for token in TOKEN.findall(text):
        depth = max(0, depth + (token in ("[", "{")) - (token in ("]", "}")))
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def _joined(name: str, options: Mapping[str, Any]) -> str:
    shown = ",".join(f"{key}={_written(value)}" for key, value in options.items())
    return f"{name}:{shown}" if shown else name


def _written(value: object) -> str:
    """Write a value so that it is read as it was."""
    if isinstance(value, str) and _is_bare(value):
        return value
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_toml, value))}]"
    return _toml(value)


def _is_bare(text: str) -> bool:
    return bool(PLAIN.fullmatch(text) and text == text.strip() and parse_toml_value(text) == text)


def _toml(value: object) -> str:
    if isinstance(value, float):
        return float.__repr__(value)  # inf and nan as TOML writes them
    text = json.dumps(value, separators=(",", ":"), default=repr, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")
