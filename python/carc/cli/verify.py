"""``carc verify``: do files of games and cases agree with the engine."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from carc.cli.terminal import JsonOption, complain, notes, out, print_json
from carc.verify import FileFindings, find_files, verify_file


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: carc verify tests/data")(verify)


def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Files, or folders searched at any depth.")
    ],
    json: JsonOption = False,
) -> None:
    """Compare files of games and cases with the engine.

    Golden games, records and cases are replayed, and every value in them is compared with the
    engine's. Read are .jsonl and .jsonl.gz (a game a line) and .json (one document); in a folder,
    .json files that hold a tile set are skipped and named. Exit code 1 for any difference or
    damage, and for any other file with nothing to compare.
    """
    search = find_files(paths)
    if not search.files:
        where = ", ".join(map(str, paths))
        complain(f"found no games or cases in {where}, expected .jsonl, .jsonl.gz or .json files")
        raise typer.Exit(2)
    for path in search.skipped:
        notes().print(f"{path}: skipped, holds a tile set", soft_wrap=True)
    findings = []
    for path in search.files:
        findings.append(verify_file(path))
        if not json:
            print_findings(findings[-1])
    total = _total(findings)
    if json:
        print_json(
            {
                "ok": total["differences"] == 0,
                "files": [asdict(found) for found in findings],
                "skipped": [str(path) for path in search.skipped],
                "total": total,
            }
        )
    else:
        _line("total", total)
    raise typer.Exit(1 if total["differences"] else 0)


def print_findings(found: FileFindings) -> None:
    """Print a line for the file and one for each of its differences."""
    _line(found.path, {**asdict(found), "differences": len(found.differences)})
    for difference in found.differences:
        out().print(f"  line {difference.line}: {difference.text}", soft_wrap=True)


def _line(what: str, counts: dict[str, Any]) -> None:
    kinds = [kind for kind in ("files", "games", "cases") if counts.get(kind)]
    parts = [
        f"{counts[kind]:,} {kind}"
        for kind in (*(kinds or ["games"]), "turns", "values", "differences")
    ]
    parts = [part.removesuffix("s") if part.startswith("1 ") else part for part in parts]
    out().print(f"{what}: {', '.join(parts)}", soft_wrap=True)


def _total(findings: list[FileFindings]) -> dict[str, int]:
    keys = ("games", "cases", "turns", "values")
    total = {key: sum(getattr(found, key) for found in findings) for key in keys}
    return {
        "files": len(findings),
        **total,
        "differences": sum(len(found.differences) for found in findings),
    }
