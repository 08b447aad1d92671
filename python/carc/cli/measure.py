"""``carc perft`` and ``carc bench``: counts that pin the rules down, and speed."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, TypeAlias

import typer

from carc._core import Deck, GameState, perft
from carc.cli.terminal import (
    JsonOption,
    QuietOption,
    RulesOption,
    SeedOption,
    interruptible,
    number,
    out,
    plain_table,
    print_json,
    progress,
    whole,
)
from carc.config import describe_rules, nearest, parse_rules
from carc.errors import ConfigError

Measure: TypeAlias = Callable[[float, Callable[[], None]], Any]  # seconds, called at each step
SUBJECTS = ("core", "search", "neural")
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
SEARCH_MEASURES = {
    "rollouts_per_s_opening": ("uct-rollout from the opening, simulations", "{:,.0f} a second"),
    "rollouts_per_s_middle": ("uct-rollout after 36 tiles, simulations", "{:,.0f} a second"),
    "champion_sims_per_s": ("champion over a game, simulations", "{:,.0f} a second"),
    "champion_sims_per_s_two_threads": ("the same on two threads", "{:,.0f} a second"),
    "two_threads_ratio": ("the second as a multiple of the first", "{:.2f}"),
    "nodes_bytes": ("a node of the champion's trees", "{:,.0f} bytes"),
}
NEURAL_MEASURES = {
    "feature_net_turn_us": ("all turns of a position by feature-net", "{:,.1f} us"),
    "feature_net_sims_per_s": ("feature-net-search over a game, simulations", "{:,.0f} a second"),
    "selfplay_games_per_s": ("games of self-play, one turn ahead", "{:,.0f} a second"),
    "resnet_cpp_ms_batch32": ("32 positions by a resnet in C++", "{:,.1f} ms"),
    "resnet_torch_ms_batch32": ("the same by PyTorch", "{:,.1f} ms"),
    "resnet_batch_fill": ("of a batch filled by resnet-search", "{:.0%}"),
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


def bench(
    subject: Annotated[
        str, typer.Argument(metavar="[SUBJECT]", help="What to measure: core, search or neural.")
    ] = "core",
    seconds: Annotated[
        float,
        typer.Option(
            metavar="S", parser=number(0.01, 600), help="About how long each measure runs."
        ),
    ] = 1.0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure the speed of the engine, of the searches or of the networks.

    Each measure has one warm-up and five runs, of which the best counts: the one least disturbed by
    other work. The champion plays whole games against greedy, two at least. A residual network
    is measured where PyTorch is: medians there.
    """
    from carc.bench import measure_core, measure_neural, measure_search

    if subject not in SUBJECTS:
        raise ConfigError(
            f"found subject '{subject}', did you mean '{nearest(subject, SUBJECTS)}'?"
        )
    measures_of: dict[str, tuple[Measure, dict[str, tuple[str, str]], int]] = {
        "core": (measure_core, MEASURES, 7),
        "search": (measure_search, SEARCH_MEASURES, 4),
        "neural": (measure_neural, NEURAL_MEASURES, 4),
    }
    measure, rows, count = measures_of[subject]
    with progress(count, 0, "measures", quiet) as step:
        measured = measure(seconds, step)
    measures = asdict(measured)
    method = "best of the runs" if subject == "search" else "one warm-up, best of five runs"
    if json:
        print_json({**measures, "method": method, "seconds": seconds})
        return
    head = "best" if subject == "search" else "best of five"
    table = plain_table("measure", head, right=(head,))
    for key, (meaning, form) in rows.items():
        if measures[key] is not None:  # as where PyTorch is not there
            table.add_row(meaning, form.format(measures[key]))
    out().print(table)
