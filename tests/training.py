"""Small trainings for tests: games in files, examples, and configurations of runs."""

from pathlib import Path
from typing import Any

import carc
from carc import _core
from carc.learn.feature_learner import FeatureLearner
from carc.learn.games import GamesFile
from carc.learn.selfplay import Series, play_missing, shards_of

# Two rounds of a few games by two sets of rules; the second learns from both. Nothing is measured
# but whether every part works, so the first network need not beat anybody.
TINY = """\
seed = {seed}

[[round]]
games = 24

[[round]]
games = 24
window = 2

[selfplay]
shard = 8

[[selfplay.rules]]
share = 0.7

[[selfplay.rules]]
rules = {{ river = "2021", abbot = true }}
players = 3
share = 0.3

[network]
hidden = 8
hidden_global = 4

[labels]
keep = 0.6

[fit]
dense_passes = 1
joint_passes = 2
batch = 64
block = 16

[gate]
pairs = {pairs}
above = -200
against = "random"
"""


def tiny_config(path: Path, *, seed: int = 5, pairs: int = 2, more: str = "") -> Path:
    """Write a configuration of a run that takes a few seconds."""
    path.write_text(TINY.format(seed=seed, pairs=pairs) + more, encoding="utf-8")
    return path


def make_games(
    games: int = 4,
    *,
    rules: carc.Rules | None = None,
    seed: int = 3,
    first: int = 0,
    **options: Any,
) -> GamesFile:
    """Play a few games of the hand-made evaluation against itself."""
    rules = rules or carc.Rules()
    checked = FeatureLearner().check("selfplay", options, "options")
    arrays = _core.self_play(rules, {**checked, "network": ""}, seed, first, games, threads=1)
    return GamesFile(arrays, rules.to_dict(), seed, first, options=checked)


def series(folder: Path, games: int = 12, shard: int = 4, **changes: Any) -> Series:
    """Return a short series of the hand-made evaluation."""
    options = FeatureLearner().check("selfplay", {}, "options")
    given = {
        "folder": folder,
        "name": "games",
        "kind": "feature-net",
        "rules": carc.Rules(),
        "options": options,
        "network": None,
        "seed": 3,
        "games": games,
        "shard": shard,
    }
    return Series(**{**given, **changes})


def played(folder: Path, games: int = 12, shard: int = 4, **changes: Any) -> list[Path]:
    """Play a short series, and return its files."""
    shards = shards_of([series(folder, games, shard, **changes)])
    play_missing(shards)
    return [each.path for each in shards]
