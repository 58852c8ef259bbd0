"""The image of a layout as a construct schema, for those who read images with construct. Imported on first
use only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scale_layout.image import padded_shape

if TYPE_CHECKING:
    from construct import Construct

    from scale_layout.layout import Layout


def image_schema(
    layout: Layout, rows: int, cols: int, *, row_multiple: int | None = None, col_multiple: int | None = None
) -> Construct:
    """Nested `construct.Array`s of bytes, one for each axis and named by it, slowest axis outermost.

    Parsing an image of scale_32x8 gives lists indexed [mo][ko][k4][m16][k2][m2]. Shapes as in `padded_shape`.
    """
    from construct import Array, Byte

    axes = layout.axes
    extents = axes.extents(
        *padded_shape(layout, rows, cols, row_multiple=row_multiple, col_multiple=col_multiple)
    )
    schema = Byte
    for name in reversed(axes.order):
        schema = name / Array(extents[name], schema)
    return schema
