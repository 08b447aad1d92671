"""Playing a game of a results file again, from the file alone.

Games have the numbers of the schedule, from 1: deck by deck, in a deck pairing by pairing, in a
pairing rotation by rotation. A number does not depend on which games have ended, nor on the rounds.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from carc import _core
from carc._core import GameRecord, GameResult, NamedAgent, Rules, WeightsError
from carc._version import __version__
from carc.agents import load_agent, option_names, play_games
from carc.config import MAX_ROUNDS, TournamentConfig
from carc.errors import ConfigError, ResultsError
from carc.networks import CHECKSUM, NETWORK, check_network
from carc.results import Results
from carc.stored import StoredGame
from carc.tournament import ScheduledGame, entrants, schedule


@dataclass(frozen=True)
class Replay:
    """A game and its repetition.

    again: the record of the repetition.
    difference: the first difference as one sentence; None if the two are equal.
    """

    number: int
    game: StoredGame
    record: str
    again: str
    difference: str | None


def stored_config(identity: Mapping[str, Any], rounds: int = MAX_ROUNDS) -> TournamentConfig:
    """Return the tournament of a results file; its agents are not looked up."""
    known = {field.name for field in dataclasses.fields(TournamentConfig)} - {"agents", "rules"}
    rest = {key: value for key, value in identity.items() if key in known}
    return TournamentConfig(
        agents=tuple(identity["agents"]),
        rules=Rules.from_dict(identity["rules"]),
        **{"rounds": rounds, **rest},
    )


def numbered(
    config: TournamentConfig, games: Iterable[StoredGame], path: Path
) -> Iterator[tuple[int, StoredGame]]:
    """Yield (number, game) for games in the order of the schedule."""
    places = enumerate(schedule(dataclasses.replace(config, rounds=MAX_ROUNDS)), 1)
    for game in games:
        for number, place in places:
            if place.key == game.key:
                yield number, game
                break
            if place.key[1] > game.deck:
                raise _unscheduled(path, game)
        else:
            raise _unscheduled(path, game)


def scheduled_game(results: Results, number: int) -> ScheduledGame:
    """Return the place of a game's number in the schedule."""
    places = schedule(stored_config(results.identity, results.decks()))
    place = next(islice(places, number - 1, None), None) if number > 0 else None
    if place is None:
        raise _unfinished(results, number)
    return place


def find_game(results: Results, number: int) -> tuple[StoredGame, str]:
    """Return the finished game with this number, and its record."""
    try:
        return results.game(scheduled_game(results, number).key)
    except KeyError:
        raise _unfinished(results, number) from None


def why_not_reproducible(options: Mapping[str, Any]) -> str | None:
    """Say why an agent with these options may play differently the next time; None if it cannot."""
    kind = options.get("kind")
    if kind == "guest" or kind not in {name for name, _, _ in _core.agent_kinds()}:
        return "is another program, whose moves carc cannot repeat"
    if options.get("time_ms"):
        return f"plays by the clock (time_ms={options['time_ms']:g})"
    if CHECKSUM in options:
        try:
            check_network(str(options.get(NETWORK)), str(options[CHECKSUM]))
        except (ConfigError, WeightsError) as error:
            return f"played with other weights: {error}"
    return None


def check_reproducible(results: Results, game: StoredGame, number: int) -> None:
    """Raise ResultsError for a game that cannot be played again, which says why."""
    config = stored_config(results.identity)
    for name, entrant in zip(config.agents, entrants(config), strict=True):
        reason = why_not_reproducible(results.identity["options"][name])
        if entrant in game.agents and reason is not None:
            expected = "expected agents of carc with fixed budgets and the same weights"
            raise ResultsError(
                f"{results.path}: game {number} is not reproducible: {entrant} {reason}; {expected}"
            )


def replay_game(results: Results, number: int) -> Replay:
    """Play a game again with the agents, seed and seats of the file, and compare the records.

    Raises ResultsError for a game that is not there or not reproducible.
    """
    config = stored_config(results.identity)
    place = scheduled_game(results, number)
    game, record = find_game(results, number)
    check_reproducible(results, game, number)
    names = GameRecord.from_json(record).agents
    seated = {
        agent: _agent(results.identity["options"][config.agents[agent]], name)
        for agent, name in zip(place.seats, names, strict=True)
    }
    anyone = seated[place.seats[0]]  # stands for those who do not play
    agents = [seated.get(agent, anyone) for agent in range(len(config.agents))]
    outcome: list[GameResult] = []

    def keep(index: int, result: GameResult) -> None:
        outcome.append(result)

    play_games(config.rules, agents, [place.spec], on_result=keep)
    (result,) = outcome
    return Replay(number, game, record, result.record, _difference(game, record, result))


def other_version(results: Results) -> str | None:
    """Return the version of carc that played the games, if it is not this one."""
    found = str(results.identity.get("carc", results.carc))
    return None if found == __version__ else found


def _agent(options: Mapping[str, Any], name: str) -> NamedAgent:
    own = dict(options)
    kind = own.pop("kind")
    known = [*option_names(kind), CHECKSUM]
    return load_agent(kind, {k: v for k, v in own.items() if k in known}, name)


def _difference(game: StoredGame, record: str, result: GameResult) -> str | None:
    if record != result.record:
        found = first_difference(json.loads(record), json.loads(result.record))
        return found or "the two records are not written alike"
    pairs = {
        "scores": (game.scores, result.scores),
        "points": (game.points, result.points),
        "final_count": (game.final_count, result.final_count),
        "figures_set": (game.figures_set, result.figures_set),
        "simulations": (game.simulations, result.simulations),
        "turns": (game.turns, result.turns),
        "discarded": (list(game.discarded), result.discarded),
        "forfeit": (game.forfeit, result.forfeit),
    }
    return next(
        (f"{key} is {a} in the file and {b} now" for key, (a, b) in pairs.items() if a != b), None
    )


def first_difference(a: Any, b: Any, where: str = "") -> str | None:
    """Name the first place where two JSON documents differ, and both values there."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            inner = f"{where}.{key}" if where else key
            if a.get(key) != b.get(key):
                return first_difference(a.get(key), b.get(key), inner)
        return None
    if isinstance(a, list) and isinstance(b, list) and where == "turns":
        for index, (turn, other) in enumerate(zip(a, b, strict=False), 1):
            if turn != other:
                return first_difference(turn, other, f"turn {index}")
        return f"{len(a)} turns in the file and {len(b)} now" if len(a) != len(b) else None
    if a == b:
        return None
    return f"{where} is {json.dumps(a)} in the file and {json.dumps(b)} now"


def _unfinished(results: Results, number: int) -> ResultsError:
    found = f"found no finished game {number} among {len(results)}"
    return ResultsError(f"{results.path}: {found}, expected a number that carc results list shows")


def _unscheduled(path: Path, game: StoredGame) -> ResultsError:
    key = f"pairing {game.pairing}, deck {game.deck}, rotation {game.rotation}"
    return ResultsError(f"{path}: found a game of {key}, which its configuration does not have")
