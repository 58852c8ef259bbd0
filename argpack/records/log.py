"""Reads a capture log: a file of `argpack capture`, raw records, rows of .npy, JSON, or text with dumps."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.capture.layout import MAGIC
from argpack.errors import InputError
from argpack.hexdump.formats import npy
from argpack.hexdump.formats.input import Input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOG_FORMATS = ("raw", "npy", "json", "dumps")
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
    """The log in a file, `-` for standard input. Raises InputError with the line, or naming the formats there are.

    A file of `argpack capture` gives its launches whose arguments were recorded, a .npy file its rows. Other binary
    contents are raw records, text that begins with a JSON object, in an array or not, is JSON objects, any other text
    holds dumps of any readable format; `format_name` decides otherwise.
    """
    if format_name is not None and format_name not in LOG_FORMATS:
        raise InputError(f"expected a log format of {', '.join(LOG_FORMATS)}, found {format_name!r}")
    data = _contents(path)
    name = "standard input" if path == "-" else path
    if not data:
        raise InputError(f"{name}: expected records, found an empty file")
    chosen = format_name or _detected(data)
    if chosen == "raw":
        return Log(name, chosen, data, ())
    records = tuple(_READERS[chosen](name, data))
    if not records:
        raise InputError(f"{name}: expected records, found none")
    return Log(name, chosen, b"", records)


def _contents(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with Path(path).open("rb") as file:
            # A capture may hold gigabytes of memory beside the arguments: its reader maps the file.
            return MAGIC if file.peek(len(MAGIC)).startswith(MAGIC) else file.read()
    except IsADirectoryError:
        raise InputError(f"{path}: expected a file, found a directory") from None
    except (OSError, ValueError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: {text}") from None


def _detected(data: bytes) -> str:
    if data.startswith(MAGIC):
        return "capture"
    if data.startswith(npy.MAGIC):
        return "npy"
    start = data[:_LOOKED_AT]
    # A character may be cut at the end of what is looked at.
    text = start.decode("utf-8", errors="ignore")
    binary = len(text.encode()) < len(start) - 3 or any(c < " " and c not in "\t\n\r\x1b" for c in text)
    if binary:
        return "raw"
    first = text.lstrip(" \t\r\n[")
    return "json" if first.startswith("{") and first[1:].lstrip().startswith(('"', "}")) else "dumps"


def _json(path: str, data: bytes) -> Iterator[Record]:
    """Objects one after the other, a line each or not, or in an array."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected JSON in UTF-8, found another byte at {error.start}") from None
    decoder = json.JSONDecoder()
    position, line = 0, 1
    while True:
        start = position
        while position < len(text) and text[position] in " \t\r\n,[]":
            position += 1
        line += text.count("\n", start, position)
        if position == len(text):
            return
        place = f"{path}:{line}"
        try:
            entry, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            raise InputError(f"{place}: expected a JSON object") from None
        yield _json_record(place, entry)
        line += text.count("\n", position, end)
        position = end


def _json_record(place: str, entry: Any) -> Record:
    digits = entry.get("kernarg_hex") if isinstance(entry, dict) else None
    if not isinstance(digits, str):
        raise InputError(f"{place}: expected a JSON object with a string kernarg_hex")
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        raise InputError(f"{place}: kernarg_hex: expected pairs of hex digits") from None
    size = entry.get("kernarg_size", len(found))
    if size != len(found):
        raise InputError(
            f"{place}: kernarg_hex: expected {size} bytes as kernarg_size says, found {len(found)}"
        )
    kernel, grid = entry.get("kernel", ""), entry.get("grid", [])
    if not isinstance(kernel, str):
        raise InputError(f"{place}: kernel: expected a string, found {type(kernel).__name__}")
    if not (isinstance(grid, list) and len(grid) <= 3 and all(type(size) is int for size in grid)):
        raise InputError(f"{place}: grid: expected at most three integers, found {grid!r}")
    return Record(place, found, b"\1" * len(found), kernel, tuple(grid))


def _launches(path: str, data: bytes) -> Iterator[Record]:
    from argpack.capture import parse, read

    capture = read(path) if data == MAGIC else parse(data, source=path)
    launches = [launch for launch in capture.launches if launch.arguments]
    if not launches:
        raise InputError(f"{path}: expected launches with arguments, found none")
    for launch in launches:
        yield Record(f"{path}#{launch.number}", launch.arguments, launch.known, launch.kernel, launch.grid)


def _array_rows(path: str, data: bytes) -> Iterator[Record]:
    for number, row in enumerate(npy.rows(Input(path, data)), 1):
        yield Record(f"{path}#{number}", row, b"\1" * len(row))


def _dumps(path: str, data: bytes) -> Iterator[Record]:
    from argpack.hexdump import parse_all

    for dump in parse_all(data, source=path):
        yield Record(dump.source, dump.data, dump.known, dump.kernel)


_READERS: dict[str, Callable[[str, bytes], Iterator[Record]]] = {
    "capture": _launches,
    "npy": _array_rows,
    "json": _json,
    "dumps": _dumps,
}
