"""Bare hex digits: bytes in the order of memory, in groups or not, over any number of lines.

`??` is an unknown byte. Offsets, prefixes and separators belong to other formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats import joined
from argpack.hexdump.formats.input import Format, is_hex, no_unit, quoted

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

# xxd -p writes thirty bytes in a line.
_WIDTH = 30

_OFFSET = 4  # digits, the fewest that tools write
_OCTAL_WORD = 6


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    data, known = bytearray(), bytearray()
    for number, raw in source.lines:
        line = joined.digits(raw) if joined.is_joined(raw) else raw
        for token in line.split():
            if not is_hex(token.replace("??", "")) and token.strip("?"):
                raise source.error(number, f"expected hex digits, found {quoted(token)}")
            if len(token) % 2:
                raise source.error(number, f"expected an even number of hex digits, found {len(token)}")
            cells = source.pairs(number, token)
            data += cells[0]
            known += cells[1]
    return source.dump(bytes(data), bytes(known))


def fits(source: Input) -> bool:
    """Whether the first line is hex digits only and does not begin with an offset."""
    if source.lines and joined.is_joined(source.lines[0][1]):
        return True
    if not source.lines or not is_hex("".join(source.lines[0][1].replace("??", "00").split())):
        return False
    rows = [line.split() for _, line in source.lines]
    # Six octal digits are a word of od -An: nobody groups three bytes.
    if all(len(token) == _OCTAL_WORD and not token.strip("01234567") for row in rows for token in row):
        return len(rows) == 1 and len(rows[0]) == 1
    first, *rest = rows[0]
    lengths = {len(token) for token in rest}
    # Offsets are longer or shorter than what follows them, but for od -Ax, of six digits like its octal words.
    differs = bool(lengths) and (lengths != {len(first)} or len(first) == _OCTAL_WORD)
    offset = len(first) >= _OFFSET and differs
    return not (offset and all(len(row[0]) == len(first) for row in rows))


def write(dump: Dump, unit: int | None) -> str:
    """Sixty digits in a line, as xxd -p does it."""
    no_unit(dump, "plain-hex", unit)
    return "".join("".join(dump.cells(i, i + _WIDTH)) + "\n" for i in range(0, dump.size, _WIDTH))


FORMATS = {"plain-hex": Format(fits, read, write)}
