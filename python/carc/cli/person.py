"""A person at the terminal as one of the players of a game."""

import queue
import threading
from collections.abc import Callable, Sequence

from rich.columns import Columns
from rich.console import Console

from carc._core import Action, Agent, Error, GameResult, GameState, Rng, Rules
from carc.agents import play_game

PERSON = "human"
HELP = """\
Answer with a number of the list or in text:
  D@0,-1r2  lay the tile at x 0, y -1 after two quarter turns clockwise (x grows
            to the right, y grows down)
  city:N    a meeple on the city at the north edge, as the tile is drawn at r0
  field:3   on the field at that half-edge: 0 is the west half of north, then
            clockwise
  -         no figure
On the board C is city, # road, . field, ~ river. A tile's id stands in its middle,
and behind it a figure as player and first letter of its feature: 1f is a farmer
of player 1; a capital letter is an abbot.
Other answers: board (show it again), list (show the choices again), help, quit."""


class QuitError(Exception):
    """The person wants to stop."""


def play_with_people(
    rules: Rules, agents: Sequence[str], seed: int, ask: Callable[[GameState], Action]
) -> GameResult:
    """Play a game in which `ask` decides for every agent named "human"; it is called on this
    thread.

    What `ask` raises ends the game and is raised here.
    """
    questions: queue.SimpleQueue[GameState | None] = queue.SimpleQueue()
    answers: queue.SimpleQueue[Action | BaseException] = queue.SimpleQueue()

    class Person(Agent):
        name = PERSON

        def choose(self, state: GameState, rng: Rng) -> Action:
            questions.put(state)
            answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            return answer

    outcome: list[GameResult | BaseException] = []

    def play() -> None:
        try:
            outcome.append(
                play_game(rules, [Person() if name == PERSON else name for name in agents], seed)
            )
        except BaseException as error:  # handed to the caller's thread
            outcome.append(error)
        questions.put(None)

    # The game has a thread of its own: only this one can be interrupted while it waits for input.
    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    try:
        while (state := questions.get()) is not None:
            answers.put(ask(state))
    except BaseException as error:
        answers.put(error)
        thread.join()
        raise
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


class Conversation:
    """Shows positions on a console and asks for decisions until one is legal."""

    def __init__(self, console: Console, agents: Sequence[str]) -> None:
        self._console = console
        self._agents = agents
        self._seen_tiles = 1
        self._seen_discards = 0

    def ask(self, state: GameState) -> Action:
        """Return the person's decision; raises QuitError, or EOFError when the input ends."""
        actions = list(state.legal_actions())
        if state.phase == "place":
            self._tell_news(state)
            self._show(str(state))
        self._list(state, actions)
        while True:
            what = f"lay {state.drawn_tile}" if state.phase == "place" else "figure"
            self._console.print(f"player {state.turn_player}, {what}> ", end="")
            answer = input().strip()
            if answer in ("quit", "q", "exit"):
                raise QuitError
            if answer in ("help", "h", "?"):
                self._show(HELP)
            elif answer == "board":
                self._show(str(state))
            elif answer == "list":
                self._list(state, actions)
            elif answer:
                action = self._read(state, actions, answer)
                if action is not None:
                    self._seen_tiles = len(state.tiles) + (state.phase == "place")
                    return action

    def _read(self, state: GameState, actions: list[Action], answer: str) -> Action | None:
        if answer.isascii() and answer.isdigit():
            if int(answer) < len(actions):
                return actions[int(answer)]
            self._show(f"found {answer}, expected a number from 0 to {len(actions) - 1}")
            return None
        try:
            return state.string_to_action(answer)
        except Error as error:
            self._show(f"{error}\n(or one of: a number of the list, board, list, help, quit)")
            return None

    def _tell_news(self, state: GameState) -> None:
        for name in state.discarded[self._seen_discards :]:
            self._show(f"tile {name} fitted nowhere and left the game")
        self._seen_discards = len(state.discarded)
        tiles = state.tiles
        for index in range(self._seen_tiles, len(tiles)):
            player = (index - 1) % len(self._agents)
            tile = tiles[index]
            figures = "".join(
                f", {f.figure} on its {f.kind}" for f in state.figures if f.tile == index
            )
            placement = f"{tile.id}@{tile.x},{tile.y}r{tile.rotation}"
            self._show(f"player {player} ({self._agents[player]}): {placement}{figures}")

    def _list(self, state: GameState, actions: list[Action]) -> None:
        if state.phase == "place" and state.drawn_tile is not None:
            self._show(
                picture(
                    state.rules, state.drawn_tile, sorted({action.rotation for action in actions})
                )
            )
        choices = [f"{i:>3} {state.action_to_string(action)}" for i, action in enumerate(actions)]
        self._console.print(Columns(choices, column_first=True, padding=(0, 2)))

    def _show(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)


def picture(rules: Rules, tile: str, rotations: Sequence[int]) -> str:
    """Draw a tile in these rotations side by side, as the board would show it."""
    rows = ["", "", ""]
    for rotation in rotations:
        lines = str(GameState(rules, start=(tile, 0, 0, rotation))).splitlines()[1:4]
        for i, (label, line) in enumerate(zip(("", f"r{rotation}", ""), lines, strict=True)):
            rows[i] += f"{label:3}{line[5:11]}  "
    return "\n".join(rows)
