"""Reader of bare hex digits: bytes in the order of memory, in groups or not, over any number of lines.

`??` is an unknown byte. Offsets, prefixes and separators belong to other formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, Input, is_hex, quoted

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    cells: list[int | None] = []
    for number, line in source.lines:
        for token in line.split():
            if not is_hex(token.replace("??", "")) and token.strip("?"):
                raise source.error(number, f"expected hex digits, found {quoted(token)}")
            if len(token) % 2:
                raise source.error(number, f"expected an even number of hex digits, found {len(token)}")
            cells += [source.byte(number, token[i : i + 2]) for i in range(0, len(token), 2)]
    return source.dump(cells)


def fits(source: Input) -> bool:
    """Whether the first line is hex digits only."""
    return bool(source.lines) and is_hex("".join(source.lines[0][1].replace("??", "00").split()))


FORMAT = Format("plain-hex", "hex digits in the order of memory", fits, read)
