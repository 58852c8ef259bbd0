"""Names a measured table: the declared layouts that put every byte where it was found, and the paddings around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout import LAYOUTS, Tensor, offset, padded_shape

if TYPE_CHECKING:
    from argpack.probe.tables import Table
    from scale_layout import Layout


@dataclass(frozen=True, slots=True)
class Match:
    """A declared layout that equals a table at every row and column. Its image has `rows` x `columns` bytes.

    `padding` bytes of the image hold rows or columns that the operand does not have; `outside` bytes of the buffer
    lie behind the image.
    """

    layout: Layout
    rows: int
    columns: int
    padding: int
    outside: int


def matches(table: Table) -> tuple[Match, ...]:
    """All declared layouts that fit. None: the layout is new. Several: the problem is too small to tell them apart."""
    kinds = (
        {Tensor.ANY, Tensor.SCALES} if table.is_scales else {Tensor.ANY, Tensor.WEIGHTS, Tensor.ACTIVATIONS}
    )
    found = (_match(table, layout) for layout in LAYOUTS if layout.tensor in kinds)
    return tuple(match for match in found if match is not None)


def _match(table: Table, layout: Layout) -> Match | None:
    rows, columns = table.rows, table.columns
    try:
        padded = padded_shape(layout, rows, columns)
    except InputError:
        return None  # it has no image of such a size
    declared = offset(
        layout,
        np.arange(rows)[:, None],
        np.arange(columns)[None, :],
        cols_padded=padded[1],
        rows_padded=padded[0],
    )
    if not np.array_equal(declared, table.offsets):
        return None
    image = padded[0] * padded[1]
    return Match(layout, *padded, image - rows * columns, table.size - image)
