"""Rows with offsets put together to a dump: shared by every format that prints offsets and leaves rows out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.hexdump.formats.input import FIRST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from argpack.hexdump.formats.input import Input

# Far beyond any argument buffer: without a bound a slip of a digit after an elision takes all memory. A first offset
# beyond it is an address.
LARGEST_OFFSET = 1 << 20


# What a line says of the rows it stands for: nothing, or that they repeat the one before.
UNKNOWN, REPEATED = "unknown", "repeated"


class Row(NamedTuple):
    """One line of a dump: its number, the offset it states, its bytes and which of them are known.

    A row without bytes is the last line of tools that print the size of what they read.
    """

    line: int
    offset: int
    data: bytes = b""
    known: bytes = b""


class Elision(NamedTuple):
    """A line that stands for rows left out."""

    line: int
    left: str


class Joined(NamedTuple):
    """Bytes and mask of all rows. `closed` is the line that stated the size, None where there was none."""

    data: bytes
    known: bytes
    closed: int | None


def assemble(
    source: Input,
    rows: Iterable[Row | Elision],
    *,
    shown: Callable[[int], str],
    padding: int = 0,
    width: int = 0,
    step: int = 0,
    origin: int = 0,
) -> Joined:
    """The bytes of rows of equal width, of which only the last may be shorter.

    `shown` prints an offset the way the format does. A last line that states the size may take away up to `padding`
    bytes of the last row, zeros all of them. `width` is that of a row, 0 where the first row tells it; offsets are
    multiples of `step`, if 0 of the width that the rows before have. `origin` was taken from all offsets already.
    What lies before the base that the source states is left out.
    Raises InputError with the line of an offset that overlaps, goes back, leaves a gap without elision or is no
    multiple, of a short row in the middle, and of an elision that covers nothing or has no end.
    """
    data, known = bytearray(), bytearray()
    base: int | None = None
    elided: Elision | None = None
    last: Row | None = None
    closed: int | None = None
    for row in rows:
        if closed is not None:
            raise source.error(
                row.line, f"expected nothing after the size on line {closed}, found another row"
            )
        if isinstance(row, Elision):
            if elided:
                raise source.error(row.line, f"elision follows an elision on line {elided.line}")
            if row.left is REPEATED and last is None:
                raise source.error(row.line, "expected a row before *, which repeats it, found none")
            elided = row
            continue
        if base is None:
            stated = source.base is not None or row.offset > LARGEST_OFFSET
            base = row.offset if stated and not elided else 0
        offset, expected = row.offset - base, len(data)
        if not row.data:
            closed = row.line
            if elided is None and not expected - padding <= offset <= expected:
                raise source.error(
                    row.line, f"expected the size {shown(base + expected)}, found {shown(row.offset)}"
                )
        elif offset < expected:
            raise source.error(
                row.line,
                f"offset {shown(row.offset)} overlaps the rows before it, expected {shown(base + expected)}",
            )
        if last and row.data and len(last.data) < width:
            raise source.error(
                last.line, f"expected {width} bytes in a row before the last, found {len(last.data)}"
            )
        if elided and offset <= expected:
            raise source.error(elided.line, f"elision covers no byte: the next offset is {shown(row.offset)}")
        if not elided and offset > expected:
            raise source.error(
                row.line,
                f"expected offset {shown(base + expected)}, or an elision before it, found {shown(row.offset)}",
            )
        if offset > LARGEST_OFFSET:
            raise source.error(
                row.line, f"expected an offset up to {LARGEST_OFFSET}, found {shown(row.offset)}"
            )
        multiple = step or width
        if row.data and multiple and offset % multiple:
            raise source.error(
                row.line, f"expected an offset that is a multiple of {multiple}, found {shown(row.offset)}"
            )
        width = width or len(row.data)
        if len(row.data) > width:
            raise source.error(row.line, f"expected {width} bytes in a row, found {len(row.data)}")
        if elided:
            _fill(data, known, offset, last if elided.left is REPEATED else None)
        elif not row.data:
            _cut(source, data, known, row, offset)
        data += row.data
        known += row.known
        elided = None
        last = row if row.data else last
    if elided:
        raise source.error(
            elided.line,
            "elision at the end leaves the size unknown: write the last row, ?? for unknown bytes",
        )
    start = _start(source, origin + (base or 0), origin, shown)
    return Joined(bytes(data[start:]), bytes(known[start:]), closed)


def _start(source: Input, first: int, origin: int, shown: Callable[[int], str]) -> int:
    """How many bytes lie before the stated base; `first` is the first offset."""
    if source.base is None or source.base == FIRST:
        return 0
    if source.base < first:
        raise source.fault(
            f"the first offset is {shown(first - origin)}, beyond the base {source.base:#x}: write [...] before it "
            "where rows are left out"
        )
    return source.base - first


def _fill(data: bytearray, known: bytearray, end: int, row: Row | None) -> None:
    """Bytes up to `end`: unknown, or those of a row again and again, the last time cut where it must be."""
    count = end - len(data)
    if row is None:
        data += bytes(count)
        known += bytes(count)
        return
    times = count // len(row.data) + 1
    data += (row.data * times)[:count]
    known += (row.known * times)[:count]


def _cut(source: Input, data: bytearray, known: bytearray, row: Row, end: int) -> None:
    """Take the padding of the last word away."""
    if any(data[end:]):
        raise source.error(row.line, f"the size {end} leaves out bytes that are not zero")
    del data[end:]
    del known[end:]
