"""``carc results``: what a results file holds, its games, and playing them again."""

import json as json_format
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from carc.cli.terminal import (
    JsonOption,
    QuietOption,
    notes,
    out,
    plain_table,
    print_json,
    whole,
)
from carc.config import describe_rules, nearest
from carc.errors import ConfigError

if TYPE_CHECKING:  # what imports SQLite is imported when it is needed
    from carc.results import Results, StoredGame
    from carc.summary import Summary

SUMMARY = "files"  # the command for words that name none
MOST = 10**9

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Results file.")]
GameOption = Annotated[
    int,
    typer.Option(
        "--game", metavar="K", parser=whole(1, MOST), help="Number of the game, from 1; see list."
    ),
]


class ResultsGroup(TyperGroup):
    """The commands of ``carc results``; without one of their names, files are summed up."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the usual command before words that begin with none."""
        if not args:
            args = ["--help"]
        if args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [SUMMARY, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


results = typer.Typer(
    cls=ResultsGroup,
    name="results",
    rich_markup_mode=None,
    help="""Show what results files hold: carc results FILE...

    Games have numbers: deck by deck, in a deck pairing by pairing, in a pairing rotation by
    rotation of the seats, from 1. A file can be read while a tournament writes it.""",
    epilog="Example: carc results run.sqlite",
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    results.command(SUMMARY, epilog="Example: carc results run.sqlite")(files)
    results.command("list", epilog="Example: carc results list run.sqlite --agent greedy")(games)
    results.command("show", epilog="Example: carc results show run.sqlite --game 3 --text")(show)
    results.command("replay", epilog="Example: carc results replay run.sqlite --game 3")(replay)
    results.command("export", epilog="Example: carc results export run.sqlite run.csv")(export)
    results.command("columns", epilog="Example: carc results columns --json")(columns)
    app.add_typer(results)


def files(
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Results files.")],
    json: JsonOption = False,
) -> None:
    """Show what results files hold; the usual command, whose name may be left out."""
    from carc.results import read_results
    from carc.summary import summarise

    documents = []
    for number, path in enumerate(file):
        _check_is_no_command(str(path))
        with read_results(path) as opened:
            summary = summarise(opened)
        if json:
            documents.append(summary.to_dict())
            continue
        if number:
            out().print()
        _print_summary(summary)
    if json:
        print_json({"files": documents})


def games(
    file: FileArgument,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only games of this agent.")
    ] = None,
    forfeits: Annotated[bool, typer.Option("--forfeits", help="Only forfeited games.")] = False,
    deck: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(0, MOST), help="Only games on this deck, from 0."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", parser=whole(0, MOST), help="At most so many; 0 for all.")
    ] = 50,
    json: JsonOption = False,
) -> None:
    """List finished games in the order of the schedule."""
    from carc.results import read_results
    from carc.tournament import entrants

    with read_results(file) as opened:
        config = _config(opened)
        names = entrants(config)
        if agent is not None and agent not in names:
            hint = f"did you mean '{nearest(agent, names)}'?"
            raise ConfigError(f"--agent: found '{agent}', which does not play in {file}, {hint}")
        chosen = (
            (number, game)
            for number, game in _numbered(opened)
            if (agent is None or agent in game.agents)
            and (not forfeits or game.forfeit is not None)
            and (deck is None or game.deck == deck)
        )
        shown = list(islice(chosen, limit or None))
        more = sum(1 for _ in chosen)
    if json:
        documents = [_document(number, game) for number, game in shown]
        print_json({"file": str(file), "matching": len(shown) + more, "games": documents})
        return
    right = ("game", "deck", "turns", "seconds")
    table = plain_table("game", "deck", "seats", "turns", "seconds", "forfeit", right=right)
    for number, game in shown:
        seats = [f"{name} {score}" for name, score in zip(game.agents, game.scores, strict=True)]
        table.add_row(
            str(number),
            str(game.deck),
            "\n".join(seats) if max(map(len, seats)) > 20 else ", ".join(seats),
            str(game.turns),
            f"{sum(game.think_seconds):.2f}",
            _forfeit(game) or "-",
        )
    if shown:
        out().print(table)
    total = len(shown) + more
    out().print(f"{len(shown)} of {total} games; all with --limit 0" if more else f"{total} games")


def show(
    file: FileArgument,
    game: GameOption,
    text: Annotated[
        bool, typer.Option("--text", help="A turn a line, as carc analyse reads it.")
    ] = False,
) -> None:
    """Print the record of a game as one line of JSON, or its moves as text."""
    from carc._core import GameRecord
    from carc.replay import find_game
    from carc.results import read_results

    with read_results(file) as opened:
        _, record = find_game(opened, game)
    print(GameRecord.from_json(record).to_text().rstrip("\n") if text else record)


def replay(
    file: FileArgument, game: GameOption, json: JsonOption = False, quiet: QuietOption = False
) -> None:
    """Play a game again, from the file alone, and compare the record with the file's.

    Exit code 1 if they differ. Games of agents that play by the clock or are other programs are
    refused: they cannot be repeated.
    """
    from carc.replay import other_version, replay_game
    from carc.results import read_results

    with read_results(file) as opened:
        version = other_version(opened)
        if version is not None and not json:
            notes(quiet).print(f"The games were played by carc {version}.", soft_wrap=True)
        repeated = replay_game(opened, game)
    played = repeated.game
    if json:
        print_json(
            {
                "file": str(file),
                "equal": repeated.difference is None,
                "difference": repeated.difference,
                **_document(game, played),
                "record": json_format.loads(repeated.record),
                "again": json_format.loads(repeated.again),
            }
        )
    else:
        scores = zip(played.agents, played.scores, strict=True)
        what = f"Game {game} (deck {played.deck}: {', '.join(f'{n} {s}' for n, s in scores)})"
        verdict = "is the same again, move by move and point by point."
        if repeated.difference is not None:
            verdict = f"is another one now: {repeated.difference}"
        out().print(f"{what} {verdict}", soft_wrap=True)
    if repeated.difference is not None:
        raise typer.Exit(1)


def export(
    file: FileArgument,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File to write, .csv or .parquet.")],
    quiet: QuietOption = False,
) -> None:
    """Write a table with one row for each game and seat, in place of a file of that name.

    Parquet needs the extra carc[data]. carc results columns says what the columns are.
    """
    from carc.export import game_rows, writer_for
    from carc.results import read_results

    if output.is_dir():
        raise ConfigError(f"{output}: found a folder, expected the name of a file to write")
    if output.exists() and file.exists() and output.samefile(file):
        raise ConfigError(f"{output}: found the results file itself, expected another name")
    write = writer_for(output)
    with read_results(file) as opened:
        rows = (row for number, game in _numbered(opened) for row in game_rows(number, game))
        count = write(output, rows)
    notes(quiet).print(f"{count} rows are in {output}", soft_wrap=True)


def columns(json: JsonOption = False) -> None:
    """List the columns of exported tables: name, type and meaning."""
    from carc.export import COLUMNS

    if json:
        keys = ("name", "type", "meaning")
        print_json({"columns": [dict(zip(keys, column, strict=True)) for column in COLUMNS]})
        return
    table = plain_table("column", "type", "meaning")
    for column in COLUMNS:
        table.add_row(*column)
    out().print(table)


def _check_is_no_command(word: str) -> None:
    """Refuse a misspelt command, which looks like a file that is not there."""
    known = [command.name for command in results.registered_commands if command.name]
    alike = get_close_matches(word, known, n=1)
    if alike and not Path(word).exists():
        raise ConfigError(f"{word}: no such file or command, did you mean '{alike[0]}'?")


def _config(opened: "Results") -> Any:
    from carc.replay import stored_config

    return stored_config(opened.identity)


def _numbered(opened: "Results") -> Iterator[tuple[int, "StoredGame"]]:
    from carc.replay import numbered

    return numbered(_config(opened), opened.games(), opened.path)


def _print_summary(summary: "Summary") -> None:
    config = summary.config
    out().print(summary.path, style="bold", soft_wrap=True)
    lines = [
        f"{summary.games} games on {summary.decks} decks, {summary.complete_decks} decks complete",
        f"{config.players} players, seed {config.seed}, rules {describe_rules(config.rules)}, "
        f"carc {summary.carc}",
        f"Made {summary.created}"
        + (f", games from {summary.first} to {summary.last}" if summary.games else ""),
    ]
    if summary.forfeits:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.forfeits.items())
        lines.append(f"Forfeited: {reasons}")
    for line in lines:
        out().print(line, soft_wrap=True)
    numbers = ("games", "forfeits", "seconds")
    table = plain_table("agent", *numbers, "options' hash", right=numbers)
    for agent in summary.agents:
        table.add_row(
            agent.name,
            str(agent.games),
            str(agent.forfeits),
            f"{agent.think_seconds:.1f}",
            agent.sha256[:12],
        )
    out().print(table)


def _forfeit(game: "StoredGame") -> str:
    if game.forfeit is None:
        return ""
    seat, reason, detail = game.forfeit
    return f"seat {seat + 1}: {reason}" + (f" ({detail})" if detail else "")


def _document(number: int, game: "StoredGame") -> dict[str, Any]:
    lost = None
    if game.forfeit is not None:
        seat, reason, detail = game.forfeit
        lost = {"seat": seat + 1, "reason": reason, "detail": detail}
    return {
        "game": number,
        "deck": game.deck,
        "pairing": game.pairing,
        "rotation": game.rotation,
        "seed": game.seed,
        "agents": game.agents,
        "scores": game.scores,
        "points": game.points,
        "final_count": game.final_count,
        "figures_set": game.figures_set,
        "think_seconds": game.think_seconds,
        "simulations": game.simulations,
        "turns": game.turns,
        "discarded": list(game.discarded),
        "forfeit": lost,
        "luck": game.luck,
        "finished": game.finished,
    }
