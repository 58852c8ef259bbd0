"""Reader of little-endian words without offsets: groups of 4, 8 or 16 digits, each printed as a number.

Such groups may as well be bytes in the order of memory; then the two readers disagree and detection refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, Input, is_hex, quoted

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump

_DIGITS = (4, 8, 16)


def read(source: Input) -> Dump:
    """The dump; every group must have as many digits as the first."""
    first = source.lines[0][1].split()[0] if source.lines else ""
    if len(first) not in _DIGITS:
        raise source.error(1, f"expected words of 4, 8 or 16 hex digits, found {quoted(first)}")
    cells: list[int | None] = []
    for number, line in source.lines:
        for token in line.split():
            if len(token) != len(first) or not is_hex(token):
                raise source.error(
                    number, f"expected a word of {len(first)} hex digits, found {quoted(token)}"
                )
            cells += reversed(bytes.fromhex(token))
    return source.dump(cells)


def fits(source: Input) -> bool:
    """Whether the input is two or more groups, all of 4, 8 or all of 16 hex digits."""
    tokens = [token for _, line in source.lines for token in line.split()]
    sizes = {len(token) for token in tokens}
    return len(tokens) > 1 and len(sizes) == 1 and sizes <= set(_DIGITS) and all(map(is_hex, tokens))


FORMAT = Format("words", "little-endian words of 4, 8 or 16 hex digits", fits, read)
