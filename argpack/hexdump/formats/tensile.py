"""Tensile's log of kernel arguments, `[24..31] d: 00 20 20 e5 fe 7f 00 00 (0x7ffee5202000)`.

A line per argument: first and last byte in decimal, name, bytes in the order of memory, value. The value is checked
against the bytes, because logs can lie; bytes between arguments are unknown.
"""

from __future__ import annotations

import functools
import re
import struct
from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, no_unit, quoted
from argpack.hexdump.formats.rows import LARGEST_OFFSET

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

_ARGUMENT = 8
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    data, known = bytearray(), bytearray()
    for number, line in source.lines:
        found = _line().match(line)
        if not found:
            raise source.error(number, f"expected '[first..last] name: bytes (value)', found {quoted(line)}")
        first, last = int(found["first"]), int(found["last"])
        if last > LARGEST_OFFSET:
            raise source.error(number, f"expected a range up to {LARGEST_OFFSET}, found {last}")
        if first < len(data):
            raise source.error(
                number, f"range {first}..{last} overlaps the lines before it, expected {len(data)}"
            )
        cells = found["cells"].split()
        if len(cells) != last - first + 1 or any(len(cell) != 2 for cell in cells):
            raise source.error(
                number,
                f"expected {max(last - first + 1, 1)} bytes as {first}..{last} says, found {len(cells)}",
            )
        here = source.pairs(number, "".join(cells))
        if found["value"] and all(here[1]) and not _agrees(found["value"].strip(), here[0]):
            raise source.error(
                number,
                f"the value of {quoted(found['name'].strip())} contradicts its bytes: {quoted(found['value'])} is not "
                f"{here[0].hex(' ')[:47]}",
            )
        gap = bytes(first - len(data))
        data += gap + here[0]
        known += gap + here[1]
    return source.dump(bytes(data), bytes(known))


def fits(source: Input) -> bool:
    """Whether the first line is such a line."""
    return bool(source.lines) and _line().match(source.lines[0][1]) is not None


@functools.cache
def _line() -> re.Pattern[str]:
    return re.compile(
        r"\[(?P<first>\d{1,7})\.\.(?P<last>\d{1,7})\]\s*(?P<name>[^:]*):"
        r"(?P<cells>(?:\s+[0-9a-fA-F?]{2}(?![0-9a-zA-Z]))+)\s*(?:\((?P<value>[^()]*)\))?$"
    )


def _agrees(value: str, data: bytes) -> bool:
    """Whether a value is one that the bytes hold: an address, an integer of either sign, a float of their size."""
    unsigned = int.from_bytes(data, "little")
    if value in {"(nil)", "nil", "nullptr", "NULL"}:
        return unsigned == 0
    number = value.removeprefix("-")
    if number[:2] in {"0x", "0X"}:
        return len(number) <= 34 and _is_int(number, 16) and int(number, 16) == unsigned
    signed = int.from_bytes(data, "little", signed=True)
    if _is_int(number, 10) and len(number) < 40 and int(value) in {unsigned, signed}:
        return True
    return _is_float(value, data)


def _is_int(text: str, base: int) -> bool:
    digits = text[2:] if base == 16 else text
    return bool(digits) and not digits.strip("0123456789abcdefABCDEF" if base == 16 else "0123456789")


def _is_float(value: str, data: bytes) -> bool:
    """Streams print six digits: equal then is equal to six digits."""
    try:
        wanted = float(value)
    except ValueError:
        # What is no number, such as the name of an enumeration, cannot be checked.
        return True
    if len(data) not in _FLOATS or "_" in value:
        return False
    forms = [struct.unpack(_FLOATS[len(data)], data)[0]]
    if len(data) == 2:
        forms.append(struct.unpack("<f", bytes(2) + data)[0])
    return any(found == wanted or f"{found:.6g}" == f"{wanted:.6g}" for found in forms)


def write(dump: Dump, unit: int | None) -> str:
    """A line for every eight bytes, with the value as an address or as a number."""
    no_unit(dump, "tensile", unit)
    lines = []
    for start in range(0, dump.size, _ARGUMENT):
        end = min(start + _ARGUMENT, dump.size)
        cells = " ".join(dump.cells(start, end))
        value = f" ({int.from_bytes(dump.data[start:end], 'little')})" if all(dump.known[start:end]) else ""
        lines.append(f"[{start}..{end - 1}] arg{start // _ARGUMENT}: {cells}{value}")
    return "\n".join(lines) + "\n"


FORMATS = {"tensile": Format(fits, read, write)}
