"""Reader of tables with decimal offsets and two columns of eight bytes, `0016   | 00 ... | 00 ...`.

Lines of `[...]` stand for elided rows. `render` in `argpack.hexdump` writes this format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, Input, is_hex, quoted
from argpack.hexdump.formats.rows import Row, assemble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.hexdump.dump import Dump

ELISION = "[...]"
COLUMN = 8
WIDTH = 2 * COLUMN

# Far beyond any argument buffer: without a bound a slip of a digit after an elision takes all memory.
_LARGEST_OFFSET = 1 << 20


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    return assemble(source, _rows(source), width=WIDTH, shown=lambda offset: f"{offset:04d}")


def fits(source: Input) -> bool:
    """Whether some line is a row or the heading of such a table."""
    return any(line.startswith("Offset |") or _is_row(line) for _, line in source.lines)


def _is_row(line: str) -> bool:
    """Whether a line begins with an offset, a bar and a byte."""
    offset, bar, rest = line.partition("|")
    first = (rest.split() or [""])[0]
    return bool(bar) and is_hex(offset.strip()) and len(first) == 2 and (is_hex(first) or first == "??")


def _rows(source: Input) -> Iterator[Row]:
    for number, line in source.lines:
        if line == ELISION:
            yield Row(number, 0, None)
        elif line.startswith("Offset") or not line.strip("-|+ \t"):
            continue
        else:
            yield _row(source, number, line)


def _row(source: Input, number: int, line: str) -> Row:
    offset, *columns = (cell.strip() for cell in line.split("|"))
    if not 1 <= len(columns) <= 2:
        raise source.error(number, f"expected 'offset | 8 bytes | 8 bytes', found {quoted(line)}")
    if not (offset.isascii() and offset.isdigit()):
        raise source.error(number, f"expected a decimal offset, found {quoted(offset)}")
    if len(offset) > 7 or int(offset) > _LARGEST_OFFSET:
        raise source.error(number, f"expected an offset up to {_LARGEST_OFFSET}, found {quoted(offset)}")
    sizes: list[int] = []
    cells: list[int | None] = []
    for column in columns:
        found = column.split()
        if len(found) > COLUMN:
            raise source.error(number, f"expected at most {COLUMN} bytes in a column, found {len(found)}")
        sizes.append(len(found))
        cells += [source.byte(number, cell) for cell in found]
    if not cells:
        raise source.error(number, "expected at least one byte, found none")
    if sizes[0] < COLUMN and any(sizes[1:]):
        raise source.error(number, f"expected {COLUMN} bytes in the left column, found {sizes[0]}")
    return Row(number, int(offset), tuple(cells))


FORMAT = Format("offset-table", "a table of decimal offsets, '0016 | 00 ... | 00 ...'", fits, read)
