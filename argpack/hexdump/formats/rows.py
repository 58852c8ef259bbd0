"""Rows with offsets put together to a dump: shared by every format that prints offsets and elides lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input


class Row(NamedTuple):
    """One line of a dump: its number, the offset it states and its bytes (None is unknown).

    `cells` is None for a line that stands for elided ones; `offset` is then meaningless.
    """

    line: int
    offset: int
    cells: tuple[int | None, ...] | None


def assemble(source: Input, rows: Iterable[Row], *, width: int, shown: Callable[[int], str]) -> Dump:
    """The dump of rows of `width` bytes, of which only the last may be shorter.

    `shown` prints an offset the way the format does. Elided bytes are unknown. Raises InputError with the
    line of an offset that overlaps, leaves a gap without elision or is not a multiple of `width`, of a short
    row in the middle, and of an elision that covers nothing or has no end.
    """
    cells: list[int | None] = []
    elided: Row | None = None
    short: Row | None = None
    for row in rows:
        if row.cells is None:
            if elided:
                raise source.error(row.line, f"elision follows an elision on line {elided.line}")
            elided = row
            continue
        expected = len(cells)
        if row.offset < expected:
            raise source.error(
                row.line,
                f"offset {shown(row.offset)} overlaps the rows before it, expected {shown(expected)}",
            )
        if short:
            raise source.error(
                short.line, f"expected {width} bytes in a row before the last, found {len(short.cells or ())}"
            )
        if elided and row.offset == expected:
            raise source.error(elided.line, f"elision covers no byte: the next offset is {shown(row.offset)}")
        if not elided and row.offset > expected:
            raise source.error(
                row.line,
                f"expected offset {shown(expected)}, or an elision before it, found {shown(row.offset)}",
            )
        if row.offset % width:
            raise source.error(
                row.line, f"expected an offset that is a multiple of {width}, found {shown(row.offset)}"
            )
        cells += [None] * (row.offset - expected)
        cells += row.cells
        elided = None
        short = row if len(row.cells) < width else None
    if elided:
        raise source.error(
            elided.line,
            "elision at the end leaves the size unknown: write the last row, ?? for unknown bytes",
        )
    return source.dump(cells)
