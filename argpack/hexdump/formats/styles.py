"""How tools that write an offset and groups of digits in a row differ from each other, as a table.

Read from xxd 2022-01-14, hexdump of util-linux 2.38 and od of coreutils 9.1; ROCm's debug agent prints eight words of
four bytes after `0x0020:`.
"""

from __future__ import annotations

from typing import NamedTuple

from argpack.hexdump.formats.input import LITTLE, MEMORY

# The column of characters: none, after two blanks (xxd), between bars (hexdump -C) or angles (od -tx1z).
NO_TEXT, PLAIN, BARS, ANGLES = "none", "plain", "bars", "angles"


class Style(NamedTuple):
    """One tool's rows. `units` are the bytes of a group, `led` those where the offset has `0x` before it.

    `radix` of offsets, `base` of groups; `order` is the stated order of bytes in a group, empty for none. `width` is
    bytes in a row as written, `digits`, `least` and `most` those of an offset as written and as read. `separator` is
    `:`, nothing, or `?` for any. `closing`: the size stands on the last line; `padded`: the last group is filled up
    with zeros; `repeats`: `*` is written for rows like the one before; `rare`: it fits only where plain xxd does
    not, or where rows are left out and both may.
    """

    name: str
    separator: str = ""
    lead: str = ""
    units: tuple[int, ...] = ()
    led: tuple[int, ...] = ()
    usual: int = 1
    radix: int = 16
    base: int = 16
    order: str = MEMORY
    digits: int = 7
    least: int = 7
    most: int = 7
    width: int = 16
    text: str = NO_TEXT
    closing: bool = False
    padded: bool = False
    repeats: bool = False
    rare: bool = False

    @property
    def right_aligned(self) -> bool:
        """Whether a short last word stands where a whole one would end."""
        return self.text is PLAIN and self.order == LITTLE

    @property
    def mark(self) -> str:
        """What is written between offset and groups."""
        gap = "  " if self.name in {"hexdump-C", "word-groups"} else " "
        return (":" if self.separator else "") + gap

    def shown(self, offset: int) -> str:
        """An offset as this tool writes it."""
        letter = {16: "x", 10: "d", 8: "o"}[self.radix]
        return f"{self.lead}{offset:0{self.digits}{letter}}"


def _od(name: str, radix: int, base: int) -> Style:
    units, usual = ((2,), 2) if base == 8 else ((1, 2, 4, 8), 2)
    digits = 6 if radix == 16 else 7
    return Style(
        name, units=units, usual=usual, radix=radix, base=base, order=LITTLE, digits=digits, least=digits, most=digits,
        text=ANGLES, closing=True, padded=True, repeats=True,
    )  # fmt: skip


STYLES = (
    Style("xxd", ":", units=tuple(range(1, 17)), led=(1, 2, 8, 16), usual=2, digits=8, least=2, most=16,
          text=PLAIN),
    Style("xxd-e", ":", units=(2, 4, 8), led=(8,), usual=4, order=LITTLE, digits=8, least=2, most=16,
          text=PLAIN),
    Style("xxd-d", ":", units=tuple(range(1, 17)), usual=2, radix=10, digits=8, least=8, most=8, text=PLAIN,
          rare=True),
    Style("hexdump", units=(2,), usual=2, order=LITTLE, closing=True, padded=True, repeats=True),
    Style("hexdump-C", units=(1,), digits=8, least=8, most=16, text=BARS, closing=True, repeats=True),
    _od("od", 8, 8), _od("od-Ad", 10, 8), _od("od-Ax", 16, 8),
    _od("od-x", 8, 16), _od("od-x-Ad", 10, 16), _od("od-x-Ax", 16, 16),
    Style("debug-agent", ":", "0x", led=(4,), usual=4, order=LITTLE, digits=4, least=1, most=16, width=32),
    Style("word-groups", lead="+", units=(1, 2, 4, 8), led=(1, 2, 4, 8), usual=4, order="", digits=4, least=1,
          most=16, text=PLAIN),
    Style("offset-bytes", "?", units=(1,), led=(1,), digits=4, least=1, most=16),
    Style("offset-bytes-decimal", "?", units=(1,), led=(1,), radix=10, digits=4, least=1, most=6),
)  # fmt: skip
