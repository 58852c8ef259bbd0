"""AITER's own rows, `[aiter kernarg 304B]` and sixteen bytes in a line without offsets.

AITER ends a line only after sixteen bytes (csrc/py_itfs_cu/asm_mla_v4.cu): a buffer that is no multiple of sixteen has
the line after it, `[aiter grid …`, glued to its last row. The size in the heading says where the bytes end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, no_unit, quoted

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

_MARK = "[aiter kernarg "
_WIDTH = 16


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    size = _size(source)
    data, known = bytearray(), bytearray()
    for number, line in source.lines:
        cells, bracket, _ = line.partition("[")
        tokens = cells.split()
        if len(data) >= size:
            raise source.error(number, f"expected {size} bytes as the heading says, found more")
        wanted = min(_WIDTH, size - len(data))
        if len(tokens) != wanted or any(len(token) != 2 for token in tokens):
            raise source.error(
                number, f"expected {wanted} bytes of two hex digits, found {quoted(cells.strip())}"
            )
        if bracket and len(data) + wanted < size:
            raise source.error(
                number, f"expected {size} bytes as the heading says, found {len(data) + wanted}"
            )
        found = source.pairs(number, "".join(tokens))
        data += found[0]
        known += found[1]
    if len(data) < size:
        raise source.fault(f"expected {size} bytes as the heading says, found {len(data)}")
    return source.dump(bytes(data), bytes(known))


def fits(source: Input) -> bool:
    """Whether AITER's heading stands above."""
    return any(_MARK in line for line in source.heading)


def _size(source: Input) -> int:
    for line in reversed(source.heading):
        _, mark, rest = line.partition(_MARK)
        digits, unit, _ = rest.partition("B]")
        if mark and unit and digits.isascii() and digits.isdigit() and len(digits) < 8:
            return int(digits)
    raise source.fault("expected a heading [aiter kernarg …B] with a size, found none")


def write(dump: Dump, unit: int | None) -> str:
    """Heading, rows and a line about the grid, where AITER puts it."""
    no_unit(dump, "aiter", unit)
    cells = dump.cells(0, dump.size)
    rows = "".join(cell + ("\n" if i % _WIDTH == 0 else " ") for i, cell in enumerate(cells, 1))
    return f"{_MARK}{dump.size}B]\n{rows}[aiter grid (1,1,1) block (256,1,1)]\n"


FORMATS = {"aiter": Format(fits, read, write)}
