"""From a file, or its contents, to a dump: finds out the format, and refuses where two formats disagree."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats import FORMATS, Format, Input
from argpack.hexdump.formats.input import quoted

if TYPE_CHECKING:
    import os

    from argpack.hexdump.dump import Dump

# The largest argument buffer of AITER is 704 bytes; a text dump takes a few characters per byte.
_LARGEST_FILE = 1 << 20


def read(path: str | os.PathLike[str], *, format_name: str | None = None) -> Dump:
    """The dump in a file, `-` for standard input; its source is the path. Raises InputError.

    `format_name` is a name of the format table; None detects the format.
    """
    return _dump(_load(path), format_name)


def read_pair(
    first: str | os.PathLike[str], second: str | os.PathLike[str], *, format_name: str | None = None
) -> tuple[Dump, Dump]:
    """Two dumps, which may have different formats: `format_name` is for those that it fits, for both if for none."""
    contents = _load(first), _load(second)
    if format_name is None:
        return _dump(contents[0], None), _dump(contents[1], None)
    fits = [_named(format_name).fits(content) for content in contents]
    a, b = (
        _dump(c, format_name if fit or not any(fits) else None) for c, fit in zip(contents, fits, strict=True)
    )
    return a, b


def parse(data: bytes | str, *, source: str = "dump", format_name: str | None = None) -> Dump:
    """The dump that `data` is in some format of the table. Raises InputError with file and line.

    Where more than one format fits and their bytes differ, it refuses and names them: `format_name` decides.
    """
    return _dump(
        _checked(source, data.encode(errors="replace") if isinstance(data, str) else bytes(data)), format_name
    )


def _load(path: str | os.PathLike[str]) -> Input:
    name = "standard input" if str(path) == "-" else str(path)
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(_LARGEST_FILE + 1)
        else:
            # Not pathlib: importing it takes a third of the time that Python takes to start.
            with io.BufferedReader(io.FileIO(path)) as file:
                data = file.read(_LARGEST_FILE + 1)
    except IsADirectoryError:
        raise InputError(f"{name}: expected a file, found a directory") from None
    except (OSError, ValueError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: {text}") from None
    return _checked(name, data)


def _checked(source: str, data: bytes) -> Input:
    if not data:
        raise InputError(f"{source}: expected a dump, found an empty file")
    if len(data) > _LARGEST_FILE:
        raise InputError(f"{source}: expected a dump of at most {_LARGEST_FILE} bytes, found more")
    content = Input(source, data)
    if content.text is not None and not content.lines:
        raise InputError(f"{source}: expected a dump, found only blanks")
    return content


def _dump(content: Input, format_name: str | None) -> Dump:
    if format_name is not None:
        return _named(format_name).read(content)
    candidates = [entry for entry in FORMATS if entry.fits(content)]
    if not candidates:
        number, line = content.lines[0]
        names = [entry.name for entry in FORMATS]
        raise content.error(
            number, f"expected a dump ({', '.join(names[:-1])} or {names[-1]}), found {quoted(line)}"
        )
    return _agreed(content, candidates)


def _agreed(content: Input, candidates: list[Format]) -> Dump:
    readings: list[tuple[Format, Dump]] = []
    faults: list[InputError] = []
    for entry in candidates:
        try:
            readings.append((entry, entry.read(content)))
        except InputError as fault:
            faults.append(fault)
    if not readings:
        raise faults[0]
    different = [entry.name for entry, dump in readings if dump != readings[0][1]]
    if different:
        names = " and ".join([readings[0][0].name, *different])
        raise InputError(
            f"{content.source}: {names} both fit, with different bytes: choose one with --format"
        )
    return readings[0][1]


def _named(name: str) -> Format:
    for entry in FORMATS:
        if entry.name == name:
            return entry
    raise InputError(f"expected a dump format of {', '.join(f.name for f in FORMATS)}, found {name!r}")
