"""Networks by name: files of weights that ship with the package, or of your own.

An agent's option ``network`` is a name such as ``base-1``, which stands for
``carc/data/networks/base-1.safetensors``, or the path of a file that ends with ``.safetensors``,
relative to the TOML file that names it or, on a command line, to the working directory. Beside it
the full options of an agent hold the checksum of the weights as ``network_checksum``: they are part
of what makes games comparable.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carc._core import read_weights
from carc.config import nearest
from carc.errors import ConfigError

NETWORK = "network"
CHECKSUM = "network_checksum"
ENDING = ".safetensors"
FOLDER = Path(__file__).parent / "data" / "networks"
LONGEST = 60  # characters of a name in a message


@dataclass(frozen=True)
class Network:
    """What a file of weights says about itself.

    format: the kind of network. encoder: the version of its inputs. checksum: 16 hexadecimal
    digits over the weights and the metadata. parameters: their number. note: what its makers say.
    """

    name: str
    path: Path
    format: str
    encoder: str
    checksum: str
    bytes: int
    parameters: int
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Return the same, ready for JSON."""
        return {**vars(self), "path": str(self.path)}


def read_network(path: Path) -> Network:
    """Describe a file of weights; raises WeightsError for a damaged one."""
    metadata, tensors = read_weights(path)
    return Network(
        name=path.name.removesuffix(ENDING),
        path=path,
        format=metadata["format"],
        encoder=metadata["encoder"],
        checksum=metadata["checksum"],
        bytes=path.stat().st_size,
        parameters=sum(values.size for values in tensors.values()),
        note=metadata.get("note", ""),
    )


def shipped() -> list[str]:
    """Return the names of the networks of the package."""
    return sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))


def network_file(text: str) -> Path:
    """Return the file that a network's name or path stands for.

    Raises ConfigError for an unknown name, which says the nearest, and for a missing file.
    """
    if text.endswith(ENDING):
        path = Path(text)
        if "\0" in text or not path.is_file():
            raise ConfigError(f"{NETWORK}: found no file {_shown(text)}, expected one of weights")
        return path
    known = shipped()
    if text in known:
        return FOLDER / f"{text}{ENDING}"
    hint = f", did you mean '{nearest(text[:LONGEST], known)}'?" if known else " (none ships)."
    raise ConfigError(
        f"{NETWORK}: unknown network {_shown(text)}{hint} "
        f"Expected a name that `carc networks` lists or a file that ends with {ENDING}"
    )


def from_file_of(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return options of a file in this folder with the network's path as seen from outside it."""
    network = options.get(NETWORK)
    if not isinstance(network, str) or not network.endswith(ENDING):
        return dict(options)
    return {**options, NETWORK: str(folder / network)}


def with_checksum(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the checksum of their network, if they name one."""
    network = options.get(NETWORK)
    if not isinstance(network, str) or not network:
        return dict(options)
    return {**options, CHECKSUM: read_network(network_file(network)).checksum}


def with_file(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as C++ takes them: the network is a file, its checksum is left out.

    Raises ConfigError if the file does not have the checksum that the options name.
    """
    own = dict(options)
    expected = own.pop(CHECKSUM, None)
    network = own.get(NETWORK)
    if not isinstance(network, str) or not network:
        return own
    path = network_file(network)
    if expected is not None:
        check_network(network, expected)
    return {**own, NETWORK: str(path)}


def check_network(network: str, expected: str) -> None:
    """Raise ConfigError unless the network has this checksum."""
    found = read_network(network_file(network)).checksum
    if found != expected:
        raise ConfigError(
            f"{NETWORK}: found weights of {_shown(network)} with the checksum {found}, "
            f"expected {expected}"
        )


def _shown(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 3 * LONGEST else f"{shown[: 3 * LONGEST]}...'"
