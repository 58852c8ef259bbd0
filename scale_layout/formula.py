"""The byte offset of a logical element, as a function of whole numbers and as text that people can check by
eye.

Both come from the pattern and from nothing in `image`, so that the tests can hold one against the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from argpack.errors import InputError
from scale_layout.strides import steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scale_layout.layout import Layout
    from scale_layout.pattern import Group, Pattern
    from scale_layout.strides import Step


@overload
def offset(layout: Layout, r: int, c: int, *, cols_padded: int, rows_padded: int | None = None) -> int: ...
@overload
def offset(
    layout: Layout,
    r: NDArray[np.integer] | int,
    c: NDArray[np.integer] | int,
    *,
    cols_padded: int,
    rows_padded: int | None = None,
) -> NDArray[np.int64] | int: ...
def offset(
    layout: Layout,
    r: NDArray[np.integer] | int,
    c: NDArray[np.integer] | int,
    *,
    cols_padded: int,
    rows_padded: int | None = None,
) -> NDArray[np.int64] | int:
    """Byte offset in the image of logical element (`r`, `c`): an int for ints, int64 (broadcast) for arrays.

    `rows_padded` and `cols_padded` are the image's, see `padded_shape`; rows are needed only where the
    formula uses R (`formula_text` shows it). Offsets up to 2^63 are exact. Raises InputError outside the
    image.
    """
    axes = layout.axes
    if rows_padded is None:
        if _uses_rows(axes):
            raise InputError(f"{layout.name}: the offset depends on rows_padded, which is not given")
        length = axes.rows.multiple
    else:
        length = rows_padded
    for side, group, padded in (("rows", axes.rows, length), ("cols", axes.cols, cols_padded)):
        if padded < 1 or padded % group.multiple:
            raise InputError(
                f"{layout.name}: {side}_padded: expected a multiple of {group.multiple}, found {padded}"
            )
    row = _index(layout, r, "row", rows_padded)
    col = _index(layout, c, "column", cols_padded)
    extents = axes.extents(length, cols_padded)
    indices = dict(
        zip(extents, [*_split(axes.rows, row, length), *_split(axes.cols, col, cols_padded)], strict=True)
    )
    total: NDArray[np.int64] | int = 0
    for name in axes.order:
        total = total * extents[name] + indices[name]
    return total


def formula_text(layout: Layout) -> str:
    """`offset` as an expression in r, c (element) and R, C (padded rows and columns), valid in Python and in
    C.

    scale_32x8: `(r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16` (in C, / for
    //).
    """
    terms = []
    for step in reversed(steps(layout)):
        index = _index_text(step, layout.axes)
        if step.stride.text == "1":
            terms.append(index)
        else:
            terms.append(
                f"({index})*{step.stride.text}" if not index.isalpha() else f"{index}*{step.stride.text}"
            )
    return " + ".join(terms)


def _uses_rows(axes: Pattern) -> bool:
    free = axes.rows.axes[axes.rows.free].name
    return axes.order[0] != free or not axes.rows.extendable


def _index(
    layout: Layout, index: NDArray[np.integer] | int, side: str, padded: int | None
) -> NDArray[np.int64] | int:
    if isinstance(index, (int, np.integer)):
        low = high = value = int(index)
        found: NDArray[np.int64] | int = value
    else:
        if not isinstance(index, np.ndarray) or not np.issubdtype(index.dtype, np.integer):
            raise InputError(
                f"{layout.name}: {side}: expected whole numbers, found {getattr(index, 'dtype', index)}"
            )
        found = index.astype(np.int64)
        low, high = (int(found.min()), int(found.max())) if found.size else (0, 0)
    if low < 0 or (padded is not None and high >= padded):
        limit = "" if padded is None else f"..{padded - 1}"
        raise InputError(f"{layout.name}: {side}: expected 0{limit}, found {low if low < 0 else high}")
    return found


def _split(group: Group, index: NDArray[np.int64] | int, length: int) -> list[NDArray[np.int64] | int]:
    """Index along every axis of a group; the slowest keeps all that is left, so that rows may be unknown."""
    parts: list[NDArray[np.int64] | int] = []
    for extent in reversed(group.extents(length)[1:]):
        parts.append(index % extent)
        index = index // extent
    return [index, *reversed(parts)]


def _index_text(step: Step, axes: Pattern) -> str:
    """The index along one axis: `(c%8)//4`."""
    group, text = (axes.rows, "r") if step.side == "row" else (axes.cols, "c")
    if step.axis != group.axes[0].name:
        text = f"{text}%{step.reach.text}"
    if step.apart.text != "1":
        text = f"({text})//{step.apart.text}" if "%" in text else f"{text}//{step.apart.text}"
    return text
