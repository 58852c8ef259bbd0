"""Writes a dump as the offset table that `argpack.hexdump` reads back to the same bytes and mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.offset_table import COLUMN, ELISION, WIDTH

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump

_HEADING = (
    "Offset | 00 01 02 03 04 05 06 07 | 08 09 0A 0B 0C 0D 0E 0F",
    "-------|-------------------------|-------------------------",
)


def render(dump: Dump) -> str:
    """The text, a newline after each line. Rows wholly unknown are elided, `??` is an unknown byte in others.

    The last row is always written: it alone says how long the dump is.
    """
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
