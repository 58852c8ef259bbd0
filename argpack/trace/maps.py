"""A buffer as a picture: what happened to its bytes, each a pixel or, where it is large, a few of them in one."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.trace.png import to_png

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from argpack.families import Region
    from argpack.trace.memory import BufferUse

_WIDEST, _HIGHEST = 480, 256
# Rows shorter than this make a picture that is tall and thin.
_SHORTEST = 64


class Mark(enum.IntEnum):
    """What happened to a byte. Where bytes share a pixel, the highest shows."""

    OUTSIDE = 0
    NEVER = 1
    READ = 2
    PADDING = 3
    WRITTEN = 4
    BOTH = 5
    WRONG = 6


COLOURS = {
    Mark.OUTSIDE: "#ffffff",
    Mark.NEVER: "#d9d9d9",
    Mark.READ: "#4c78a8",
    Mark.PADDING: "#b79ad6",
    Mark.WRITTEN: "#f2a33c",
    Mark.BOTH: "#3f9b6c",
    Mark.WRONG: "#d62728",
}
MEANINGS = {
    Mark.NEVER: "never touched",
    Mark.READ: "read",
    Mark.PADDING: "padding, read",
    Mark.WRITTEN: "written",
    Mark.BOTH: "read and written",
    Mark.WRONG: "wrong: written outside the output, never written inside it, or read before it was written",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG file and its size in pixels, how many bytes of the buffer a row and a pixel show, the marks in it."""

    png: bytes
    width: int
    height: int
    row_bytes: int
    pixel_bytes: int
    marks: tuple[Mark, ...]


def marks_of(
    use: BufferUse, output: Region | None, spill: Region | None, padding: Iterable[Region]
) -> NDArray[np.uint8]:
    """A `Mark` for each byte of a buffer, uint8 (bytes,). The regions may be of any buffer."""
    marks = np.full(use.size, Mark.NEVER, np.uint8)
    marks[use.read] = Mark.READ
    for region in padding:
        if region.buffer == use.name:
            marks[use.read & region.mask()] = Mark.PADDING
    marks[use.written] = Mark.WRITTEN
    marks[use.read & use.written] = Mark.BOTH
    marks[use.fresh] = Mark.WRONG
    if output is not None and output.buffer == use.name:
        inside = output.mask()
        allowed = inside if spill is None else inside | spill.mask()
        marks[(use.written & ~allowed) | (inside & ~use.written)] = Mark.WRONG
    return marks


def row_bytes_of(region: Region) -> int:
    """Bytes from one row of a region to the next; 0 where its rows have no gap between them."""
    inside = region.mask()
    starts = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
    first = int(np.argmax(inside))
    return int(starts[starts > first][0]) - first if (starts > first).any() else 0


def picture(marks: NDArray[np.uint8], row_counts: Sequence[int], row_bytes: int = 0) -> Picture:
    """A row shows `row_bytes`, or a row of a matrix of one of `row_counts` rows where the buffer divides into them."""
    size = len(marks)
    lengths = (size // count for count in row_counts if size % count == 0)
    square = 1 << max(4, size.bit_length() // 2 + 1)
    row_bytes = row_bytes or next((length for length in lengths if _SHORTEST <= length < size), square)
    lines = _divide_up(size, row_bytes)
    across, down = _divide_up(row_bytes, _WIDEST), _divide_up(lines, _HIGHEST)
    width, height = _divide_up(row_bytes, across), _divide_up(lines, down)
    field = np.full((height * down, width * across), Mark.OUTSIDE, np.uint8)
    whole = np.full(lines * row_bytes, Mark.OUTSIDE, np.uint8)
    whole[:size] = marks
    field[:lines, :row_bytes] = whole.reshape(-1, row_bytes)
    pixels = field.reshape(height, down, width, across).max(axis=(1, 3))
    found = tuple(Mark(value) for value in np.unique(marks).tolist())
    return Picture(
        to_png(pixels, [COLOURS[mark] for mark in Mark]), width, height, row_bytes, across * down, found
    )


def _divide_up(length: int, step: int) -> int:
    return -(-length // step)
