"""Reads a capture log: a file of `argpack capture`, raw records end to end, lines of JSON, or text with dumps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.capture.layout import MAGIC
from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG_FORMATS = ("raw", "json-lines", "dumps")
_LOOKED_AT = 1 << 16  # bytes; what tells raw records from text shows in the first of them


class Record(NamedTuple):
    """One captured buffer: `place` is where the log has it, `known` a byte for each of `data`, 1 or 0.

    `kernel` and `grid` are empty where the log does not say them.
    """

    place: str
    data: bytes
    known: bytes
    kernel: str = ""
    grid: tuple[int, ...] = ()


class Log(NamedTuple):
    """A capture log. Of raw records only the bytes are there (`raw`): the schema says where each begins."""

    source: str
    format_name: str
    raw: bytes
    records: tuple[Record, ...]


def read_log(path: str, *, format_name: str | None = None) -> Log:
    """The log in a file. Raises InputError with the line, or naming the formats there are.

    A file of `argpack capture` gives its launches whose arguments were recorded. Other binary contents are raw
    records, text whose first line is a JSON object is lines of JSON, any other text holds dumps of any readable
    format; `format_name` decides otherwise.
    """
    if format_name is not None and format_name not in LOG_FORMATS:
        raise InputError(f"expected a log format of {', '.join(LOG_FORMATS)}, found {format_name!r}")
    try:
        data = Path(path).read_bytes()
    except IsADirectoryError:
        raise InputError(f"{path}: expected a file, found a directory") from None
    except (OSError, ValueError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: {text}") from None
    if not data:
        raise InputError(f"{path}: expected records, found an empty file")
    if format_name is None and data.startswith(MAGIC):
        return Log(path, "capture", b"", _launches(path))
    chosen = format_name or _detected(data)
    if chosen == "raw":
        return Log(path, chosen, data, ())
    records = tuple(_json_lines(path, data) if chosen == "json-lines" else _dumps(path, data))
    if not records:
        raise InputError(f"{path}: expected records, found none")
    return Log(path, chosen, b"", records)


def _launches(path: str) -> tuple[Record, ...]:
    from argpack.capture import read

    launches = [launch for launch in read(path).launches if launch.arguments]
    if not launches:
        raise InputError(f"{path}: expected launches with arguments, found none")
    return tuple(
        Record(f"{path}#{launch.number}", launch.arguments, launch.known, launch.kernel, launch.grid)
        for launch in launches
    )


def _detected(data: bytes) -> str:
    start = data[:_LOOKED_AT]
    # A character may be cut at the end of what is looked at.
    text = start.decode("utf-8", errors="ignore")
    binary = len(text.encode()) < len(start) - 3 or any(c < " " and c not in "\t\n\r\x1b" for c in text)
    if binary:
        return "raw"
    first = text.lstrip().partition("\n")[0].rstrip()
    # An object over several lines is a dump like any other.
    return "json-lines" if first.startswith("{") and first.endswith("}") else "dumps"


def _json_lines(path: str, data: bytes) -> Iterator[Record]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield _json_record(f"{path}:{number}", line)


def _json_record(place: str, line: bytes) -> Record:
    try:
        entry: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{place}: expected a JSON object on one line") from None
    digits = entry.get("kernarg_hex") if isinstance(entry, dict) else None
    if not isinstance(digits, str):
        raise InputError(f"{place}: expected a JSON object with a string kernarg_hex")
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        raise InputError(f"{place}: kernarg_hex: expected pairs of hex digits") from None
    kernel, grid = entry.get("kernel", ""), entry.get("grid", [])
    if not isinstance(kernel, str):
        raise InputError(f"{place}: kernel: expected a string, found {type(kernel).__name__}")
    if not (isinstance(grid, list) and len(grid) <= 3 and all(type(size) is int for size in grid)):
        raise InputError(f"{place}: grid: expected at most three integers, found {grid!r}")
    return Record(place, found, b"\1" * len(found), kernel, tuple(grid))


def _dumps(path: str, data: bytes) -> Iterator[Record]:
    from argpack.hexdump import parse_all

    for dump in parse_all(data, source=path):
        yield Record(dump.source, dump.data, dump.known, dump.kernel)
