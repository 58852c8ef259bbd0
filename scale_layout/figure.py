"""A layout as a figure for a document: the array's tiles, one tile zoomed with distances at its edges, memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scale_layout.drawn import drawn_shape, row_colour, shown
from scale_layout.formula import formula_text, offset
from scale_layout.inverse import element
from scale_layout.shapes import ACCENT, GREY, Box, Figure, Path, Shape, Text
from scale_layout.strides import steps
from scale_layout.words import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scale_layout.layout import Layout
    from scale_layout.strides import Step

_ROWS, _COLS = 34, 16  # that the zoomed tile shows
_LINE, _LINES = 16, 20  # bytes of a line of memory, and lines
_EMPTY = "#f9fafb"  # a tile that is not drawn
_CELL = 17.0  # height
_TOP = 178.0  # of the panels
_MARGIN = 36.0
_LANE = 46.0  # between arrows at the left of the tile


@dataclass(frozen=True, slots=True)
class _Drawn:
    layout: Layout
    rows: int
    cols: int
    lines: list[int | None]
    columns: list[int | None]


def figure(layout: Layout) -> Figure:
    """The figure of a layout; see the module."""
    rows, cols = drawn_shape(layout)
    apart = {
        side: [step.apart.value(rows, cols) or 1 for step in steps(layout) if step.side == side]
        for side in ("row", "column")
    }
    drawn = _Drawn(layout, rows, cols, shown(rows, _ROWS, apart["row"]), shown(cols, _COLS, apart["column"]))
    shapes: list[Shape] = list(_heading(layout))
    left, bottom = _array_panel(drawn, _MARGIN, shapes)
    middle, tile_bottom = _tile_panel(drawn, left + 40, shapes)
    right, memory_bottom = _memory_panel(drawn, middle + 44, shapes)
    height = max(bottom, tile_bottom, memory_bottom) + _MARGIN
    return Figure(max(right + _MARGIN, 980.0), height, tuple(shapes))


def _heading(layout: Layout) -> Iterator[Shape]:
    yield Text(x=_MARGIN, y=46, text=layout.name, size=22, bold=True)
    yield Text(x=_MARGIN, y=70, text=layout.doc, size=13, fill=GREY)
    yield Text(x=_MARGIN, y=96, text=layout.pattern, size=13, mono=True)
    yield Text(x=_MARGIN, y=116, text=f"offset = {formula_text(layout)}", size=13, mono=True)


def _array_panel(drawn: _Drawn, x: float, shapes: list[Shape]) -> tuple[float, float]:
    """Tiles of the whole array in memory order, each with the offset of its first byte; right edge and bottom."""
    layout = drawn.layout
    row_step, col_step = _repeat(layout, "row"), _repeat(layout, "column")
    parts = _part(layout, "row"), _part(layout, "column")
    tall, wide = (step.apart.value(drawn.rows, drawn.cols) or 1 for step in (row_step, col_step))
    width, height = (92.0, 58.0)
    tiles = [(i, j) for i in range(3) for j in range(3)]
    outlines: list[Shape] = []  # of the tiles that are zoomed
    shapes.append(Text(x=x, y=_TOP - 34, text="Logical array", size=14, bold=True))
    shapes.append(Text(x=x, y=_TOP - 17, text=f"in tiles of {tall} x {wide}", size=11, fill=GREY))
    for i, j in tiles:
        left, top = x + 24 + j * width, _TOP + 16 + i * height
        shapes.append(Box(x=left, y=top, width=width, height=height, fill=_EMPTY, stroke=GREY, line=1))
        row = (parts[0].apart.value(drawn.rows, drawn.cols) or 0) if parts[0] and i == 2 else i * tall
        if row < drawn.rows and j * wide < drawn.cols:
            shapes += _bands(drawn, (row, tall), Box(x=left, y=top, width=width, height=height))
            outlines.append(Box(x=left, y=top, width=width, height=height, stroke=ACCENT, line=2))
    shapes += outlines
    notes = ["number: byte offset of a tile's first element"]
    if parts == (None, None):
        centres = {(i, j): (x + 24 + (j + 0.5) * width, _TOP + 16 + (i + 0.62) * height) for i, j in tiles}
        rows_first = _slower(layout, "column")
        order = sorted(tiles, key=lambda tile: (tile[1], tile[0]) if rows_first else tile)
        shapes.append(Path(points=tuple(centres[tile] for tile in order), stroke=GREY, line=1.4, arrow=True))
        notes.append("line: order of the tiles in memory")
    else:
        notes += [
            f"third {part.side}: the next part, {part.apart.text.strip('()').replace('//', '/')} {part.side}s on"
            for part in parts
            if part
        ]
    for i, j in tiles:
        text = _first_offset(i, j, (row_step, col_step), parts)
        middle, top = x + 24 + (j + 0.5) * width, _TOP + 16 + i * height
        if i and parts == (None, None):  # where the line of the order passes
            half = 3.4 * len(text) + 5
            shapes.append(
                Box(x=middle - half, y=top + 5, width=2 * half, height=15, fill=_EMPTY, stroke=_EMPTY)
            )
        shapes.append(Text(x=middle, y=top + 16, text=text, size=11, anchor="middle", mono=True))
    right, bottom = x + 24 + 3 * width, _TOP + 16 + 3 * height
    shapes.append(Text(x=x + 24, y=_TOP + 8, text="C columns →", size=11, fill=GREY))
    shapes.append(Text(x=x, y=_TOP + 16 + 12, text="R", size=11, fill=GREY))
    shapes.append(Text(x=x, y=_TOP + 16 + 27, text="↓", size=11, fill=GREY))
    for position, note in enumerate(notes):
        shapes.append(Text(x=x + 24, y=bottom + 18 + 15 * position, text=note, size=10.5, fill=GREY))
    bottom += 60
    shapes.append(Text(x=x, y=bottom + 6, text="In memory", size=14, bold=True))
    for position, line in enumerate(describe(layout).splitlines()[1:]):
        shapes.append(Text(x=x, y=bottom + 28 + 18 * position, text=line, size=11))
    return right, bottom + 28 + 18 * len(steps(layout))


def _bands(drawn: _Drawn, rows: tuple[int, int], tile: Box) -> Iterator[Shape]:
    """The colours of a tile's rows, first and number."""
    first, tall = rows
    count = min(16, tall)
    for band in range(count):
        fill = _colour(first + band * tall / count, drawn.rows)
        y, height = tile.y + band * tile.height / count, tile.height / count
        yield Box(x=tile.x, y=y, width=tile.width, height=height, fill=fill, stroke=fill)


def _repeat(layout: Layout, side: str) -> Step:
    """The step from tile to tile along a side."""
    return next(step for step in steps(layout) if step.side == side and (step.count.rows or step.count.cols))


def _slower(layout: Layout, side: str) -> bool:
    """Whether tiles along `side` are farther apart in memory than along the other."""
    free = [step.side for step in steps(layout) if step.count.rows or step.count.cols]
    return free[-1] == side


def _part(layout: Layout, side: str) -> Step | None:
    """The step from part to part where a side is several parts of tiles, [gate | up], else None."""
    group = layout.axes.rows if side == "row" else layout.axes.cols
    if group.extendable:
        return None
    return next(step for step in steps(layout) if step.axis == group.axes[group.free - 1].name)


def _first_offset(i: int, j: int, repeats: tuple[Step, Step], parts: tuple[Step | None, Step | None]) -> str:
    """Of tile (i, j) of the three by three; where a side has parts, the third is the next part's first."""
    texts = []
    for count, step, part in zip((i, j), repeats, parts, strict=True):
        if part and count == 2:
            texts.append(_multiple(1, part.stride.text))
        elif count:
            texts.append(_multiple(count, step.stride.text))
    return " + ".join(texts) or "0"


def _multiple(count: int, text: str) -> str:
    """`count` times `text`, shortened: 2 times 16*C is 32C."""
    number, rest = 1, []
    for part in text.split("*"):
        if part.isdigit():
            number *= int(part)
        else:
            rest.append(part.replace("//", "/"))
    number *= count
    return "·".join([str(number), *rest]) if number != 1 or not rest else "·".join(rest)


def _tile_panel(drawn: _Drawn, x: float, shapes: list[Shape]) -> tuple[float, float]:
    """Every element with its offset; arrows at the edges say how far an index moves in memory."""
    layout, rows, cols = drawn.layout, drawn.rows, drawn.cols
    tall, wide = (_repeat(layout, side).apart.value(rows, cols) or 1 for side in ("row", "column"))
    digits = len(str(rows * cols - 1))
    width = max(26.0, 7.4 * digits + 10)
    row_steps = [s for s in _sorted(layout, "row") if (s.apart.value(rows, cols) or 0) < rows]
    col_steps = [s for s in _sorted(layout, "column") if (s.apart.value(rows, cols) or 0) < cols]
    left = x + _LANE * len(row_steps) + 34
    top = _TOP + 18.0 + 20 * max(0, len(col_steps) - 1)
    what = "One tile" if (rows, cols) == (tall, wide) else f"{rows // tall * (cols // wide)} tiles"
    shapes.append(Text(x=x, y=_TOP - 34, text=f"{what}, zoomed", size=14, bold=True))
    text = f"byte offset of each element of an image of R = {rows} rows, C = {cols} columns"
    shapes.append(Text(x=x, y=_TOP - 17, text=text, size=11, fill=GREY))
    for position, c in enumerate(drawn.columns):
        label = "…" if c is None else str(c)
        shapes.append(
            Text(
                x=left + (position + 0.5) * width, y=top + 8, text=label, size=10, anchor="middle", fill=GREY
            )
        )
    for line, r in enumerate(drawn.lines):
        y = top + 14 + line * _CELL
        label = "⋮" if r is None else str(r)
        shapes.append(Text(x=left - 6, y=y + 12.5, text=label, size=10, anchor="end", fill=GREY))
        for position, c in enumerate(drawn.columns):
            if r is None or c is None:
                continue
            place = offset(layout, r, c, rows_padded=rows, cols_padded=cols)
            shapes.append(
                Box(
                    x=left + position * width,
                    y=y,
                    width=width,
                    height=_CELL,
                    fill=_colour(r, rows),
                    stroke="#ffffff",
                )
            )
            shapes.append(
                Text(
                    x=left + (position + 0.5) * width,
                    y=y + 12.5,
                    text=str(place),
                    size=10.5,
                    anchor="middle",
                    mono=True,
                )
            )
    bottom = top + 14 + len(drawn.lines) * _CELL
    for lane, step in enumerate(row_steps):
        at = left - 34 - _LANE * lane
        apart = step.apart.value(rows, cols) or 1
        start, end = (top + 14 + (drawn.lines.index(r) + 0.5) * _CELL for r in (0, apart))
        shapes.append(
            Path(points=((at + 8, start), (at, start), (at, end), (at + 8, end)), stroke=ACCENT, arrow=True)
        )
        shapes.append(
            Text(x=at - 4, y=(start + end) / 2 + 4, text=_distance(step), size=10, anchor="end", fill=ACCENT)
        )
    for lane, step in enumerate(col_steps):
        at = top - 9 - 20.0 * lane
        apart = step.apart.value(rows, cols) or 1
        start, end = (left + (drawn.columns.index(c) + 0.5) * width for c in (0, apart))
        shapes.append(
            Path(points=((start, at + 4), (start, at), (end, at), (end, at + 4)), stroke=ACCENT, arrow=True)
        )
        shapes.append(Text(x=end + 6, y=at + 3, text=_distance(step), size=10, fill=ACCENT))
    return max(left + len(drawn.columns) * width, x + 6.0 * len(text)), bottom


def _sorted(layout: Layout, side: str) -> list[Step]:
    """The steps along a side, nearest first."""
    group = layout.axes.rows if side == "row" else layout.axes.cols
    names = [axis.name for axis in group.axes]
    return sorted(
        (step for step in steps(layout) if step.side == side), key=lambda step: -names.index(step.axis)
    )


def _distance(step: Step) -> str:
    return f"+{_multiple(1, step.stride.text)}"


def _memory_panel(drawn: _Drawn, x: float, shapes: list[Shape]) -> tuple[float, float]:
    """The first bytes of memory, each with the row and column that it holds."""
    layout, rows, cols = drawn.layout, drawn.rows, drawn.cols
    size = rows * cols
    shapes.append(Text(x=x, y=_TOP - 34, text="Memory", size=14, bold=True))
    text = f"row,column of each byte, {_LINE} bytes a line, from the first on"
    shapes.append(Text(x=x, y=_TOP - 17, text=text, size=11, fill=GREY))
    widest = len(f"{rows - 1},{cols - 1}")
    width = max(30.0, 5.6 * widest + 6)
    left = x + 7.4 * len(str(min(size, _LINE * _LINES))) + 8
    top = _TOP + 14.0
    count = min(size, _LINE * _LINES)
    for place in range(count):
        line, position = divmod(place, _LINE)
        if position == 0:
            shapes.append(
                Text(
                    x=left - 6,
                    y=top + line * _CELL + 12.5,
                    text=str(place),
                    size=10,
                    anchor="end",
                    fill=GREY,
                    mono=True,
                )
            )
        r, c = element(layout, place, rows_padded=rows, cols_padded=cols)
        at = left + position * width
        shapes.append(
            Box(
                x=at, y=top + line * _CELL, width=width, height=_CELL, fill=_colour(r, rows), stroke="#ffffff"
            )
        )
        shapes.append(
            Text(
                x=at + width / 2,
                y=top + line * _CELL + 12,
                text=f"{r},{c}",
                size=9,
                anchor="middle",
                mono=True,
            )
        )
    bottom = top + -(-count // _LINE) * _CELL
    if count < size:
        shapes.append(Text(x=left, y=bottom + 16, text=f"… and so on, {size} bytes", size=11, fill=GREY))
        bottom += 16
    return left + _LINE * width, bottom


def _colour(row: float, rows: int) -> str:
    red, green, blue = row_colour(int(row), rows)
    return f"#{red:02x}{green:02x}{blue:02x}"
