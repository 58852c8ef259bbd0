"""Names a measured table: the declared layouts that put every byte where it was found."""

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
    """A layout that equals a table at every row and column. Its image has `rows` x `columns` bytes.

    `padding` bytes of the image hold rows or columns that the operand does not have; `outside` bytes of the buffer
    lie behind the image.
    """

    layout: Layout
    rows: int
    columns: int
    padding: int
    outside: int


@dataclass(frozen=True, slots=True)
class Identity:
    """What layout a table is.

    `known` are the declared layouts that equal it: none if it is new, several if the problem is too small to tell them
    apart.
    """

    known: tuple[Match, ...]


def identify(table: Table) -> Identity:
    """Hold a table against all declared layouts of its kind."""
    kinds = {Tensor.ANY, *((Tensor.SCALES,) if table.is_scales else (Tensor.WEIGHTS, Tensor.ACTIVATIONS))}
    found = (_declared(table, layout) for layout in LAYOUTS if layout.tensor in kinds)
    return Identity(tuple(match for match in found if match is not None))


def _declared(table: Table, layout: Layout) -> Match | None:
    try:
        padded = padded_shape(layout, table.rows, table.columns)
    except InputError:
        return None  # it has no image of such a size
    return _match(table, layout, *padded)


def _match(table: Table, layout: Layout, rows: int, columns: int) -> Match | None:
    places = offset(
        layout,
        np.arange(table.rows)[:, None],
        np.arange(table.columns)[None, :],
        cols_padded=columns,
        rows_padded=rows,
    )
    if not np.array_equal(places, table.offsets):
        return None
    image = rows * columns
    return Match(layout, rows, columns, image - table.offsets.size, table.size - image)
