"""Files that a command writes: never over one that exists, unless told to."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


def check_new(path: str | Path, *, force: bool) -> None:
    """Raise InputError, before any work is done, where `to_write` will: the file exists, or its folder does not."""
    if not force and os.path.lexists(path):
        raise InputError(f"{path}: exists; --force overwrites it")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"{path}: cannot be written: its folder does not exist")


@contextlib.contextmanager
def to_write(path: str | Path, *, force: bool) -> Iterator[BinaryIO]:
    """The file, opened. Raises InputError where it exists and `force` is off, or cannot be written."""
    check_new(path, force=force)
    try:
        with Path(path).open("wb" if force else "xb") as file:
            yield file
    except FileExistsError:
        raise InputError(f"{path}: exists; --force overwrites it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_file(data: bytes, path: str | Path, *, force: bool) -> None:
    """Write a file. Raises InputError as `to_write` does."""
    with to_write(path, force=force) as file:
        file.write(data)
