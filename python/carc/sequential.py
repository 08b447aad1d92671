"""Sequential tests of a match or tournament of two agents, as its games end.

The verdict is a function of the pairs in the order of the decks (`carc.sprt`), whichever ended
first; what is reported of a series that it has ended are the pairs up to the verdict.
"""

from collections.abc import Sequence
from dataclasses import asdict

from carc.config import SprtConfig, TournamentConfig
from carc.errors import ForfeitError
from carc.ratings import margins, win_shares
from carc.sprt import SequentialTest, SprtRun, SprtState
from carc.stored import StoredGame

HOPELESS = 100  # pairs without a margin after which a test of margins gives up


class PairWatch:
    """Watches a match: takes its games as they end, and says when its sequential test is over."""

    def __init__(self, config: TournamentConfig) -> None:
        test = config.sprt or SprtConfig()
        self.active = config.sprt is not None
        self._by_margin = test.kind == "margin"
        self._first = config.entrants[0]
        self._run = SprtRun(SequentialTest(test.kind, test.low, test.high, test.alpha, test.beta))
        self._open: dict[int, tuple[float, float | None]] = {}
        self._without_margin = 0

    @property
    def state(self) -> SprtState:
        """Where the test stands."""
        return self._run.state

    @property
    def decks(self) -> int:
        """Number of decks that the test has looked at."""
        return self._run.decks

    def add(
        self,
        deck: int,
        agents: Sequence[str],
        scores: Sequence[int],
        forfeit: tuple[int, str, str] | None,
    ) -> bool:
        """Take a game and say whether the match goes on."""
        if not self.active:
            return True
        result = game_result(agents.index(self._first), scores, forfeit)
        other = self._open.pop(deck, None)
        if other is None:
            self._open[deck] = result
        elif self.state.verdict is None:
            points = result[0] + other[0]
            known = None if result[1] is None or other[1] is None else (result[1] + other[1]) / 2
            self._run.update(deck, known if self._by_margin else points)
            self._without_margin += known is None
            if self._by_margin and self.state.pairs == 0 and self._without_margin >= HOPELESS:
                raise ForfeitError(
                    f"margin test: found a forfeited game in each of the first {HOPELESS} pairs, "
                    "expected games that are played to their end"
                )
        return self.state.verdict is None


def game_result(
    seat: int, scores: Sequence[int], forfeit: tuple[int, str, str] | None
) -> tuple[float, float | None]:
    """Return the share of the win and the margin of a seat; no margin in a forfeited game."""
    share = win_shares(scores, forfeit[0] if forfeit else None)[seat]
    return share, None if forfeit else margins(scores)[seat]


def up_to_verdict(
    config: TournamentConfig, games: Sequence[StoredGame]
) -> tuple[SprtState | None, list[StoredGame]]:
    """Return where the test of a configuration stands, if it has one, and the games that count.

    games: of complete decks, in the order of the decks.
    """
    if config.sprt is None:
        return None, list(games)
    watch = PairWatch(config)
    for game in games:
        watch.add(game.deck, game.agents, game.scores, game.forfeit)
    if watch.state.verdict is None:
        return watch.state, list(games)
    return watch.state, [game for game in games if game.deck < watch.decks]


def sprt_dict(config: TournamentConfig, state: SprtState | None) -> dict[str, object] | None:
    """Return a test and where it stands, ready for JSON."""
    if state is None or config.sprt is None:
        return None
    return {
        **asdict(config.sprt),
        "llr": state.llr,
        "bounds": list(state.bounds),
        "pairs": state.pairs,
        "verdict": state.verdict,
    }


def sprt_text(config: TournamentConfig, state: SprtState) -> str:
    """Say in one line where a test stands."""
    assert config.sprt
    test, (low, high) = config.sprt, state.bounds
    unit = "Elo" if test.kind == "elo" else "points a game"
    said = {"H0": f"H0: {test.low:g} {unit}", "H1": f"H1: {test.high:g} {unit}"}
    verdict = f"accepted {said[state.verdict]}" if state.verdict else "no verdict yet"
    where = f"LLR {state.llr:.2f} ({low:.2f}, {high:.2f}) after {state.pairs} pairs"
    return f"Sequential test of {test.low:g} against {test.high:g} {unit}: {verdict}, {where}"
