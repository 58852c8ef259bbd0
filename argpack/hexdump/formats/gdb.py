"""What gdb's x command prints: `0x7ffe10 <args+16>:`, then values of one size, `0x00007fab6d200000`.

A value is a number: its digits stand in the opposite order of its bytes. Where the first row is not the symbol's
first, `gdb` counts offsets from the first address and `gdb-symbol` from the symbol.
"""

from __future__ import annotations

import functools
import re
from functools import partial
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import LITTLE, MEMORY, Format, form, is_cell, quoted, units, word
from argpack.hexdump.formats.rows import LARGEST_OFFSET, UNKNOWN, Elision, Row, assemble
from argpack.hexdump.formats.sections import ELISIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

_UNITS = (1, 2, 4, 8)
# An address on a stack, for what is written; any would do.
_BASE = 0x7FFFFFFFE000


def read(source: Input, *, by_symbol: bool) -> Dump:
    """The dump; InputError names the line of the first fault."""
    rows, unit = list(_rows(source)), _unit(source)
    order = source.ordered(LITTLE) if unit > 1 else MEMORY
    base = next((address - more * by_symbol for _, address, more, _ in rows if address is not None), 0)
    found = assemble(
        source,
        _assembled(source, rows, base, unit, order, by_symbol=by_symbol),
        shown=lambda offset: f"{offset + base:#x}",
        step=unit,
        origin=base,
    )
    name = "gdb-symbol" if by_symbol else "gdb"
    return source.dump(found.data, found.known, form=form(name, order, unit))


def fits(source: Input, *, by_symbol: bool) -> bool:
    """Whether the first row is gdb's; for `gdb-symbol`, whether it has an offset other than zero from a symbol."""
    for _, line in source.lines:
        if line in ELISIONS:
            continue
        found = _row().match(line)
        if not found or not found["cells"].split() or not found["cells"].split()[0].startswith("0x"):
            return False
        return not by_symbol or bool((found["more"] or "").strip("0"))
    return False


# Line number, address (None for an elision), offset from a symbol, values. Without an address the offset is one.
_Line = tuple[int, int | None, int, list[str]]


def _rows(source: Input) -> Iterator[_Line]:
    starts: dict[str, int] = {}
    for number, line in source.lines:
        if line in ELISIONS:
            yield number, None, 0, []
            continue
        found = _row().match(line)
        if not found or (found["address"] is None and found["name"] is None):
            raise source.error(number, f"expected a row of gdb's x command, found {quoted(line)}")
        more = int(found["more"] or 0)
        if more > LARGEST_OFFSET:
            raise source.error(number, f"expected an offset up to {LARGEST_OFFSET}, found {more}")
        address = int(found["address"], 16) if found["address"] else more
        if found["name"]:
            start = starts.setdefault(found["name"], address - more)
            if start != address - more:
                wanted = f"<{found['name']}+{address - start}> at {address:#x}"
                raise source.error(number, f"expected {quoted(wanted)}, found +{more}")
        yield number, address, more, found["cells"].split()


def _assembled(
    source: Input, rows: list[_Line], base: int, unit: int, order: str, *, by_symbol: bool
) -> Iterator[Row | Elision]:
    started = False
    for number, address, _, cells in rows:
        if address is None:
            yield Elision(number, UNKNOWN)
            started = True
            continue
        if not started and by_symbol and address > base:
            yield Elision(number, UNKNOWN)
        started = True
        data, known = bytearray(), bytearray()
        for cell in cells:
            digits = cell[2:] if cell[:2] == "0x" else ""
            if len(digits) != 2 * unit or not is_cell(digits):
                raise source.error(number, f"expected 0x and {2 * unit} digits, found {quoted(cell)}")
            found = source.pairs(number, digits)
            step = 1 if order == MEMORY else -1
            data += found[0][::step]
            known += found[1][::step]
        if not cells:
            raise source.error(number, "expected values after the address, found none")
        if address < base:
            raise source.error(number, f"expected an address from {base:#x} on, found {address:#x}")
        yield Row(number, address - base, bytes(data), bytes(known))


def _unit(source: Input) -> int:
    for number, line in source.lines:
        found = None if line in ELISIONS else _row().match(line)
        if found and (cells := found["cells"].split()):
            size, odd = divmod(len(cells[0]) - 2, 2)
            if odd or size not in _UNITS or not cells[0].startswith("0x"):
                raise source.error(
                    number,
                    f"expected 0x and 2, 4, 8 or 16 digits as x/b to x/g print, found {quoted(cells[0])}",
                )
            return size
    raise source.fault("expected a row of gdb's x command, found none")


@functools.cache
def _row() -> re.Pattern[str]:
    return re.compile(
        r"(?P<address>0x[0-9a-fA-F]{1,16})?\s*(?:<(?P<name>.+?)(?:\+(?P<more>\d{1,18}))?>)?:(?P<cells>(?:\s.*)?)$"
    )


def write(dump: Dump, unit: int | None, *, by_symbol: bool) -> str:
    """What `x/…x` prints, of the largest size that divides the dump; `[...]` and `??` stand for what is unknown."""
    size = unit or next(size for size in (8, 4, 2, 1) if dump.size % size == 0)
    if size not in _UNITS:
        raise InputError(f"gdb: expected a unit of 1, 2, 4 or 8 bytes, found {size}")
    units(dump, "gdb", size)
    width = 16 if size > 2 else 8 * size
    lines: list[str] = []
    last = (dump.size - 1) // width * width
    for start in range(0, dump.size, width):
        # The first row states the base.
        if start not in {0, last} and not any(dump.known[start : start + width]):
            if lines[-1] != "[...]":
                lines.append("[...]")
            continue
        cells = dump.cells(start, start + width)
        words = [word(cells[i : i + size], LITTLE) for i in range(0, len(cells), size)]
        name = f" <args+{start}>" if start else " <args>"
        lines.append(f"{_BASE + start:#x}{name if by_symbol else ''}:\t" + "\t".join("0x" + w for w in words))
    return "\n".join(lines) + "\n"


FORMATS = {
    name: Format(
        partial(fits, by_symbol=by_symbol),
        partial(read, by_symbol=by_symbol),
        partial(write, by_symbol=by_symbol),
        words=True,
        offsets=True,
    )
    for name, by_symbol in (("gdb", False), ("gdb-symbol", True))
}
