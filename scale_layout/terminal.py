"""A layout drawn in text: the offset of every element of a tile, then the first bytes of memory; a colour a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scale_layout.drawn import drawn_shape, row_colour, shown
from scale_layout.formula import offset
from scale_layout.inverse import element
from scale_layout.strides import steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scale_layout.layout import Layout

_ROWS, _COLS = 34, 16  # that a screen shows
_PER_LINE, _LINES = 16, 8  # of memory


def draw(layout: Layout, *, colour: bool) -> str:
    """Lines of text, a newline after each; escape sequences of 256 colours where `colour` is on."""
    shape = drawn_shape(layout)
    return "".join(
        f"{line}\n"
        for part in (_tile(layout, shape, colour), _memory(layout, shape, colour))
        for line in part
    )


def _tile(layout: Layout, shape: tuple[int, int], colour: bool) -> Iterator[str]:
    rows, cols = shape
    apart = {
        side: [s.apart.value(rows, cols) or 1 for s in steps(layout) if s.side == side]
        for side in ("row", "column")
    }
    lines, columns = shown(rows, _ROWS, apart["row"]), shown(cols, _COLS, apart["column"])
    width = max(len(str(rows * cols - 1)), len(f"c{cols - 1}")) + 1
    label = len(f"r{rows - 1}")
    yield f"byte offset of each element in an image of {rows} rows x {cols} columns"
    yield " " * label + "".join("  …" if c is None else f"c{c}".rjust(width) for c in columns)
    for r in lines:
        if r is None:
            yield "…".rjust(label)
            continue
        cells = []
        for c in columns:
            if c is None:
                cells.append("  …")
                continue
            text = str(offset(layout, r, c, rows_padded=rows, cols_padded=cols)).rjust(width)
            cells.append(_painted(text, r, rows, colour))
        yield f"r{r}".ljust(label) + "".join(cells)


def _memory(layout: Layout, shape: tuple[int, int], colour: bool) -> Iterator[str]:
    rows, cols = shape
    size = rows * cols
    yield ""
    yield "what lies in memory, byte after byte"
    digits = len(str(size - 1))
    width = len(f"r{rows - 1}c{cols - 1}") + 1
    for line in range(0, min(size, _PER_LINE * _LINES), _PER_LINE):
        cells = []
        for place in range(line, min(line + _PER_LINE, size)):
            r, c = element(layout, place, rows_padded=rows, cols_padded=cols)
            cells.append(_painted(f" r{r}c{c}".ljust(width), r, rows, colour))
        yield f"{line:>{digits}} {''.join(cells)}".rstrip()
    if size > _PER_LINE * _LINES:
        yield "…".rjust(digits)


def _painted(text: str, row: int, rows: int, colour: bool) -> str:
    if not colour:
        return text
    red, green, blue = (
        round(part / 51) for part in row_colour(row, rows)
    )  # the 6 x 6 x 6 cube of 256 colours
    return f"\x1b[38;5;16;48;5;{16 + 36 * red + 6 * green + blue}m{text}\x1b[0m"
