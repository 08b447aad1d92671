"""``carc report``: a page that is complete in itself, for any file that has a complete deck."""

import re
import sqlite3
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import carc as package
from carc.charts import shortened, wrapped
from carc.config import TournamentConfig
from carc.export import KINDS
from carc.page import Chart, Table, Text, to_html, to_markdown
from carc.report_page import make_page
from carc.results import read_results
from carc.sources import courses, points_by_kind
from carc.summary import describe_design
from command_line import carc, error_line
from stored_results import invent, play

pytest.importorskip("matplotlib", reason="needs the extra carc[report]")

VOID = {"meta", "br", "wbr"}
LONG = "champion:" + ",".join(f"option_{i}={i}" for i in range(40))
ODD = ["最強のエージェント", "bot-$x^2$-<b>&\"'|*_`", LONG, LONG + "0", "naïve 🏰"]
SECTIONS = [
    "Standings",
    "Who beat whom",
    "Where points came from",
    "Time",
    "Figures",
    "Effect of the seat",
    "Forfeits",
    "Agents",
]


class Page(HTMLParser):
    """Reads a page and fails where elements are not closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.counts: dict[str, int] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert value is not None
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src", "srcset", "action", "data"):
                self.links.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def pages(path: Path) -> tuple[str, str]:
    """Return the HTML and the Markdown of a results file."""
    with read_results(path) as results:
        title, blocks = make_page(results, "A title <&>")
    return to_html(title, blocks), to_markdown(title, blocks)


def check_html(text: str) -> Page:
    """Check that a page is well-formed and asks nothing of the network."""
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "//" not in re.sub(r"[^\x00-\x7f]", "", text.replace("<!DOCTYPE html>", ""))
    assert "http" not in text
    assert "@import" not in text
    assert all(place.startswith("#") for place in re.findall(r"url\(([^)]*)\)", text))
    for svg in re.findall(r"<svg .*?</svg>", text, flags=re.DOTALL):
        ElementTree.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))
    return page


def test_a_page_is_complete_in_itself(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", "jcz", rounds=3)
    done = carc("report", "run.sqlite", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["run.html", "run.md"]
    page = check_html((tmp_path / "run.html").read_text(encoding="utf-8"))
    assert [text for text in page.texts if text in SECTIONS] == SECTIONS
    assert page.counts["figure"] == page.counts["figcaption"] == 7
    assert page.counts.get("script", 0) == page.counts.get("img", 0) == 0
    for label in ("rating in Elo", "milliseconds a turn, logarithmic", "mean points a game"):
        assert label in page.texts
    markdown = (tmp_path / "run.md").read_text(encoding="utf-8")
    assert [line[3:] for line in markdown.splitlines() if line.startswith("## ")] == SECTIONS
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.html", "run.md", "run.sqlite"]


def test_the_same_file_gives_the_same_page(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random")
    assert pages(tmp_path / "run.sqlite") == pages(tmp_path / "run.sqlite")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_any_number_of_players_and_odd_names(players: int, tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    why = (players - 1, "illegal", "found | <b>, expected\na move ☃")
    invent(file, ODD, players=players, forfeits=[(2, why)])
    html, markdown = pages(file)
    page = check_html(html)
    for name in ODD:
        assert any(name == "".join(cell) for cell in cells(html)), name
    assert "A title <&>" in page.texts
    assert "<b>" not in html
    widths = {
        line.replace(r"\|", "").count("|") - 1
        for line in markdown.splitlines()
        if line.startswith("|") and "vs 1" in line
    }
    assert widths == {7}
    assert r"found \| \<b\>, expected a move ☃" in markdown


def cells(html: str) -> list[str]:
    """Return the texts of a page's table cells."""
    from html import unescape

    found = re.findall(r"<td[^>]*>(.*?)</td>", html, flags=re.DOTALL)
    return [unescape(re.sub(r"<[^>]*>", "", cell)) for cell in found]


def test_eight_agents_with_long_names(tmp_path: Path) -> None:
    invent(tmp_path / "run.sqlite", [f"{LONG},last={i}" for i in range(8)], rounds=2)
    page = check_html(pages(tmp_path / "run.sqlite")[0])
    assert "vs 8" in page.texts


def test_an_agent_against_itself_on_one_deck(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "greedy", rounds=1)
    html, markdown = pages(tmp_path / "run.sqlite")
    check_html(html)
    assert "2 games on 1 deck," in markdown
    assert "A single deck says nothing about chance: there are no intervals." in markdown
    assert "±" not in markdown
    assert "greedy\\#2" in markdown


def test_games_of_incomplete_decks_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    play(file, "greedy", "random", rounds=3)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("DELETE FROM games WHERE deck = 1 AND rotation = 0")
    _, markdown = pages(file)
    assert "4 games on 2 decks" in markdown
    assert "1 games of incomplete decks are left out." in markdown


def test_a_file_without_a_complete_deck_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    play(file, "greedy", "random", rounds=1)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("DELETE FROM games WHERE rotation = 0")
    message = error_line(carc("report", "run.sqlite", cwd=tmp_path))
    assert "run.sqlite: found 1 games but no deck of which all 2 are there" in message
    play(tmp_path / "empty.sqlite", "greedy", "random", rounds=0)
    message = error_line(carc("report", "empty.sqlite", cwd=tmp_path))
    assert "found 0 games but no deck of which all 2 are there, expected one at least" in message
    assert not list(tmp_path.glob("*.html"))


def test_only_forfeited_games(tmp_path: Path) -> None:
    lost = [(number, (0, "crash", "")) for number in range(1, 5)]
    invent(tmp_path / "run.sqlite", ["a", "b"], forfeits=lost, luck=[0.5, -0.5])
    html, markdown = pages(tmp_path / "run.sqlite")
    page = check_html(html)
    assert page.counts["figure"] == 2  # ratings and time
    assert page.texts.count("Every game was forfeited.") == 2  # points and figures
    assert "Luck of the draws" not in page.texts
    assert "Effect of the seat" not in page.texts
    assert "| 1 a | crash | 2 |" in markdown.replace("1 b", "1 a")
    assert "nan" not in markdown


def test_whoever_forfeits_lost_to_all_others_whatever_the_scores(tmp_path: Path) -> None:
    lost = [(number, ((number + 1) % 2, "crash", "")) for number in range(1, 5)]  # always a
    invent(tmp_path / "run.sqlite", ["a", "b"], forfeits=lost)
    _, markdown = pages(tmp_path / "run.sqlite")
    assert "| 1 | b | - | 100.0 % - |" in markdown
    assert "| 2 | a | 0.0 % - | - |" in markdown


def test_points_and_figures_leave_forfeited_games_out(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    invent(file, ["a", "b"], rounds=3, forfeits=[(2, (0, "time", "")), (5, (1, "crash", ""))])
    html, _ = pages(file)
    with read_results(file) as results:
        games = list(results.games())
    finished = [game for game in games if game.forfeit is None]
    assert len(finished) == 4
    mean = points_by_kind("a", games)
    assert mean is not None
    scores = [game.scores[game.agents.index("a")] for game in finished]
    assert mean[0].sum() == pytest.approx(sum(scores) / 4)
    assert points_by_kind("a", [game for game in games if game.forfeit]) is None
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    without = [text for text in captions if text.endswith("Forfeited games are left out.")]
    assert [text.split()[0] for text in without] == ["Margins", "Mean", "Figures", "Margin"]
    figures = [game.figures_set[game.agents.index("a")] for game in finished]
    rows = re.findall(r"<td[^>]*>a</td><td[^>]*>([0-9.]+) ± [0-9.]+</td>", html)
    decks: dict[int, list[int]] = {}
    for game, count in zip(finished, figures, strict=True):
        decks.setdefault(game.deck, []).append(count)
    expected = sum(sum(each) / len(each) for each in decks.values()) / len(decks)
    assert rows == [f"{expected:.1f}"]


def test_a_page_without_forfeits_does_not_speak_of_them(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", rounds=1)
    _, markdown = pages(tmp_path / "run.sqlite")
    assert markdown.count("orfeited") == 1  # in the section on forfeits
    assert "No game was forfeited." in markdown


def test_a_page_says_how_the_games_were_laid_out(tmp_path: Path) -> None:
    play(tmp_path / "plain.sqlite", "greedy", "random", rounds=1)
    _, markdown = pages(tmp_path / "plain.sqlite")
    assert "each deck in every rotation of the seats." in markdown
    assert "Round robin: any combination of agents may sit at a table." in markdown
    assert "with the same random numbers in all its games." in markdown
    assert "round the table" not in markdown

    options = {"repeat": False, "common_random_numbers": False, "format": "gauntlet"}
    file = tmp_path / "other.sqlite"
    rules = package.Rules(players=3)
    agents = ("greedy", "random", "jcz", "random")
    play(file, *agents, rounds=6, rules=rules, tables=2, seatings="sampled", **options)
    html, markdown = pages(file)
    assert "12 games on 6 decks, each deck in one rotation of the seats, by turns." in markdown
    assert "Gauntlet: at every table greedy met others." in markdown
    assert "Each deck was played at 2 of 3 tables, drawn by the seed." in markdown
    assert "The agents sat round the table in an order drawn for each deck" in markdown
    assert "Each game was decided with random numbers of its own." in markdown
    assert "every rotation" not in markdown
    assert "Effect of the seat" not in html


def test_the_design_names_all_challengers_and_orders() -> None:
    config = TournamentConfig(
        agents=("a", "b", "c", "d", "e"),
        format="gauntlet",
        seeds=2,
        seatings="all",
        rules=package.Rules(players=3),
    )
    text = describe_design(config, ["A", "B", "C", "D", "E"])
    assert "at every table one of A, B met others." in text
    assert "The agents sat round the table in each of 2 orders." in text
    assert "drawn by the seed" not in text


def test_the_reference_has_the_rating_zero(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", "greedy", rounds=2)
    done = carc("report", "run.sqlite", "--reference", "greedy#2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    markdown = (tmp_path / "run.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"\| \d \| greedy\\#2 \| \d+ \| \d+/.*", markdown)
    assert r"| +0 \[0, 0\] |" in row
    assert "greedy#2 = 0" in (tmp_path / "run.html").read_text(encoding="utf-8")
    message = error_line(carc("report", "run.sqlite", "--reference", "gredy", cwd=tmp_path))
    expected = "expected one of the agents: greedy, random, greedy#2"
    assert f"reference: found 'gredy', {expected}" in message


def test_luck_is_taken_off_the_margins(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    play(file, "greedy", "jcz", rounds=3, luck=True)
    html, markdown = pages(file)
    page = check_html(html)
    assert "Luck of the draws" in page.texts
    assert "margin less luck" in page.texts
    with read_results(file) as results:
        games = list(results.games())
    margin, less, seats = [], [], [game.agents.index("greedy") for game in games]
    for game, seat in zip(games, seats, strict=True):
        assert game.luck is not None
        margin.append(game.scores[seat] - game.scores[1 - seat])
        less.append(margin[-1] - 0.3 * game.luck[seat])
    section = markdown.split("## Luck of the draws")[1].split("##")[0]
    (row,) = [line for line in section.splitlines() if "| greedy | 6 |" in line]
    cells = [cell.strip() for cell in row.split("|")][4:7]
    pairs = [np.array(each).reshape(3, 2).mean(axis=1) for each in (margin, less)]
    assert [cell.split(" ± ")[0] for cell in cells[:2]] == [f"{p.mean():+.1f}" for p in pairs]
    assert cells[2] == f"{100 * (1 - pairs[1].var() / pairs[0].var()):.0f} %"


def test_luck_of_one_deck_has_no_interval(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "jcz", rounds=1, luck=True)
    _, markdown = pages(tmp_path / "run.sqlite")
    section = markdown.split("## Luck of the draws")[1].split("##")[0]
    assert "| greedy | 2 |" in section
    assert "±" not in section
    assert section.count("| - |") == 2


def test_agents_that_no_games_compare_are_one_clear_message(tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", "jcz", "greedy", rounds=1, tables=1)
    message = error_line(carc("report", "run.sqlite", cwd=tmp_path))
    assert "tables: found no games that compare" in message
    assert "expected more rounds or more tables a deck" in message
    assert not list(tmp_path.glob("*.html"))


def test_forfeits_are_listed_up_to_a_number(tmp_path: Path) -> None:
    lost = [(number, (0, "crash", "x" * 5000)) for number in range(1, 31)]
    invent(tmp_path / "run.sqlite", ["a", "b"], rounds=20, forfeits=lost)
    _, markdown = pages(tmp_path / "run.sqlite")
    assert "10 more: carc results list FILE --forfeits --limit 0" in markdown
    assert max(map(len, markdown.splitlines())) < 500


def test_points_over_the_turns_end_in_the_scores(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlite"
    rules = package.Rules(players=3, abbot=True, river="2021")
    play(file, "greedy", "jcz", "random", rounds=2, rules=rules)
    with read_results(file) as results:
        games = list(results.games())
        found = courses(results, games, ["greedy", "jcz", "random"])
    for name, course in found.items():
        mean = points_by_kind(name, games)
        assert mean is not None
        total, final = mean
        assert course.final == pytest.approx(total)
        assert course.points[-1] == pytest.approx(total - final)
        assert (course.points[0] == 0).all()
        assert (course.points[1:] >= course.points[:-1]).all()
        assert course.points.shape == (max(game.turns for game in games) + 1, len(KINDS))


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (("-o", "pages/"), ["pages/run.html", "pages/run.md"]),
        (("-o", "there"), ["there/run.html", "there/run.md"]),
        (("-o", "new/x.html"), ["new/x.html", "new/x.md"]),
    ],
)
def test_pages_lie_where_they_should(
    words: tuple[str, ...], files: list[str], tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    play(tmp_path / "run.sqlite", "greedy", "random", rounds=1)
    done = carc("report", "run.sqlite", *words, cwd=tmp_path)
    assert done.stdout.split() == files
    assert all((tmp_path / file).stat().st_size > 500 for file in files)


def test_a_page_does_not_replace_the_results(tmp_path: Path) -> None:
    play(tmp_path / "run.html", "greedy", "random", rounds=1)
    before = (tmp_path / "run.html").read_bytes()
    message = error_line(carc("report", "run.html", cwd=tmp_path))
    assert "found run.html, expected another name than that of the results" in message
    assert (tmp_path / "run.html").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.sqlite",), "none.sqlite: No such file or directory"),
        ((".",), ".: Is a directory"),
        (("text.sqlite",), "text.sqlite: no carc results database"),
        (("run.sqlite", "-o", "page.pdf"), "-o: found page.pdf, expected a folder or a name that"),
        (("run.sqlite", "-o", "text.sqlite"), "-o: found text.sqlite, expected a folder"),
        (("run.sqlite", "-o", "text.sqlite/x.html"), "text.sqlite"),
        ((), "Missing argument 'FILE'"),
    ],
)
def test_odd_use_is_one_clear_message(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", rounds=1)
    (tmp_path / "text.sqlite").write_text("no database\n" * 40)
    assert message in error_line(carc("report", *words, cwd=tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.sqlite", "text.sqlite"]


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(tmp_path / "run.sqlite", "greedy", "random", rounds=1)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(package.ConfigError, match=r"carc\[report\]"):
        pages(tmp_path / "run.sqlite")


def test_long_names_are_broken_after_separators() -> None:
    assert wrapped("greedy") == "greedy"
    assert wrapped("champion:simulations=688,trees=4").split("\n") == [
        "champion:",
        "simulations=688,trees=4",
    ]
    lines = wrapped(LONG).split("\n")
    assert len(lines) == 3
    assert lines[-1].startswith("…")
    assert LONG.endswith(lines[-1][1:])
    assert all(len(line) <= 23 for line in lines)
    assert all(len(line) <= 12 for line in wrapped("強" * 50).split("\n"))


def test_shortened_names_keep_both_ends() -> None:
    assert shortened("greedy") == "greedy"
    assert len(shortened(LONG)) == 56
    assert shortened(LONG)[:9] == "champion:"
    assert shortened(LONG).endswith("39=39")


def test_pages_are_text_and_nothing_else() -> None:
    blocks = [
        Text("<script>alert(1)</script> *a*"),
        Table(("a|b", "n"), [["x|y\nz", "1"]], ("n",), "<i>"),
        Chart('<svg viewBox="0 0 1 1"><g id="a"><use href="#a"/></g></svg>', 'say "x"'),
    ]
    html, markdown = to_html("<t>", blocks), to_markdown("<t>", blocks)
    assert "<script>" not in html
    assert "<i>" not in html
    assert '<g id="chart1-a"><use href="#chart1-a"/></g>' in html
    assert 'aria-label="say &quot;x&quot;"' in html
    assert markdown == (
        "# \\<t\\>\n\n\\<script\\>alert(1)\\</script\\> \\*a\\*\n\n"
        "| a\\|b | n |\n| --- | ---: |\n| x\\|y z | 1 |\n\n\\<i\\>\n"
    )
