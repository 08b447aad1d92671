"""Pages of headings, texts, tables and charts, as one HTML file or as Markdown.

The HTML asks nothing of the network: style and charts are inside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

LONG = 70  # letters of a text that needs a wide column
STYLE = """\
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem; color: #1a1a1a; background: #fff;
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #ccc; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
figcaption, .note { color: #555; font-size: .85rem; margin: .25rem 0 1rem; }
th, td { padding: .25rem .5rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; vertical-align: bottom; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.text { min-width: 7rem; max-width: 24rem; overflow-wrap: break-word; }
td.long { min-width: 16rem; }
figure { margin: .5rem 0; }
figure svg { display: block; width: 100%; max-width: 40rem; height: auto; }
@media print { .wide { overflow: visible; } figure { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows under column names, of which those in `numbers` are aligned to the right.

    Cells may have several lines.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()
    caption: str = ""


@dataclass(frozen=True)
class Chart:
    """An SVG element, with what it shows in words; only in HTML."""

    svg: str
    caption: str


Block: TypeAlias = Heading | Text | Table | Chart


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """Return a whole HTML document."""
    charts = 0
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{STYLE}</style></head>",
        f"<body>\n<h1>{escape(title)}</h1>",
    ]
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"<h2>{escape(block.text)}</h2>")
        elif isinstance(block, Text):
            parts.append(f"<p>{escape(block.text)}</p>")
        elif isinstance(block, Table):
            parts.append(_html_table(block))
        else:
            charts += 1
            parts.append(_html_chart(block, f"chart{charts}"))
    return "\n".join([*parts, "</body>", "</html>", ""])


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Return the page without its charts as Markdown with tables."""
    parts = [f"# {_plain(title)}"]
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"## {_plain(block.text)}")
        elif isinstance(block, Text):
            parts.append(_plain(block.text))
        elif isinstance(block, Table):
            parts.append(_markdown_table(block))
    return "\n\n".join(parts) + "\n"


def _html_table(table: Table) -> str:
    kinds = ["number" if name in table.numbers else "text" for name in table.columns]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(name)}</th>'
        for kind, name in zip(kinds, table.columns, strict=True)
    )
    rows = [
        "<tr>"
        + "".join(_cell(value, kind) for kind, value in zip(kinds, row, strict=True))
        + "</tr>"
        for row in table.rows
    ]
    note = f'\n<p class="note">{escape(table.caption)}</p>' if table.caption else ""
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>{note}"
    )


def _html_chart(chart: Chart, name: str) -> str:
    """Give the chart's ids a prefix of its own, and words for those who do not see it."""
    svg = re.sub(r'\bid="', f'id="{name}-', chart.svg)
    svg = re.sub(r'(?:xlink:)?href="#', f'href="#{name}-', svg).replace("url(#", f"url(#{name}-")
    label = escape(chart.caption, quote=True)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    caption = f"<figcaption>{escape(chart.caption)}</figcaption>"
    return f"<figure>{svg}{caption}</figure>"


def _cell(value: str, kind: str) -> str:
    """Escape a cell; lines of text may be broken after the separators of options."""
    text = escape(value).replace("\n", "<br>")
    if kind != "number":
        text = re.sub(r"([:,/_])(?=\w)", r"\1<wbr>", text)
        kind += " long" if len(value) > LONG else ""
    return f'<td class="{kind}">{text}</td>'


def _markdown_table(table: Table) -> str:
    lines = [
        _markdown_row(table.columns),
        _markdown_row(["---:" if n in table.numbers else "---" for n in table.columns], False),
        *(_markdown_row(row) for row in table.rows),
    ]
    return "\n".join(lines) + (f"\n\n{_plain(table.caption)}" if table.caption else "")


def _markdown_row(values: Sequence[str], escaped: bool = True) -> str:
    return "| " + " | ".join(_plain(value) if escaped else value for value in values) + " |"


def _plain(text: str) -> str:
    """Write text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(text.split()))
