"""What the commands of learning share: progress, a way to go on, and options as texts."""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from carc.cli.series import cores, stop_at_interrupt
from carc.cli.terminal import COMMAND, notes, progress

if TYPE_CHECKING:  # what imports NumPy is imported when it is needed
    from carc.learn.surroundings import Surroundings

INTERRUPTED = 130


@contextlib.contextmanager
def surroundings(
    quiet: bool, concurrency: int | None, cluster: str | None
) -> Iterator["Surroundings"]:
    """Give what a long work needs; where it is stopped, say how to go on and exit."""
    from carc.learn.cluster import Cluster
    from carc.learn.stopping import StoppedError
    from carc.learn.surroundings import Surroundings

    say = notes(quiet)
    way = f"Go on with: {again()}"
    try:
        threads = concurrency or cores()
        with (
            Cluster(cluster, threads) if cluster else contextlib.nullcontext() as workers,
            stop_at_interrupt(quiet) as stopped,
        ):
            yield Surroundings(
                threads=threads,
                cluster=workers,
                progress=lambda total, done, what: progress(total, done, what, quiet),
                note=lambda text: say.print(text, soft_wrap=True),
                stopped=stopped,
            )
    except StoppedError:
        say.print(f"Interrupted; all that had ended is kept.\n{way}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        say.print(f"Interrupted at once.\n{way}", soft_wrap=True)
        sys.stdout.flush()
        os._exit(INTERRUPTED)  # an orderly exit would wait for the games in flight


def again() -> str:
    """Return the command line that goes on."""
    return shlex.join([COMMAND, *sys.argv[1:]])


def table_of_options(texts: list[str] | None) -> dict[str, Any]:
    """Read ``key=value`` options, ``search.key=value`` into a table."""
    from carc.agents import parse_option

    out: dict[str, Any] = {}
    for text in texts or ():
        key, value = parse_option(text)
        table, dot, name = key.partition(".")
        if dot:
            out.setdefault(table, {})[name] = value
        else:
            out[key] = value
    return out
