"""Training: the same weights every time, also after stops; it learns; and NaN stops it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pyarrow")

import carc
from carc.learn.encoder import KINDS, SEATS, UNIT, encoder
from carc.learn.examples import Examples, load_examples
from carc.learn.fit import OFFENDING, StoppedError, fit
from carc.learn.labels import LabelOptions
from carc.learn.network import FeatureNet
from carc.learn.settings import CHECKPOINT, FitOptions
from training import make_games, played

SMALL = FitOptions(dense_passes=1, joint_passes=2, batch=64, block=16)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> tuple[Examples, Examples]:
    folder = tmp_path_factory.mktemp("games")
    files = played(folder / "two", 24, 12)
    files += played(folder / "three", 12, 12, rules=carc.Rules(players=3, river="2021"))
    return load_examples(files, labels=LabelOptions(keep=0.5), held_out=0.1)


def weights(network: Any) -> Any:
    return torch.cat([each.detach().flatten() for each in network.state_dict().values()])


def after(steps: int) -> Callable[[], bool]:
    """Return a function that says True when it is asked for the last of some times."""
    asked = iter(range(1, steps))
    return lambda: next(asked, None) is None


def copy_of(examples: Examples) -> Examples:
    return Examples({name: each.copy() for name, each in examples.arrays.items()})


# --- Examples -------------------------------------------------------------------------------------


def test_games_are_in_one_part_only(examples: tuple[Examples, Examples]) -> None:
    taught, held_out = examples
    for part in examples:
        assert len(part) == len(part.arrays["score"])
        for kind in KINDS:
            positions = part.arrays[f"{kind}_position"]
            assert (np.diff(positions) >= 0).all()
            assert 0 <= positions.min() <= positions.max() < len(part)
    assert 0 < len(held_out) < len(taught)
    assert set(taught.statistics()["players"]) == {"2", "3"}


def test_a_batch_of_blocks_is_those_positions_with_their_rows(
    examples: tuple[Examples, Examples],
) -> None:
    taught, _ = examples
    blocks = [(40, 45), (3, 10)]
    batch = taught.batch(blocks)
    chosen = [*range(40, 45), *range(3, 10)]
    np.testing.assert_array_equal(batch.score.numpy(), taught.arrays["score"][chosen])
    for kind, rows in batch.features.items():
        positions = taught.arrays[f"{kind}_position"]
        expected = np.concatenate([taught.arrays[f"{kind}_inputs"][positions == p] for p in chosen])
        np.testing.assert_array_equal(rows.inputs.numpy(), expected)
        places = np.concatenate([np.full((positions == p).sum(), i) for i, p in enumerate(chosen)])
        np.testing.assert_array_equal(rows.position.numpy(), places)


def test_examples_are_the_same_however_games_are_cut_into_files(tmp_path: Path) -> None:
    labels = LabelOptions(keep=0.5)
    one, _ = load_examples(played(tmp_path / "one", 6, 6), labels=labels, held_out=0)
    many, _ = load_examples(played(tmp_path / "many", 6, 2), labels=labels, held_out=0, threads=2)
    assert len(one) == len(many)
    for name, array in one.arrays.items():
        if name != "game":  # counted within a file
            np.testing.assert_array_equal(array, many.arrays[name])


def test_no_files_are_one_error() -> None:
    with pytest.raises(carc.GamesError, match="found no files of games"):
        load_examples([])


@pytest.mark.parametrize(
    "change", [{"blend": 0.5}, {"bag_average": True}], ids=["lambda", "bag average"]
)
def test_other_targets_differ_from_the_end_of_the_game_but_not_much(
    change: dict[str, Any], tmp_path: Path
) -> None:
    network = tmp_path / "a.safetensors"
    FeatureNet(8, 8).save(network)
    labels = LabelOptions(network=str(network))
    files = played(tmp_path / "games", 8, 8, network=network)  # which gives the turns' values
    plain, _ = load_examples(files, labels=labels, held_out=0)
    other, _ = load_examples(files, labels=replace(labels, **change), held_out=0)
    np.testing.assert_array_equal(plain.arrays["score"], other.arrays["score"])
    np.testing.assert_array_equal(plain.arrays["target"], plain.arrays["final"])
    difference = np.abs(plain.arrays["target"] - other.arrays["target"])
    assert (difference > 0).mean() > 0.1
    assert np.isfinite(difference).all()
    assert difference.mean() < 60


# --- Training -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_weights_and_another_one_others(
    examples: tuple[Examples, Examples],
) -> None:
    found = [fit(*examples, seed=seed, options=SMALL) for seed in (1, 1, 2)]
    assert torch.equal(weights(found[0][0]), weights(found[1][0]))
    assert found[0][1] == found[1][1]
    assert not torch.equal(weights(found[0][0]), weights(found[2][0]))


@pytest.mark.parametrize(
    "options",
    [
        SMALL,
        FitOptions(
            dense_passes=1, joint_passes=1, batch=64, block=16, average=0.9, schedule="one-cycle"
        ),
    ],
)
def test_a_training_that_is_stopped_again_and_again_ends_with_the_same_weights(
    options: FitOptions, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    through, metrics = fit(*examples, options=options)
    stops = 0
    while True:
        try:
            network, again = fit(*examples, options=options, folder=tmp_path, stopped=after(5))
            break
        except StoppedError:
            stops += 1
    assert stops > 2
    assert torch.equal(weights(network), weights(through))
    assert again == metrics


@pytest.mark.parametrize("damage", [b"", b"PK", None])
def test_a_damaged_checkpoint_is_not_taken_up(
    damage: bytes | None, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    through, _ = fit(*examples, options=SMALL)
    with pytest.raises(StoppedError):
        fit(*examples, options=SMALL, folder=tmp_path, stopped=after(5))
    path = tmp_path / CHECKPOINT
    data = path.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]
    path.write_bytes(flipped if damage is None else damage)
    network, _ = fit(*examples, options=SMALL, folder=tmp_path)
    assert torch.equal(weights(network), weights(through))


def test_a_checkpoint_of_another_training_is_not_taken_up(
    examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    fit(*examples, options=SMALL, seed=2, folder=tmp_path)
    network, metrics = fit(*examples, options=SMALL, seed=1, folder=tmp_path)
    through, _ = fit(*examples, options=SMALL, seed=1)
    assert torch.equal(weights(network), weights(through))
    assert len(metrics) == 3


@pytest.mark.parametrize("schedule", ["constant", "cosine", "one-cycle"])
def test_training_explains_more_of_what_it_has_seen(
    schedule: str, examples: tuple[Examples, Examples]
) -> None:
    taught, _ = examples
    options = FitOptions(dense_passes=2, joint_passes=10, batch=64, block=16, schedule=schedule)
    _, metrics = fit(taught, taught, options=options)
    assert [each["phase"] for each in metrics] == ["dense"] * 2 + ["joint"] * 10
    assert metrics[-1]["explained"] > metrics[2]["explained"]
    assert metrics[-1]["explained"] > 0.3
    assert metrics[-1]["margin_rmse"] < metrics[2]["margin_rmse"]
    assert metrics[-1]["loss"] < metrics[2]["loss"]
    assert set(metrics[-1]["explained_by_players"]) == {"2", "3"}
    assert set(metrics[-1]["dense"]) == {*KINDS, "global"}


def test_the_number_of_threads_is_as_before(examples: tuple[Examples, Examples]) -> None:
    before = torch.get_num_threads()
    fit(*examples, options=SMALL)
    assert torch.get_num_threads() == before


def test_no_positions_are_one_error(examples: tuple[Examples, Examples]) -> None:
    taught, _ = examples
    none = Examples({name: each[:0] for name, each in taught.arrays.items()})
    with pytest.raises(carc.TrainingError, match="found no positions"):
        fit(none)


# --- Numbers that are not finite ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["city_targets", "global_targets", "target"])
def test_nan_in_the_labels_stops_with_the_batch_saved(
    name: str, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    broken = copy_of(examples[0])
    broken.arrays[name][7 if name == "target" else 70] = np.nan
    broken = Examples(broken.arrays)
    with pytest.raises(
        carc.TrainingError, match=r"found loss nan in pass \d .*, step \d+"
    ) as error:
        fit(broken, options=SMALL, folder=tmp_path)
    assert str(tmp_path / OFFENDING) in str(error.value)
    with np.load(tmp_path / OFFENDING) as saved:
        label = {"city_targets": "city.targets", "global_targets": "global.targets"}.get(name, name)
        assert np.isnan(saved[label]).any()
        assert len(saved["score"]) <= 64


def test_weights_that_are_not_finite_stop_the_training(
    examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    network = FeatureNet()
    steps = 0

    def loss(trained: Any, batch: Any) -> Any:
        nonlocal steps
        steps += 1
        bias = trained.get_parameter("city.0.bias").sum()
        return 1 + (0 * bias if steps < 3 else torch.sqrt(0 * bias))

    with pytest.raises(carc.TrainingError, match=r"weights that are not finite .* step 3"):
        fit(*examples, network=network, loss=loss, options=SMALL, folder=tmp_path)
    assert (tmp_path / OFFENDING).exists()


# --- Networks of one's own ------------------------------------------------------------------------


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cities = torch.nn.Linear(encoder().width("city"), 1)
        torch.nn.init.zeros_(self.cities.weight)
        torch.nn.init.zeros_(self.cities.bias)

    def forward(self, batch: Any) -> Any:
        rows = batch.features["city"]
        worth = UNIT * self.cities(batch.scaled("city")).squeeze(1)
        points = batch.score.flatten().index_add(0, rows.position * SEATS + rows.main, worth)
        return points.view(-1, SEATS)


def test_another_network_is_trained_by_its_margins_or_its_own_loss(
    examples: tuple[Examples, Examples],
) -> None:
    def own(network: Any, batch: Any) -> Any:
        return (batch.seated * (network(batch) - batch.target)).abs().mean()

    for loss in (None, own):
        network, metrics = fit(*examples, network=Linear(), loss=loss, options=SMALL)
        assert isinstance(network, Linear)
        assert [each["phase"] for each in metrics] == ["own"] * 3
        assert metrics[-1]["loss"] < metrics[0]["loss"]
        assert "dense" not in metrics[-1]
        assert "explained" in metrics[-1]


def test_games_of_searches_can_be_learned_from(tmp_path: Path) -> None:
    from carc.learn.games import write_games

    write_games(tmp_path / "a.parquet", make_games(4, simulations=8))
    taught, held_out = load_examples([tmp_path / "a.parquet"], labels=LabelOptions(blend=0.5))
    _, metrics = fit(taught, held_out, options=SMALL)
    assert np.isfinite(metrics[-1]["loss"])
