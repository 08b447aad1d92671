"""Configurations are read strictly, and what is wrong with them is named."""

from pathlib import Path
from typing import Any

import pytest

from carc import ConfigError, Rules
from carc.config import (
    SprtConfig,
    TournamentConfig,
    describe_rules,
    load_tournament,
    nearest,
    parse_rules,
)
from carc.tournament import schedule

ROOT = Path(__file__).resolve().parents[2]


def load(folder: Path, text: str, **overrides: object) -> TournamentConfig:
    """Read this text as a file."""
    path = folder / "config.toml"
    path.write_text(text)
    return load_tournament(path, overrides)


def test_the_default_file_is_the_embedded_default() -> None:
    assert load_tournament(ROOT / "configs" / "tournaments" / "default.toml") == TournamentConfig()
    assert load_tournament(None) == TournamentConfig()


def test_missing_keys_have_defaults(tmp_path: Path) -> None:
    config = load(tmp_path, "rounds = 7")
    assert (config.rounds, config.agents, config.seed) == (
        7,
        ("random", "greedy", "feature-net"),
        1,
    )


def test_overrides_go_before_the_file(tmp_path: Path) -> None:
    config = load(tmp_path, 'rounds = 7\nrules = "family"', rounds=9, rules="abbot=true")
    assert (config.rounds, config.rules) == (9, Rules(abbot=True))


def test_rules_may_be_a_preset_a_table_or_both(tmp_path: Path) -> None:
    assert load(tmp_path, 'rules = "transitional"').rules == Rules.preset("transitional")
    assert load(tmp_path, "[rules]\nabbot = true\nriver = '2021'").rules == Rules(
        abbot=True, river="2021"
    )
    assert load(tmp_path, "[rules]\npreset = 'family'\nsmall_city = 2").rules == Rules.preset(
        "family", small_city=2
    )


def test_rules_in_text_mean_the_same() -> None:
    assert parse_rules("family") == Rules.preset("family")
    assert parse_rules("abbot=true,small_city=2") == Rules(abbot=True, small_city=2)
    assert parse_rules("family, river=2014") == Rules.preset("family", river="2014")


@pytest.mark.parametrize(
    "text", ["current", "family", "transitional,river=2014", "current,abbot=true,tie_points=split"]
)
def test_rules_are_described_as_they_are_read(text: str) -> None:
    assert describe_rules(parse_rules(text)) == text
    assert describe_rules(parse_rules(text).replace(players=4)) == text


def test_players_may_stand_in_the_rules(tmp_path: Path) -> None:
    agents = "agents = ['greedy', 'greedy', 'random']\n"
    assert load(tmp_path, agents + "[rules]\nplayers = 3").players == 3
    assert load(tmp_path, agents + "players = 3\n[rules]\nplayers = 3").players == 3


def test_a_tile_set_is_sought_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(Rules().tiles.to_json())
    assert load(tmp_path, "[rules]\ntiles = 'mine.json'").rules == Rules()


def test_agents_may_have_options_and_names(tmp_path: Path) -> None:
    agents = "agents = [{ agent = 'champion', name = 'small', simulations = 16 }, 'greedy']"
    config = load(tmp_path, agents)
    assert config.agents == ("champion:simulations=16", "greedy")
    assert config.names == ("small", "greedy")


def test_no_two_entrants_have_one_name(tmp_path: Path) -> None:
    agents = "agents = [{ agent = 'greedy', name = 'x' }, { agent = 'jcz', name = 'x#2' }, 'greedy'"
    config = load(tmp_path, agents + ", { agent = 'random', name = 'x' }]\nreference = 'x#3'\n")
    assert config.entrants == ("x", "x#2", "greedy", "x#3")


def test_files_of_agents_are_sought_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("base = 'champion'\nsimulations = 16\n")
    config = load(tmp_path, "agents = ['mine.toml:trees=2', 'greedy']")
    assert config.agents == (f"{tmp_path}/mine.toml:trees=2", "greedy")
    assert config.names == ("mine.toml:trees=2", "greedy")


def test_one_time_for_all_agents_that_search(tmp_path: Path) -> None:
    config = load(tmp_path, "agents = ['champion', 'greedy', 'star25']\ntime_ms = 30")
    assert [("time_ms=15" in agent) for agent in config.agents] == [True, False, True]
    assert config.names == ("champion", "greedy", "star25")


def test_a_sequential_test_in_elo_or_points(tmp_path: Path) -> None:
    two = "agents = ['greedy', 'random']\n"
    elo = load(tmp_path, two + "sprt = { elo1 = 10, alpha = 0.1 }").sprt
    assert elo == SprtConfig(kind="elo", low=0, high=10, alpha=0.1, beta=0.05)
    points = load(tmp_path, two + "sprt = { margin0 = -1, margin1 = 1.5 }").sprt
    assert points == SprtConfig(kind="margin", low=-1, high=1.5)


@pytest.mark.parametrize(
    ("changes", "a_deck"),
    [
        ({}, 10 * 3),
        ({"format": "gauntlet"}, 6 * 3),
        ({"format": "gauntlet", "seeds": 2}, 2 * 3 * 3),
        ({"seatings": "all"}, 10 * 2 * 3),
        ({"seatings": "sampled"}, 10 * 3),
        ({"tables": 4, "seatings": "all"}, 4 * 2 * 3),
        ({"tables": 40}, 10 * 3),
        ({"repeat": False}, 10),
    ],
)
def test_games_a_deck(changes: dict[str, Any], a_deck: int) -> None:
    config = TournamentConfig(agents=("random",) * 5, rounds=7, rules=Rules(players=3), **changes)
    assert (config.games_a_deck, config.games) == (a_deck, 7 * a_deck)
    games = list(schedule(config))
    assert len(games) == len({game.key for game in games}) == 7 * a_deck


def test_number_of_games() -> None:
    config = TournamentConfig(agents=("random",) * 4, rounds=10, rules=Rules(players=3))
    assert config.games == 4 * 3 * 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agnets = []", "unknown key 'agnets', did you mean 'agents'?"),
        ("rounds = 0", "rounds: found 0, expected an integer from 1 to 1000000"),
        ("rounds = true", "rounds: found True, expected an integer"),
        ("rounds = 1.5", "rounds: found 1.5, expected an integer"),
        ("seed = -1", "seed: found -1, expected an integer from 0 to 2^64 - 1"),
        ("players = 6", "players: found 6, expected an integer from 2 to 5"),
        ("agents = 'greedy'", "agents: found 'greedy', expected a list of names"),
        ("agents = ['greedy', 3]", "found 3, expected a name or a table with agent and options"),
        ("agents = ['greedy', 'rnadom']", "agents: unknown agent 'rnadom', did you mean 'random'?"),
        ("agents = ['greedy']", "agents: found 1 agents for 2 players, expected as many at least"),
        ("players = 4", "players: found 3 agents for 4 players, expected as many at least"),
        ("rules = 'famly'", "rules: unknown rules preset 'famly', did you mean 'family'?"),
        ("rules = 3", "rules: found 3, expected a preset or a table of options"),
        ("rules = { abot = true }", "rules: unknown rules option 'abot', did you mean 'abbot'?"),
        ("rules = { small_city = 3 }", "rules: small_city: found 3, expected one of 4, 2"),
        ("rules = { preset = 1 }", "rules: preset: found 1, expected a name"),
        ("rules = { abbot = 1979-05-27 }", "rules: abbot: found"),
        ("rules = { tiles = 'none.json' }", "none.json: No such file or directory"),
        ("rules = { tiles = 'config.toml' }", "rules: tiles: "),
        ("players = 2\nrules = { players = 3 }", "rules: found players 3, expected 2 as in"),
        ("format = 'swiss'", "format: found 'swiss', expected one of round-robin, gauntlet"),
        ("format = ['gauntlet']", "format: found ['gauntlet'], expected one of"),
        ("seeds = 3", "seeds: found 3, expected an integer from 1 to 2"),
        ("tables = -1", "tables: found -1, expected an integer from 0"),
        ("seatings = 'every'", "seatings: found 'every', expected one of fixed, all, sampled"),
        ("repeat = 1", "repeat: found 1, expected true or false"),
        ("recover = 'no'", "recover: found 'no', expected true or false"),
        ("luck = 0.3", "luck: found 0.3, expected true or false"),
        ("reference = 'jcz'", "found 'jcz', expected one of the agents: random, greedy"),
        ("reference = 3", "reference: found 3, expected one of the agents"),
        ("concurrency = 0", "concurrency: found 0, expected an integer from 1 to 1024"),
        ("time_ms = 5", "time_ms: found no agent that keeps to a time in random nor greedy"),
        ("time_ms = 'long'", "time_ms: found 'long', expected a number from 0.1 to 10000000"),
        ("time_ms = nan", "time_ms: found nan, expected a number"),
        ("sprt = 20", "sprt: found 20, expected a table"),
        ("sprt = {}", "sprt: found {}, expected elo0 and elo1 or margin0 and margin1"),
        ("sprt = { elo1 = 3, margin1 = 2 }", "expected elo0 and elo1 or margin0 and margin1"),
        ("sprt = { elo0 = 5, elo1 = 3 }", "found elo0 5 and elo1 3, expected elo0 below elo1"),
        ("sprt = { elo1 = 5, alpha = 0 }", "sprt: alpha: found 0, expected a number from 1e-06"),
        ("sprt = { elo3 = 5 }", "sprt: unknown key 'elo3', did you mean 'elo0'?"),
        ("agents = ['greedy', 'random', 'jcz']\nsprt = { elo1 = 5 }", "sprt: found 3 agents"),
        ("repeat = false\nsprt = { elo1 = 5 }", "expected two, with repeat = true"),
        (
            "agents = ['greedy', { name = 'x' }]",
            "expected a name or a table with agent and options",
        ),
        ("agents = ['greedy', { agent = 'jcz', name = '' }]", "name: found '', expected a text"),
        ("agents = ['greedy', { agent = 'jcz', trees = 4 }]", "unknown option 'trees'"),
        ("rounds = ", "no TOML"),
        ("rounds = 1\nrounds = 2", "no TOML"),
        ("x = " + "[" * 5000, "no TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml") as caught:
        load(tmp_path, text)
    assert message in str(caught.value)


def test_text_that_is_not_unicode_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"seed = 1\n# \xff")
    with pytest.raises(ConfigError, match="found byte 0xff at 11, expected UTF-8"):
        load_tournament(path)


def test_wrong_overrides_are_called_by_their_option() -> None:
    with pytest.raises(
        ConfigError, match=r"--agents: unknown agent 'gready', did you mean 'greedy'\?"
    ):
        load_tournament(None, {"agents": ["random", "gready"]})
    with pytest.raises(ConfigError, match="--rules: found 'abbot', expected option=value"):
        load_tournament(None, {"rules": "family,abbot"})


def test_a_tournament_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="found 13200000 games"):
        load_tournament(None, {"agents": ["random"] * 12, "rounds": 100_000})


def test_nearest_name() -> None:
    assert nearest("ronds", ["agents", "rounds", "rules"]) == "rounds"
