"""Charts of a report as SVG text, drawn by matplotlib (the extra ``carc[report]``).

Colours are those of Okabe and Ito, "Color universal design" (2008), which people with any common
colour blindness can tell apart. Texts stay texts, so that any script is shown.
"""

import io
import math
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from carc.errors import ConfigError
from carc.export import KINDS
from carc.ratings import Array, Estimate
from carc.sources import Course

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"
KIND_COLOURS = {
    "city": "#E69F00",
    "road": "#0072B2",
    "monastery": "#CC79A7",
    "garden": "#F0E442",
    "field": "#009E73",
}
WIDTH = 5.4  # inches; a telephone shows letters of 10 points in 9 of its points
ROW = 0.32  # inches for an agent with a name of one line
LINE = 0.16  # inches for every further line
BAR = 0.2  # inches
APART = 0.07  # inches from the middle of a row to either of two lines in it
LETTER = 0.03  # width of a letter in a bar, of the longest bar
LABEL = 23  # letters in a line of a label
STYLE: Any = {  # whose keys matplotlib types one by one
    "font.size": 10,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "svg.hashsalt": "carc",  # the same chart is the same text
    "text.parse_math": False,  # names may hold dollar signs
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "grid.color": "#dddddd",
}


def check_matplotlib() -> None:
    """Raise ConfigError where matplotlib is missing."""
    try:
        import matplotlib as found
    except ImportError as error:
        raise ConfigError(
            "charts: found no package matplotlib, expected the extra: pip install 'carc[report]'"
        ) from error
    assert found


def interval_chart(
    labels: Sequence[str], estimates: Sequence[Estimate | None], axis: str, *, zero: bool = True
) -> str:
    """Draw a point with its interval for each label, from the top down; nothing for None."""

    def draw(axes: Any, places: Sequence[float]) -> None:
        _intervals(axes, places, estimates, BLUE)
        if zero:
            axes.axvline(0, color=GREY, linewidth=1, zorder=0.5)

    return _rows_chart(labels, axis, draw)


def comparison_chart(
    labels: Sequence[str],
    first: tuple[str, Sequence[Estimate | None]],
    second: tuple[str, Sequence[Estimate | None]],
    axis: str,
) -> str:
    """Draw two (name, estimates) for each label, the first above the second."""

    def draw(axes: Any, places: Sequence[float]) -> None:
        for (name, estimates), colour, below in ((first, ORANGE, -APART), (second, BLUE, APART)):
            _intervals(axes, [place + below for place in places], estimates, colour, name)
        axes.axvline(0, color=GREY, linewidth=1, zorder=0.5)

    return _rows_chart(labels, axis, draw, legend=True)


def time_chart(labels: Sequence[str], times: Sequence[tuple[float, float, float]]) -> str:
    """Draw (5 % quantile, mean, 95 % quantile) of milliseconds a turn for each label."""
    lowest = min((low for low, _, _ in times if low > 0), default=0.0)
    highest = max(high for _, _, high in times)
    logarithmic = lowest > 0 and highest > 20 * lowest

    def draw(axes: Any, places: Sequence[float]) -> None:
        for place, (low, mean, high) in zip(places, times, strict=True):
            axes.plot([low, high], [place, place], color=BLUE, linewidth=2)
            axes.plot([mean], [place], "o", color=BLUE, markersize=6)
        if logarithmic:
            _logarithmic(axes.xaxis, lowest, highest)
        else:
            axes.set_xlim(left=0)
            axes.locator_params(axis="x", nbins=5)  # so that marks such as 0.0025 do not touch

    scale = ", logarithmic" if logarithmic else ""
    return _rows_chart(labels, f"milliseconds a turn{scale}", draw)


def sources_chart(labels: Sequence[str], means: Sequence[Array]) -> str:
    """Draw mean points by feature kind as stacked bars, one for each label."""
    shown = [kind for index, kind in enumerate(KINDS) if any(mean[index] for mean in means)]
    widest = max(float(mean.sum()) for mean in means) or 1.0

    def draw(axes: Any, places: Sequence[float]) -> None:
        for place, mean in zip(places, means, strict=True):
            left = 0.0
            for kind in shown:
                value = float(mean[KINDS.index(kind)])
                label = kind if place == places[0] else None
                axes.barh(place, value, BAR, left, color=KIND_COLOURS[kind], label=label)
                if value > 0.08 * widest:
                    middle = left + value / 2
                    colour = "white" if kind == "road" else "black"
                    axes.text(middle, place, f"{value:.1f}", ha="center", va="center", color=colour)
                left += value
            axes.text(left + widest / 100, place, f"{left:.1f}", va="center", weight="bold")
        axes.set_xlim(0, widest * 1.14)

    return _rows_chart(labels, "mean points a game", draw, legend=bool(shown))


def courses_chart(labels: Sequence[str], found: Sequence[Course]) -> str:
    """Draw for each label how its points grew over the turns, by kind, and the final count."""
    columns = 1 if len(found) == 1 else 2
    rows = -(-len(found) // columns)
    titles = [wrapped(label, 28, 2) for label in labels]
    lines = max(title.count("\n") for title in titles)
    turns = max(len(course.points) for course in found) - 1
    shown = [
        kind for index, kind in enumerate(KINDS) if any(course.final[index] for course in found)
    ]
    highest = max(float(course.final.sum()) for course in found) or 1.0
    height = 0.9 + rows * (1.7 + LINE * lines)
    with _figure(height) as (figure, finish):
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
        for index, axes in enumerate(grid):
            if index >= len(found):
                axes.set_visible(False)
                continue
            course = found[index]
            kinds = [KINDS.index(kind) for kind in shown]
            colours = [KIND_COLOURS[kind] for kind in shown]
            axes.stackplot(
                range(len(course.points)), course.points[:, kinds].T, colors=colours, labels=shown
            )
            bottom = 0.0
            for kind, colour in zip(kinds, colours, strict=True):
                value = float(course.final[kind])
                axes.bar(turns * 1.09, value, turns * 0.09, bottom, color=colour)
                bottom += value
            axes.set_title(titles[index], loc="left")
            axes.set_ylim(0, highest * 1.08)
            axes.set_xlim(0, turns * 1.15)
            ticks = [tick for tick in range(0, turns + 1, 20) if tick <= turns * 0.94]
            axes.set_xticks([*ticks, turns * 1.09], [*map(str, ticks), "end"])
            axes.tick_params(labelbottom=index + columns >= len(found))
            axes.grid(axis="y")
        figure.supxlabel("tiles laid by all players; end: after the final count", fontsize=10)
        figure.supylabel("mean points", fontsize=10)
        _legend(figure, grid[0])
        return finish()


def wrapped(name: str, width: int = LABEL, lines: int = 3) -> str:
    """Break a name into lines after its separators; of too long a one the middle is left out."""
    pieces = re.findall(r"[^:,\s/_-]*[:,\s/_-]|[^:,\s/_-]+", name.replace("\n", " "))
    out = [""]
    for piece in pieces:
        for part in _cut(piece, width):
            if _columns(out[-1] + part.rstrip()) <= width:
                out[-1] += part
            else:
                out.append(part)
    if len(out) > lines:
        tail = ""
        for letter in reversed(name):
            if _columns(letter + tail) >= width:
                break
            tail = letter + tail
        out = [*out[: lines - 1], f"…{tail}"]
    return "\n".join(line.strip() for line in out)


def shortened(name: str, width: int = 56) -> str:
    """Leave out the middle of too long a name."""
    if len(name) <= width:
        return name
    tail = (width - 1) // 3
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _cut(text: str, width: int) -> Iterator[str]:
    part = ""
    for letter in text:
        if _columns(part + letter.rstrip()) > width:
            yield part
            part = ""
        part += letter
    yield part


def _columns(text: str) -> int:
    """Return the width of a text in letters, of which those of East Asia are two wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _intervals(
    axes: Any,
    places: Sequence[float],
    estimates: Sequence[Estimate | None],
    colour: str,
    name: str | None = None,
) -> None:
    axes.plot([], [], "o-", color=colour, markersize=6, linewidth=2, label=name)  # for the legend
    for place, estimate in zip(places, estimates, strict=True):
        if estimate is None:
            continue
        if estimate.low is not None and estimate.high is not None:
            axes.plot([estimate.low, estimate.high], [place, place], color=colour, linewidth=2)
            axes.plot([estimate.low, estimate.high], [place, place], "|", color=colour)
        axes.plot([estimate.value], [place], "o", color=colour, markersize=6)


def _rows_chart(
    labels: Sequence[str],
    axis: str,
    draw: Callable[[Any, Sequence[float]], None],
    legend: bool = False,
) -> str:
    """Draw a row for each label, as high as it needs; `draw` gets the rows' places in inches."""
    texts = [wrapped(label) for label in labels]
    heights = [ROW + LINE * text.count("\n") for text in texts]
    places = [sum(heights[:i]) + height / 2 for i, height in enumerate(heights)]
    with _figure(0.6 + 0.35 * legend + sum(heights)) as (figure, finish):
        axes = figure.subplots()
        draw(axes, places)
        axes.set_yticks(places, texts)
        axes.set_ylim(sum(heights), 0)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(axis)
        axes.grid(axis="x")
        if legend:
            _legend(figure, axes)
        return finish()


def _logarithmic(axis: Any, lowest: float, highest: float) -> None:
    """Choose marks so near to each other that at least two are labelled, and none touch."""
    from matplotlib.ticker import LogLocator, NullFormatter

    decades = math.log10(highest / lowest)
    subs = (1.0, 2.0, 5.0) if decades < 1.2 else (1.0, 3.0) if decades < 2 else (1.0,)
    axis.axes.set_xscale("log")
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def _legend(figure: Any, axes: Any) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="outside upper left",
        ncols=len(KINDS),
        frameon=False,
        handlelength=1.2,
        columnspacing=1.5,
    )


@contextmanager
def _figure(height: float) -> Iterator[tuple[Any, Callable[[], str]]]:
    """Give an empty figure and a function that turns it into SVG text."""
    check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)

        def finish() -> str:
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            return _inline(text.getvalue())

        yield figure, finish


def _inline(svg: str) -> str:
    """Make an SVG document an element of a page: no prologue, metadata, name spaces and size."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', head)
    assert view is not None
    return f"<svg {view[0]}>{rest}".strip()
