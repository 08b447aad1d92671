"""What the README shows must be true: its Python runs, its commands and agents exist."""

import re
import subprocess
import sys
from pathlib import Path

import carc

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_quick_start_plays_a_game_that_greedy_wins() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    scores, winners = re.fullmatch(r"(\[\d+, \d+\]) (\[\d\])\n", run.stdout).groups()  # type: ignore[union-attr]
    assert winners == "[0]"
    assert f"# {scores} {winners}" in README


def test_agents_table_names_every_agent() -> None:
    section = README.split("## Agents")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\S+)` \|", section, re.MULTILINE) == [
        name for name, _ in carc.agent_table()
    ]


def test_every_command_that_is_named_exists() -> None:
    section = README.split("## Commands")[1].split("\n## ")[0]
    names = re.findall(r"`carc (\w+)", section)
    shown = subprocess.run(
        [sys.executable, "-m", "carc", "--help"], capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert names
    assert [name for name in names if name not in shown] == []


def test_folders_that_are_named_exist() -> None:
    root = Path(__file__).resolve().parents[2]
    section = README.split("## Folders")[1].split("\n## ")[0]
    folders = [
        folder.strip()
        for row in re.findall(r"^\| ([a-z][^|]*) \|", section, re.MULTILINE)
        for folder in row.split(",")
        if folder.strip() != "folder"
    ]
    assert len(folders) > 5
    assert [folder for folder in folders if not (root / folder).is_dir()] == []
