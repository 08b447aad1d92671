"""The feature network in torch: its values, its file, its losses, and evaluators in Python."""

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pyarrow")

import carc
from carc import _core
from carc.learn.batch import Batch, batch_of_arrays, batch_of_states
from carc.learn.encoder import GLOBAL, KINDS, NOBODY, SEATS, encoder
from carc.learn.evaluator import NetworkEvaluator, OnePlyAgent, turn_values, turns_of
from carc.learn.losses import dense_loss, joint_loss, margin_error, margins
from carc.learn.network import FeatureNet
from command_line import ROOT
from training import played

RULES = [
    carc.Rules(),
    carc.Rules(players=3),
    carc.Rules(players=5, river="2021", abbot=True),
    carc.Rules.preset("family"),
]


def states_after_turns(rules: carc.Rules, seed: int) -> list[carc.GameState]:
    """Return the states of a random game before each draw, but the first."""
    deck, state, rng = carc.Deck(rules, seed=seed), carc.GameState(rules), carc.Rng(seed)
    out = []
    while not state.is_terminal():
        if state.is_chance_node():
            out.append(state.clone())
            state.draw(deck)
        else:
            actions = state.legal_actions()
            state.apply(actions[rng.below(len(actions))])
    return out[1:]


def one_position(
    players: int, city: Sequence[tuple[int, int]], score: Sequence[int] = (0, 0, 0, 0, 0)
) -> dict[str, Any]:
    """Return the arrays of one position with cities of (main, rival), one figure for each."""
    arrays: dict[str, Any] = {
        "players": np.array([players], np.uint8),
        "next": np.array([0], np.uint8),
        "tiles_left": np.array([20], np.uint8),
        "score": np.array([score], np.int16),
    }
    for kind in KINDS:
        rows = city if kind == "city" else []
        holders = np.array(rows, np.uint8).reshape(-1, 2)
        arrays |= {
            f"{kind}_inputs": np.ones((len(rows), encoder().width(kind)), np.uint8),
            f"{kind}_position": np.zeros(len(rows), np.int32),
            f"{kind}_main": holders[:, 0],
            f"{kind}_rival": holders[:, 1],
            f"{kind}_figures": (holders != NOBODY).astype(np.uint8),
        }
    arrays["global_inputs"] = np.ones((players, encoder().width(GLOBAL)), np.uint8)
    arrays["global_position"] = np.zeros(players, np.int32)
    arrays["global_player"] = np.arange(players, dtype=np.uint8)
    return arrays


def constant_network(head: Sequence[float], unclaimed: Sequence[float] = (0, 0)) -> FeatureNet:
    """Return a network that says the same of every feature, and of what nobody holds."""
    network = FeatureNet(4, 4)
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
        for kind in KINDS:
            network.get_parameter(f"{kind}.2.bias").copy_(torch.tensor(head))
        network.get_parameter("global.2.bias").copy_(torch.tensor(unclaimed))
    return network


def values_of(network: FeatureNet, arrays: dict[str, Any]) -> list[float]:
    with torch.no_grad():
        found: list[float] = network(batch_of_arrays(arrays))[0].tolist()
    return [round(value, 4) for value in found]


def test_parts_of_a_feature_go_to_its_holders_and_the_rest_to_all_others() -> None:
    network = constant_network([0.5, 0.3, 0.2, 0, 0, 0])
    scores = (1, 2, 3, 4, 5)
    assert values_of(network, one_position(2, [(1, 0)], (7, 9, 0, 0, 0))) == [10, 14, 0, 0, 0]
    assert values_of(network, one_position(2, [(1, NOBODY)])) == [2, 5, 0, 0, 0]
    assert values_of(network, one_position(4, [(2, 0)], (1, 2, 3, 4, 0))) == [4, 3, 8, 5, 0]
    assert values_of(network, one_position(5, [(4, NOBODY)], scores)) == [1.5, 2.5, 3.5, 4.5, 10]


def test_features_add_up() -> None:
    network = constant_network([0.5, 0.3, 0.2, 0, 0, 0])
    assert values_of(network, one_position(2, [(0, 1), (0, NOBODY), (1, NOBODY)])) == [
        12,
        10,
        0,
        0,
        0,
    ]


def test_a_correction_moves_points_between_players() -> None:
    network = constant_network([0, 0, 0, 0.4, 0, 0])
    assert values_of(network, one_position(2, [(0, NOBODY)])) == [4, -4, 0, 0, 0]
    assert values_of(network, one_position(5, [(3, 1)])) == [-1, -1, -1, 4, -1]


def test_what_nobody_holds_counts_with_both_heads_for_each_player() -> None:
    network = constant_network([0] * 6, [0.7, 0.1])
    assert values_of(network, one_position(3, [])) == [8, 8, 8, 0, 0]


def test_returns_are_the_free_share_of_the_remaining_tiles() -> None:
    network = constant_network([0, 0, 0, 0, 0.25, 0])
    batch = batch_of_arrays(one_position(3, [(0, 2), (0, NOBODY)]))
    found = network.returns(batch, network.outputs(batch).heads)
    home = 0.75 * 20 * encoder().returns
    np.testing.assert_allclose(found.tolist(), [2 * home, 0, home, 0, 0], rtol=1e-6)
    clamped = constant_network([0, 0, 0, 0, 1.5, 0])
    assert not clamped.returns(batch, clamped.outputs(batch).heads).any()


def test_weights_come_back_from_their_file(tmp_path: Path) -> None:
    network = FeatureNet(8, 4, seed=7)
    network.save(tmp_path / "a.safetensors", {"note": "first"})
    again = FeatureNet.load(tmp_path / "a.safetensors")
    assert (again.hidden, again.hidden_global) == (8, 4)
    for name, value in network.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
    metadata, _ = _core.read_weights(
        tmp_path / "a.safetensors", "carc-feature-net", encoder().version
    )
    assert metadata["note"] == "first"


def test_the_seed_makes_the_first_weights_and_nothing_else_changes() -> None:
    before = torch.random.get_rng_state()
    weights = [FeatureNet(seed=seed).state_dict()["city.0.weight"] for seed in (1, 1, 2)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("change", ["missing", "extra", "shape"])
def test_files_of_another_network_are_refused(change: str, tmp_path: Path) -> None:
    network = FeatureNet(8, 4)
    arrays = {name: value.numpy() for name, value in network.state_dict().items()}
    if change == "missing":
        del arrays["field.1.bias"]
    elif change == "extra":
        arrays["river.0.bias"] = arrays["field.1.bias"]
    else:
        arrays["field.1.bias"] = arrays["field.1.bias"][:-1]
    metadata = {"format": "carc-feature-net", "encoder": str(encoder().version)}
    _core.write_weights(tmp_path / "a.safetensors", metadata, arrays)
    with pytest.raises(_core.WeightsError, match=r"(field.1|river.0).bias.*found.*expected"):
        FeatureNet.load(tmp_path / "a.safetensors")


@pytest.mark.parametrize("rules", RULES)
def test_the_engine_gives_the_same_values(rules: carc.Rules, tmp_path: Path) -> None:
    network = FeatureNet(seed=3)
    network.save(tmp_path / "a.safetensors")
    states = states_after_turns(rules, seed=11)
    with torch.no_grad():
        ours = network(batch_of_states(states)).numpy()
    theirs = _core.FeatureNet(tmp_path / "a.safetensors").values(states)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)  # points; 1e-5 in units of 10


# --- Losses ---------------------------------------------------------------------------------------


def with_targets(arrays: dict[str, Any], target: Sequence[float]) -> Batch:
    """Add targets: 4, 3 and 2 points of each feature, half bound, complete; 1 point unclaimed."""
    for kind in KINDS:
        rows = len(arrays[f"{kind}_main"])
        targets = np.tile(np.array([4, 3, 2, 0.5, 1], np.float32), (rows, 1))
        targets[arrays[f"{kind}_rival"] == NOBODY, 1] = np.nan
        arrays[f"{kind}_targets"] = targets
    arrays["global_targets"] = np.ones(len(arrays["global_player"]), np.float32)
    arrays["target"] = np.array([target], np.float32)
    return batch_of_arrays(arrays)


def test_the_dense_loss_is_0_where_every_label_is_met_and_a_missing_rival_does_not_count() -> None:
    network = constant_network([0.4, 0.3, 0.2, 0, 0.5, 1], [0.1, 0])
    batch = with_targets(one_position(3, [(0, 1), (2, NOBODY)]), (0,) * 5)
    assert dense_loss(network, batch).item() == pytest.approx(0, abs=1e-12)
    wrong = constant_network([0.5, 0.3, 0.2, 0, 0.5, 1], [0.1, 0])
    assert dense_loss(wrong, batch).item() == pytest.approx(0.01, rel=1e-4)


def test_the_joint_loss_adds_the_error_of_the_margin() -> None:
    network = constant_network([0.4, 0.3, 0.2, 0, 0.5, 1], [0.1, 0])
    values = values_of(network, one_position(2, [(0, 1)]))
    batch = with_targets(one_position(2, [(0, 1)]), values)
    assert joint_loss(0.3)(network, batch).item() == pytest.approx(0, abs=1e-9)
    off = with_targets(one_position(2, [(0, 1)]), (values[0] - 20, *values[1:]))
    assert joint_loss(0.3)(network, off).item() == pytest.approx(0.3 * 4, rel=1e-4)


def test_margins_are_to_the_mean_of_the_others() -> None:
    batch = batch_of_arrays(one_position(3, []))
    points = torch.tensor([[10.0, 4.0, 1.0, 99.0, 99.0]])
    assert margins(points, batch)[0].tolist() == [7.5, -1.5, -6, 0, 0]
    assert margin_error(points, batch).item() == pytest.approx((7.5**2 + 1.5**2 + 6**2) / 2)


def test_a_batch_of_many_states_is_that_of_each() -> None:
    states = states_after_turns(carc.Rules(players=3), seed=2)[20:30]
    network = FeatureNet(seed=1)
    with torch.no_grad():
        together = network(batch_of_states(states))
        alone = torch.cat([network(batch_of_states([state])) for state in states])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=0)


# --- Evaluators in Python -------------------------------------------------------------------------


class Lead:
    """Values a state by the points that every player has."""

    def evaluate(self, states: Sequence[carc.GameState]) -> Any:
        values = np.zeros((len(states), SEATS))
        for row, state in zip(values, states, strict=True):
            row[: len(state.scores)] = state.scores
        return values


def test_turns_are_all_ways_to_end_the_turn() -> None:
    rules = carc.Rules()
    state, deck = carc.GameState(rules), carc.Deck(rules, seed=4)
    state.draw(deck)
    turns = turns_of(state)
    assert all(after.is_chance_node() for _, after in turns)
    assert {str(decisions[0]) for decisions, _ in turns} == set(map(str, state.legal_actions()))
    assert len(turns) > state.num_legal_actions()


def test_a_one_ply_agent_takes_the_points_that_it_can_get() -> None:
    scores = np.zeros(2)
    for seed in range(4):
        result = carc.play_game(carc.Rules(), [OnePlyAgent(Lead()), "random"], seed=seed)
        scores += result.scores
    assert scores[0] > 1.5 * scores[1]


def test_a_state_of_a_game_that_is_over_has_its_scores() -> None:
    rules = carc.Rules()
    deck, state = carc.Deck(rules, seed=4), carc.GameState(rules)
    while not state.is_terminal():
        if state.is_chance_node():
            state.draw(deck)
        else:
            state.apply(state.legal_actions()[0])

    class Never:
        def evaluate(self, states: Sequence[carc.GameState]) -> Any:
            raise AssertionError(f"asked for {len(states)} states")

    assert turn_values(Never(), [state])[0, :2].tolist() == state.scores


def test_values_of_another_shape_are_refused() -> None:
    class Flat:
        def evaluate(self, states: Sequence[carc.GameState]) -> Any:
            return np.zeros(len(states))

    state = states_after_turns(carc.Rules(), seed=1)[3]
    with pytest.raises(ValueError, match=r"found values \[1\], expected \[1, 5\]"):
        turn_values(Flat(), [state])


def test_a_network_evaluator_gives_the_network_s_values() -> None:
    states = states_after_turns(carc.Rules(), seed=1)[3:5]
    network = FeatureNet()
    with torch.no_grad():
        expected = network(batch_of_states(states)).numpy()
    np.testing.assert_array_equal(NetworkEvaluator(network).evaluate(states), expected)


def test_the_example_of_an_own_network_runs_and_stays_short(tmp_path: Path) -> None:
    played(tmp_path / "games", games=16, shard=8)
    path = ROOT / "examples" / "own_network.py"
    done = subprocess.run(
        [sys.executable, path, tmp_path / "games"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "NetworkEvaluator [" in done.stdout
    assert "CountNow [" in done.stdout
    assert importlib.util.spec_from_file_location("own_network", path)
    lines = path.read_text(encoding="utf-8").split("class ")
    own = sum(len(part.split("\n\n\n")[0].splitlines()) for part in lines[1:])
    assert own <= 25


def test_without_torch_there_is_one_clear_error() -> None:
    code = "import sys; sys.modules['torch'] = None; from carc.cli import main; sys.exit(main())"
    words = ["train", "configs/training/smoke.toml", "--run", "never"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "carc: error: learning: found no PyTorch, expected it installed: pip install 'carc[train]'"
    )
