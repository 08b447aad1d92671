"""``carc perft`` and ``carc bench``: counts that pin the rules down, and speed."""

import time
from dataclasses import asdict
from typing import Annotated

import typer

from carc._core import Deck, GameState, perft
from carc.cli.terminal import (
    JsonOption,
    QuietOption,
    RulesOption,
    SeedOption,
    interruptible,
    out,
    plain_table,
    print_json,
    progress,
    whole,
)
from carc.config import describe_rules, nearest, parse_rules
from carc.errors import ConfigError

SUBJECTS = ("core",)
MEASURES = {
    "random_games_per_s": ("random base games for 2, one thread", "{:,.0f} a second"),
    "random_games_per_s_2_threads": ("the same on two threads", "{:,.0f} a second"),
    "python_random_games_per_s": ("the same in a loop driven from Python", "{:,.0f} a second"),
    "base_ns_per_tile": ("a tile of a random base game for 2", "{:,.0f} ns"),
    "river_abbot_5p_ns_per_tile": ("a tile with river and abbot, 5 players", "{:,.0f} ns"),
    "perft_nodes_per_s": ("perft sequences counted", "{:,.0f} a second"),
    "clone_ns": ("copying a state", "{:,.1f} ns"),
    "state_bytes": ("size of a state", "{:,} bytes"),
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("perft", epilog="Example: carc perft --turns 4 --seed 1")(perft_command)
    app.command("bench", epilog="Example: carc bench core --json")(bench)


def perft_command(
    turns: Annotated[
        int, typer.Option(metavar="N", parser=whole(1, 84), help="Deepest number of turns.")
    ] = 4,
    seed: SeedOption = 1,
    rules: RulesOption = None,
    json: JsonOption = False,
) -> None:
    """Count the sequences of decisions of the next turns.

    Counted are placements with what is done with a figure over 1, 2, ... turns along the deck of
    the seed.

    The counts depend on rules and deck only, so they show at once whether a change has moved the
    rules.
    """
    chosen = parse_rules(rules or "current", "--rules")
    tiles = Deck(chosen, seed=seed or 0).tiles
    state = GameState(chosen)
    columns = ("turns", "sequences", "seconds", "a second")
    table = plain_table(*columns, right=columns)
    rows = []
    for depth in range(1, turns + 1):
        began = time.perf_counter()
        count = interruptible(lambda depth=depth: perft(state, tiles, depth))  # type: ignore[misc]
        seconds = time.perf_counter() - began
        rows.append(
            {
                "turns": depth,
                "sequences": count,
                "seconds": seconds,
                "sequences_per_s": count / seconds,
            }
        )
        table.add_row(str(depth), f"{count:,}", f"{seconds:.3f}", f"{count / seconds:,.0f}")
    if json:
        print_json(
            {"rules": chosen.to_dict(), "seed": seed, "first_tiles": tiles[:turns], "depths": rows}
        )
    else:
        what = f"rules {describe_rules(chosen)}, {chosen.players} players, seed {seed}"
        out().print(f"{what}: {' '.join(tiles[:turns])}", soft_wrap=True)
        out().print(table)


def seconds_of_run(value: str | float) -> float:
    """Read the value of --seconds."""
    try:
        number = float(value)
    except ValueError:
        number = 0
    if not 0.01 <= number <= 600:
        raise typer.BadParameter(f"found {value}, expected a number from 0.01 to 600")
    return number


def bench(
    subject: Annotated[
        str, typer.Argument(metavar="[SUBJECT]", help="What to measure: core.")
    ] = "core",
    seconds: Annotated[
        float,
        typer.Option(
            metavar="S", parser=seconds_of_run, help="About how long each of seven measures runs."
        ),
    ] = 1.0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure the engine's speed.

    Each measure has one warm-up and five runs, of which the best counts: the one least disturbed by
    other work.
    """
    from carc.bench import measure_core

    if subject not in SUBJECTS:
        raise ConfigError(
            f"found subject '{subject}', did you mean '{nearest(subject, SUBJECTS)}'?"
        )
    with progress(7, 0, "measures", quiet) as step:
        measures = asdict(measure_core(seconds, step))
    if json:
        print_json({**measures, "method": "one warm-up, best of five runs", "seconds": seconds})
        return
    table = plain_table("measure", "best of five", right=("best of five",))
    for key, (meaning, form) in MEASURES.items():
        table.add_row(meaning, form.format(measures[key]))
    out().print(table)
