"""The command ``carc`` as a whole: its commands, its errors and its exit codes.

Exit codes: 0 done; 1 a check failed or found a difference; 2 bad usage or bad input, with one line
on stderr; 130 interrupted; 141 the reader of the output has gone.
"""

import io
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import typer

from carc._core import Error
from carc.cli import (
    analyse,
    bot,
    info,
    learn,
    match,
    measure,
    play,
    report,
    results,
    tournament,
    train,
    verify,
)
from carc.cli.terminal import COMMAND, ReaderGoneError, complain, open_missing_streams
from carc.config import nearest

INTERRUPTED = 130
NO_READER = 141

app = typer.Typer(
    name="carc",
    help="Carcassonne for research: rules engine, agents, tournaments.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    *(match, tournament, results, report, play, analyse, bot),
    *(train, learn, verify, measure, info),
):
    group.register(app)

# Typer publishes only this class of its family of errors about the command line.
UsageError: type[Any] = typer.BadParameter.__mro__[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``carc`` with these arguments, or the process's, and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if "stdout" in open_missing_streams():
        complain("standard output is closed, expected a file, a pipe or a terminal")
        return 2
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without Unicode shows "?" instead of failing
    try:
        code = _run(words)
    except (ReaderGoneError, BrokenPipeError):
        code = NO_READER
    try:
        sys.stdout.flush()
    except OSError as error:
        # The interpreter flushes stdout once more when it ends; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return NO_READER
        if code == 0:
            complain(f"standard output: {error.strerror}")
            code = 2
    return code


def _run(words: list[str]) -> int:
    try:
        return int(app(words, prog_name=COMMAND, standalone_mode=False) or 0)
    except SystemExit as error:  # typer met a closed pipe while it wrote help
        raise ReaderGoneError from error
    except UsageError as error:
        complain(_usage_message(error))
    except Error as error:
        complain(str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        complain(f"{error.filename}: {reason}" if error.filename else reason)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return 2


def _usage_message(error: Any) -> str:
    message = str(error.format_message()).rstrip(".")
    context = error.ctx
    if context is None:
        return message
    option = getattr(error, "option_name", None)
    known: list[str] = []
    if type(error).__name__ == "NoSuchOption" and option:
        message = f"no such option: {option}"
        known = [
            name
            for parameter in context.command.params
            for name in parameter.opts
            if name.startswith("-")
        ]
        known.append("--help")
    elif message.startswith("No such command"):
        wrong = context.protected_args if hasattr(context, "protected_args") else []
        option = wrong[0] if wrong else message.split("'")[1]
        message = f"no such command: {option}"
        known = list(context.command.commands)
    if known and option:
        message += f", did you mean {nearest(option, known)}?"
    return f"{message} (see {shlex.join([*context.command_path.split(), '--help'])})"
