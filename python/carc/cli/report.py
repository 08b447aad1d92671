"""``carc report``: a page about a results file."""

from pathlib import Path
from typing import Annotated

import typer

from carc.cli.terminal import QuietOption, out
from carc.errors import ConfigError
from carc.files import write_atomically


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: carc report run.sqlite -o pages/")(report)


def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Results file.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="Folder, or file ending in .html, to write."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="Agent whose rating is 0; else the mean is."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a page about a results file, as HTML with charts and as Markdown with tables.

    It shows the standings, who beat whom, the luck of the draws, where points came from, time,
    figures, the effect of the seat and forfeits. The two files lie beside FILE unless -o says
    otherwise and take the place of older ones. The HTML file is complete in itself. Charts need the
    extra carc[report].
    """
    target = _target(file, output)
    targets = (target, target.with_suffix(".md"))
    if any(path.exists() and file.exists() and path.samefile(file) for path in targets):
        raise ConfigError(f"-o: found {target}, expected another name than that of the results")
    from carc.charts import check_matplotlib
    from carc.page import to_html, to_markdown
    from carc.report_page import make_page
    from carc.results import read_results

    check_matplotlib()
    with read_results(file) as results:
        heading, blocks = make_page(
            results, title or f"Results of {file.stem}", reference=reference
        )
    texts = (to_html(heading, blocks), to_markdown(heading, blocks))
    for path, text in zip(targets, texts, strict=True):
        write_atomically(path, text.encode("utf-8", "replace"))
        if not quiet:
            out().print(str(path), soft_wrap=True)


def _target(file: Path, output: Path | None) -> Path:
    """Return the name of the HTML file."""
    page = f"{file.stem}.html"
    if output is None:
        return file.parent / page
    if output.is_dir() or (not output.suffix and not output.is_file()):
        return output / page
    if output.suffix != ".html":
        raise ConfigError(f"-o: found {output}, expected a folder or a name that ends in .html")
    return output
