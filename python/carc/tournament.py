"""Round robins: which games a tournament has, and playing those that its results file lacks.

Every combination of as many agents as there are players meets at a table of its own, a pairing. All
pairings play the same decks, and each deck in every rotation of the pairing's seats: with n players
one after the other starts.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from carc._core import GameResult, split_seed
from carc._version import __version__
from carc.agents import play_games, resolved_options
from carc.config import TournamentConfig
from carc.results import GameKey, ResultsFile


@dataclass(frozen=True)
class ScheduledGame:
    """One game: what names it, the seed of its deck, and the agent (by index) in each seat."""

    key: GameKey
    seed: int
    seats: tuple[int, ...]


def entrants(config: TournamentConfig) -> list[str]:
    """Return the agents' names, a repeated one numbered: greedy, greedy#2."""
    return [
        name if config.agents.index(name) == i else f"{name}#{config.agents[: i + 1].count(name)}"
        for i, name in enumerate(config.agents)
    ]


def pairings(config: TournamentConfig) -> list[tuple[int, ...]]:
    """Return every combination of agents (by index) that fills a table."""
    return list(combinations(range(len(config.agents)), config.players))


def schedule(config: TournamentConfig) -> Iterator[ScheduledGame]:
    """Yield all games, deck by deck: a stopped tournament has compared all on the same decks."""
    tables = pairings(config)
    for deck in range(config.rounds):
        seed = split_seed(config.seed, deck)
        for pairing, table in enumerate(tables):
            for rotation in range(config.players):
                yield ScheduledGame(
                    (pairing, deck, rotation), seed, table[rotation:] + table[:rotation]
                )


def identity(config: TournamentConfig) -> dict[str, Any]:
    """Return what must agree for games to be counted together: all but the rounds."""
    return {
        "agents": list(config.agents),
        "options": {name: resolved_options(name) for name in config.agents},
        "seed": config.seed,
        "players": config.players,
        "rules": config.rules.to_dict(),
        "carc": __version__,
    }


def identity_hash(config: TournamentConfig) -> str:
    """Return eight hexadecimal digits that stand for the identity."""
    return hashlib.sha256(json.dumps(identity(config), sort_keys=True).encode()).hexdigest()[:8]


def play_missing(
    config: TournamentConfig,
    results: ResultsFile,
    *,
    concurrency: int = 1,
    on_game: Callable[[], bool] = lambda: True,
) -> int:
    """Play the games that the results file lacks, and write each as it ends.

    They do not depend on `concurrency`, the number of threads. `on_game` is called after each and
    says whether to go on. Returns the number of games played.
    """
    finished = {game.key for game in results.games()}
    missing = [game for game in schedule(config) if game.key not in finished]
    names = entrants(config)

    def keep(index: int, result: GameResult) -> bool:
        game = missing[index]
        results.add(game.key, game.seed, [names[agent] for agent in game.seats], result)
        return on_game()

    games = [(game.seed, game.seats) for game in missing]
    return play_games(config.rules, list(config.agents), games, threads=concurrency, on_result=keep)
