"""``carc analyse``: what every decision of a recorded game cost."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from carc._core import GameRecord
from carc.cli.terminal import (
    JsonOption,
    QuietOption,
    RulesOption,
    SeedOption,
    out,
    plain_table,
    print_json,
    progress,
    whole,
)
from carc.config import describe_rules, parse_rules
from carc.errors import ConfigError
from carc.recorded import is_moves, moves_bytes, read_file, read_game, read_stream

if TYPE_CHECKING:
    from carc.analysis import Decision, Summary, Turn

TOP = 5
LEGEND = """\
Cost: expected points that the turn gave away, by the search. Lead: expected points more than the
mean of the others for the player in turn. Best: the best placement, then the best figure after the
placement played."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: carc analyse game.jsonl --turn 12")(analyse)


def analyse(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|MOVES", help="A file, moves with ; between the turns, or - for stdin."
        ),
    ],
    agent: Annotated[
        str, typer.Option(metavar="AGENT", help="Agent or TOML file that searches.")
    ] = "champion",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="KEY=VALUE", help="Option of the agent."),
    ] = None,
    seed: SeedOption = 1,
    turn: Annotated[
        int | None, typer.Option(metavar="N", parser=whole(1, 1000), help="Only this turn, from 1.")
    ] = None,
    game: Annotated[
        int, typer.Option(metavar="N", parser=whole(1, 10**9), help="Which game of a file, from 1.")
    ] = 1,
    top: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=whole(1, 1000), help="Candidates listed for a decision; usually 5."
        ),
    ] = None,
    rules: RulesOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say for each turn of a game what was best and what the turn played cost.

    FILE holds records as --record of carc play writes them (a game a line), golden games, or moves
    in text: a turn a line as "D@0,-1r2 city:N"; packed by gzip or not. --rules are those of moves.

    Placements and figures are searched one after the other. A whole game is shown a turn a line;
    --turn, or --top, lists the candidates, too. JSON names are those of KataGo's analysis engine
    where they fit.
    """
    from carc.agents import parse_option
    from carc.analysis import analyse_game, analyst, count_decisions, summarise

    record = _read(source, rules, game)
    judge = analyst(agent, dict(map(parse_option, option or ())))
    total = count_decisions(record, turn)
    if turn is not None and total == 0:
        last = max(len(record.state.tiles) - 1, 0)
        raise ConfigError(f"--turn: found {turn}, but the game has {last} turns")
    with progress(total, 0, "decisions", quiet) as step:
        turns = analyse_game(
            record, judge, seed=seed or 0, turn=turn, top=top or TOP, on_decision=step
        )
    players = summarise(record, turns)
    if json:
        print_json(
            {
                "agent": judge.name,
                "seed": seed,
                "rules": record.rules.to_dict(),
                "agents": list(record.agents),
                "turns": [each.to_dict() for each in turns],
                "players": [player.to_dict() for player in players],
            }
        )
        return
    chosen = describe_rules(record.rules)
    title = f"{len(turns)} turns, {record.rules.players} players, rules {chosen}, by {judge.name}"
    out().print(title, style="bold", soft_wrap=True)
    out().print(_turns_table(turns))
    if turn is not None or top is not None:
        _print_candidates(turns)
    out().print(_players_table(players))
    out().print(LEGEND, soft_wrap=True)


def _read(source: str, rules: str | None, game: int) -> GameRecord:
    chosen = None if rules is None else parse_rules(rules, "--rules")
    if source == "-":
        return read_game(
            read_stream(sys.stdin.buffer, "standard input"), "standard input", chosen, game
        )
    path = Path(source)
    if is_moves(source) and not _exists(path):
        return read_game(moves_bytes(source), "moves", chosen, game)
    return read_game(read_file(path), source, chosen, game)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # moves are too long for a name
        return False


def _turns_table(turns: Sequence["Turn"]) -> Table:
    right = ("turn", "player", "lead", "cost")
    table = plain_table("turn", "player", "tile", "played", "best", "lead", "cost", right=right)
    for turn in turns:
        first = next((d for d in turn.decisions if d.root.lead is not None), None)
        is_best = all(d.played == d.best for d in turn.decisions)
        table.add_row(
            str(turn.number),
            str(turn.player),
            turn.tile,
            turn.played,
            "=" if is_best else turn.best,
            _signed(first.root.lead if first else None),
            f"{turn.cost:.2f}",
        )
    return table


def _print_candidates(turns: Sequence["Turn"]) -> None:
    for turn in turns:
        for decision in turn.decisions:
            what = "lay" if decision.phase == "place" else "figure after laying"
            note = ", nothing else was legal" if decision.is_forced else ""
            out().print(f"\nTurn {turn.number}, player {turn.player}, {what} {turn.tile}{note}")
            if decision.root.exact:
                out().print("Solved to the end of the game: leads are exact.")
            if not decision.is_forced:
                out().print(_candidates(decision))


def _candidates(decision: "Decision") -> Table:
    numbers = ("visits", "prior", "utility", "lead", "score by player")
    table = plain_table("#", "move", *numbers, "then", right=("#", *numbers[:4]))
    for move in decision.moves:
        scores = "-"
        if move.score_mean is not None and move.score_stdev is not None:
            pairs = zip(move.score_mean, move.score_stdev, strict=True)
            scores = "  ".join(f"{mean:.1f} ± {spread:.1f}" for mean, spread in pairs)
        table.add_row(
            str(move.order + 1),
            move.move + (" (played)" if move.move == decision.played else ""),
            f"{move.visits:,}",
            f"{move.prior:.3f}",
            "-" if move.utility is None else f"{move.utility:+.3f}",
            _signed(move.lead),
            scores,
            " ".join(move.pv[1:5]),
        )
    return table


def _players_table(players: Sequence["Summary"]) -> Table:
    right = ("player", "turns", "mean cost", "best moves")
    table = plain_table(
        "player", "agent", "turns", "mean cost", "best moves", "biggest mistakes", right=right
    )
    for player in players:
        mistakes = [f"turn {t.number} ({t.played}) {t.cost:.1f}" for t in player.mistakes]
        table.add_row(
            str(player.player),
            player.agent or "-",
            str(player.turns),
            "-" if player.mean_loss is None else f"{player.mean_loss:.2f}",
            f"{player.best_moves} of {player.decisions}",
            "\n".join(mistakes) or "-",
        )
    return table


def _signed(value: Any) -> str:
    return "-" if value is None else f"{value:+.1f}"
