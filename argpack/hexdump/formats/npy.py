"""Files of numpy's `.npy` format, read without numpy: the items' bytes are the buffer, one buffer per row.

The header is a Python dictionary of three entries (numpy's format description, versions 1 to 3).
"""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from argpack.hexdump.formats.input import Format, no_unit, quoted, whole
from argpack.values import changed

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

MAGIC = b"\x93NUMPY"
_LARGEST = 1 << 40


class _Array(NamedTuple):
    """Item size in bytes, shape, where the items begin."""

    item: int
    shape: tuple[int, ...]
    start: int


def read(source: Input) -> Dump:
    """The dump, every byte known. An array of two dimensions must have one row."""
    found = _array(source)
    if _count(found) != 1:
        raise source.fault(f"expected one buffer, found an array of shape {found.shape}")
    return source.dump(source.data[found.start :])


def split(source: Input) -> list[Input]:
    """The rows of an array, each as a file of its own."""
    found = rows(source)
    return [changed(source, data=_header(len(row)) + row) for row in found] if len(found) > 1 else [source]


def rows(source: Input) -> list[bytes]:
    """The buffers that an array has, one a row. Raises InputError for what is no array of numbers."""
    found = _array(source)
    count = _count(found)
    items = source.data[found.start :]
    size = len(items) // count if count else 0
    return [items[i * size : (i + 1) * size] for i in range(count)] if size else []


def fits(source: Input) -> bool:
    """Whether the file begins like one of numpy's."""
    return source.data.startswith(MAGIC)


def _count(found: _Array) -> int:
    """Buffers: rows of two dimensions, records of one dimension; other items are parts of one buffer."""
    if len(found.shape) == 2:
        return found.shape[0]
    return found.shape[0] if len(found.shape) == 1 and found.item > 8 else 1


def _array(source: Input) -> _Array:
    data = source.data
    version = data[6] if len(data) > 6 else 0
    wide = 4 if version > 1 else 2
    start = 8 + wide
    length = int.from_bytes(data[8:start], "little")
    header = data[start : start + length].decode("latin-1")
    if not data.startswith(MAGIC) or version not in {1, 2, 3} or not length or len(header) != length:
        raise source.fault("expected a .npy file of version 1 to 3, found a damaged header")
    descr, order, shape = (pattern.search(header) for pattern in _patterns())
    if not descr or not order or not shape:
        raise source.fault(f"expected a header with descr, fortran_order and shape, found {quoted(header)}")
    sizes = tuple(int(part) for part in shape[1].replace("L", "").split(",") if part.strip())
    if len(sizes) > 2 or (order[1] == "True" and len(sizes) == 2 and min(sizes) > 1):
        raise source.fault(f"expected one or two dimensions in C order, found shape {sizes}")
    item = _item(source, descr)
    count = math.prod(sizes)
    if item * count != len(data) - start - length or count > _LARGEST:
        raise source.fault(f"expected {item * count} bytes of items, found {len(data) - start - length}")
    return _Array(item, sizes, start + length)


def _item(source: Input, descr: re.Match[str]) -> int:
    """Bytes of an item: of a number, or of all fields of a record."""
    fields = re.findall(r"'([<>|=])([a-zA-Z])(\d{1,6})'(?:,\s*\((\d{1,6}),?\))?", descr[1])
    if not fields or len(fields) > 4096:
        raise source.fault(f"expected items of plain numbers, found {quoted(descr[1])}")
    size = 0
    for order, kind, width, count in fields:
        if kind not in "uifVSbc" or (order == ">" and int(width) > 1):
            raise source.fault(f"expected little-endian numbers, found {quoted(order + kind + width)}")
        size += int(width) * int(count or 1)
    return size


@functools.cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(r"'descr':\s*('[^']{1,12}'|\[[^\]]{1,65536}\])"),
        re.compile(r"'fortran_order':\s*(True|False)"),
        re.compile(r"'shape':\s*\(((?:\s*\d{1,9}L?\s*,?){0,3})\s*\)"),
    )


def _header(size: int) -> bytes:
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def write(dump: Dump, unit: int | None) -> bytes:
    """An array of uint8."""
    no_unit(dump, "npy", unit)
    return _header(dump.size) + whole(dump, "npy")


FORMATS = {"npy": Format(fits, read, write)}
