"""Networks by name: which file a name stands for; agents and stored games refuse other weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import carc
from carc import networks
from carc.agents import agent_settings, load_agent, resolved_options
from carc.networks import network_file, read_network, shipped, with_checksum, with_file
from carc.replay import why_not_reproducible
from command_line import carc as run
from command_line import carc_json, error_line


def write(path: Path, value: float = 1.0, **metadata: str) -> str:
    """Write a small network and return its checksum."""
    tensors = {"a": np.full((2, 3), value, dtype=np.float32), "b": np.ones(4, dtype=np.float32)}
    return carc.write_weights(path, {"format": "carc-test", "encoder": "1", **metadata}, tensors)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the one of the package, with two networks."""
    folder = tmp_path / "networks"
    folder.mkdir()
    write(folder / "base-1.safetensors", note="the first")
    write(folder / "players-2.safetensors", 2.0)
    monkeypatch.setattr(networks, "FOLDER", folder)
    return folder


def test_every_network_of_the_package_is_sound() -> None:
    for name in shipped():
        network = read_network(network_file(name))
        assert network.name == name
        assert network.format in ("carc-feature-net", "carc-resnet")
        assert network.note


def test_a_name_stands_for_a_file_of_the_package(folder: Path) -> None:
    assert shipped() == ["base-1", "players-2"]
    assert network_file("base-1") == folder / "base-1.safetensors"


@pytest.mark.parametrize("name", ["bse-1", "base", "base-1.toml", "../networks/base-1"])
def test_an_unknown_name_is_refused_with_the_nearest(folder: Path, name: str) -> None:
    with pytest.raises(carc.ConfigError, match=r"unknown network .*did you mean 'base-1'\?"):
        network_file(name)


@pytest.mark.parametrize("name", ["none.safetensors", "a\0.safetensors", "x" * 9999])
def test_what_is_no_file_is_refused_shortly(folder: Path, name: str) -> None:
    with pytest.raises(carc.ConfigError, match="network: ") as caught:
        network_file(name)
    assert len(str(caught.value)) < 400


def test_a_network_says_what_it_is(folder: Path) -> None:
    path = folder / "base-1.safetensors"
    network = read_network(path)
    assert (network.name, network.format, network.encoder) == ("base-1", "carc-test", "1")
    assert (network.parameters, network.bytes) == (10, path.stat().st_size)
    assert (network.checksum, network.note) == (carc.read_weights(path)[0]["checksum"], "the first")


def test_a_path_in_a_file_is_sought_beside_it(tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    agents.mkdir()
    checksum = write(agents / "mine.safetensors")
    (agents / "mine.toml").write_text("base = 'greedy'\nnetwork = 'mine.safetensors'\n")
    (tmp_path / "other.toml").write_text("base = 'agents/mine.toml'\n")
    (tmp_path / "third.toml").write_text("base = 'greedy'\nweights = 'agents/points.toml'\n")
    (agents / "points.toml").write_text("network = 'mine.safetensors'\n")
    for name in ("agents/mine.toml", "other.toml", "third.toml"):
        options = resolved_options(str(tmp_path / name))
        assert Path(options["network"]) == agents / "mine.safetensors"
        assert options["network_checksum"] == checksum


def test_a_path_in_text_is_sought_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checksum = write(tmp_path / "mine.safetensors")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "plain.toml").write_text("base = 'greedy'\n")
    monkeypatch.chdir(tmp_path)
    options = resolved_options("agents/plain.toml:network=mine.safetensors")
    assert (options["network"], options["network_checksum"]) == ("mine.safetensors", checksum)


def test_a_name_stays_a_name_until_the_agent_is_made(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("base = 'greedy'\nnetwork = 'base-1'\n")
    name = str(tmp_path / "mine.toml")
    assert agent_settings(name)[1]["network"] == "base-1"
    options = resolved_options(name)
    assert options["network"] == "base-1"
    assert with_file(options)["network"] == str(folder / "base-1.safetensors")
    assert "network_checksum" not in with_file(options)


def test_options_without_a_network_stay_as_they_are() -> None:
    for options in ({}, {"noise": 1}, {"network": ""}, {"network": 3}):
        assert with_checksum(options) == options
        assert with_file(options) == options


def test_other_weights_are_another_configuration(folder: Path) -> None:
    before = resolved_options("greedy:network=base-1")
    write(folder / "base-1.safetensors", 3.0)
    assert resolved_options("greedy:network=base-1") != before


def test_an_agent_is_not_made_with_other_weights(folder: Path) -> None:
    options = resolved_options("greedy:network=base-1")
    kind = options.pop("kind")
    found = write(folder / "base-1.safetensors", 3.0)
    message = (
        f"weights of 'base-1' with the checksum {found}, expected {options['network_checksum']}"
    )
    with pytest.raises(carc.ConfigError, match=message):
        load_agent(kind, options, "mine")


def test_a_game_with_other_weights_is_not_reproducible(folder: Path) -> None:
    options = resolved_options("greedy:network=base-1")
    assert why_not_reproducible(options) is None
    found = write(folder / "base-1.safetensors", 3.0)
    reason = why_not_reproducible(options)
    assert reason is not None
    assert (
        f"played with other weights: network: found weights of 'base-1' with the checksum {found}"
        in reason
    )
    (folder / "base-1.safetensors").write_bytes(b"damaged")
    assert "found 7 bytes" in (why_not_reproducible(options) or "")
    (folder / "base-1.safetensors").unlink()
    assert "unknown network 'base-1', did you mean" in (why_not_reproducible(options) or "")


def test_the_command_lists_what_ships() -> None:
    found = carc_json("networks")
    assert [network["name"] for network in found["networks"]] == shipped()
    assert run("networks").returncode == 0


def test_the_command_describes_files(tmp_path: Path) -> None:
    checksum = write(tmp_path / "mine.safetensors", note="after 3 rounds")
    (network,) = carc_json("networks", tmp_path / "mine.safetensors")["networks"]
    assert network["checksum"] == checksum
    assert network["name"] == "mine"
    assert network["parameters"] == 10
    shown = run("networks", tmp_path / "mine.safetensors").stdout
    assert checksum in shown
    assert "after 3 rounds" in shown


def test_the_command_refuses_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    path.write_bytes(b"x" * 100)
    done = run("networks", path)
    assert done.returncode == 2
    assert f"{path}: found a header of" in error_line(done)
