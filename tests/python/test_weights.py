"""Weights of networks as files: what Python writes and reads, and what is refused.

Every kind of damage to a file is in tests/cpp/neural/weights_test.cpp.
"""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import carc

METADATA = {"format": "carc-feature-net", "encoder": "3", "note": 'für "Tests"\n'}
TENSORS: dict[str, npt.NDArray[np.float32]] = {
    "city.0.weight": np.arange(6, dtype=np.float32).reshape(2, 3) - 0.5,
    "city.0.bias": np.array([1e-30, -3.4e38], dtype=np.float32),
    "scale": np.array(7, dtype=np.float32),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "net.safetensors"
    carc.write_weights(path, METADATA, TENSORS)
    return path


def assert_equal(
    found: dict[str, npt.NDArray[np.float32]], expected: dict[str, npt.NDArray[np.float32]]
) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == np.float32
        assert found[name].shape == values.shape
        assert found[name].tobytes() == values.tobytes()


def test_weights_come_back_bit_for_bit(path: Path) -> None:
    metadata, tensors = carc.read_weights(path, "carc-feature-net", 3)
    assert_equal(tensors, TENSORS)
    assert {key: metadata[key] for key in METADATA} == METADATA
    assert set(metadata) == {*METADATA, "checksum"}


def test_writing_returns_the_checksum(tmp_path: Path) -> None:
    checksum = carc.write_weights(tmp_path / "net.safetensors", METADATA, TENSORS)
    assert carc.read_weights(str(tmp_path / "net.safetensors"))[0]["checksum"] == checksum


def test_weights_that_were_read_are_written_as_the_same_file(path: Path) -> None:
    again = path.with_name("again.safetensors")
    carc.write_weights(again, *carc.read_weights(path))
    assert again.read_bytes() == path.read_bytes()


def test_arrays_that_are_read_are_ours_to_change(path: Path) -> None:
    _, tensors = carc.read_weights(path)
    tensors["city.0.weight"] += 1
    assert_equal(carc.read_weights(path)[1], TENSORS)


def test_arrays_may_lie_in_memory_as_they_like(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    given = {"turned": wide.T, "every second": wide[::2, ::-2]}
    carc.write_weights(path, METADATA, given)
    assert_equal(carc.read_weights(path)[1], given)


def test_checksum_covers_the_header_and_the_data_as_documented(path: Path) -> None:
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    checksum = header["__metadata__"].pop("checksum")
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    value = 0xCBF29CE484222325
    for byte in text.encode() + raw[8 + length :]:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    assert checksum == f"{value:016x}"


def test_safetensors_reads_our_files(path: Path) -> None:
    numpy_format = pytest.importorskip("safetensors.numpy")
    assert_equal(numpy_format.load_file(path), TENSORS)
    with pytest.importorskip("safetensors").safe_open(path, framework="numpy") as file:
        assert file.metadata()["encoder"] == "3"


def test_files_of_safetensors_need_our_checksum(path: Path, tmp_path: Path) -> None:
    numpy_format = pytest.importorskip("safetensors.numpy")
    metadata, tensors = carc.read_weights(path)
    resaved = tmp_path / "resaved.safetensors"
    del metadata["checksum"]
    numpy_format.save_file(tensors, resaved, metadata=metadata)
    with pytest.raises(carc.WeightsError, match="'checksum' is missing"):
        carc.read_weights(resaved)


def test_other_networks_are_refused_by_name(path: Path) -> None:
    with pytest.raises(carc.WeightsError, match="found 'carc-feature-net', expected 'carc-resnet'"):
        carc.read_weights(path, "carc-resnet", 3)
    with pytest.raises(carc.WeightsError, match="encoder: found version '3', expected '4'"):
        carc.read_weights(path, "carc-feature-net", 4)
    with pytest.raises(carc.WeightsError, match="one of format and encoder, expected both"):
        carc.read_weights(path, "carc-feature-net")


def test_every_changed_byte_is_refused_or_harmless(path: Path) -> None:
    raw = path.read_bytes()
    before = carc.read_weights(path)
    for index in range(len(raw)):
        damaged = bytearray(raw)
        damaged[index] ^= 0x55
        path.write_bytes(damaged)
        with contextlib.suppress(carc.WeightsError):
            metadata, tensors = carc.read_weights(path)
            assert metadata == before[0]
            assert_equal(tensors, before[1])


@pytest.mark.parametrize(
    ("metadata", "tensors", "message"),
    [
        ({"format": "x"}, {}, "'encoder' is missing"),
        ({**METADATA, "note": 3}, {}, r"metadata: 'note': found 3 \(int\), expected a text"),
        ({**METADATA, 3: "x"}, {}, r"metadata: key: found 3 \(int\)"),
        ({**METADATA, "note": "\ud800"}, {}, "a text in valid Unicode"),
        ({**METADATA, "note": "a\0"}, {}, "'note': found a NUL"),
        (METADATA, {3: TENSORS["scale"]}, r"name of a tensor: found 3 \(int\)"),
        (METADATA, {"": TENSORS["scale"]}, "name of a tensor: found 0 bytes"),
        (METADATA, {"a": [1.0]}, r"tensor 'a': found \[1.0\] \(list\), expected a NumPy array"),
        (METADATA, {"a": np.ones(2)}, "of float64, expected a NumPy array of float32"),
        (METADATA, {"a": np.ones(2, ">f4")}, "of >f4, expected a NumPy array of float32"),
        (METADATA, {"a": np.ones(0, "f4")}, r"found shape \[0\]"),
        (METADATA, {"a": np.ones((1,) * 9, "f4")}, "found 9 dimensions"),
        (METADATA, {"a": np.array([0, np.nan], "f4")}, "'a': found NaN at position 1"),
        (METADATA, {"a": np.array([-np.inf], "f4")}, "'a': found infinity at position 0"),
    ],
)
def test_what_cannot_be_read_is_not_written(
    tmp_path: Path, metadata: Any, tensors: Any, message: str
) -> None:
    with pytest.raises(carc.WeightsError, match=message):
        carc.write_weights(tmp_path / "net.safetensors", metadata, tensors)
    assert list(tmp_path.iterdir()) == []


def test_errors_are_of_the_family_and_name_the_file(tmp_path: Path) -> None:
    assert issubclass(carc.WeightsError, carc.Error)
    missing = tmp_path / "none.safetensors"
    with pytest.raises(carc.Error, match=f"{missing}: cannot open the weights: No such file"):
        carc.read_weights(missing)
    with pytest.raises(carc.Error, match="found a folder, expected a safetensors file"):
        carc.read_weights(tmp_path)
    with pytest.raises(carc.Error, match=r"path: found 3 \(int\), expected the path of a file"):
        carc.read_weights(3)  # type: ignore[arg-type]
