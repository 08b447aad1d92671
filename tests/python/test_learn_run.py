"""The loop of self-play, training and gate: it goes on after any stop, and ends the same."""

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

import carc
from carc.learn.config import load_training
from carc.learn.run import train
from carc.learn.run_folder import RunFolder
from carc.learn.stopping import StoppedError
from carc.learn.surroundings import Surroundings
from command_line import ROOT, carc_json, error_line, read_until, start
from command_line import carc as run
from training import tiny_config

# Of a run's files, those that must not depend on how it was stopped; the others hold times.
SAME = ("games/**/*.parquet", "networks/*", "champion.safetensors", "config.json")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a run that depend on its configuration alone."""
    files = [path for pattern in SAME for path in folder.glob(pattern)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def without_times(records: Any) -> Any:
    """Return what was measured but for the times and how often it was stopped."""
    if isinstance(records, list):
        return [without_times(each) for each in records]
    if isinstance(records, dict):
        skipped = ("seconds", "played", "run", "reason", "opponent", "champion")
        return {k: without_times(v) for k, v in records.items() if k not in skipped}
    return records


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was not stopped."""
    folder = tmp_path_factory.mktemp("through")
    train(load_training(tiny_config(folder / "a.toml")), folder / "run")
    return folder / "run"


def test_a_run_holds_all_that_it_made(through: Path) -> None:
    names = set(contents(through))
    assert "champion.safetensors" in names
    assert {"networks/round-000.safetensors", "networks/round-001.safetensors"} <= names
    shards = [name for name in names if name.startswith("games/")]
    assert len(shards) == 2 * (3 + 1)  # 17 games in shards of 8, and 7
    stages = [(line["round"], line["stage"]) for line in metrics(through)]
    passes = ["pass"] * 3
    expected = [(r, s) for r in (0, 1) for s in ("selfplay", *passes, "fit", "gate")]
    assert stages == expected
    assert json.loads((through / "config.json").read_text())["carc"] == carc.__version__
    assert not list(through.rglob("*.part"))
    assert not list(through.rglob("*.npz"))


def test_the_second_round_learns_from_both_and_is_played_by_the_first(through: Path) -> None:
    from carc.learn.games import read_games
    from carc.learn.selfplay import network_hash

    first, second = (read_games(next((through / f"games/round-00{i}").iterdir())) for i in (0, 1))
    assert first.network == ""
    assert second.network == network_hash(through / "networks/round-000.safetensors")
    fits = [line for line in metrics(through) if line["stage"] == "fit"]
    before, after = (each["examples"]["taught"]["positions"] for each in fits)
    assert after > 1.5 * before


def test_a_run_that_is_over_plays_nothing_and_may_get_more_rounds(
    through: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    train(load_training(tiny_config(tmp_path / "a.toml")), folder)
    before = contents(folder)
    assert before == contents(through)
    again = carc_json("train", tmp_path / "a.toml", "--run", folder)
    assert len(again["rounds"]) == 2
    assert contents(folder) == before
    more = tmp_path / "more.toml"
    text = (tmp_path / "a.toml").read_text()
    more.write_text(text.replace("[selfplay]", "[[round]]\ngames = 8\n\n[selfplay]", 1))
    assert len(carc_json("train", more, "--run", folder)["rounds"]) == 3
    after = contents(folder)
    assert {name: after[name] for name in before if name.startswith("games")} == {
        name: data for name, data in before.items() if name.startswith("games")
    }


@pytest.mark.parametrize("kills", [4, pytest.param(25, marks=pytest.mark.long)])
def test_killed_and_resumed_it_ends_as_if_it_had_run_through(
    kills: int, through: Path, tmp_path: Path
) -> None:
    words = ("train", tiny_config(tmp_path / "a.toml"), "--run", tmp_path / "run")
    moments = random.Random(kills)
    for _ in range(kills):
        with start(*words, cwd=tmp_path) as process:
            try:
                process.wait(timeout=moments.uniform(1.5, 7))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    carc_json(*words, cwd=tmp_path)
    assert contents(tmp_path / "run") == contents(through)
    assert without_times(metrics(tmp_path / "run")) == without_times(metrics(through))


def test_stopped_at_every_question_it_ends_as_if_it_had_run_through(
    through: Path, tmp_path: Path
) -> None:
    config = load_training(tiny_config(tmp_path / "a.toml"))
    moments = random.Random(1)
    stops = 0
    while True:
        left = iter(range(moments.randrange(1, 12)))
        around = Surroundings(stopped=lambda left=left: next(left, None) is None)
        try:
            train(config, tmp_path / "run", around)
            break
        except StoppedError:
            stops += 1
    assert stops > 3
    assert contents(tmp_path / "run") == contents(through)
    assert without_times(metrics(tmp_path / "run")) == without_times(metrics(through))


def test_ctrl_c_stops_and_says_how_to_go_on(tmp_path: Path) -> None:
    config = tiny_config(tmp_path / "a.toml", pairs=100_000)
    words = ("train", config, "--run", tmp_path / "run")
    with start(*words, cwd=tmp_path) as process:
        assert process.stderr is not None
        read_until(process.stderr, "training: ")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"Go on with: carc train {config} --run {tmp_path / 'run'}" in errors
    assert not list((tmp_path / "run").rglob("*.part"))


def test_one_process_at_a_time(through: Path, tmp_path: Path) -> None:
    path = tiny_config(tmp_path / "a.toml")
    with RunFolder(tmp_path / "run", load_training(path)):
        line = error_line(run("train", path, "--run", tmp_path / "run", "-q"))
    assert "found another process that trains in it" in line


def test_another_configuration_is_refused_by_what_differs(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    RunFolder(folder, load_training(tiny_config(tmp_path / "a.toml"))).close()
    other = tiny_config(tmp_path / "b.toml", seed=6)
    line = error_line(run("train", other, "--run", folder, "-q"))
    assert "found a run with seed 5, expected 6" in line
    assert "another --run" in line


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("mine")
    path = tiny_config(tmp_path / "a.toml")
    line = error_line(run("train", path, "--run", tmp_path / "run", "-q"))
    assert "found other files, expected a run or an empty folder" in line


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    config = load_training(tiny_config(tmp_path / "a.toml"))
    part = tmp_path / "run" / ".config.json.x1.part"
    part.parent.mkdir()
    part.touch()
    RunFolder(tmp_path / "run", config).close()
    assert not part.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "rounds": 3}', "{"])
def test_a_damaged_state_is_one_error(text: str, tmp_path: Path) -> None:
    config = load_training(tiny_config(tmp_path / "a.toml"))
    RunFolder(tmp_path / "run", config).close()
    (tmp_path / "run" / "state.json").write_text(text)
    with pytest.raises(carc.TrainingError, match=r"state.json: found .*, expected"):
        RunFolder(tmp_path / "run", config)


def test_damaged_games_are_named_and_played_again_once_they_are_deleted(
    through: Path, tmp_path: Path
) -> None:
    path = tiny_config(tmp_path / "a.toml")
    config = load_training(path)
    asked = iter(range(9))
    with pytest.raises(StoppedError):
        train(config, tmp_path / "run", Surroundings(stopped=lambda: next(asked, None) is None))
    shard = sorted((tmp_path / "run" / "games").rglob("*.parquet"))[0]
    shard.write_bytes(shard.read_bytes()[:-20])
    assert str(shard) in error_line(run("train", path, "--run", tmp_path / "run", "-q"))
    shard.unlink()
    train(config, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(through)


def test_nan_stops_the_run_with_the_batch_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from carc import _core

    honest = _core.rebuild

    def broken(*arguments: Any, **options: Any) -> Any:
        arrays = honest(*arguments, **options)
        arrays["target"][0] = float("nan")
        return arrays

    monkeypatch.setattr(_core, "rebuild", broken)
    config = load_training(tiny_config(tmp_path / "a.toml"))
    with pytest.raises(carc.TrainingError, match="found loss nan in pass 2"):
        train(config, tmp_path / "run")
    assert (tmp_path / "run" / "fit" / "round-000" / "offending-batch.npz").exists()


def test_rejected_networks_are_kept_with_the_reason_and_do_not_play(tmp_path: Path) -> None:
    path = tiny_config(tmp_path / "a.toml")
    path.write_text(path.read_text().replace("above = -200", "above = 900"))
    result = train(load_training(path), tmp_path / "run")
    assert result["champion"] is None
    gates = [each["gate"] for each in result["rounds"]]
    assert [gate["accepted"] for gate in gates] == [False, False]
    assert all("is not above 900" in gate["reason"] for gate in gates)
    assert len(list((tmp_path / "run" / "networks").iterdir())) == 2
    assert not (tmp_path / "run" / "champion.safetensors").exists()


def test_an_initial_network_plays_first_and_must_be_beaten(through: Path, tmp_path: Path) -> None:
    from carc.learn.games import read_games
    from carc.learn.selfplay import network_hash

    network = through / "champion.safetensors"
    path = tiny_config(tmp_path / "a.toml")
    text = path.read_text().replace("above = -200", "above = 900")
    path.write_text(f"initial = '{network}'\n{text}")
    result = train(load_training(path), tmp_path / "run")
    assert result["champion"] == str(tmp_path / "run" / "networks" / "initial.safetensors")
    shard = sorted((tmp_path / "run" / "games").rglob("*.parquet"))[0]
    assert read_games(shard).network == network_hash(network)


def test_the_parts_do_what_the_loop_does(tmp_path: Path) -> None:
    words = ("selfplay", "games", "--games", 12, "--shard", 5, "--players", 3, "--seed", 4)
    played = carc_json(*words, "-o", "softmax_rate=0.3", cwd=tmp_path)
    assert (played["played"], played["kept"], len(played["files"])) == (12, 0, 3)
    again = carc_json(*words, "-o", "softmax_rate=0.3", cwd=tmp_path)
    assert (again["played"], again["kept"]) == (0, 12)
    options = ("-o", "batch=64", "-o", "block=16", "-o", "dense_passes=1", "-o", "joint_passes=1")
    fitted = carc_json("fit", "games", "--out", "a.safetensors", *options, cwd=tmp_path)
    assert len(fitted["passes"]) == 2
    assert (tmp_path / "a.safetensors").exists()
    assert not (tmp_path / "a.safetensors.fit").exists()
    carc_json("selfplay", "more", "--games", 4, "--network", "a.safetensors", cwd=tmp_path)
    line = error_line(run("selfplay", "x", "-o", "softmax=1", cwd=tmp_path))
    assert "unknown key 'softmax', did you mean 'softmax_rate'?" in line
    line = error_line(run("fit", "nothing", "--out", "b.safetensors", cwd=tmp_path))
    assert "nothing" in line


def test_a_cluster_plays_the_games_of_one_thread(through: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    words = ("train", tiny_config(tmp_path / "a.toml"), "--run", tmp_path / "run")
    carc_json(*words, "--cluster", "local", "--concurrency", 2, cwd=tmp_path)
    assert contents(tmp_path / "run") == contents(through)


def test_the_smoke_training_beats_random(tmp_path: Path) -> None:
    config = ROOT / "configs" / "training" / "smoke.toml"
    result = carc_json("train", config, "--run", tmp_path / "run")
    first = result["rounds"][0]["gate"]
    assert first["accepted"], first["reason"]
    assert first["opponent"] == "random"
    assert result["seconds"] < 600  # two minutes on two cores of their own
