"""Writing files so that they are there completely or not at all."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Give a new, empty file in the folder of `path`; what is left of it is removed at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with errors_naming(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.fchmod(handle, 0o666 & ~current_umask())
    os.close(handle)
    try:
        yield Path(name)
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()


def read_bounded(path: Path, most: int) -> bytes:
    """Return a file's bytes; raises OSError for more than `most` of them, as a device may give."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(
            errno.EFBIG, f"found more than {most} bytes, expected a smaller file", str(path)
        )
    return data


def sync(path: Path) -> None:
    """Wait until the file or folder has reached the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, fsync it, and rename it over `path`."""
    with temporary_beside(path) as temporary, errors_naming(path):
        temporary.write_bytes(data)
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)


def appear(temporary: Path, path: Path) -> None:
    """Give a complete file its name; raises FileExistsError where there is one of that name."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: claim the name, then put the file there
        with errors_naming(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            temporary.replace(path)


@contextlib.contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Let errors of the file system name this path, not a temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def current_umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
