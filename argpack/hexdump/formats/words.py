"""Little-endian words without offsets: groups of 4, 8 or 16 digits, each printed as a number.

Such groups may as well be bytes in the order of memory, unless `0x` says that they are numbers; then the readers
disagree and detection refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import LITTLE, MEMORY, Format, form, is_cell, quoted, units, word

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

_DIGITS = (4, 8, 16)
_BYTE = 2


def read(source: Input) -> Dump:
    """The dump; every group must have as many digits as the first."""
    first = _tokens(source.lines[0][1])[0] if source.lines else ""
    digits, led = _digits(first)
    if len(digits) not in _DIGITS and not (led and len(digits) == _BYTE):
        number = source.lines[0][0] if source.lines else 1
        raise source.error(number, f"expected words of 4, 8 or 16 hex digits, found {quoted(first)}")
    unit = len(digits) // 2
    order = source.ordered(LITTLE) if unit > 1 else MEMORY
    data, known = bytearray(), bytearray()
    for number, line in source.lines:
        for token in _tokens(line):
            found, prefixed = _digits(token)
            if len(found) != len(digits) or not is_cell(found) or led != prefixed:
                raise source.error(
                    number,
                    f"expected a word of {'0x and ' if led else ''}{len(digits)} hex digits, found {quoted(token)}",
                )
            cells = source.pairs(number, found)
            step = 1 if order == MEMORY else -1
            data += cells[0][::step]
            known += cells[1][::step]
    return source.dump(bytes(data), bytes(known), form=form("words", order, unit))


def fits(source: Input) -> bool:
    """Whether the input is two or more groups, all of 4, 8 or all of 16 hex digits, or with `0x` before each."""
    tokens = [token for _, line in source.lines for token in _tokens(line)]
    sizes = {len(token) for token in tokens}
    digits, led = _digits(tokens[0])
    if led:
        return len(digits) in {_BYTE, *_DIGITS}
    return len(tokens) > 1 and len(sizes) == 1 and sizes <= set(_DIGITS) and all(map(is_cell, tokens))


def _tokens(line: str) -> list[str]:
    """The words of a line, which blanks, commas or both may separate. A line of commas alone is one token."""
    return line.replace(",", " ").split() or [line]


def _digits(token: str) -> tuple[str, bool]:
    """The digits of a word, and whether `0x` stands before them."""
    if token[:2] in {"0x", "0X"}:
        return token[2:], True
    return token, False


def write(dump: Dump, unit: int | None) -> str:
    """Words of `unit` bytes (4), sixteen bytes in a line."""
    size = 4 if unit is None else unit
    if 2 * size not in _DIGITS:
        raise InputError(f"words: expected a unit of 2, 4 or 8 bytes, found {size}")
    units(dump, "words", size)
    cells = dump.cells(0, dump.size)
    found = [word(cells[i : i + size], LITTLE) for i in range(0, dump.size, size)]
    row = 16 // size
    return "".join(" ".join(found[i : i + row]) + "\n" for i in range(0, len(found), row))


FORMATS = {"words": Format(fits, read, write, words=True)}
