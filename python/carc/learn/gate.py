"""The gate: a candidate replaces the champion only if it is better beyond doubt.

A paired match: every deck is played in each rotation of the seats, and intervals come from the
differences between decks. At tables of three and more the candidate meets copies of the champion.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from carc._core import Rules
from carc.config import TournamentConfig
from carc.learn.stopping import StoppedError
from carc.pentanomial import count_pairs, score_estimate
from carc.ratings import Estimate, deck_means, margins, mean_estimate, win_shares
from carc.results import ResultsFile, StoredGame
from carc.tournament import identity, identity_hash, play_missing

MEASURES = ("margin", "score")


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """What a candidate has to show.

    pairs: decks, each played in every rotation of the seats; 0: every candidate is accepted.
    against: the agent to beat while there is no champion.
    measure: ``margin``, points a game more than the mean of the others; or ``score``, share of the
        wins.
    above: what the lower end of the 95 % interval must exceed; None: 0 points, or the share that
        equal players have.
    rules: of the games, with the number of players.
    """

    pairs: int = 200
    against: str = "greedy"
    measure: str = "margin"
    above: float | None = None
    rules: Rules = field(default_factory=Rules)

    @property
    def threshold(self) -> float:
        """What the lower end of the interval must exceed."""
        if self.above is not None:
            return self.above
        return 0.0 if self.measure == "margin" else 1 / self.rules.players


@dataclass(frozen=True)
class GateResult:
    """The outcome of a gate, seen from the candidate.

    reason: why, in one line. margin: points a game, of decks without a forfeited game; score: share
    of the wins; both with their 95 % intervals, and None where nothing was played.
    """

    accepted: bool
    reason: str
    opponent: str
    games: int
    margin: Estimate | None
    score: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        """Return the result ready for JSON."""
        return asdict(self)


def gate_config(candidate: str, champion: str, options: GateOptions, seed: int) -> TournamentConfig:
    """Return the tournament that a gate is; agents are written as for `carc.make_agent`."""
    copies = options.rules.players - 1
    return TournamentConfig(
        agents=(candidate, *[champion] * copies),
        names=("candidate", *["champion"] * copies),
        rounds=options.pairs,
        seed=seed,
        rules=options.rules,
        recover=False,
        luck=False,
    )


def play_gate(
    candidate: str,
    champion: str,
    options: GateOptions,
    *,
    seed: int,
    folder: Path,
    name: str = "gate",
    threads: int = 1,
    on_game: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> GateResult:
    """Play the games that are missing, and judge the candidate.

    folder: keeps the games, in a file that this gate alone has.
    on_game: called after each game, and at once for those that are there from before.
    Raises StoppedError when `stopped()` says so; the same call then goes on.
    """
    if options.pairs == 0:
        return GateResult(True, "accepted without games: pairs = 0", champion, 0, None, None)
    config = gate_config(candidate, champion, options, seed)
    path = folder / f"{name}-{identity_hash(config)}.sqlite"
    with ResultsFile(path, identity(config)) as store:
        for _ in store.finished_keys():
            on_game()

        def after_game(*_: object) -> bool:
            on_game()
            return not stopped()

        play_missing(config, store, concurrency=threads, on_game=after_game, stopped=stopped)
        games = [game for game in store.games() if game.deck < config.rounds]
    if len(games) < config.games:
        raise StoppedError
    return judge(games, options, champion)


def judge(games: list[StoredGame], options: GateOptions, champion: str) -> GateResult:
    """Say whether the candidate of a gate is accepted, by all its games."""
    whole = [game for game in games if game.deck not in {g.deck for g in games if g.forfeit}]
    points = [margins(game.scores)[_seat(game)] for game in whole]
    margin = mean_estimate(deck_means([g.deck for g in whole], points)) if whole else None
    shares = [
        win_shares(game.scores, game.forfeit[0] if game.forfeit else None)[_seat(game)]
        for game in games
    ]
    by_deck = deck_means([game.deck for game in games], shares)
    is_duel = options.rules.players == 2
    score = score_estimate(count_pairs((2 * by_deck).tolist())) if is_duel else None
    score = score or mean_estimate(by_deck)
    measured, unit = (margin, "points") if options.measure == "margin" else (score, "of the wins")
    if measured is None:
        reason = "no deck was played to its end: every one has a forfeited game"
        return GateResult(False, reason, champion, len(games), None, score)
    low = measured.low
    accepted = low is not None and low > options.threshold
    shown = "unknown" if low is None else f"{low:.3f}"
    compared = "above" if accepted else "not above"
    reason = (
        f"{options.measure} {measured.value:.3f} {unit} in {len(games)} games against {champion}: "
        f"lower bound {shown} is {compared} {options.threshold:g}"
    )
    return GateResult(accepted, reason, champion, len(games), margin, score)


def _seat(game: StoredGame) -> int:
    return game.agents.index("candidate")
