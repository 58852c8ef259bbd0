"""What is printed, as values: lines in a tone and tables of them, and the text that they make.

An escape sequence where colour is on, nothing elsewhere.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


class Table(NamedTuple):
    """Lines of the same number of cells, the first of them the heading."""

    lines: Sequence[Line]


Document = list[Line | Table]
"""Lines of text, one cell each, and tables between them."""


def text_line(text: str, tone: Tone = Tone.PLAIN) -> Line:
    """A line of text in a document."""
    return Line((text,), tone)


def to_text(document: Iterable[Line | Table], *, colour: bool = False) -> str:
    """The document as text, a newline after each line."""
    lines: list[str] = []
    for block in document:
        if isinstance(block, Table):
            lines += align(block.lines, colour=colour)
        else:
            lines.append(paint(block.cells[0], block.tone, colour=colour))
    return "".join(f"{line}\n" for line in lines)


def align(lines: Sequence[Line], *, colour: bool) -> list[str]:
    """Lines of text with columns two blanks apart; all lines have the same number of cells."""
    widths = [max(len(line.cells[i]) for line in lines) for i in range(len(lines[0].cells))]
    texts = (
        "  ".join(c.ljust(w) for c, w in zip(line.cells, widths, strict=True)).rstrip() for line in lines
    )
    return [paint(text, line.tone, colour=colour) for text, line in zip(texts, lines, strict=True)]


def paint(text: str, tone: Tone, *, colour: bool) -> str:
    """Text in a tone."""
    return f"{tone.value}{text}\x1b[0m" if colour and text and tone is not Tone.PLAIN else text


def counted(number: int, noun: str) -> str:
    """`1 byte`, `2 bytes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
