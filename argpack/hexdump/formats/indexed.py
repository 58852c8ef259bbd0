"""Words with an index before each, `args[3] = 0x00000100` or `[0x0c]: 0x00000100`, as a loop over an array prints them.

The index counts words, or bytes where it grows by the size of a word; either way none may be missing.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import LITTLE, MEMORY, Format, form, quoted, units, word

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

_DIGITS = (2, 4, 8, 16)


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first index that does not follow, or of another number of digits."""
    rows = [(number, _row(source, number, line)) for number, line in source.lines]
    if not rows:
        raise source.fault("expected words with an index, found bytes that are no text")
    digits = len(rows[0][1]["cell"])
    if digits not in _DIGITS:
        raise source.error(rows[0][0], f"expected 0x and 2, 4, 8 or 16 hex digits, found {digits}")
    unit = digits // 2
    step = _index(rows[1][1]) - _index(rows[0][1]) if len(rows) > 1 else 1
    if step not in {1, unit}:
        raise source.error(rows[1][0], f"expected an index that grows by 1 or {unit}, found {step}")
    order = source.ordered(LITTLE) if unit > 1 else MEMORY
    data, known = bytearray(), bytearray()
    for position, (number, row) in enumerate(rows):
        if (row["name"], len(row["cell"])) != (rows[0][1]["name"], digits):
            raise source.error(
                number, f"expected {rows[0][1]['name']}[…] and {digits} hex digits, found another"
            )
        if _index(row) != position * step:
            raise source.error(number, f"expected the index {position * step}, found {row['index']}")
        cells = source.pairs(number, row["cell"])
        turn = 1 if order == MEMORY else -1
        data += cells[0][::turn]
        known += cells[1][::turn]
    return source.dump(bytes(data), bytes(known), form=form("indexed", order, unit))


def fits(source: Input) -> bool:
    """Whether the first line is an index and one word."""
    return bool(source.lines) and is_indexed(source.lines[0][1])


def is_indexed(line: str) -> bool:
    """Whether a line is an index in brackets, perhaps behind a name, and one word."""
    return "[" in line and _pattern().fullmatch(line) is not None


def _row(source: Input, number: int, line: str) -> re.Match[str]:
    found = _pattern().fullmatch(line)
    if not found:
        raise source.error(number, f"expected an index and a word, [0] = 0x…, found {quoted(line)}")
    return found


def _index(row: re.Match[str]) -> int:
    return int(row["index"], 0 if row["index"][:2] in {"0x", "0X"} else 10)


@functools.cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?P<name>[A-Za-z_]\w{0,60})?\[(?P<index>0[xX][0-9a-fA-F]{1,6}|\d{1,7})\]\s*(?:=|:|->)?\s*"
        r"0[xX](?P<cell>[0-9a-fA-F?]{2,16})[,;]?"
    )


def write(dump: Dump, unit: int | None) -> str:
    """A line for each word of `unit` bytes (4), the index counting words."""
    size = 4 if unit is None else unit
    if 2 * size not in _DIGITS:
        raise InputError(f"indexed: expected a unit of 1, 2, 4 or 8 bytes, found {size}")
    units(dump, "indexed", size)
    cells = dump.cells(0, dump.size)
    found = [word(cells[i : i + size], LITTLE) for i in range(0, dump.size, size)]
    return "".join(f"args[{i}] = 0x{digits}\n" for i, digits in enumerate(found))


FORMATS = {"indexed": Format(fits, read, write, words=True)}
