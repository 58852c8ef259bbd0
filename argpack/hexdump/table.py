"""Aligned text columns, each line in one tone: an escape sequence where colour is on, nothing elsewhere."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Tone(enum.Enum):
    """How a line looks on a terminal."""

    PLAIN = ""
    STRONG = "\x1b[1m"
    FAINT = "\x1b[2m"
    ALARM = "\x1b[1;31m"
    GOOD = "\x1b[32m"


class Line(NamedTuple):
    """The cells of one line of a table."""

    cells: tuple[str, ...]
    tone: Tone = Tone.PLAIN


def align(lines: list[Line], *, colour: bool) -> list[str]:
    """Lines of text with columns two blanks apart; all lines have the same number of cells."""
    widths = [max(len(line.cells[i]) for line in lines) for i in range(len(lines[0].cells))]
    texts = (
        "  ".join(c.ljust(w) for c, w in zip(line.cells, widths, strict=True)).rstrip() for line in lines
    )
    return [paint(text, line.tone, colour=colour) for text, line in zip(texts, lines, strict=True)]


def paint(text: str, tone: Tone, *, colour: bool) -> str:
    """Text in a tone."""
    return f"{tone.value}{text}\x1b[0m" if colour and tone is not Tone.PLAIN else text


def counted(number: int, noun: str) -> str:
    """`1 byte`, `2 bytes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
