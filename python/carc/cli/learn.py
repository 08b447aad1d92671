"""The parts of ``carc train`` as commands: ``selfplay``, ``fit`` and ``gate``."""

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from carc.cli.learning import surroundings, table_of_options
from carc.cli.series import ClusterOption, ConcurrencyOption
from carc.cli.terminal import (
    JsonOption,
    PlayersOption,
    QuietOption,
    RulesOption,
    SeedOption,
    number,
    out,
    plain_table,
    print_json,
    whole,
)
from carc.config import MAX_ROUNDS, parse_rules
from carc.errors import ConfigError

NETWORK = ".safetensors"

KindOption = Annotated[
    str, typer.Option("--kind", metavar="KIND", help="Kind of network: feature-net or resnet.")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="KEY=VALUE", help="Option, as in a configuration."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: carc selfplay games --games 10000 --network champion.safetensors")(
        selfplay
    )
    app.command(epilog="Example: carc fit games --out net.safetensors -o joint_passes=5")(fit)
    app.command(epilog="Example: carc gate new.safetensors old.safetensors --pairs 400")(gate)


def selfplay(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the games.")],
    games: Annotated[
        int, typer.Option(metavar="N", parser=whole(1, 100_000_000), help="Number of games.")
    ] = 1000,
    network: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The network that plays; else the hand-made evaluation."),
    ] = None,
    kind: KindOption = "feature-net",
    shard: Annotated[
        int, typer.Option(metavar="N", parser=whole(1, 1_000_000), help="Games in a file.")
    ] = 1000,
    option: SettingsOption = None,
    rules: RulesOption = None,
    players: PlayersOption = None,
    seed: SeedOption = 1,
    cluster: ClusterOption = None,
    concurrency: ConcurrencyOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play games of a network against itself, into Parquet files.

    Game i of a seed is the same whatever the number of threads; what is there is not played again.
    Options are those of [selfplay] in a configuration: simulations=200, softmax_rate=0.2.
    """
    from carc.learn.kinds import learner
    from carc.learn.selfplay import Series, play_missing, shards_of
    from carc.learn.torch_import import need_pyarrow

    need_pyarrow()
    if network is not None and not network.is_file():
        raise ConfigError(f"--network: found no file {network}, expected a network")
    chosen = parse_rules(rules or "current", "--rules")
    began = time.perf_counter()
    series = Series(
        folder=folder,
        name=f"seed-{seed or 0}",
        kind=kind,
        rules=chosen if players is None else chosen.replace(players=players),
        options=learner(kind).check("selfplay", table_of_options(option), "-o"),
        network=network,
        seed=seed or 0,
        games=games,
        shard=shard,
    )
    shards = shards_of([series])
    there = sum(each.games for each in shards if each.path.exists())
    with (
        surroundings(quiet, concurrency, cluster) as around,
        around.progress(games, there, "games") as step,
    ):
        played = play_missing(
            shards,
            threads=around.threads,
            cluster=around.cluster,
            on_shard=lambda each: [step() for _ in range(each.games)],
            stopped=around.stopped,
        )
    seconds = time.perf_counter() - began
    files = [str(each.path) for each in shards]
    if json:
        print_json({"files": files, "kept": there, "played": played, "seconds": seconds})
        return
    rate = f", {played / seconds:.0f} a second" if played else ""
    out().print(
        f"{played} games played{rate}, {there} were there; {len(files)} files in {folder}",
        soft_wrap=True,
    )


def fit(
    games: Annotated[
        list[Path], typer.Argument(metavar="GAMES...", help="Parquet files, or folders of them.")
    ],
    output: Annotated[Path, typer.Option("--out", metavar="FILE", help="The network's file.")],
    start: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A network whose weights are the first.")
    ] = None,
    kind: KindOption = "feature-net",
    option: SettingsOption = None,
    network_option: Annotated[
        list[str] | None,
        typer.Option("--network-option", metavar="KEY=VALUE", help="Option, as of [network]."),
    ] = None,
    label_option: Annotated[
        list[str] | None,
        typer.Option("--label-option", metavar="KEY=VALUE", help="Option, as of [labels]."),
    ] = None,
    seed: SeedOption = 1,
    concurrency: ConcurrencyOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train a network on self-play games.

    Options are those of [fit] in a configuration: joint_passes=5, schedule=cosine. A training that
    was stopped goes on from its checkpoint, beside the network's file.
    """
    from carc.learn.torch_import import need_pyarrow, need_torch

    need_torch()
    need_pyarrow()
    from carc.learn.kinds import TrainingJob, learner
    from carc.learn.surroundings import train_watched

    taught = learner(kind)
    shards = _files(games)
    folder = output.with_name(f"{output.name}.fit")
    with surroundings(quiet, concurrency, None) as around:
        job = TrainingJob(
            shards=shards,
            out=output,
            start=start,
            player=None,
            network=taught.check("network", table_of_options(network_option), "--network-option"),
            labels=taught.check("labels", table_of_options(label_option), "--label-option"),
            fit=taught.check("fit", table_of_options(option), "-o"),
            seed=seed or 0,
            threads=around.threads,
            folder=folder,
        )
        metrics = train_watched(taught, job, around, "", lambda _: None)
    shutil.rmtree(folder, ignore_errors=True)
    if json:
        print_json({"network": str(output), **metrics})
        return
    table = plain_table("pass", "phase", "loss", "explained", "rmse", right=("loss", "explained"))
    for each in metrics["passes"]:
        share, error = each.get("explained"), each.get("margin_rmse")
        table.add_row(
            str(each["pass"]),
            str(each.get("phase", "")),
            f"{each['loss']:.4f}",
            "-" if share is None else f"{100 * share:.1f} %",
            "-" if error is None else f"{error:.2f}",
        )
    out().print(table)
    out().print(f"The network is {output}", soft_wrap=True)


def gate(
    candidate: Annotated[
        str, typer.Argument(metavar="CANDIDATE", help="A network's file, or an agent.")
    ],
    champion: Annotated[str, typer.Argument(metavar="CHAMPION", help="The one to beat; the same.")],
    pairs: Annotated[
        int,
        typer.Option(
            metavar="N", parser=whole(2, MAX_ROUNDS), help="Decks, each in every rotation."
        ),
    ] = 200,
    measure: Annotated[
        str, typer.Option(metavar="WHAT", help="What counts: margin or score.")
    ] = "margin",
    above: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            parser=number(-1000, 1000),
            help="What the lower bound must exceed: 0 points, or an equal share of the wins.",
        ),
    ] = None,
    kind: KindOption = "feature-net",
    rules: RulesOption = None,
    players: PlayersOption = None,
    seed: SeedOption = 1,
    concurrency: ConcurrencyOption = None,
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder that keeps the games.")
    ] = Path("carc-results"),
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play a candidate against a champion, and say whether it is better beyond doubt.

    Accepted is a candidate whose 95 % interval lies above the threshold; the exit code is 1 if it
    is not. At tables of three and more it meets copies of the champion.
    """
    from carc.agents import make_agent
    from carc.learn.gate import MEASURES, GateOptions, play_gate
    from carc.learn.kinds import learner
    from carc.learn.options import read_value

    read_value("margin", MEASURES, measure, "gate", "--measure")
    agents = [
        learner(kind).agent(Path(each)) if each.endswith(NETWORK) else each
        for each in (candidate, champion)
    ]
    for each in agents:
        make_agent(each)
    chosen = parse_rules(rules or "current", "--rules")
    options = GateOptions(
        pairs=pairs,
        measure=measure,
        above=above,
        rules=chosen if players is None else chosen.replace(players=players),
    )
    total = pairs * options.rules.players
    with (
        surroundings(quiet, concurrency, None) as around,
        around.progress(total, 0, "games") as step,
    ):
        result = play_gate(
            agents[0],
            agents[1],
            options,
            seed=seed or 0,
            folder=results,
            threads=around.threads,
            on_game=step,
            stopped=around.stopped,
        )
    if json:
        print_json(result.to_dict())
    else:
        verdict = "Accepted" if result.accepted else "Rejected"
        out().print(f"{verdict}: {result.reason}", soft_wrap=True)
    if not result.accepted:
        raise typer.Exit(1)


def _files(given: list[Path]) -> list[Path]:
    """Return the Parquet files of some files and folders, those of a folder by name."""
    files = [
        file
        for path in given
        for file in (sorted(path.rglob("*.parquet")) if path.is_dir() else [path])
    ]
    if not files:
        raise ConfigError(f"found no Parquet files in {', '.join(map(str, given))}, expected games")
    return files
