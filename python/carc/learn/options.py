"""Reading tables of a configuration into dataclasses: every key is known, every value in range."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from carc.config import check_keys, read_choice, read_flag, read_number, read_whole
from carc.errors import ConfigError

T = TypeVar("T")
# Of a field: least and most, the choices of a text, or None for any text or for true and false.
Range: TypeAlias = tuple[float, float] | Sequence[str] | None


def read_table(value: object, label: str) -> dict[str, Any]:
    """Return a copy of a table; raises ConfigError for anything else."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{label}: found {value!r}, expected a table")
    return dict(value)


def read_options(
    default: T,
    ranges: Mapping[str, Range],
    table: object,
    label: str,
    spelled: Mapping[str, str] | None = None,
) -> T:
    """Return a dataclass with the values of a table in place of the default's.

    ranges: of the fields that the table may set. spelled: keys that differ from the field's name.
    """
    values = read_table(table, label)
    keys = {(spelled or {}).get(name, name): name for name in ranges}
    check_keys(values, keys, label)
    read = {
        keys[key]: read_value(getattr(default, keys[key]), ranges[keys[key]], value, label, key)
        for key, value in values.items()
    }
    return dataclasses.replace(default, **read)  # type: ignore[type-var]


def read_value(default: object, allowed: Range, value: object, label: str, key: str) -> Any:
    """Read one value, of the type that the default has."""
    name = f"{label}: {key}"
    if isinstance(default, bool):
        return read_flag(value, name)
    if isinstance(default, str):
        if allowed is not None:
            return read_choice(value, name, [str(each) for each in allowed])
        if not isinstance(value, str):
            raise ConfigError(f"{name}: found {value!r}, expected a text")
        return value
    assert allowed is not None
    least: Any
    most: Any
    least, most = allowed
    if isinstance(default, int):
        return read_whole(value, name, int(least), int(most))
    return read_number(value, name, least, most)
