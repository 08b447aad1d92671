"""Which games a tournament has, and playing those that its results file lacks.

Agents that meet sit at a table: any combination of as many as there are players (round robin), or
one challenger and others (gauntlet). A pairing is a table in one order of the seats round it. All
pairings play the same decks, and each deck in every rotation of the seats: with n players one
after the other starts.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from carc._core import GameResult, Rng, split_seed
from carc._version import __version__
from carc.agents import GameSpec, kind_of, play_games, resolved_options
from carc.config import TournamentConfig
from carc.errors import ConfigError
from carc.results import GameKey, ResultsFile

# Streams of a tournament's seed beside those of its decks, which have the numbers of the decks.
TABLES_STREAM, ORDERS_STREAM = 2**63, 2**63 + 1
OWN_STREAM = 2**32  # and those of a deck's seed: one for each rotation
# Kinds of agents that take so long that the luck of the draws is cheap to measure beside them.
THINKING = ("mcts", "expectiminimax", "guest")


@dataclass(frozen=True)
class ScheduledGame:
    """One game.

    key: what names it. seed: of its deck. seats: the agent (by index) in each seat.
    decisions: seed of the agents' random numbers; None: those of the deck.
    """

    key: GameKey
    seed: int
    seats: tuple[int, ...]
    decisions: int | None = None

    @property
    def spec(self) -> GameSpec:
        """The game as `carc.play_games` takes it."""
        if self.decisions is None:
            return self.seed, self.seats
        return self.seed, self.seats, self.decisions


def entrants(config: TournamentConfig) -> list[str]:
    """Return the agents' names, a repeated one numbered: greedy, greedy#2."""
    return list(config.entrants)


def check_joined(tables: Iterable[Sequence[int]], names: Sequence[str]) -> None:
    """Raise ConfigError if two agents are not the ends of a chain of agents who meet."""
    group = list(range(len(names)))
    for table in set(map(tuple, tables)):
        joined = {group[agent] for agent in table}
        group = [min(joined) if each in joined else each for each in group]
    apart = [name for name, each in zip(names, group, strict=True) if each != group[0]]
    if apart:
        raise ConfigError(
            f"tables: found no games that compare {names[0]} with {apart[0]}, directly or through "
            "others, expected more rounds or more tables a deck"
        )


def tables(config: TournamentConfig) -> list[tuple[int, ...]]:
    """Return every combination of agents (by index) that may meet."""
    agents = range(len(config.agents))
    if config.format == "gauntlet":
        others = agents[config.seeds :]
        return [
            (challenger, *rest)
            for challenger in agents[: config.seeds]
            for rest in combinations(others, config.players - 1)
        ]
    return list(combinations(agents, config.players))


def table_of(config: TournamentConfig, pairing: int) -> int:
    """Return the index of a pairing's table."""
    return pairing // config.orders


def schedule(config: TournamentConfig) -> Iterator[ScheduledGame]:
    """Yield all games, deck by deck: a stopped tournament has compared all on the same decks."""
    everything = tables(config)
    for deck in range(config.rounds):
        seed = split_seed(config.seed, deck)
        rotations = range(config.players) if config.repeat else (deck % config.players,)
        for table in _tables_of_deck(config, deck):
            for order, seats in enumerate(_orders(config, deck, table, everything[table])):
                for rotation in rotations:
                    key = (table * config.orders + order, deck, rotation)
                    own = None
                    if not config.common_random_numbers:
                        own = split_seed(split_seed(seed, OWN_STREAM + rotation), key[0])
                    yield ScheduledGame(key, seed, seats[rotation:] + seats[:rotation], own)


def identity(config: TournamentConfig) -> dict[str, Any]:
    """Return what must agree for games to be counted together: all but how many are played."""
    return {
        "agents": list(config.agents),
        "names": entrants(config),
        "options": {name: resolved_options(name) for name in config.agents},
        "seed": config.seed,
        "players": config.players,
        "rules": config.rules.to_dict(),
        "carc": __version__,
        "format": config.format,
        "seeds": config.seeds,
        "tables": config.tables,
        "seatings": config.seatings,
        "repeat": config.repeat,
        "common_random_numbers": config.common_random_numbers,
        "luck": measures_luck(config),
    }


def identity_hash(config: TournamentConfig) -> str:
    """Return eight hexadecimal digits that stand for the identity."""
    return hashlib.sha256(json.dumps(identity(config), sort_keys=True).encode()).hexdigest()[:8]


def measures_luck(config: TournamentConfig) -> bool:
    """Say whether the luck of the draws is measured: as asked, or where an agent takes long."""
    if config.luck is not None:
        return config.luck
    return any(kind_of(agent) in THINKING for agent in config.agents)


def play_missing(
    config: TournamentConfig,
    results: ResultsFile,
    *,
    concurrency: int = 1,
    cluster: str | None = None,
    on_game: Callable[[GameKey, list[str], GameResult], bool] = lambda *_: True,
    stopped: Callable[[], bool] | None = None,
) -> int:
    """Play the games that the results file lacks, and write each as it ends.

    They do not depend on `concurrency`, the number of threads, nor on `cluster`, the address of a
    Ray cluster to play on. `on_game(key, agents, result)` is called after each and says whether to
    go on. `stopped()` is asked about ten times a second and says whether to begin no other game (on
    a cluster `on_game` alone does). Returns the number of games played.
    """
    finished = results.finished_keys()
    missing = [game for game in schedule(config) if game.key not in finished]
    names = entrants(config)

    def keep(index: int, result: GameResult) -> bool:
        game = missing[index]
        seated = [names[agent] for agent in game.seats]
        results.add(game.key, game.seed, seated, result)
        return on_game(game.key, seated, result)

    games = [game.spec for game in missing]
    luck = measures_luck(config)
    if cluster is not None:
        from carc.cluster import play_games as play_on_cluster

        return play_on_cluster(
            config.rules,
            config.agents,
            games,
            address=cluster,
            workers=concurrency,
            luck=luck,
            on_result=keep,
        )
    return play_games(
        config.rules,
        list(config.agents),
        games,
        threads=concurrency,
        luck=luck,
        on_result=keep,
        stopped=stopped,
    )


def _tables_of_deck(config: TournamentConfig, deck: int) -> list[int]:
    everything = list(range(config.all_tables))
    if not 0 < config.tables < len(everything):
        return everything
    seed = split_seed(split_seed(config.seed, TABLES_STREAM), deck)
    return sorted(_shuffled(everything, seed)[: config.tables])


def _orders(
    config: TournamentConfig, deck: int, index: int, table: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """Return the orders of a table's agents in which the deck is played, the first one leading."""
    first, *others = table
    if config.seatings == "all":
        return [(first, *rest) for rest in permutations(others)]
    if config.seatings == "sampled":
        seed = split_seed(split_seed(config.seed, ORDERS_STREAM), deck)
        others = _shuffled(others, split_seed(seed, index))
    return [(first, *others)]


def _shuffled(items: Sequence[int], seed: int) -> list[int]:
    """Return the items in a random order, the same everywhere (Fisher and Yates)."""
    out, rng = list(items), Rng(seed)
    for last in range(len(out) - 1, 0, -1):
        at = rng.below(last + 1)
        out[at], out[last] = out[last], out[at]
    return out
