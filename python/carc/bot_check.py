"""Checks of a program that shall play as a guest: what its author gets wrong, in clear words."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from carc._core import (
    PROTOCOL_VERSION,
    ChildProcess,
    Deck,
    Error,
    GameRecord,
    GameState,
    Rules,
    hello_request,
    move_request,
)
from carc.agents import AgentLike, make_agent, play_game

QUIT_MS = 2_000
QUIET_MS = 200  # in which nothing may come that was not asked for
DECISIONS = 60  # of each of two games that are asked about in turns
SEED = 20_260_101
# What whole games are played by: everything that a bot may meet.
GAMES = (
    ("2 players", {"players": 2}),
    ("3 players", {"players": 3}),
    ("4 players", {"players": 4}),
    ("5 players", {"players": 5}),
    ("river", {"players": 2, "river": "2021"}),
    ("abbots and taking farmers back", {"players": 2, "abbot": True, "farmer_recall": True}),
)


@dataclass(frozen=True)
class Check:
    """One check: its name, whether it passed, and what was found."""

    name: str
    passed: bool
    detail: str


class CheckError(Error):
    """What is wrong with the program."""


class Session:
    """The program while it runs, asked line by line."""

    def __init__(self, command: Sequence[str], move_ms: int) -> None:
        """Start it; raises ChildProcessError if it cannot be run."""
        self._process = ChildProcess(command)
        self._move_ms = move_ms
        self._asked = 0
        self.slowest = 0.0  # seconds

    def hello(self, start_ms: int) -> str:
        """Return what the program calls itself."""
        reply = self._ask(hello_request("hello"), "hello", start_ms)
        if reply.get("protocol") != PROTOCOL_VERSION:
            found = _shown(reply.get("protocol"))
            raise CheckError(
                f'the answer to hello has "protocol": {found}, expected {PROTOCOL_VERSION}'
            )
        return str(reply.get("name", "nothing"))

    def decide(self, game: GameRecord) -> str:
        """Return the program's move, which is legal."""
        self._asked += 1
        identity = f"check-{self._asked}"
        request = move_request(game, identity, self._move_ms / 1000, SEED + self._asked)
        began = time.monotonic()
        reply = self._ask(request, identity, self._move_ms)
        self.slowest = max(self.slowest, time.monotonic() - began)
        move = reply.get("move")
        if not isinstance(move, str):
            raise CheckError(
                f'the answer {_shown(reply)} has no "move", expected one of the texts in "legal"'
            )
        try:
            game.state.string_to_action(move)
        except Error as error:
            raise CheckError(f"the move {_shown(move)} is not legal: {error}") from error
        return move

    def stay_quiet(self) -> None:
        """Fail if the program writes though nothing was asked."""
        outcome, line = self._process.ask("", QUIET_MS)
        if outcome == "ended":
            raise CheckError(self._ending())
        if outcome != "late" or self._process.unfinished_line:
            raise CheckError(
                f"{_shown(line or self._process.unfinished_line)} was written after the answer, "
                "expected one line a request; messages for people belong on stderr"
            )

    def quit(self) -> None:
        """Fail if the program does not end with its input."""
        if not self._process.close_input(QUIT_MS):
            raise CheckError(
                f"still runs {QUIT_MS} ms after the end of its input, expected its end"
            )
        ending = self._process.ending()
        if ending != "exited with code 0":
            raise CheckError(f"it {ending} at the end of its input, expected code 0")

    def close(self) -> None:
        """End the program and all that it started."""
        self._process.end()

    def _ask(self, request: str, identity: str, milliseconds: int) -> dict[str, Any]:
        outcome, line = self._process.ask(request, milliseconds)
        if outcome == "ended":
            raise CheckError(self._ending())
        if outcome == "flood":
            raise CheckError("wrote a line of more than 1048576 bytes")
        if outcome != "line":
            begun = self._process.unfinished_line
            part = f"; the line {_shown(begun)} has no end" if begun else ""
            raise CheckError(
                f"no answer within {milliseconds} ms{part}: is the output flushed after each line?"
            )
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CheckError(f"{_shown(line)} is no JSON ({error}), expected an object") from error
        if not isinstance(reply, dict):
            raise CheckError(f"found {_shown(reply)}, expected a JSON object")
        if reply.get("id") != identity:
            raise CheckError(
                f'the answer has "id": {_shown(reply.get("id"))}, expected "{identity}": '
                "the id of the request, a text"
            )
        if "error" in reply:
            raise CheckError(f"answered with an error: {_shown(reply['error'])}")
        return reply

    def _ending(self) -> str:
        complaint = self._process.last_complaint
        last = f"; the last line of its stderr: {complaint}" if complaint else ""
        return f"it {self._process.ending()}, expected an answer{last}"


def check_bot(command: Sequence[str], *, start_ms: int, move_ms: int) -> Iterator[Check]:
    """Give the checks as they are made; those that can say nothing after a failure are left out."""
    try:
        session = Session(command, move_ms)
    except Error as error:
        yield Check("start", False, str(error))
        return
    try:
        failed = False
        for check in _conversation(session, start_ms, move_ms):
            yield check
            failed |= not check.passed
    finally:
        session.close()
    if failed:
        return
    options = {"command": list(command), "start_ms": start_ms, "move_ms": move_ms}
    for name, rules in GAMES:
        yield _whole_game(name, Rules(**rules), options)


def _conversation(session: Session, start_ms: int, move_ms: int) -> Iterator[Check]:
    game, other = _new_game(1, {"players": 2}), _new_game(2, {"players": 3, "abbot": True})
    try:
        name = "hello"
        yield Check(name, True, f"it calls itself {session.hello(start_ms)}")
        name = "a tile is laid"
        move = session.decide(game)
        game.apply(move)
        yield Check(name, True, f"{move} is legal")
        name = "a figure is set or not"
        move = session.decide(game)
        yield Check(name, True, f"{move} is legal")
        name = "one line an answer"
        session.stay_quiet()
        yield Check(name, True, "nothing came unasked")
        name = "two games in turns"
        for _ in range(DECISIONS):
            for record in (game, other):
                _play_on(record, session)
        yield Check(name, True, f"{2 * DECISIONS} decisions are legal")
        name = "time"
        slowest = 1000 * session.slowest
        yield Check(name, True, f"the slowest answer took {slowest:.0f} of {move_ms} ms")
        name = "end of the input"
        session.quit()
        yield Check(name, True, "it ends")
    except CheckError as error:
        yield Check(name, False, str(error))


def _new_game(seed: int, rules: dict[str, Any]) -> GameRecord:
    """Return a game whose first tile is drawn."""
    return _advance(GameRecord(GameState(Rules(**rules))), seed)


def _advance(record: GameRecord, seed: int | None = None) -> GameRecord:
    """Draw until there is something to decide, in the order of the deck of this seed."""
    if seed is not None:
        record.seed = seed
    deck = Deck(record.rules, seed=record.seed or 0)
    drawn = sum(action.kind == "draw" for action in record.actions)
    order = [deck.draw() for _ in range(deck.left)]
    while record.state.is_chance_node():
        record.apply(order[drawn])
        drawn += 1
    return record


def _play_on(record: GameRecord, session: Session) -> None:
    """Let the program decide for whoever's turn it is, until the game is over."""
    if record.state.is_terminal():
        return
    record.apply(session.decide(record))
    _advance(record)


def _whole_game(name: str, rules: Rules, options: dict[str, Any]) -> Check:
    others = ["random"] * (rules.players - 1)
    try:
        agents: list[AgentLike] = [make_agent("guest", **options), *others]
        result = play_game(rules, agents, SEED)
    except Error as error:
        return Check(f"a game: {name}", False, f"cannot be played: {error}")
    if result.forfeit is not None:
        _, reason, detail = result.forfeit
        return Check(f"a game: {name}", False, f"lost it by {reason}: {detail}")
    scores = ", ".join(map(str, result.scores))
    return Check(f"a game: {name}", True, f"{result.turns} turns, points {scores}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
