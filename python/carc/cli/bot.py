"""``carc bot`` and ``carc bot-check``: agents as programs, and programs as agents."""

import signal
import sys
from typing import Annotated

import typer

from carc.cli.terminal import JsonOption, ReaderGoneError, out, print_json, whole
from carc.errors import ConfigError

FAILED = 1


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: carc bot champion:simulations=688")(bot)
    app.command(
        "bot-check",
        epilog="Example: carc bot-check python3 my_bot.py",
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )(bot_check)


def bot(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Agent or TOML file.")],
) -> None:
    """Serve an agent to other programs over standard input and output.

    One JSON object a line, as docs/protocol.md says; ends with its input. A search ends early where
    a request's maxVisits or maxTime say so.
    """
    from carc.bot import LONGEST_LINE, BotServer

    server = BotServer(agent)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a wait for input ends at once
    lines, answers = sys.stdin.buffer, sys.stdout.buffer
    while line := lines.readline(LONGEST_LINE + 1):
        whole_line = line.endswith(b"\n") or len(line) <= LONGEST_LINE
        while not whole_line:  # the rest of it
            rest = lines.readline(LONGEST_LINE)
            whole_line = not rest or rest.endswith(b"\n")
        if not line.strip():
            continue
        try:
            answers.write(server.answer(line).encode() + b"\n")
            answers.flush()
        except BrokenPipeError as error:
            raise ReaderGoneError from error


def bot_check(
    command: Annotated[
        list[str], typer.Argument(metavar="CMD...", help="The program with its arguments.")
    ],
    start_ms: Annotated[
        int, typer.Option(metavar="T", parser=whole(1, 3_600_000), help="Time to say hello.")
    ] = 10_000,
    move_ms: Annotated[
        int, typer.Option(metavar="T", parser=whole(1, 86_400_000), help="Time for a decision.")
    ] = 1_000,
    json: JsonOption = False,
) -> None:
    """Check a program that shall play as a guest, and say what is wrong with it.

    Options come before the program. Exit code 1 if a check failed.
    """
    from carc.bot_check import check_bot

    if not command:
        raise ConfigError("found no program, expected one with its arguments")
    checks = []
    for check in check_bot(command, start_ms=start_ms, move_ms=move_ms):
        checks.append(check)
        if not json:
            verdict = "ok    " if check.passed else "FAILED"
            out().print(f"{verdict}  {check.name}: {check.detail}", soft_wrap=True)
    failed = sum(not check.passed for check in checks)
    if json:
        print_json(
            {
                "command": command,
                "passed": failed == 0,
                "checks": [
                    {"name": check.name, "passed": check.passed, "detail": check.detail}
                    for check in checks
                ],
            }
        )
    else:
        verdict = f"{failed} failed" if failed else "it can play as guest:command=..."
        out().print(f"{len(checks)} checks, {verdict}")
    if failed:
        raise typer.Exit(FAILED)
