"""Tables with decimal offsets and two columns of eight bytes, `0016   | 00 ... | 00 ...`.

Lines of `[...]` stand for rows left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, Input, is_hex, no_unit, quoted
from argpack.hexdump.formats.rows import LARGEST_OFFSET, UNKNOWN, Elision, Row, assemble
from argpack.hexdump.formats.sections import is_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.hexdump.dump import Dump

ELISION = "[...]"
COLUMN = 8
WIDTH = 2 * COLUMN

_HEADING = (
    "Offset | 00 01 02 03 04 05 06 07 | 08 09 0A 0B 0C 0D 0E 0F",
    "-------|-------------------------|-------------------------",
)


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    found = assemble(source, _rows(source), shown=lambda offset: f"{offset:04d}", width=WIDTH)
    return source.dump(found.data, found.known)


def fits(source: Input) -> bool:
    """Whether some line is a row or the heading of such a table."""
    return any(line.startswith("Offset |") or _is_row(line) for _, line in source.lines)


def write(dump: Dump, unit: int | None) -> str:
    """Rows wholly unknown are elided, `??` is an unknown byte in others.

    The last row is always written: it alone says how long the dump is.
    """
    no_unit(dump, "offset-table", unit)
    lines = list(_HEADING)
    last = (dump.size - 1) // WIDTH * WIDTH
    for start in range(0, dump.size, WIDTH):
        if start != last and not any(dump.known[start : start + WIDTH]):
            if lines[-1] != ELISION:
                lines.append(ELISION)
            continue
        cells = dump.cells(start, start + WIDTH)
        left, right = ("".join(f"{cell} " for cell in half) for half in (cells[:COLUMN], cells[COLUMN:]))
        lines.append(f"{start:04d}".ljust(7) + f"| {left:<24}| {right:<24}")
    return "\n".join(lines) + "\n"


def _is_row(line: str) -> bool:
    """Whether a line begins with an offset, a bar and a byte."""
    offset, bar, rest = line.partition("|")
    first = (rest.split() or [""])[0]
    return bool(bar) and is_hex(offset.strip()) and len(first) == 2 and (is_hex(first) or first == "??")


def _rows(source: Input) -> Iterator[Row | Elision]:
    for number, line in source.lines:
        if line in {ELISION, "..."}:
            yield Elision(number, UNKNOWN)
        elif not is_rule(line):
            yield _row(source, number, line)


def _row(source: Input, number: int, line: str) -> Row:
    offset, *columns = (cell.strip() for cell in line.split("|"))
    if len(columns) == 3 and not columns[2]:
        columns.pop()
    if not 1 <= len(columns) <= 2:
        raise source.error(number, f"expected 'offset | 8 bytes | 8 bytes', found {quoted(line)}")
    if not (offset.isascii() and offset.isdigit()):
        raise source.error(number, f"expected a decimal offset, found {quoted(offset)}")
    if len(offset) > 7 or int(offset) > LARGEST_OFFSET:
        raise source.error(number, f"expected an offset up to {LARGEST_OFFSET}, found {quoted(offset)}")
    cells: list[str] = []
    for column in columns:
        found = column.split()
        if len(found) > COLUMN:
            raise source.error(number, f"expected at most {COLUMN} bytes in a column, found {len(found)}")
        for cell in found:
            if len(cell) != 2 or not (cell == "??" or is_hex(cell)):
                raise source.error(number, f"expected a byte of two hex digits or ??, found {quoted(cell)}")
        if found and cells and len(cells) < COLUMN:
            raise source.error(number, f"expected {COLUMN} bytes in the left column, found {len(cells)}")
        cells += found
    if not cells:
        raise source.error(number, "expected at least one byte, found none")
    if len(cells) <= COLUMN and not columns[0]:
        raise source.error(number, f"expected {COLUMN} bytes in the left column, found 0")
    data, known = source.pairs(number, "".join(cells))
    return Row(number, int(offset), data, known)


FORMATS = {"offset-table": Format(fits, read, write, offsets=True)}
