"""Agents by name: their files, options and errors, and that all of them play fair."""

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import carc
from carc.agents import (
    AGENTS,
    NEED_NETWORK,
    agent_settings,
    kind_of,
    option_names,
    parse_option,
    split_agents,
    split_options,
    with_options,
)
from carc.networks import with_file
from small_networks import resnet

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "agents"
# What makes an agent quick, where its kind has the option.
QUICK = {"simulations": 64, "depth": 1}


@pytest.fixture(params=AGENTS + NEED_NETWORK)
def player(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return each agent, with a network of random weights if it comes without one."""
    name: str = request.param
    if name not in NEED_NETWORK:
        return name
    pytest.importorskip("torch")
    pytest.importorskip("carc._torch", exc_type=ImportError)
    resnet(tmp_path / "small.safetensors")
    return with_options(name, {"network": str(tmp_path / "small.safetensors")})


def quick(name: str, **options: Any) -> carc.NamedAgent:
    """Return an agent that searches little; options that its kind lacks are left out."""
    known = option_names(kind_of(name))
    wanted = {**QUICK, **options}
    return carc.make_agent(name, **{key: wanted[key] for key in wanted if key in known})


def test_every_file_is_an_agent_and_every_agent_has_a_file() -> None:
    assert sorted(path.stem for path in CONFIGS.glob("*.toml")) == sorted(AGENTS + NEED_NETWORK)
    assert [name for name, _ in carc.agent_table()] == list(AGENTS)


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_has_a_summary_and_options_that_its_kind_knows(name: str) -> None:
    summaries = dict(carc.agent_table())
    assert 10 < len(summaries[name]) < 120
    kind, options = agent_settings(name)
    assert set(options) <= set(option_names(kind))
    agent = carc.make_agent(name)
    assert (agent.name, agent.kind, agent.options) == (name, kind, with_file(options))


def test_every_kind_has_an_agent() -> None:
    kinds = {agent_settings(name)[0] for name in (*AGENTS, "guest")}
    assert kinds == {kind for kind, _, _ in carc.agent_kinds()}


def test_options_come_from_base_weights_file_text_and_call_in_this_order(tmp_path: Path) -> None:
    (tmp_path / "points.toml").write_text("abbot = 3\nhope_cap = 5\nprior_scale = 2\n")
    (tmp_path / "mine.toml").write_text(
        "base = 'champion'\nweights = 'points.toml'\nhope_cap = 6\ntrees = 2\nsimulations = 9\n"
    )
    agent = carc.make_agent(f"{tmp_path}/mine.toml:trees=3,simulations=8", trees=4)
    expected = {"exploration": 0.8, "abbot": 3, "hope_cap": 6, "simulations": 8, "trees": 4}
    assert {key: agent.options[key] for key in expected} == expected
    assert agent.name == "mine:trees=4,simulations=8"


def test_a_base_is_sought_beside_the_file_or_among_the_agents(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("base = 'two.toml'\n")
    (tmp_path / "two.toml").write_text("base = 'uct-rollout'\nsimulations = 7\n")
    assert carc.make_agent(f"{tmp_path}/one.toml").options["simulations"] == 7


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("champoin", "unknown agent 'champoin', did you mean 'champion'?"),
        ("champion:simulatons=5", "unknown option 'simulatons', did you mean 'simulations'?"),
        ("champion:simulations=0", "simulations: found 0, expected a whole number from 1"),
        ("champion:simulations=many", 'simulations: found "many", expected a whole number'),
        ("champion:trees=1.5", "trees: found 1.5, expected a whole number"),
        ("champion:selection=utc", 'selection: found "utc", expected one of uct'),
        ("champion:hand=[1,2]", "hand: found .*, expected a list of 8 numbers"),
        ("champion:trees", "found 'trees', expected option=value"),
        ("random:trees=1", "unknown option 'trees', expected none"),
        ("kind.toml", "kind.toml: kind: found 'mtcs', expected one of random"),
        ("none.toml", "kind: found None, expected one of random"),
        ("number.toml", "kind: found 3, expected one of random"),
        ("loop.toml", "found a base of a base more than 8 deep"),
        ("base.toml", "base: found 3, expected the name of an agent"),
        ("unknown.toml", "unknown agent 'champoin'"),
        ("weights.toml", "weights: found \\[1\\], expected the name of a file"),
        ("broken.toml", "broken.toml: no TOML"),
        ("date.toml", "trees: found "),
    ],
)
def test_what_is_no_agent_is_named(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "kind": "kind = 'mtcs'",
        "none": "",
        "number": "kind = 3",
        "loop": "base = 'loop.toml'",
        "base": "base = 3",
        "unknown": "base = 'champoin'",
        "weights": "kind = 'mcts'\nweights = [1]",
        "broken": "kind = ",
        "date": "kind = 'mcts'\ntrees = 2020-01-01",
    }
    for stem, text in files.items():
        (tmp_path / f"{stem}.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(carc.Error, match=message):
        carc.make_agent(name)


@pytest.mark.parametrize("key", ["base", "weights"])
def test_a_file_that_is_not_there_is_named(key: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f"kind = 'mcts'\n{key} = 'absent.toml'\n")
    with pytest.raises(carc.ConfigError, match=re.escape("absent.toml: No such file")):
        carc.make_agent(f"{tmp_path}/mine.toml")


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for simulations in (5, 66):
        path.write_text(f"base = 'champion'\nsimulations = {simulations}\n")
        assert carc.make_agent(str(path)).options["simulations"] == simulations


def test_options_in_text_are_read_as_toml() -> None:
    assert split_options("a:x=1,y=[1,2],z=decks,w=true,v=1e3") == (
        "a",
        {"x": 1, "y": [1, 2], "z": "decks", "w": True, "v": 1000.0},
    )
    assert parse_option("time_ms = 2.5") == ("time_ms", 2.5)
    assert split_options("a") == ("a", {})
    assert with_options("a:x=1,y=2", {"y": [1, 2], "z": "s"}) == "a:x=1,y=[1,2],z=s"


TEXTS = st.text() | st.text(alphabet="a1 ,=:.[]{}\"'\\#\n\t\x7f")
VALUES = TEXTS | st.lists(TEXTS) | st.integers() | st.floats(allow_nan=False) | st.booleans()


@given(st.dictionaries(st.from_regex("[a-z_]+", fullmatch=True), VALUES))
@example({"list": "./bot --list a,b", "x": "true", "y": "", "z": " a", "w": ["a,b]", "c\\"]})
@example({"command": "true", "x": "1 # one", "y": '"', "z": "\U0001f600"})
@settings(deadline=None, derandomize=True, database=None)
def test_options_come_through_text_as_they_are(options: dict[str, Any]) -> None:
    if not isinstance(options.get("command", ""), str | list):
        options = {**options, "command": "true"}  # it is a text or a list
    text = with_options("a", options)
    name, read = split_options(text)
    assert (name, read) == ("a", options)
    assert {key: type(value) for key, value in read.items()} == {
        key: type(value) for key, value in options.items()
    }
    assert split_agents(f"b,{text},c:x=1") == ["b", text, "c:x=1"]


def test_quotes_hold_commas_together_and_others_are_letters() -> None:
    command = "python3 -c 'print(1, 2)'"
    assert split_options(f"guest:command={command},move_ms=5") == (
        "guest",
        {"command": command, "move_ms": 5},
    )
    assert split_options(r"""a:x="b,\",c",y='d,"'""") == ("a", {"x": 'b,",c', "y": 'd,"'})
    assert split_agents("bob's.toml,eve's.toml,6'.toml") == ["bob's.toml", "eve's.toml", "6'.toml"]


def test_a_command_is_a_text_whatever_it_says() -> None:
    for word in ("true", "5", "1.5", "2020-01-01", "{}"):
        assert parse_option(f"command={word}") == ("command", word)
    assert parse_option("a.command=true") == ("a.command", "true")
    assert parse_option("command=['a', 'b c']") == ("command", ["a", "b c"])
    assert parse_option('command="a b"') == ("command", "a b")


def test_agents_in_a_list_keep_their_options() -> None:
    assert split_agents("a,b:x=1,y=[1,2],c:z=1, d") == ["a", "b:x=1,y=[1,2]", "c:z=1", "d"]


def history(rules: carc.Rules, decisions: int, seed: int) -> tuple[carc.GameState, list[str]]:
    """Return a position of a random game in which a tile is to be laid, and the deck's rest."""
    rng = random.Random(seed)
    deck, state = carc.Deck(rules, seed=seed), carc.GameState(rules)
    while decisions > 0 or state.phase != "place":
        if state.is_chance_node():
            state.draw(deck)
        else:
            actions = state.legal_actions()
            state.apply(actions[rng.randrange(len(actions))])
            decisions -= 1
    return state, deck.tiles[len(deck.tiles) - deck.left :]


def moves_along(name: str, start: carc.GameState, tiles: list[str], seed: int) -> list[str]:
    """Return what an agent plays in all seats while these tiles are drawn one after the other."""
    agent, state, rng, out = quick(name), start.clone(), carc.Rng(seed), []
    left = list(tiles)
    while left or not state.is_chance_node():
        if state.is_chance_node():
            state.apply(state.string_to_action(left.pop(0)))
        else:
            action = agent.choose(state, rng)
            out.append(state.action_to_string(action))
            state.apply(action)
    return out


def test_no_agent_sees_the_order_of_the_deck(player: str) -> None:
    """Two decks differ from the fourth tile on: all moves before that tile are the same."""
    common = 3
    for seed in (1, 2):
        start, rest = history(carc.Rules(), 80, seed)
        later = rest[common:]
        random.Random(seed).shuffle(later)
        assert sorted(later) == sorted(rest[common:])
        assert later[0] != rest[common]
        one, other = (
            moves_along(player, start, deck, seed) for deck in (rest[:7], rest[:common] + later[:4])
        )
        shared = moves_along(player, start, rest[:common], seed)
        assert len(shared) >= 2
        assert one[: len(shared)] == other[: len(shared)] == shared


def choices(name: str, seed: int = 3, **options: Any) -> list[str]:
    """Return what an agent chooses in some positions of three kinds of game."""
    out = []
    for rules in (carc.Rules(), carc.Rules(players=3, river="2021", abbot=True)):
        for decisions in (0, 41, 90):
            state, _ = history(rules, decisions, seed)
            agent, rng = quick(name, **options), carc.Rng(seed)
            for _ in range(2):
                action = agent.choose(state, rng)
                out.append(state.action_to_string(action))
                state.apply(action)
                if state.phase not in ("place", "figure"):
                    break
    return out


def test_the_same_seed_gives_the_same_moves(player: str) -> None:
    assert choices(player) == choices(player)
    if "threads" in option_names(kind_of(player)):
        options = {"trees": 4, "simulations": 64}
        assert choices(player, **options) == choices(player, threads=2, **options)


def test_the_same_seed_gives_the_same_moves_in_another_process() -> None:
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from test_agents import AGENTS, choices\n"
        "print([choices(name) for name in AGENTS])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=Path(__file__).parent,
        env={"PYTHONHASHSEED": "7"},
    )
    assert done.stdout.strip() == str([choices(name) for name in AGENTS])


@pytest.mark.parametrize(
    "rules",
    [carc.Rules(), carc.Rules(players=4, river="2014", abbot=True)],
    ids=["two", "four"],
)
def test_every_agent_plays_whole_games(player: str, rules: carc.Rules) -> None:
    agents = [quick(player), *["random"] * (rules.players - 1)]
    result = carc.play_game(rules, agents, seed=11)
    assert result.turns + len(result.discarded) == rules.tiles_to_draw
    assert (result.simulations[0] > 0) == (quick(player).kind in ("mcts", "expectiminimax"))
    assert result.simulations[1:] == [0] * (rules.players - 1)


def test_analysis_lists_every_legal_action_or_there_is_none(player: str) -> None:
    state, _ = history(carc.Rules(), 20, 5)
    result = quick(player).analyse(state, carc.Rng(1))
    if quick(player).kind in ("mcts", "expectiminimax", "feature_net"):
        assert result is not None
        assert [report.action for report in result.actions] == list(state.legal_actions())
        assert result.best == result.actions[result.best_index].action == result.line[0]
    else:
        assert result is None
