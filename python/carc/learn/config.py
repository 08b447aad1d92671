"""Configuration of trainings from TOML: every key and value is known, or refused by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carc._core import Error, Rules
from carc.agents import make_agent
from carc.config import MAX_SEED, check_keys, parse_rules, read_number, read_toml, read_whole
from carc.errors import ConfigError
from carc.learn.gate import MEASURES, GateOptions
from carc.learn.kinds import learner
from carc.learn.options import Range, read_options, read_table, read_value

MAX_ROUNDS = 1000
MAX_GAMES = 100_000_000
STARTS = ("new", "champion")
SECTIONS = ("network", "labels", "fit")  # which a kind of network reads
KEYS = ("kind", "seed", "initial", "threads", "round", "selfplay", "gate", *SECTIONS)
GATE: dict[str, Range] = {"pairs": (0, 1_000_000), "against": None, "measure": MEASURES}


@dataclass(frozen=True)
class RulesShare:
    """Rules, and the share of the games that is played by them."""

    rules: Rules
    share: float


@dataclass(frozen=True, kw_only=True)
class RoundConfig:
    """One round of the loop.

    games: of self-play. window: number of rounds, this one the last, whose games are learned from.
    start: first weights: ``new`` ones or those of the ``champion``.
    options: of the self-play, as the kind of network has checked them.
    rules: what is played, by shares that add up to 1.
    """

    games: int
    window: int
    start: str
    options: Mapping[str, Any]
    rules: tuple[RulesShare, ...]


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """A whole training.

    kind: of network. seed: of everything random.
    initial: a network that plays the first games and is the first champion; None: the hand-made
        evaluation plays them.
    threads: of self-play and gates, which do not change with it; None: one a core.
    shard: number of games in a file.
    """

    kind: str
    seed: int
    initial: Path | None
    threads: int | None
    rounds: tuple[RoundConfig, ...]
    shard: int
    network: Mapping[str, Any]
    labels: Mapping[str, Any]
    fit: Mapping[str, Any]
    gate: GateOptions

    def resolved(self) -> dict[str, Any]:
        """Return everything that the weights depend on, with all defaults, ready for JSON."""
        gate = {name: getattr(self.gate, name) for name in ("pairs", "against", "measure")}
        return {
            "kind": self.kind,
            "seed": self.seed,
            "shard": self.shard,
            "network": dict(self.network),
            "labels": dict(self.labels),
            "fit": dict(self.fit),
            "gate": {**gate, "above": self.gate.threshold, "rules": self.gate.rules.to_dict()},
            "rounds": [
                {
                    "games": each.games,
                    "window": each.window,
                    "start": each.start,
                    "rules": [[one.rules.to_dict(), one.share] for one in each.rules],
                    "selfplay": dict(each.options),
                }
                for each in self.rounds
            ],
        }


def load_training(path: Path, overrides: Mapping[str, Any] | None = None) -> TrainingConfig:
    """Read a training from a TOML file; `overrides` replace its keys.

    Raises ConfigError, or OSError if the file cannot be read.
    """
    table = {**read_toml(path), **(overrides or {})}
    check_keys(table, KEYS, str(path))
    kind = table.get("kind", "feature-net")
    if not isinstance(kind, str):
        raise ConfigError(f"{path}: kind: found {kind!r}, expected a text")
    taught = learner(kind)
    selfplay = read_table(table.get("selfplay", {}), f"{path}: selfplay")
    shard = read_whole(selfplay.pop("shard", 1000), f"{path}: selfplay: shard", 1, 1_000_000)
    sections = {
        name: taught.check(name, table.get(name, {}), f"{path}: {name}") for name in SECTIONS
    }
    return TrainingConfig(
        kind=kind,
        seed=read_whole(table.get("seed", 1), f"{path}: seed", 0, MAX_SEED),
        initial=_initial(table.get("initial"), path),
        threads=read_whole(table["threads"], f"{path}: threads", 1, 1024)
        if "threads" in table
        else None,
        rounds=_rounds(table.get("round", [{}]), selfplay, kind, path),
        shard=shard,
        gate=read_gate(table.get("gate", {}), f"{path}: gate", path.parent),
        **sections,
    )


def read_gate(value: object, label: str, base: Path = Path()) -> GateOptions:
    """Read the options of a gate."""
    table = read_table(value, label)
    extra = ("above", "rules", "players")
    check_keys(table, (*GATE, *extra), label)
    given = {key: each for key, each in table.items() if key not in extra}
    options = read_options(GateOptions(), GATE, given, label)
    try:
        make_agent(options.against)
    except Error as error:
        raise ConfigError(f"{label}: against: {error}") from error
    above = None
    if "above" in table:
        above = read_number(table["above"], f"{label}: above", -1000, 1000)
    rules = _rules(table, label, base)
    return GateOptions(
        pairs=options.pairs,
        against=options.against,
        measure=options.measure,
        above=above,
        rules=rules,
    )


def _rounds(
    value: object, selfplay: Mapping[str, Any], kind: str, path: Path
) -> tuple[RoundConfig, ...]:
    """Read the rounds; each may change the options and the rules of the self-play."""
    label = f"{path}: round"
    if not isinstance(value, list) or not value:
        raise ConfigError(f"{label}: found {value!r}, expected a list of tables, [[round]]")
    out: list[RoundConfig] = []
    taught = learner(kind)
    common = dict(selfplay)
    rules = _shares(common.pop("rules", [{}]), f"{path}: selfplay: rules", path.parent)
    taught.check("selfplay", common, f"{path}: selfplay")
    for number, entry in enumerate(value):
        name = f"{label} {number}"
        table = read_table(entry, name)
        check_keys(table, ("games", "window", "start", "repeat", "selfplay"), name)
        own = read_table(table.get("selfplay", {}), f"{name}: selfplay")
        own_rules = rules
        if "rules" in own:
            own_rules = _shares(own.pop("rules"), f"{name}: selfplay: rules", path.parent)
        repeat = read_whole(table.get("repeat", 1), f"{name}: repeat", 1, MAX_ROUNDS)
        one = RoundConfig(
            games=read_whole(table.get("games", 10_000), f"{name}: games", 1, MAX_GAMES),
            window=read_whole(table.get("window", 1), f"{name}: window", 1, MAX_ROUNDS),
            start=read_value("new", STARTS, table.get("start", "new"), name, "start"),
            options=taught.check("selfplay", {**common, **own}, f"{name}: selfplay"),
            rules=own_rules,
        )
        out += [one] * repeat
    if len(out) > MAX_ROUNDS:
        raise ConfigError(f"{label}: found {len(out)} rounds, expected at most {MAX_ROUNDS}")
    return tuple(out)


def _shares(value: object, label: str, base: Path) -> tuple[RulesShare, ...]:
    if not isinstance(value, list) or not value:
        raise ConfigError(f"{label}: found {value!r}, expected a list of tables")
    out = []
    for number, entry in enumerate(value):
        name = f"{label} {number}"
        table = read_table(entry, name)
        check_keys(table, ("rules", "players", "share"), name)
        share = read_number(table.get("share", 1), f"{name}: share", 1e-6, 1e6)
        out.append(RulesShare(_rules(table, name, base), share))
    total = sum(each.share for each in out)
    return tuple(RulesShare(each.rules, each.share / total) for each in out)


def _rules(table: Mapping[str, Any], label: str, base: Path) -> Rules:
    rules = parse_rules(table.get("rules", "current"), f"{label}: rules", base)
    if "players" not in table:
        return rules
    return rules.replace(players=read_whole(table["players"], f"{label}: players", 2, 5))


def _initial(value: object, path: Path) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{path}: initial: found {value!r}, expected the path of a network")
    beside = path.parent / value
    found = beside if beside.exists() else Path(value)
    if not found.is_file():
        raise ConfigError(f"{path}: initial: found no file {value}, expected a network")
    return found
