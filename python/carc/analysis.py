"""What a searching agent thinks of every decision of a recorded game.

The cost of a decision is the expected lead after the action that the search would play minus that
after the action played, in points: own minus the mean of the others' points at the end of the game.
Both are as measured, so a cost may be a little below zero. An action that the search hardly looked
at is measured by searches of the positions after it.

Names follow KataGo's analysis engine where they fit; `to_dict` of the classes is the JSON form.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from carc._core import (
    Action,
    ActionReport,
    GameRecord,
    GameState,
    NamedAgent,
    Rng,
    SearchResult,
    agent_kinds,
    split_seed,
)
from carc.agents import make_agent
from carc.errors import ConfigError

MISTAKES = 3  # listed for each player
FEW_VISITS = 64  # below, or below 1 / 128 of all, the positions after an action are searched
ALIKE = 1e-4  # points: exact values that count as equal
PLACE, FIGURE = "place", "figure"


@dataclass(frozen=True)
class Move:
    """A candidate. Scores are points at the end of the game as the search expects them.

    utility: of the player who decides, -1 to 1; None if the search was exact or did not visit it.
    lead: own points minus the mean of the others'; None if not measured.
    score_mean, score_stdev: by player; None if the search gives no points.
    order: rank of the candidate, 0 the best.
    pv: what is expected to follow, the action first.
    """

    move: str
    visits: int
    prior: float
    utility: float | None
    lead: float | None
    score_mean: list[float] | None
    score_stdev: list[float] | None
    order: int
    pv: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate under its documented names."""
        return {
            "move": self.move,
            "visits": self.visits,
            "prior": self.prior,
            "utility": self.utility,
            "scoreLead": self.lead,
            "scoreMean": self.score_mean,
            "scoreStdev": self.score_stdev,
            "order": self.order,
            "pv": self.pv,
        }


@dataclass(frozen=True)
class Root:
    """What the search says of the position as a whole; fields as in Move.

    exact: the game was solved to its end.
    """

    visits: int = 0
    utility: float | None = None
    lead: float | None = None
    score_mean: list[float] | None = None
    exact: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the position under its documented names."""
        return {
            "visits": self.visits,
            "utility": self.utility,
            "scoreLead": self.lead,
            "scoreMean": self.score_mean,
            "exact": self.exact,
        }


@dataclass(frozen=True)
class Decision:
    """A placement, or what was done with a figure.

    played: of rotations that look alike the first. is_forced: nothing else was legal.
    """

    phase: str
    root: Root
    moves: list[Move]
    played: str
    best: str
    cost: float
    is_forced: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the decision under its documented names."""
        return {
            "rootInfo": self.root.to_dict(),
            "moveInfos": [move.to_dict() for move in self.moves],
            "played": self.played,
            "best": self.best,
            "cost": self.cost,
        }


@dataclass
class Turn:
    """One turn: a placement, and a figure unless the record stops before it.

    number: 1 for the first tile laid. discarded: tiles that fitted nowhere before it.
    """

    number: int
    player: int
    tile: str
    discarded: list[str]
    placement: Decision
    figure: Decision | None = None

    @property
    def decisions(self) -> list[Decision]:
        """The decisions that there are."""
        return [self.placement] if self.figure is None else [self.placement, self.figure]

    @property
    def cost(self) -> float:
        """Points that both decisions cost."""
        return sum(decision.cost for decision in self.decisions)

    @property
    def played(self) -> str:
        """The turn as text."""
        return " ".join(decision.played for decision in self.decisions)

    @property
    def best(self) -> str:
        """The best placement, and the best figure after the placement that was played."""
        return " ".join(decision.best for decision in self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Return the turn under its documented names; what concerns the placement is not nested."""
        return {
            "turnNumber": self.number,
            "currentPlayer": self.player,
            "tile": self.tile,
            "discarded": self.discarded,
            **self.placement.to_dict(),
            "cost": self.cost,
            "placementCost": self.placement.cost,
            "figure": self.figure.to_dict() if self.figure else None,
        }


@dataclass(frozen=True)
class Summary:
    """One player over the analysed turns.

    decisions: those with a choice. best_moves: those in which the best was played.
    """

    player: int
    agent: str | None
    turns: int
    mean_loss: float | None
    decisions: int
    best_moves: int
    mistakes: list[Turn]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary under its documented names."""
        return {
            "player": self.player,
            "agent": self.agent,
            "turns": self.turns,
            "meanLoss": self.mean_loss,
            "decisions": self.decisions,
            "bestMoves": self.best_moves,
            "biggestMistakes": [
                {
                    "turnNumber": turn.number,
                    "tile": turn.tile,
                    "played": turn.played,
                    "best": turn.best,
                    "cost": turn.cost,
                }
                for turn in self.mistakes
            ],
        }


def analyst(name: str, options: dict[str, Any] | None = None) -> NamedAgent:
    """Make the agent that analyses; raises ConfigError for one that does not search.

    Of a search with pruning every action is wanted exactly, so it does not prune unless told to.
    """
    agent = make_agent(name, **(options or {}))
    known = {kind: {option[0] for option in listed} for kind, _, listed in agent_kinds()}
    if not known[agent.kind] & {"simulations", "depth"}:
        raise ConfigError(
            f"agent {agent.name}: found kind {agent.kind}, which does not search, "
            "expected an agent such as champion"
        )
    if "pruning" in known[agent.kind] and "pruning" not in agent.options:
        agent = make_agent(name, **{**(options or {}), "pruning": "none"})
    if "depth" in known[agent.kind] and agent.options.get("utility") != "linear":
        raise ConfigError(
            f"agent {agent.name}: its utility cannot be told in points, expected utility=linear"
        )
    return agent


def count_decisions(record: GameRecord, turn: int | None = None) -> int:
    """Return how many decisions `analyse_game` will look at."""
    return sum(1 for number, _, _ in _decisions(record) if turn in (None, number))


def analyse_game(
    record: GameRecord,
    agent: NamedAgent,
    *,
    seed: int = 0,
    turn: int | None = None,
    top: int = 5,
    on_decision: Callable[[], object] = lambda: None,
) -> list[Turn]:
    """Analyse every turn of a record, or the one with this number.

    top: candidates kept for a decision, besides the played one. A turn's analysis depends on the
    seed and its number, not on the other turns. `on_decision` is called after each decision.
    """
    turns: list[Turn] = []
    discards = 0
    for number, state, action in _decisions(record):
        if turn not in (None, number):
            discards = len(state.discarded)
            continue
        is_figure = state.phase == FIGURE
        rng = Rng(split_seed(seed, 2 * number + is_figure))
        decision = _judge(state, action, agent, rng, top)
        if is_figure:
            turns[-1].figure = decision
        else:
            tile, thrown = state.drawn_tile or "", state.discarded[discards:]
            turns.append(Turn(number, state.turn_player, tile, thrown, decision))
            discards = len(state.discarded)
        on_decision()
    return turns


def summarise(record: GameRecord, turns: Sequence[Turn]) -> list[Summary]:
    """Sum up the analysed turns by player."""
    out = []
    for player in range(record.rules.players):
        own = [turn for turn in turns if turn.player == player]
        free = [d for turn in own for d in turn.decisions if not d.is_forced]
        costly = sorted((turn for turn in own if turn.cost > 0), key=lambda turn: -turn.cost)
        out.append(
            Summary(
                player=player,
                agent=record.agents[player] if record.agents else None,
                turns=len(own),
                mean_loss=fmean(turn.cost for turn in own) if own else None,
                decisions=len(free),
                best_moves=sum(d.played == d.best for d in free),
                mistakes=costly[:MISTAKES],
            )
        )
    return out


def _decisions(record: GameRecord) -> list[tuple[int, GameState, Action]]:
    """List (number of the turn, position, action played) of all decisions."""
    out = []
    state = record.replay(0)
    for action in record.actions:
        if state.phase in (PLACE, FIGURE):
            number = len(state.tiles) - (state.phase == FIGURE)
            out.append((number, state.clone(), action))
        state.apply(action)
    return out


def _judge(state: GameState, action: Action, agent: NamedAgent, rng: Rng, top: int) -> Decision:
    action = _listed(state, action)
    played = state.action_to_string(action)
    if state.num_legal_actions() == 1:
        only = Move(played, 0, 1.0, None, None, None, None, 0, [played])
        return Decision(state.phase, Root(), [only], played, played, 0.0, is_forced=True)
    result = agent.analyse(state, rng)
    if result is None:
        raise ConfigError(f"agent {agent.name}: does not search, expected one such as champion")
    best = result.actions[result.best_index]
    (chosen,) = (report for report in result.actions if report.action == action)
    if result.exact and abs(chosen.value - best.value) < ALIKE:
        best = chosen
    # The best first, then as the search ranks them.
    ranked = sorted(
        result.actions, key=lambda r: (r.action != best.action, -r.visits, -r.value, int(r.action))
    )
    lead_best = _lead_of(state, result, best, agent)
    lead_played = _lead_of(state, result, chosen, agent)
    if chosen.action == best.action:
        cost = 0.0
    else:
        enough = result.exact or _gives_utility(agent) or chosen.visits >= _few(result)
        if not enough or lead_played is None:
            lead_played = _lead_after(state, action, state.turn_player, agent, rng)
        if lead_best is None:  # no simulation at all began with it
            lead_best = _root_lead(result, state.turn_player, state.rules.players, agent)
        cost = lead_best - lead_played
    moves = []
    for order, report in enumerate(ranked):
        is_played = report.action == action
        if order >= top and not is_played:
            continue
        lead = lead_played if is_played else _lead_of(state, result, report, agent)
        moves.append(_move(state, result, report, order, lead, agent))
    root = _root(state, result, agent)
    return Decision(
        state.phase,
        root,
        moves,
        played,
        state.action_to_string(best.action),
        cost,
        is_forced=False,
    )


def _listed(state: GameState, action: Action) -> Action:
    """Return an action as legal_actions lists it: of rotations that look alike only the first."""
    actions = state.legal_actions()
    if action in actions:
        return action
    alike = (Action.place(action.x, action.y, turns) for turns in (action.rotation % 2, 0))
    return next(other for other in alike if other in actions)


def _few(result: SearchResult) -> int:
    return max(2, min(FEW_VISITS, result.simulations // 128))


def _gives_utility(agent: NamedAgent) -> bool:
    """Whether the search has a linear utility instead of points."""
    return agent.kind == "expectiminimax"


def _move(
    state: GameState,
    result: SearchResult,
    report: ActionReport,
    order: int,
    lead: float | None,
    agent: NamedAgent,
) -> Move:
    players = state.rules.players
    has_points = not result.exact and not _gives_utility(agent) and report.visits > 0
    text = state.action_to_string(report.action)
    return Move(
        move=text,
        visits=report.visits,
        prior=report.prior,
        utility=report.value if has_points or _gives_utility(agent) else None,
        lead=lead,
        score_mean=list(report.points[:players]) if has_points else None,
        score_stdev=list(report.spread[:players]) if has_points else None,
        order=order,
        pv=_line(state, result.line) if report.action == result.best else [text],
    )


def _root(state: GameState, result: SearchResult, agent: NamedAgent) -> Root:
    players, mover = state.rules.players, state.turn_player
    if result.exact:
        return Root(lead=result.value[mover], exact=True)
    lead, points = _root_lead(result, mover, players, agent), list(result.points[:players])
    mean = None if _gives_utility(agent) else points
    return Root(result.simulations, result.value[mover], lead, mean)


def _root_lead(result: SearchResult, player: int, players: int, agent: NamedAgent) -> float:
    if result.exact:
        return result.value[player]
    if _gives_utility(agent):
        return result.value[player] * _scale(agent)
    return _lead(result.points, player, players)


def _lead_of(
    state: GameState, result: SearchResult, report: ActionReport, agent: NamedAgent
) -> float | None:
    """Return the expected lead of the player who decides after this action, if it was looked at."""
    player = state.turn_player
    if result.exact:
        return report.utility[player]
    if _gives_utility(agent):
        return report.utility[player] * _scale(agent)
    return _lead(report.points, player, state.rules.players) if report.visits else None


def _lead(points: Sequence[float], player: int, players: int) -> float:
    others = sum(points[:players]) - points[player]
    return points[player] - others / (players - 1)


def _scale(agent: NamedAgent) -> float:
    """Return the points of difference that a linear utility counts as 1."""
    given = agent.options.get("utility_scale")
    return 15.0 if given is None else float(given)


def _lead_after(
    state: GameState, action: Action, player: int, agent: NamedAgent, rng: Rng
) -> float:
    """Return the expected lead of a player after an action, by searches of what comes next."""
    after = state.clone()
    after.apply(action)
    while not after.is_terminal() and not after.is_chance_node() and after.num_legal_actions() == 1:
        after.apply(after.legal_actions()[0])
    players = after.rules.players
    if after.is_terminal():
        return _lead(after.scores, player, players)
    if after.is_chance_node():
        outcomes = after.chance_outcomes()
        return sum(
            probability * _lead_after(after, draw, player, agent, rng)
            for draw, probability in outcomes
        )
    result = agent.analyse(after, rng)
    assert result is not None  # as of the position before
    return _root_lead(result, player, players, agent)


def _line(state: GameState, line: Sequence[Action]) -> list[str]:
    """Write a principal variation; draws are left out, since placements name their tile."""
    out = []
    now = state.clone()
    for action in line:
        if not now.is_legal(action):  # a line of an open loop may not hold for its own draws
            break
        if action.kind != "draw":
            out.append(now.action_to_string(action))
        now.apply(action)
    return out
