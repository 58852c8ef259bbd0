"""The logical element behind a byte offset, as a function of whole numbers and as text. `formula` the other way round.

Padding has elements, too: rows and columns from the logical length on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from argpack.errors import InputError
from scale_layout.strides import steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scale_layout.layout import Layout


@overload
def element(layout: Layout, o: int, *, rows_padded: int, cols_padded: int) -> tuple[int, int]: ...
@overload
def element(
    layout: Layout, o: NDArray[np.integer], *, rows_padded: int, cols_padded: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def element(
    layout: Layout, o: NDArray[np.integer] | int, *, rows_padded: int, cols_padded: int
) -> tuple[int, int] | tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column of byte `o` of an image: ints for an int, int64 arrays for an array. Exact up to 2^63.

    `rows_padded` and `cols_padded` are the image's, see `padded_shape`. Raises InputError outside the image.
    """
    axes = layout.axes
    for side, group, padded in (("rows", axes.rows, rows_padded), ("cols", axes.cols, cols_padded)):
        if padded < 1 or padded % group.multiple:
            raise InputError(
                f"{layout.name}: {side}_padded: expected a multiple of {group.multiple}, found {padded}"
            )
    offsets = np.asarray(o)
    if not np.issubdtype(offsets.dtype, np.integer):
        raise InputError(
            f"{layout.name}: offset: expected whole numbers, found {o if offsets.ndim == 0 else offsets.dtype}"
        )
    low, high = (int(offsets.min()), int(offsets.max())) if offsets.size else (0, 0)
    if low < 0 or high >= rows_padded * cols_padded:
        found = low if low < 0 else high
        raise InputError(f"{layout.name}: offset: expected 0..{rows_padded * cols_padded - 1}, found {found}")
    rest = offsets.astype(np.int64)
    place = {"row": np.zeros_like(rest), "column": np.zeros_like(rest)}
    for step in steps(layout):
        count, apart = (size.value(rows_padded, cols_padded) or 0 for size in (step.count, step.apart))
        place[step.side] = place[step.side] + rest % count * apart
        rest = rest // count
    if isinstance(o, np.ndarray):
        return place["row"], place["column"]
    return int(place["row"]), int(place["column"])


def inverse_text(layout: Layout) -> tuple[str, str]:
    """Row and column as expressions in o (byte offset), R and C (padded rows and columns), valid in Python.

    scale_32x8: `(o//(32*C))*32 + (o%2)*16 + (o%64)//4` and `((o%(32*C))//256)*8 + ((o%4)//2)*4 + (o%256)//64`.
    """
    texts: dict[str, list[tuple[int, str]]] = {"row": [], "column": []}
    for position, step in enumerate(reversed(steps(layout))):
        index = "o"
        if position > 0:
            index = f"o%{_factor(step.span.text)}"
        if step.stride.text != "1":
            index = (
                f"({index})//{_factor(step.stride.text)}"
                if "%" in index
                else f"o//{_factor(step.stride.text)}"
            )
        if step.apart.text != "1":
            index = f"({index})*{step.apart.text}" if index != "o" else f"o*{step.apart.text}"
        group = layout.axes.rows if step.side == "row" else layout.axes.cols
        names = [axis.name for axis in group.axes]
        texts[step.side].append((names.index(step.axis), index))
    return _sum(texts["row"]), _sum(texts["column"])


def _sum(terms: list[tuple[int, str]]) -> str:
    return " + ".join(text for _, text in sorted(terms))


def _factor(text: str) -> str:
    return f"({text})" if "*" in text else text
