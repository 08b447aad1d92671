"""``carc play``: one game, with its board."""

import gzip
import json as json_format
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from carc._core import GameRecord, GameResult
from carc.agents import AGENTS, make_agent, play_game
from carc.cli.person import PERSON, Conversation, QuitError, play_with_people
from carc.cli.terminal import (
    JsonOption,
    PlayersOption,
    RulesOption,
    SeedOption,
    notes,
    out,
    plain_table,
    print_json,
)
from carc.config import describe_rules, nearest, parse_rules, rules_table
from carc.errors import ConfigError
from carc.files import write_atomically


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: carc play human greedy --rules river=2021,abbot=true --record game.jsonl"
    )(play)


def play(
    agents: Annotated[
        list[str] | None,
        typer.Argument(metavar="A B ...", help="By seat: agents (see carc agents) or human."),
    ] = None,
    rules: RulesOption = None,
    players: PlayersOption = None,
    seed: SeedOption = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the game to this file (.jsonl, .jsonl.gz)."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Play one game and print its board and points.

    A human answers questions in the terminal. Without --seed the deck is a new one; its seed is
    printed, and with it the same agents play the same game.
    """
    names = agents or ["greedy", "random"]
    if not 2 <= len(names) <= 5 or players not in (None, len(names)):
        raise ConfigError(f"found {len(names)} agents, expected {players or '2 to 5'}, one a seat")
    for name in names:
        if name != PERSON:
            _check_agent(name)
    chosen = parse_rules(rules or "current", "--rules")
    if "players" in rules_table(rules or "current", "--rules") and chosen.players != len(names):
        raise ConfigError(
            f"--rules: found players {chosen.players}, expected {len(names)} as agents"
        )
    chosen = chosen.replace(players=len(names))
    if record is not None and record.is_dir():
        raise ConfigError(f"--record: found the folder {record}, expected the name of a file")
    number = secrets.randbits(32) if seed is None else seed
    console = notes() if json else out()
    console.print(
        f"seed {number}, rules {describe_rules(chosen)}, {', '.join(names)}", soft_wrap=True
    )
    if PERSON in names:
        console.print("Answer help for help.")
        try:
            result = play_with_people(chosen, names, number, Conversation(console, names).ask)
        except QuitError:
            console.print("The game was left before its end.")
            return
        except EOFError:
            console.print("\nThe input ended before the game.")
            raise typer.Exit(130) from None
    else:
        result = play_game(chosen, list(names), number)
    if record is not None:
        _write_record(record, result.record)
    if json:
        print_json(_document(names, number, chosen.to_dict(), result))
        return
    console.print(str(GameRecord.from_json(result.record).state), soft_wrap=True)
    console.print(points_table(names, result))
    if record is not None:
        console.print(f"The game is in {record}", soft_wrap=True)


def _check_agent(name: str) -> None:
    """Refuse what is no agent before anything is played."""
    plain = name.partition(":")[0]
    if not plain.endswith(".toml") and nearest(plain, (*AGENTS, PERSON)) == PERSON:
        raise ConfigError(f"unknown agent '{plain}', did you mean '{PERSON}'?")
    make_agent(name)


def points_table(names: Sequence[str], result: GameResult) -> Table:
    """Show every player's points by the kind of feature that paid them.

    Kinds that paid nobody are left out.
    """
    kinds = [kind for kind, points in result.points.items() if any(points)]
    columns = ("player", "agent", *kinds, "score", "at the end", "figures set")
    table = plain_table(*columns, right=columns[2:])
    for seat, name in enumerate(names):
        counted = sum(points[seat] for points in result.final_count.values())
        values = (
            *(result.points[kind][seat] for kind in kinds),
            result.scores[seat],
            counted,
            result.figures_set[seat],
        )
        table.add_row(str(seat), name, *map(str, values))
    table.caption = "at the end: the part of the score paid after the last turn"
    table.caption_justify = "left"
    return table


def _write_record(path: Path, record: str) -> None:
    data = (record + "\n").encode()
    write_atomically(path, gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data)


def _document(
    names: Sequence[str], seed: int, rules: Mapping[str, Any], result: GameResult
) -> dict[str, Any]:
    return {
        "agents": list(names),
        "seed": seed,
        "rules": rules,
        "scores": result.scores,
        "points": result.points,
        "final_count": result.final_count,
        "figures_set": result.figures_set,
        "turns": result.turns,
        "discarded": result.discarded,
        "think_seconds": result.think_seconds,
        "record": json_format.loads(result.record),
    }
