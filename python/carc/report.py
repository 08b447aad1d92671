"""What a tournament showed: the standings of the agents, each pairing, the effect of the seat."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from carc.config import TournamentConfig
from carc.ratings import (
    Estimate,
    Game,
    deck_means,
    elo_estimates,
    margins,
    mean_estimate,
    win_shares,
)
from carc.results import StoredGame
from carc.sequential import sprt_dict, up_to_verdict
from carc.sprt import SprtState
from carc.tournament import check_joined, entrants, identity, table_of, tables
from carc.variance import less_luck


@dataclass(frozen=True)
class Tally:
    """One agent over a set of games.

    win_rate: mean share of the win, which agents with the same best score part equally.
    ties: games in which the win was shared.
    margin: score minus the mean of the other scores in the game; None if every game was forfeited.
        The games of a table on a deck with a forfeited one have no margin and no score: seats would
        not be equal any more.
    ms_per_turn: time for placement and figure together.
    sims_per_turn, sims_per_s: simulations (or positions); None for an agent that does not search.
    less_luck: the margin less 0.3 of the luck of the draws; None where luck was not measured.
    forfeits: games that it lost by not going on. The others have equal shares of such a win.
    """

    name: str
    games: int
    wins: int
    ties: int
    losses: int
    win_rate: float
    score: float | None
    margin: Estimate | None
    ms_per_turn: float
    sims_per_turn: float | None
    sims_per_s: float | None
    less_luck: Estimate | None = None
    forfeits: int = 0

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
            "margin_mean": self.margin.value if self.margin else None,
            "margin_ci95": interval(self.margin) if self.margin else None,
            "less_luck_mean": self.less_luck.value if self.less_luck else None,
            "less_luck_ci95": interval(self.less_luck) if self.less_luck else None,
            "ms_per_turn": self.ms_per_turn,
            "sims_per_turn": self.sims_per_turn,
            "sims_per_s": self.sims_per_s,
            "forfeits": self.forfeits,
        }


@dataclass(frozen=True)
class Report:
    """The whole outcome.

    standings: (tally, Elo), from the best down.
    tables: for each pairing the tallies of its agents.
    seats: the margin of each seat; empty if all games were forfeited or not all rotations played.
    cross: [i][j], the share of the comparisons with j that agent i won, agents as in the standings;
        None where they did not meet.
    sprt: where the sequential test stands, if there is one.
    """

    config: TournamentConfig
    games: int
    decks: int
    standings: list[tuple[Tally, Estimate]]
    tables: list[list[Tally]]
    seats: list[Estimate]
    cross: list[list[float | None]]
    sprt: SprtState | None

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
            "cross": self.cross,
            "sprt": sprt_dict(self.config, self.sprt),
        }


def interval(estimate: Estimate) -> list[float] | None:
    """Return an estimate's interval as [low, high], or None."""
    return None if estimate.low is None or estimate.high is None else [estimate.low, estimate.high]


def make_report(config: TournamentConfig, games: Iterable[StoredGame]) -> Report:
    """Evaluate those decks of the config's rounds of which all games are there: one at least."""
    names = entrants(config)
    state, complete = up_to_verdict(config, complete_decks(config, games))
    compared = [
        Game(
            game.deck,
            [names.index(name) for name in game.agents],
            game.scores,
            game.forfeit[0] if game.forfeit else None,
        )
        for game in complete
    ]
    check_joined((game.agents for game in compared), names)
    reference = None if config.reference is None else names.index(config.reference)
    elo = elo_estimates(compared, len(names), reference=reference)
    tallies = [tally_of(name, complete) for name in names]
    order = sorted(range(len(names)), key=lambda i: (-elo[i].value, -_value(tallies[i].margin), i))
    met = []
    for index, table in enumerate(tables(config)):
        own = [game for game in complete if table_of(config, game.pairing) == index]
        if own:  # of many tables, few may have been drawn
            met.append([tally_of(names[agent], own) for agent in table])
    played = played_through(complete) if config.repeat else []
    seat_margins = [margins(game.scores) for game in played]
    decks = [game.deck for game in played]
    return Report(
        config=config,
        games=len(complete),
        decks=len({game.deck for game in complete}),
        standings=[(tallies[i], elo[i]) for i in order],
        tables=met,
        seats=[
            mean_estimate(deck_means(decks, [m[seat] for m in seat_margins]))
            for seat in range(config.players)
            if played
        ],
        cross=cross_table(compared, order),
        sprt=state,
    )


def cross_table(games: Iterable[Game], order: Sequence[int]) -> list[list[float | None]]:
    """Return the share of comparisons that each agent won of each other, in this order."""
    won = np.zeros((len(order), len(order)))
    place = {agent: index for index, agent in enumerate(order)}
    for game in games:
        for ranking in game.rankings():
            for level, group in enumerate(ranking):
                below = [place[agent] for lower in ranking[level + 1 :] for agent in lower]
                equal = [place[agent] for agent in group]
                for agent in equal:
                    won[agent, below] += 1
                    won[agent, equal] += 0.5
    met = won + won.T
    return [
        [float(won[i, j] / met[i, j]) if i != j and met[i, j] else None for j in range(len(order))]
        for i in range(len(order))
    ]


def played_through(games: Sequence[StoredGame]) -> list[StoredGame]:
    """Return the games of those tables and decks of which no game was forfeited."""
    broken = {(game.pairing, game.deck) for game in games if game.forfeit is not None}
    return [game for game in games if (game.pairing, game.deck) not in broken]


def _value(estimate: Estimate | None) -> float:
    return estimate.value if estimate else 0.0


def complete_decks(config: TournamentConfig, games: Iterable[StoredGame]) -> list[StoredGame]:
    """Return the games of those decks of which all games are there, in the order of the decks."""
    by_deck: dict[int, list[StoredGame]] = {}
    for game in games:
        if game.deck < config.rounds:
            by_deck.setdefault(game.deck, []).append(game)
    return [
        game
        for deck in sorted(by_deck)
        if len(by_deck[deck]) == config.games_a_deck
        for game in by_deck[deck]
    ]


def turns_of(game: StoredGame, seat: int) -> int:
    """Count a seat's turns: seats take turns from the first on, also in a last, short round."""
    return (game.turns - seat - 1) // len(game.agents) + 1


def tally_of(name: str, games: Sequence[StoredGame]) -> Tally:
    """Sum up one agent over games of which it has played one at least."""
    seen = [(game, game.agents.index(name)) for game in games if name in game.agents]
    shares = [
        win_shares(game.scores, game.forfeit[0] if game.forfeit else None)[seat]
        for game, seat in seen
    ]
    turns = sum(turns_of(game, seat) for game, seat in seen)
    seconds = sum(game.think_seconds[seat] for game, seat in seen)
    simulations = sum(game.simulations[seat] for game, seat in seen)
    finished = [
        (game, game.agents.index(name)) for game in played_through(games) if name in game.agents
    ]
    margin = [margins(game.scores)[seat] for game, seat in finished]
    decks = [game.deck for game, _ in finished]
    luck = [game.luck[seat] for game, seat in finished if game.luck is not None]
    return Tally(
        name=name,
        games=len(seen),
        wins=sum(share == 1 for share in shares),
        ties=sum(0 < share < 1 for share in shares),
        losses=sum(share == 0 for share in shares),
        win_rate=fmean(shares),
        score=fmean(game.scores[seat] for game, seat in finished) if finished else None,
        margin=mean_estimate(deck_means(decks, margin)) if finished else None,
        less_luck=less_luck(margin, luck, decks)[0] if len(luck) == len(margin) > 0 else None,
        ms_per_turn=1000 * seconds / max(turns, 1),
        sims_per_turn=simulations / max(turns, 1) if simulations else None,
        sims_per_s=simulations / seconds if simulations and seconds > 0 else None,
        forfeits=sum(game.forfeit is not None and game.forfeit[0] == seat for game, seat in seen),
    )
