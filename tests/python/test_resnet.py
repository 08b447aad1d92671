"""The network on board planes: C++ and Python say the same, weights of others are refused."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import carc
from carc import _core
from carc._core import GameState, Rules

torch = pytest.importorskip("torch")
pytest.importorskip("carc._torch", exc_type=ImportError)

from carc.learn import resnet  # noqa: E402
from carc.learn.resnet import load_resnet, make_resnet, save_resnet  # noqa: E402
from carc.learn.resnet_bench import resnet_speed  # noqa: E402
from carc.learn.resnet_settings import ResnetShape  # noqa: E402

TILES = Path(carc.__file__).parent / "data" / "tiles.json"
RULE_SETS = (
    Rules(),
    Rules(players=3, abbot=True, river="2021"),
    Rules(players=4, field_scoring="city_2000", tie_points="split", join_cities="forbidden"),
    Rules(players=5, farmer_recall=True, small_city=2, river="2014", river_turns="no_double_curve"),
    Rules(farmers=False, field_scoring="transitional"),
)


def positions(rules: Rules, count: int, seed: int) -> list[GameState]:
    """Return positions of random games, of all phases."""
    rng = random.Random(seed)
    out: list[GameState] = []
    while len(out) < count:
        state = GameState(rules)
        while not state.is_terminal() and len(out) < count:
            if rng.random() < 0.2:
                out.append(state.clone())
            state.apply_action(rng.choice(list(state.legal_actions())))
    return out


def lively(net: resnet.Resnet, seed: int) -> resnet.Resnet:
    """Give the layers that begin at zero weights that matter."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in net.parameters():
            if not weights.any():
                weights.normal_(0, 0.05, generator=generator)
    return net


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tuple[resnet.Resnet, Path]:
    path = tmp_path_factory.mktemp("resnet") / "net.safetensors"
    net = lively(make_resnet(ResnetShape(channels=16, blocks=4), seed=3), seed=4)
    save_resnet(net, path, note="random")
    return net, path


def judged(
    net: resnet.Resnet, states: Sequence[GameState]
) -> tuple[list[list[float]], np.ndarray, list[np.ndarray]]:
    """Judge in Python what Resnet.evaluate judges in C++."""
    inputs = _core.encode_planes(states)
    with torch.inference_mode():
        out = net(*(torch.from_numpy(inputs[name]) for name in ("planes", "mask", "globals")))
    points = inputs["base"] + resnet.POINTS_UNIT * out.value.numpy()
    values, policies = [], []
    for i, state in enumerate(states):
        players = state.rules.players
        first = int(inputs["perspective"][i])
        values.append([float(points[i, (p - first) % players]) for p in range(players)])
        logits = []
        if not state.is_chance_node():
            places = _core.policy_places(state)
            logits = [out.no_figure[i] if p < 0 else out.policy[i, p, y, x] for p, y, x in places]
        policies.append(torch.softmax(torch.tensor(logits), 0).numpy())
    return values, torch.softmax(out.lead, 1).numpy(), policies


def test_cpp_and_python_judge_1000_positions_of_all_rules_alike(
    network: tuple[resnet.Resnet, Path],
) -> None:
    net, path = network
    in_cpp = _core.Resnet(path)
    unit = resnet.POINTS_UNIT
    for number, rules in enumerate(RULE_SETS):
        states = positions(rules, 200, seed=number)
        for begin in range(0, len(states), 50):
            some = states[begin : begin + 50]
            values, leads, policies = in_cpp.evaluate(some)
            expected_values, expected_leads, expected_policies = judged(net, some)
            for value, expected in zip(values, expected_values, strict=True):
                assert value[: rules.players] / unit == pytest.approx(
                    np.array(expected) / unit, abs=1e-5
                )
                assert not value[rules.players :].any()
            np.testing.assert_allclose(leads, expected_leads, atol=1e-5)
            for policy, expected in zip(policies, expected_policies, strict=True):
                np.testing.assert_allclose(policy, expected, atol=1e-5)


def test_a_position_is_judged_alike_alone_and_in_a_larger_window(
    network: tuple[resnet.Resnet, Path],
) -> None:
    in_cpp = _core.Resnet(network[1])
    states = positions(Rules(), 30, seed=9)
    together = in_cpp.evaluate(states)[0]
    for state, value in zip(states, together, strict=True):
        np.testing.assert_allclose(in_cpp.evaluate([state])[0][0], value, atol=1e-4)


def test_a_row_of_84_tiles_is_judged_whole(network: tuple[resnet.Resnet, Path]) -> None:
    (road,) = (t for t in json.loads(TILES.read_text())["base"] if t["id"] == "U")
    tiles = {"name": "roads", "base": [{**road, "count": 84}], "start": "U"}
    state = GameState(Rules(tiles=tiles))
    for turn in range(83):
        state.apply_action(next(iter(state.legal_actions())))
        state.apply_action(f"U@0,{turn + 1}r0")
        if turn < 82:
            state.apply_action("-")
    inputs = _core.encode_planes([state])
    assert inputs["planes"].shape[2:] == (86, 4)  # two rows and columns of open cells, padded
    assert inputs["planes"][0, 0].sum() == 84
    value = _core.Resnet(network[1]).evaluate([state])[0][0]
    assert value[:2] == pytest.approx(judged(network[0], [state])[0][0], abs=1e-4)


def test_weights_of_another_shape_or_size_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    net = make_resnet(ResnetShape(8, 2), seed=1)
    save_resnet(net, path)
    metadata, tensors = _core.read_weights(path)
    changes = {
        "outputs.weight": ({**tensors, "outputs.weight": np.zeros((3, 16), np.float32)}, metadata),
        "missing": ({k: v for k, v in tensors.items() if k != "cells.bias"}, metadata),
        "extra": ({**tensors, "more": np.zeros(3, np.float32)}, metadata),
        "blocks": (tensors, {**metadata, "blocks": "3"}),
        "channels": (tensors, {**metadata, "channels": "many"}),
        "encoder": (tensors, {**metadata, "encoder": str(resnet.VERSION + 1)}),
        "format": (tensors, {**metadata, "format": "carc-feature-net"}),
    }
    for name, (changed, texts) in changes.items():
        broken = tmp_path / f"{name}.safetensors"
        _core.write_weights(broken, texts, changed)
        for load in (load_resnet, _core.Resnet):
            with pytest.raises(_core.WeightsError, match=str(broken)):
                load(broken)


def test_a_new_network_says_that_the_game_ends_now(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save_resnet(make_resnet(ResnetShape(8, 2), seed=1), path)
    for state in positions(Rules(players=3), 20, seed=6):
        (value,), _, (policy,) = _core.Resnet(path).evaluate([state])
        now = [
            state.scores[p] + sum(kind[p] for kind in state.projected().values()) for p in range(3)
        ]
        assert value[:3] == pytest.approx(now)
        assert len(policy) == 0 or policy == pytest.approx(np.full(len(policy), 1 / len(policy)))


def test_the_same_seed_makes_the_same_network_and_leaves_torch_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    a, b = (make_resnet(ResnetShape(8, 2), seed=1).state_dict() for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a[name], b[name]) for name in a)


def test_saved_weights_come_back(network: tuple[resnet.Resnet, Path]) -> None:
    net, path = network
    back = load_resnet(path)
    assert back.shape == net.shape
    for name, tensor in net.state_dict().items():
        assert torch.equal(back.state_dict()[name], tensor)


def test_finished_games_and_no_states_are_refused(network: tuple[resnet.Resnet, Path]) -> None:
    state = GameState(Rules())
    while not state.is_terminal():
        state.apply_action(next(iter(state.legal_actions())))
    in_cpp = _core.Resnet(network[1])
    with pytest.raises(_core.Error, match="expected one that goes on"):
        in_cpp.evaluate([state])
    with pytest.raises(_core.Error, match="expected one at least"):
        _core.encode_planes([])


def test_the_agent_plays_a_network_with_full_batches(network: tuple[resnet.Resnet, Path]) -> None:
    agent = carc.make_agent(f"resnet-search:network={network[1]},simulations=160")
    state = next(s for s in positions(Rules(), 100, seed=2) if s.phase == "place")
    assert agent.batch_fill is None
    result = agent.analyse(state, _core.Rng(1))
    assert result is not None
    assert result.simulations == 160
    assert agent.batch_fill is not None
    assert agent.batch_fill >= 0.8
    again = carc.make_agent(f"resnet-search:network={network[1]},simulations=160")
    assert again.choose(state, _core.Rng(1)) == result.best


def test_a_game_between_networks_does_not_depend_on_threads(
    network: tuple[resnet.Resnet, Path],
) -> None:
    agent = f"resnet-search:network={network[1]},simulations=16,trees=4,threads=4"
    scores: list[dict[int, list[int]]] = [{}, {}]
    for threads, found in zip((1, 2), scores, strict=True):
        carc.play_games(
            Rules(),
            [agent, "greedy"],
            [(1, [0, 1]), (1, [1, 0])],
            threads=threads,
            on_result=lambda i, result, found=found: found.update({i: result.scores}),
        )
    assert scores[0] == scores[1]


def test_the_agent_without_network_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(_core.Error, match="found none with evaluator resnet"):
        carc.make_agent("resnet-search")
    with pytest.raises(_core.Error, match=r"missing\.safetensors"):
        carc.make_agent(f"resnet-search:network={tmp_path / 'missing.safetensors'}")


def test_the_benchmark_measures_full_batches() -> None:
    measured = resnet_speed(ResnetShape(8, 1), batch=8, repeats=1, simulations=32)
    assert measured.keys() == {
        "resnet_batch_ms",
        "resnet_eager_batch_ms",
        "resnet_sims_per_s",
        "resnet_batch_fill",
    }
    assert min(measured.values()) > 0
    assert measured["resnet_batch_fill"] >= 0.8
