"""Results files for tests: real games, with forfeits and luck put where a test wants them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import carc
from carc.config import TournamentConfig
from carc.results import ResultsFile
from carc.tournament import entrants, identity, play_missing, schedule

FIELDS = (
    "scores",
    "points",
    "final_count",
    "figures_set",
    "think_seconds",
    "simulations",
    "discarded",
    "turns",
    "record",
)


def play(path: Path, *agents: str, rounds: int = 2, **options: Any) -> TournamentConfig:
    """Play a tournament into a new results file."""
    config = TournamentConfig(agents=agents, rounds=rounds, **options)
    with ResultsFile(path, identity(config)) as results:
        play_missing(config, results)
    return config


def records_of(path: Path) -> dict[tuple[int, int, int], str]:
    """Return the record of every game in a results file."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT pairing, deck, rotation, record FROM games").fetchall()
    return {(pairing, deck, rotation): record for pairing, deck, rotation, record in rows}


def altered(result: carc.GameResult, **changes: Any) -> Any:
    """Return a result like this one but for the changes."""
    own = {name: getattr(result, name) for name in FIELDS}
    return SimpleNamespace(**{**own, "forfeit": None, "luck": None, **changes})


def invent(
    path: Path,
    names: Sequence[str],
    *,
    players: int = 2,
    rounds: int = 2,
    forfeits: Sequence[tuple[int, tuple[int, str, str]]] = (),
    luck: Sequence[float] | None = None,
) -> TournamentConfig:
    """Write random games of agents that need not exist.

    forfeits: pairs of a game's number, from 1, and what it was lost by.
    """
    rules = carc.Rules(players=players)
    config = TournamentConfig(agents=tuple(names), rounds=rounds, seed=5, rules=rules)
    options = {name: {"kind": "nobody", "name": name} for name in names}
    described = {
        "agents": list(names),
        "options": options,
        "seed": config.seed,
        "players": players,
        "rules": rules.to_dict(),
        "carc": carc.__version__,
    }
    lost = dict(forfeits)
    entrant = entrants(config)
    with ResultsFile(path, described) as results:
        for number, game in enumerate(schedule(config), 1):
            played = carc.play_game(rules, ["random"] * players, game.seed + number)
            changed = altered(played, forfeit=lost.get(number), luck=luck)
            results.add(game.key, game.seed, [entrant[i] for i in game.seats], changed)
    return config
