"""Several capture logs as one: files named and the files of folders, and the bytes of all their records in order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from argpack.errors import InputError
from argpack.hexdump.table import counted
from argpack.records.log import Log, Record, read_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


class Unread(NamedTuple):
    """A file of a folder in which no record could be read, and why."""

    source: str
    reason: str


def read_logs(
    paths: Sequence[str], *, format_name: str | None = None
) -> tuple[tuple[Log, ...], tuple[Unread, ...]]:
    """The logs of files, and of the files of folders by name, hidden ones left out; folders within are not entered.

    A file of a folder may be something else, such as a README: where no record can be read from it, it is among the
    unread. Raises InputError for a file that is named, as `read_log` does, and for a folder without any log.
    """
    logs: list[Log] = []
    unread: list[Unread] = []
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            logs.append(read_log(path, format_name=format_name))
            continue
        before = len(logs), len(unread)
        for file in _files(path):
            try:
                logs.append(read_log(file, format_name=format_name))
            except InputError as error:
                unread.append(Unread(file, str(error).removeprefix(file).lstrip(": ")))
        if len(logs) == before[0]:
            tried = len(unread) - before[1]
            why = f"found none in {counted(tried, 'file')}" if tried else "found no file"
            raise InputError(f"{path}: expected a folder with capture logs, {why}")
    return tuple(logs), tuple(unread)


def _files(folder: str) -> list[str]:
    try:
        return sorted(
            str(entry)
            for entry in Path(folder).iterdir()
            if entry.is_file() and not entry.name.startswith(".")
        )
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None


def keep(logs: Sequence[Log], wanted: Callable[[Record], bool]) -> tuple[Log, ...]:
    """The logs without the records that are not wanted, those left empty included. Raw records say nothing and stay."""
    return tuple(log._replace(records=tuple(r for r in log.records if wanted(r))) for log in logs)


def joined(logs: Sequence[Log], size: int, schema: str) -> tuple[bytes, bytes | None]:
    """Bytes and mask of all records, `size` bytes each; the mask is None where every byte is known.

    What a record lacks at its end is unknown, what it has beyond is left out. Raises InputError where raw records are
    no whole number of records of `schema`.
    """
    parts = [_bytes_of(log, size, schema) for log in logs]
    data = parts[0][0] if len(parts) == 1 else b"".join(part for part, _ in parts)
    if all(known is None for _, known in parts):
        return data, None
    return data, b"".join(known if known is not None else b"\1" * len(part) for part, known in parts)


def _bytes_of(log: Log, size: int, schema: str) -> tuple[bytes, bytes | None]:
    if log.format_name == "raw":
        if len(log.raw) % size:
            raise InputError(
                f"{log.source}: expected records of {size} bytes ({schema}), found {len(log.raw)} bytes, "
                f"{len(log.raw) % size} too many"
            )
        return log.raw, None
    data = b"".join(record.data[:size].ljust(size, b"\0") for record in log.records)
    known = b"".join(record.known[:size].ljust(size, b"\0") for record in log.records)
    return data, known if 0 in known else None


def beside(logs: Sequence[Log], size: int) -> dict[str, NDArray[Any]]:
    """Columns beside the arguments, for a file: `log` where there are several, `kernel` and `grid_x` to `grid_z`
    where any record says them; one that does not has the empty string or 0.
    """
    counts = [count(log, size) for log in logs]
    columns: dict[str, NDArray[Any]] = {}
    if len(logs) > 1:
        columns["log"] = np.repeat([log.source for log in logs], counts)
    if any(record.kernel for log in logs for record in log.records):
        rows = _rows(logs, counts)
        columns["kernel"] = np.array([record.kernel if record else "" for record in rows])
    if any(record.grid for log in logs for record in log.records):
        rows = _rows(logs, counts)
        for axis, name in enumerate(("grid_x", "grid_y", "grid_z")):
            sizes = [(*record.grid, 1, 1)[axis] if record and record.grid else 0 for record in rows]
            columns[name] = np.array(sizes, np.int64)
    return columns


def count(log: Log, size: int) -> int:
    """The records of a log, `size` bytes each where they are raw."""
    return len(log.raw) // size if log.format_name == "raw" else len(log.records)


def _rows(logs: Sequence[Log], counts: Sequence[int]) -> list[Record | None]:
    """Every record, None for one that is raw."""
    rows: list[Record | None] = []
    for log, many in zip(logs, counts, strict=True):
        rows += log.records or [None] * many
    return rows
