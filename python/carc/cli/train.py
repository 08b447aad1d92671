"""``carc train``: rounds of self-play, training and a gate."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from carc.cli.learning import again, surroundings
from carc.cli.series import ClusterOption, ConcurrencyOption
from carc.cli.terminal import JsonOption, QuietOption, SeedOption, out, plain_table, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: carc train configs/training/smoke.toml --run runs/smoke")(train)


def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="TOML file of the training.")],
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="Folder of the run; it goes on from there.")
    ],
    seed: SeedOption = None,
    cluster: ClusterOption = None,
    concurrency: ConcurrencyOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train a network: rounds of self-play, training on its games, and a gate.

    A candidate becomes the champion, which plays the next round's games, if it beats the champion
    beyond doubt. All is kept in the run folder: games, networks, metrics.jsonl, and TensorBoard's
    files where it is installed. Whatever stops the command, the same command goes on; the same
    configuration and seed give the same networks.

    Needs PyTorch and pyarrow: pip install 'carc[train]'.
    """
    from carc.learn.torch_import import need_pyarrow, need_torch

    need_torch()
    need_pyarrow()
    from carc.learn.config import load_training
    from carc.learn.run import train as train_all

    began = time.perf_counter()
    settings = load_training(config, {} if seed is None else {"seed": seed})
    with surroundings(quiet, concurrency or settings.threads, cluster) as around:
        around.note(f"All is kept in {run}\nIf this is stopped, go on with: {again()}")
        result = train_all(settings, run, around)
    if json:
        print_json({**result, "seconds": time.perf_counter() - began})
        return
    _print_rounds(result["rounds"])
    champion = result["champion"]
    shown = f"The champion is {champion}" if champion else "No network was accepted"
    out().print(shown, soft_wrap=True)


def _print_rounds(rounds: list[dict[str, Any]]) -> None:
    columns = ("round", "games", "explained", "margin", "verdict")
    table = plain_table(*columns, right=columns[:-1])
    for each in rounds:
        margin = each["gate"]["margin"]
        explained = each["fit"].get("explained")
        table.add_row(
            str(each["round"]),
            f"{each['selfplay']['games']:,}",
            "-" if explained is None else f"{100 * explained:.1f} %",
            "-" if margin is None else f"{margin['value']:+.1f}",
            "accepted" if each["gate"]["accepted"] else "rejected",
        )
    out().print(table)
