"""What pictures of a layout have in common: the part of an array that is drawn, which rows of it, and their colours."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING

from scale_layout.strides import steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scale_layout.layout import Layout

_LEAST = (4, 8)  # rows and columns, where a tile is smaller


def drawn_shape(layout: Layout) -> tuple[int, int]:
    """Rows and columns that show the order: a tile, or two along a side whose tiles lie apart or hold several parts."""
    in_memory = steps(layout)
    shape = []
    for side, tile, least in zip(("row", "column"), layout.tile, _LEAST, strict=True):
        free = next(
            i
            for i, step in enumerate(in_memory)
            if step.side == side and (step.count.rows or step.count.cols)
        )
        inside = any(not (step.count.rows or step.count.cols) for step in in_memory[free + 1 :])
        group = layout.axes.rows if side == "row" else layout.axes.cols
        tiles = max(2 if inside or not group.extendable else 1, -(-least // tile))
        shape.append(tile * tiles)
    return shape[0], shape[1]


def shown(length: int, limit: int, distances: Sequence[int]) -> list[int | None]:
    """Indices to draw of `length`: all if at most `limit`, else the first and those around the `distances` of axes.

    None stands for a gap.
    """
    if length <= limit:
        return list(range(length))
    wanted = {0, 1, 2, 3, length - 1, *(distance for distance in distances if distance < length)}
    for distance in sorted({*distances} - {1}, reverse=True):
        for multiple in range(distance, length, distance):
            if len(wanted) < limit - 2:
                wanted |= {multiple, multiple + 1} & set(range(length))
    result: list[int | None] = []
    for index in sorted(wanted):
        if result and result[-1] is not None and index > result[-1] + 1:
            result.append(None)
        result.append(index)
    return result


def row_colour(row: int, rows: int) -> tuple[int, int, int]:
    """Red, green and blue, 0..255, light enough for black text: the hue goes once round over all rows."""
    red, green, blue = colorsys.hls_to_rgb(0.58 - 0.8 * row / max(1, rows), 0.82, 0.75)
    return round(255 * red), round(255 * green), round(255 * blue)
