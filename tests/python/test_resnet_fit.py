"""Self-play and training of the network on board planes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carc import _core
from carc._core import Action, PlaneExamples, Rules
from carc.errors import ConfigError, TrainingError

torch = pytest.importorskip("torch")
pytest.importorskip("pyarrow")
pytest.importorskip("carc._torch", exc_type=ImportError)

from carc.learn.games import GamesFile, write_games  # noqa: E402
from carc.learn.kinds import TrainingJob, Watch  # noqa: E402
from carc.learn.resnet import (  # noqa: E402
    ENCODER,
    Outputs,
    Resnet,
    load_resnet,
    make_resnet,
    save_resnet,
)
from carc.learn.resnet_examples import (  # noqa: E402
    ResnetExamples,
    resnet_examples,
)
from carc.learn.resnet_fit import (  # noqa: E402
    OFFENDING,
    fit_resnet,
    lead_target,
    policy_loss,
)
from carc.learn.resnet_learner import ResnetLearner  # noqa: E402
from carc.learn.resnet_settings import (  # noqa: E402
    ResnetFitOptions,
    ResnetLabels,
    ResnetShape,
)
from carc.learn.stopping import StoppedError  # noqa: E402

DISCARDED = 0xFFFFFFFF
SHAPE = ResnetShape(channels=8, blocks=2)
FIT = ResnetFitOptions(passes=2, batch=32)
FEW = {"simulations": 8, "fast_simulations": 4, "full_rate": 0.5, "lanes": 4}


def played(rules: Rules, games: int, **options: Any) -> dict[str, np.ndarray]:
    return _core.resnet_self_play(rules, {**FEW, **options}, 5, 0, games)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.parquet"
    rules = Rules()
    write_games(path, GamesFile(played(rules, 12), rules.to_dict(), 5, 0, options=FEW))
    return path


@pytest.fixture(scope="module")
def examples(shard: Path) -> tuple[ResnetExamples, ResnetExamples]:
    return resnet_examples([shard], labels=ResnetLabels(keep=0.02, keep_policy=0.2))


def test_self_play_with_a_network_gives_the_same_games_again(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save_resnet(make_resnet(SHAPE, seed=1), path)
    rules = Rules(players=3, abbot=True)
    first, again = (played(rules, 4, network=str(path)) for _ in range(2))
    assert first.keys() == again.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name])
    assert first["value"].shape == (first["game_turns"].sum(), 3)
    assert first["final"].shape == (4, 3)
    sizes = first["policy_size"].astype(int)
    shares = np.split(first["policy_share"], np.cumsum(sizes))[:-1]
    assert all(abs(share.sum() - 1) < 1e-5 for share in shares if len(share))


def test_self_play_refuses_unknown_options_and_missing_networks(tmp_path: Path) -> None:
    with pytest.raises(_core.OptionError, match="did you mean 'lanes'"):
        played(Rules(), 1, lane=3)
    with pytest.raises(_core.WeightsError, match=r"none\.safetensors"):
        played(Rules(), 1, network=str(tmp_path / "none.safetensors"))


def test_examples_refuse_what_are_no_games() -> None:
    rules = Rules()
    arrays = played(rules, 1)
    for changed, expected in (
        ({"tile": 3}, r"tile: found 3 \(int\), expected an array of uint8"),
        ({"tile": arrays["tile"].astype(int)}, "expected an array of uint8"),
        ({"figure": arrays["figure"][1:]}, r"figure: found \d+ numbers, expected"),
        ({"final": arrays["final"] + np.int16(1)}, "points of player 0, expected"),
    ):
        with pytest.raises(_core.RecordError, match=expected):
            PlaneExamples(rules, {**arrays, **changed})
    with pytest.raises(_core.Error, match="expected 0 to"):
        PlaneExamples(rules, arrays).batch([10**6])


def test_examples_hold_the_inputs_of_their_positions() -> None:
    rules = Rules(players=4, river="2021")
    arrays = played(rules, 2)
    examples = PlaneExamples(rules, arrays)
    state = _core.GameState(rules)
    states = []
    for turn in range(arrays["game_turns"][0]):
        before = state.clone()
        state.apply_action(Action.from_int(int(arrays["tile"][turn]) << 8))
        if arrays["placement"][turn] == DISCARDED:
            continue
        states += [before, state.clone()]
        state.apply_action(Action.from_int(int(arrays["placement"][turn])))
        states.append(state.clone())
        state.apply_action(Action.from_int(int(arrays["figure"][turn])))
    rows = np.flatnonzero(examples.positions[:, 0] == 0).tolist()
    assert examples.positions[rows, 2].tolist() == [0, 1, 2] * (len(states) // 3)
    batch, expected = examples.batch(rows), _core.encode_planes(states)
    for name in ("planes", "mask", "globals", "base"):
        np.testing.assert_array_equal(batch[name], expected[name])


def test_the_lead_is_shared_out_to_two_bins_with_its_mean() -> None:
    leads = torch.tensor([-100.0, -60.0, -3.5, 0.0, 7.0, 59.9, 200.0])
    target = lead_target(leads)
    bins = ENCODER["lead_lowest"] + ENCODER["lead_bin_points"] * torch.arange(target.shape[1])
    torch.testing.assert_close(target.sum(1), torch.ones(len(leads)))
    torch.testing.assert_close(target @ bins, leads.clamp(-60, 60))
    assert ((target > 0).sum(1) <= 2).all()


def test_the_policy_loss_is_the_cross_entropy_over_legal_actions(
    examples: tuple[ResnetExamples, ResnetExamples],
) -> None:
    taught = examples[0]
    batch = taught.load(taught.batches(32)[0])
    height, width = batch.mask.shape[2:]
    generator = torch.Generator().manual_seed(2)
    policy = torch.randn(len(batch), ENCODER["policy_planes"], height, width, generator=generator)
    no_figure = torch.randn(len(batch), generator=generator)
    nothing = torch.zeros(0)
    logits = torch.cat([policy.flatten(1), no_figure[:, None]], 1)
    losses = []
    for row in batch.policy_row.unique():
        own = batch.policy_row == row
        legal = logits[row, batch.policy_index[own]]
        losses.append(-(batch.policy_share[own] * torch.log_softmax(legal, 0)).sum())
    loss = policy_loss(Outputs(nothing, nothing, nothing, policy, no_figure), batch)
    torch.testing.assert_close(loss, torch.stack(losses).mean())


def fitted(
    examples: tuple[ResnetExamples, ResnetExamples],
    folder: Path | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Resnet, list[dict[str, Any]]]:
    network = make_resnet(SHAPE, seed=1)
    metrics = fit_resnet(
        *examples, network=network, options=FIT, seed=3, folder=folder, stopped=stopped
    )
    return network, metrics


def test_training_lowers_the_losses_and_is_the_same_again(
    examples: tuple[ResnetExamples, ResnetExamples],
) -> None:
    (first, metrics), (again, _) = fitted(examples), fitted(examples)
    assert metrics[1]["loss_value"] < metrics[0]["loss_value"]
    assert metrics[1]["held_out_explained"] > metrics[0]["held_out_explained"]
    for name, weights in first.state_dict().items():
        assert torch.equal(weights, again.state_dict()[name])


def test_a_stopped_training_goes_on_to_the_same_weights(
    examples: tuple[ResnetExamples, ResnetExamples], tmp_path: Path
) -> None:
    steps = iter(range(100))
    with pytest.raises(StoppedError):
        fitted(examples, tmp_path, lambda: next(steps) == 4)
    network, metrics = fitted(examples, tmp_path)
    whole, expected = fitted(examples)
    assert metrics == expected
    for name, weights in whole.state_dict().items():
        assert torch.equal(weights, network.state_dict()[name])


def test_a_training_that_is_not_finite_stops_with_its_batch(
    examples: tuple[ResnetExamples, ResnetExamples], tmp_path: Path
) -> None:
    network = make_resnet(SHAPE, seed=1)
    with torch.no_grad():
        network.stem.weight[0, 0] = torch.nan
    with pytest.raises(TrainingError, match=r"found loss nan in pass 1, step 1.*saved"):
        fit_resnet(examples[0], network=network, options=FIT, folder=tmp_path)
    with np.load(tmp_path / OFFENDING) as saved:
        assert saved["planes"].shape[0] == FIT.batch


def test_the_learner_trains_a_network_that_plays(shard: Path, tmp_path: Path) -> None:
    learner = ResnetLearner()
    tables: dict[str, dict[str, Any]] = {
        "network": {"channels": 8, "blocks": 2},
        "labels": {"keep": 0.01, "keep_policy": 0.1},
        "selfplay": {"simulations": 4, "search": {"exploration": 1.0}},
        "fit": {"passes": 1},
    }
    read = {name: learner.check(name, table, name) for name, table in tables.items()}
    out = tmp_path / "net.safetensors"
    job = TrainingJob(
        shards=[shard],
        out=out,
        start=None,
        player=None,
        network=read["network"],
        labels=read["labels"],
        fit=read["fit"],
        seed=1,
        threads=1,
        folder=tmp_path,
    )
    result = learner.train(job, Watch())
    assert result["passes"][0]["pass"] == 1
    assert result["examples"]["taught"]["positions"] > 0
    assert load_resnet(out).shape == SHAPE
    arrays = learner.self_play(Rules(), read["selfplay"], out, 1, 0, 1, 1)
    assert len(arrays["game_turns"]) == 1
    assert learner.agent(out).startswith(f"resnet-search:network={out}")


def test_the_learner_refuses_unknown_keys() -> None:
    learner = ResnetLearner()
    for section in ("network", "labels", "selfplay", "fit"):
        with pytest.raises(ConfigError, match=f"{section}.*nonsense"):
            learner.check(section, {"nonsense": 1}, section)
