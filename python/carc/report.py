"""What a tournament showed: the standings of the agents, each pairing, the effect of the seat."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from carc.config import TournamentConfig
from carc.ratings import (
    Estimate,
    Game,
    deck_means,
    elo_estimates,
    margins,
    mean_estimate,
    pair_points,
    win_shares,
)
from carc.results import StoredGame
from carc.tournament import entrants, identity, pairings


@dataclass(frozen=True)
class Tally:
    """One agent over a set of games.

    win_rate: mean share of the win, which agents with the same best score part equally.
    ties: games in which the win was shared.
    margin: score minus the mean of the other scores in the game.
    ms_per_turn: time for placement and figure together.
    sims_per_s: simulations (or positions) a second; None for an agent that does not search.
    """

    name: str
    games: int
    wins: int
    ties: int
    losses: int
    win_rate: float
    score: float
    margin: Estimate
    ms_per_turn: float
    sims_per_s: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the tally under its documented names."""
        return {
            "name": self.name,
            "games": self.games,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "win_rate": self.win_rate,
            "score_mean": self.score,
            "margin_mean": self.margin.value,
            "margin_ci95": interval(self.margin),
            "ms_per_turn": self.ms_per_turn,
            "sims_per_s": self.sims_per_s,
        }


@dataclass(frozen=True)
class Report:
    """The whole outcome.

    standings: (tally, Elo), from the best down.
    tables: for each pairing the tallies of its agents.
    seats: the margin of each seat.
    """

    config: TournamentConfig
    games: int
    decks: int
    standings: list[tuple[Tally, Estimate]]
    tables: list[list[Tally]]
    seats: list[Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Return the report under its documented names, ready for JSON."""
        return {
            "settings": {**identity(self.config), "rounds": self.config.rounds},
            "games": self.games,
            "decks": self.decks,
            "agents": [
                {"rank": rank, **tally.to_dict(), "elo": elo.value, "elo_ci95": interval(elo)}
                for rank, (tally, elo) in enumerate(self.standings, 1)
            ],
            "pairings": [
                {
                    "agents": [tally.name for tally in table],
                    "results": [tally.to_dict() for tally in table],
                }
                for table in self.tables
            ],
            "seats": [
                {"seat": seat, "margin_mean": margin.value, "margin_ci95": interval(margin)}
                for seat, margin in enumerate(self.seats, 1)
            ],
        }


def interval(estimate: Estimate) -> list[float] | None:
    """Return an estimate's interval as [low, high], or None."""
    return None if estimate.low is None or estimate.high is None else [estimate.low, estimate.high]


def make_report(config: TournamentConfig, games: Iterable[StoredGame]) -> Report:
    """Evaluate those decks of the config's rounds of which all games are there: one at least."""
    names = entrants(config)
    complete = complete_decks(config, games)
    compared = [Game(g.deck, [names.index(name) for name in g.agents], g.scores) for g in complete]
    elo = elo_estimates(pair_points(compared, len(names)))
    tallies = [tally_of(name, complete) for name in names]
    order = sorted(range(len(names)), key=lambda i: (-elo[i].value, -tallies[i].margin.value, i))
    tables = []
    for index, table in enumerate(pairings(config)):
        own = [game for game in complete if game.pairing == index]
        tables.append([tally_of(names[agent], own) for agent in table])
    decks = [game.deck for game in complete]
    seat_margins = [margins(game.scores) for game in complete]
    return Report(
        config=config,
        games=len(complete),
        decks=len(set(decks)),
        standings=[(tallies[i], elo[i]) for i in order],
        tables=tables,
        seats=[
            mean_estimate(deck_means(decks, [m[seat] for m in seat_margins]))
            for seat in range(config.players)
        ],
    )


def complete_decks(config: TournamentConfig, games: Iterable[StoredGame]) -> list[StoredGame]:
    """Return the games of those decks of which all games are there, in the order of the decks."""
    wanted = len(pairings(config)) * config.players
    by_deck: dict[int, list[StoredGame]] = {}
    for game in games:
        if game.deck < config.rounds:
            by_deck.setdefault(game.deck, []).append(game)
    return [
        game for deck in sorted(by_deck) if len(by_deck[deck]) == wanted for game in by_deck[deck]
    ]


def tally_of(name: str, games: Sequence[StoredGame]) -> Tally:
    """Sum up one agent over games of which it has played one at least."""
    seen = [(game, game.agents.index(name)) for game in games if name in game.agents]
    shares = [win_shares(game.scores)[seat] for game, seat in seen]
    # Seats take turns from the first on, so a last, short round is the first seats'.
    turns = sum((game.turns - seat - 1) // len(game.agents) + 1 for game, seat in seen)
    seconds = sum(game.think_seconds[seat] for game, seat in seen)
    simulations = sum(game.simulations[seat] for game, seat in seen)
    return Tally(
        name=name,
        games=len(seen),
        wins=sum(share == 1 for share in shares),
        ties=sum(0 < share < 1 for share in shares),
        losses=sum(share == 0 for share in shares),
        win_rate=fmean(shares),
        score=fmean(game.scores[seat] for game, seat in seen),
        margin=mean_estimate(
            deck_means([g.deck for g, _ in seen], [margins(g.scores)[s] for g, s in seen])
        ),
        ms_per_turn=1000 * seconds / max(turns, 1),
        sims_per_s=simulations / seconds if simulations and seconds > 0 else None,
    )
