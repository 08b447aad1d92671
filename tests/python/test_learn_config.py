"""Configurations of trainings: every key and value is known, or refused by name."""

import re
from pathlib import Path

import pytest

import carc
from carc.learn.config import KEYS, load_training
from carc.learn.kinds import LEARNERS, learner
from command_line import ROOT
from training import tiny_config

SHIPPED = sorted((ROOT / "configs" / "training").glob("*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_shipped_configurations_are_read(path: Path) -> None:
    assert load_training(path).rounds


def test_an_empty_file_is_a_training_with_all_defaults(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("")
    config = load_training(tmp_path / "a.toml")
    assert (config.kind, config.seed, config.threads) == ("feature-net", 1, None)
    assert [round_.games for round_ in config.rounds] == [10_000]
    assert config.rounds[0].rules[0].rules == carc.Rules()
    assert config.gate.threshold == 0


def test_the_file_of_all_keys_holds_the_defaults(tmp_path: Path) -> None:
    path = ROOT / "configs" / "training" / "all.toml"
    (tmp_path / "a.toml").write_text("")
    assert load_training(path).resolved() == load_training(tmp_path / "a.toml").resolved()
    text = path.read_text(encoding="utf-8")
    config = load_training(path).resolved()
    keys = [*config["fit"], *config["labels"], *config["network"], *config["rounds"][0]]
    for key in (*keys, *config["rounds"][0]["selfplay"], *KEYS, *config["gate"]):
        assert re.search(rf"(^|[ \[#]){key}( =|\]|\.)", text, re.MULTILINE), key


def test_values_are_read_and_shares_add_up(tmp_path: Path) -> None:
    config = load_training(tiny_config(tmp_path / "a.toml"))
    assert [round_.window for round_ in config.rounds] == [1, 2]
    assert [each.share for each in config.rounds[1].rules] == pytest.approx([0.7, 0.3])
    assert [each.rules.players for each in config.rounds[1].rules] == [2, 3]
    assert config.rounds[0].rules[1].rules.abbot
    assert config.network == {"hidden": 8, "hidden_global": 4}
    assert config.labels["keep"] == 0.6
    assert config.labels["lambda"] == 1
    assert config.gate.threshold == -200
    assert load_training(tmp_path / "a.toml", {"seed": 9}).seed == 9


def test_rounds_repeat_and_change_the_self_play(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        """
        [selfplay]
        uniform_rate = 0.5
        softmax_rate = 0.25
        [[round]]
        games = 10
        [[round]]
        games = 20
        repeat = 3
        start = "champion"
        [round.selfplay]
        simulations = 64
        softmax_rate = 0
        search = { exploration = 2 }
        rules = [{ players = 4 }]
        """
    )
    first, *rest = load_training(path).rounds
    assert len(rest) == 3
    assert (first.start, rest[0].start) == ("new", "champion")
    assert (first.options["simulations"], first.options["softmax_rate"]) == (0, 0.25)
    assert (rest[2].options["simulations"], rest[2].options["softmax_rate"]) == (64, 0)
    assert [round_.rules[0].rules.players for round_ in (first, *rest)] == [2, 4, 4, 4]
    assert rest[0].options["uniform_rate"] == 0.5
    assert rest[0].options["search"] == {"exploration": 2}


def test_equal_players_have_an_equal_share_of_the_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('gate = { measure = "score", players = 4 }')
    assert load_training(path).gate.threshold == 0.25


WRONG = {
    "sede = 1": "unknown key 'sede', did you mean 'seed'?",
    "seed = -1": "seed: found -1, expected an integer from 0",
    "kind = 'resnets'": "kind: found 'resnets', did you mean 'resnet'?",
    "kind = 3": "kind: found 3, expected a text",
    "threads = 0": "threads: found 0, expected an integer from 1",
    "initial = 'no.safetensors'": "initial: found no file no.safetensors",
    "initial = 1": "initial: found 1, expected the path of a network",
    "round = 3": "round: found 3, expected a list of tables",
    "round = []": "round: found [], expected a list of tables",
    "round = [3]": "round 0: found 3, expected a table",
    "[[round]]\ngame = 1": "round 0: unknown key 'game', did you mean 'games'?",
    "[[round]]\ngames = 0": "round 0: games: found 0, expected an integer from 1",
    "[[round]]\nwindow = 1.5": "round 0: window: found 1.5, expected an integer",
    "[[round]]\nrepeat = 2000": "round 0: repeat: found 2000",
    "[[round]]\nrepeat = 600\n[[round]]\nrepeat = 600": "found 1200 rounds, expected at most 1000",
    "[[round]]\nstart = 'old'": "round 0: start: found 'old', expected one of new, champion",
    "[[round]]\nselfplay = { rate = 1 }": "round 0: selfplay: unknown key 'rate'",
    "selfplay = 1": "selfplay: found 1, expected a table",
    "[selfplay]\nshard = 0": "selfplay: shard: found 0",
    "[selfplay]\nsoftmax_rate = 2": "softmax_rate: found 2, expected a number from 0 to 1",
    "[selfplay]\nsoftmax_rate = nan": "selfplay: softmax_rate: found nan, expected a number",
    "[selfplay]\nsearch = 1": "selfplay: search: found 1, expected a table",
    "[selfplay]\nsimulation = 1": "unknown key 'simulation', did you mean 'simulations'?",
    "[[round]]\nselfplay = { rules = 1 }": "round 0: selfplay: rules: found 1, expected a list",
    "[selfplay]\nrules = []": "selfplay: rules: found [], expected a list of tables",
    "[[selfplay.rules]]\nshare = 0": "selfplay: rules 0: share: found 0",
    "[[selfplay.rules]]\nplayers = 6": "selfplay: rules 0: players: found 6",
    "[[selfplay.rules]]\nrules = 'base'": "selfplay: rules 0: rules: ",
    "[[selfplay.rules]]\nrules = { rivers = 1 }": "selfplay: rules 0: rules: ",
    "[network]\nhidden = 0": "network: hidden: found 0",
    "[network]\nlayers = 3": "network: unknown key 'layers'",
    "[labels]\nkeep = -1": "labels: keep: found -1",
    "[labels]\nblend = 1": "labels: unknown key 'blend'",
    "[labels]\nlambda = 2": "labels: lambda: found 2",
    "[labels]\nbag_average = 1": "labels: bag_average: found 1, expected true or false",
    "[fit]\nschedule = 'step'": "fit: schedule: found 'step', expected one of constant, cosine",
    "[fit]\nlearning_rate = 0": "fit: learning_rate: found 0",
    "[fit]\ndense_passes = 0\njoint_passes = 0": "fit: found 0 passes, expected one at least",
    "[fit]\nlr = 1": "fit: unknown key 'lr'",
    "gate = false": "gate: found False, expected a table",
    "[gate]\npairs = 1.5": "gate: pairs: found 1.5",
    "[gate]\nagainst = 'gredy'": "gate: against: unknown agent 'gredy', did you mean 'greedy'?",
    "[gate]\nmeasure = 'elo'": "gate: measure: found 'elo', expected one of margin, score",
    "[gate]\nabove = 'much'": "gate: above: found 'much', expected a number",
    "[gate]\nbelow = 1": "gate: unknown key 'below'",
    "seed = [": "no TOML",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_configurations_are_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(carc.ConfigError) as error:
        load_training(path)
    assert WRONG[text] in str(error.value)
    assert str(error.value).startswith((str(path), "kind: "))


def test_every_kind_is_named() -> None:
    assert "feature-net" in LEARNERS
    with pytest.raises(carc.ConfigError, match="did you mean 'feature-net'"):
        learner("feature_net")
