"""What a results file holds, in a few numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from carc.config import TournamentConfig
from carc.replay import stored_config
from carc.results import Results
from carc.tournament import entrants, schedule


@dataclass(frozen=True)
class AgentSummary:
    """One agent of a results file.

    sha256: of all its options. think_seconds: in all games together.
    """

    name: str
    version: str
    options: dict[str, Any]
    sha256: str
    games: int
    forfeits: int
    think_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the summary under its documented names."""
        return {
            "name": self.name,
            "version": self.version,
            "options": self.options,
            "sha256": self.sha256,
            "games": self.games,
            "forfeits": self.forfeits,
            "think_seconds": self.think_seconds,
        }


@dataclass(frozen=True)
class Summary:
    """What a results file holds.

    decks: of which a game is there; complete_decks: of which all are.
    forfeits: games by the reason of their forfeit.
    created, first, last: when the file was made and its first and last game ended, UTC.
    """

    path: str
    config: TournamentConfig
    carc: str
    created: str
    first: str
    last: str
    games: int
    decks: int
    complete_decks: int
    forfeits: dict[str, int]
    agents: list[AgentSummary]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary under its documented names, ready for JSON."""
        return {
            "file": self.path,
            "carc": self.carc,
            "players": self.config.players,
            "seed": self.config.seed,
            "rules": self.config.rules.to_dict(),
            "games": self.games,
            "decks": self.decks,
            "complete_decks": self.complete_decks,
            "forfeits": self.forfeits,
            "created": self.created,
            "first_finished": self.first or None,
            "last_finished": self.last or None,
            "agents": [agent.to_dict() for agent in self.agents],
        }


def summarise(results: Results) -> Summary:
    """Read all games once and sum them up."""
    config = stored_config(results.identity)
    names = entrants(config)
    by_deck: Counter[int] = Counter()
    games: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seconds = dict.fromkeys(names, 0.0)
    times: list[str] = []  # of the first and the last game that ended
    for game in results.games():
        by_deck[game.deck] += 1
        games.update(game.agents)
        for name, spent in zip(game.agents, game.think_seconds, strict=True):
            seconds[name] += spent
        if game.forfeit is not None:
            lost[game.agents[game.forfeit[0]]] += 1
            reasons[game.forfeit[1]] += 1
        times = [min([*times, game.finished]), max([*times, game.finished])]
    return Summary(
        path=str(results.path),
        config=config,
        carc=str(results.identity.get("carc", results.carc)),
        created=results.created,
        first=times[0] if times else "",
        last=times[-1] if times else "",
        games=by_deck.total(),
        decks=len(by_deck),
        complete_decks=_complete(config, by_deck),
        forfeits=dict(reasons.most_common()),
        agents=[
            AgentSummary(name, version, options, digest, games[name], lost[name], seconds[name])
            for name, (_, version, options, digest) in zip(names, results.agents, strict=True)
        ],
    )


def describe_design(config: TournamentConfig, names: Sequence[str]) -> str:
    """Say who met whom, and how they sat; names: of the entrants."""
    challengers = ", ".join(names[: config.seeds])
    sentences = [
        f"Gauntlet: at every table {challengers if config.seeds == 1 else f'one of {challengers}'} "
        "met others."
        if config.format == "gauntlet"
        else "Round robin: any combination of agents may sit at a table."
    ]
    if 0 < config.tables < config.all_tables:
        tables = f"{config.tables} of {config.all_tables} tables"
        sentences.append(f"Each deck was played at {tables}, drawn by the seed.")
    if config.players > 2:
        order = {
            "fixed": "in the order of the list of agents",
            "all": f"in each of {config.orders} orders",
            "sampled": "in an order drawn for each deck by the seed",
        }[config.seatings]
        sentences.append(f"The agents sat round the table {order}.")
    sentences.append(
        "A turn of a deck was decided with the same random numbers in all its games."
        if config.common_random_numbers
        else "Each game was decided with random numbers of its own."
    )
    return " ".join(sentences)


def _complete(config: TournamentConfig, by_deck: Counter[int]) -> int:
    """Count the decks of which all scheduled games are there."""
    if not by_deck:
        return 0
    missing = Counter({deck: -count for deck, count in by_deck.items()})
    last = max(by_deck)
    for game in schedule(config):
        deck = game.key[1]
        if deck > last:
            break
        if deck in missing:
            missing[deck] += 1
    return sum(count <= 0 for count in missing.values())
