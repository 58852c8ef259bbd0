"""From a logical array to its image in HBM and back: padding, then one reordering of axes.

Nothing here knows a particular layout; sizes are bytes, and a logical array is uint8 of shape (rows, cols).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout.permute import permute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scale_layout.layout import Layout
    from scale_layout.pattern import Group


def padded_shape(
    layout: Layout, rows: int, cols: int, *, row_multiple: int | None = None, col_multiple: int | None = None
) -> tuple[int, int]:
    """Rows and columns of the image of a (rows, cols) array; their product is the image's size in bytes.

    `row_multiple` and `col_multiple` pad further than the tile, where a project does (AITER pads the rows of
    scale_32x8 to 256); they must be multiples of it. Raises InputError for these, for empty arrays, and where
    padding would move elements (rows = [gate | up] must be whole tiles).
    """
    if rows < 1 or cols < 1:
        raise InputError(f"{layout.name}: expected at least one row and one column, found {rows} x {cols}")
    axes = layout.axes
    return (
        _padded(layout, axes.rows, rows, row_multiple, "row"),
        _padded(layout, axes.cols, cols, col_multiple, "col"),
    )


def apply(
    layout: Layout,
    logical: NDArray[np.uint8],
    *,
    pad_value: int | None,
    row_multiple: int | None = None,
    col_multiple: int | None = None,
) -> NDArray[np.uint8]:
    """The image of `logical`, uint8 (rows, cols): a new flat uint8 array of padded rows · padded columns
    bytes.

    For scales a column is one block of K; for weights and activations one byte of a row. `pad_value` (0..255)
    fills the padding: 0x00 and 0x7F both occur and only one is right for a given kernel, so there is no
    default; None refuses to pad. Multiples as in `padded_shape`. Raises InputError.
    """
    if not isinstance(logical, np.ndarray) or logical.dtype != np.uint8 or logical.ndim != 2:
        found = (
            f"{logical.dtype} {logical.shape}" if isinstance(logical, np.ndarray) else type(logical).__name__
        )
        raise InputError(f"{layout.name}: expected a uint8 array of shape (rows, cols), found {found}")
    rows, cols = logical.shape
    shape = padded_shape(layout, rows, cols, row_multiple=row_multiple, col_multiple=col_multiple)
    if pad_value is not None and not 0 <= pad_value <= 255:
        raise InputError(f"{layout.name}: pad_value: expected 0..255, found {pad_value}")
    source = logical
    if shape != (rows, cols):
        if pad_value is None:
            raise InputError(
                f"{layout.name}: {padding_words(rows, cols, shape)}, and pad_value=None refuses to pad"
            )
        try:
            source = np.full(shape, pad_value, np.uint8)
        except (MemoryError, ValueError) as error:
            size = shape[0] * shape[1]
            raise InputError(f"{layout.name}: an image of {size} bytes does not fit into memory") from error
        source[:rows, :cols] = logical
    axes = layout.axes
    return permute(source, tuple(axes.extents(*shape).values()), axes.permutation())


def invert(
    layout: Layout,
    image: NDArray[np.uint8],
    *,
    rows: int,
    cols: int,
    row_multiple: int | None = None,
    col_multiple: int | None = None,
) -> NDArray[np.uint8]:
    """The logical uint8 array (rows, cols) of a flat uint8 `image`; padding is dropped. Inverse of `apply`.

    Raises InputError, saying the right size, where `image` is not padded as `padded_shape` says.
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 1:
        found = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise InputError(f"{layout.name}: expected a flat uint8 image, found {found}")
    shape = padded_shape(layout, rows, cols, row_multiple=row_multiple, col_multiple=col_multiple)
    if image.size != shape[0] * shape[1]:
        raise InputError(f"{layout.name}: {size_words(layout, rows, cols, shape, image.size)}")
    axes = layout.axes
    extents = axes.extents(*shape)
    order = axes.permutation()
    back = [order.index(axis) for axis in range(len(order))]
    logical = permute(image, [extents[name] for name in axes.order], back).reshape(shape)
    return logical if shape == (rows, cols) else logical[:rows, :cols].copy()


def _padded(layout: Layout, group: Group, length: int, multiple: int | None, side: str) -> int:
    tile = group.multiple
    if multiple is not None and (multiple < tile or multiple % tile):
        raise InputError(f"{layout.name}: {side}_multiple: expected a multiple of {tile}, found {multiple}")
    padded = -(-length // (multiple or tile)) * (multiple or tile)
    if padded != length and not group.extendable:
        parts = group.outer(group.free)
        raise InputError(
            f"{layout.name}: {length} {side}s are {parts} parts of whole tiles only for multiples of"
            f" {multiple or tile}; pad each part before joining them"
        )
    return padded


def padding_words(rows: int, cols: int, shape: tuple[int, int]) -> str:
    """What is padded to what: `48 rows pad to 64 and 52 columns pad to 56`."""
    parts = []
    if shape[0] != rows:
        parts.append(f"{rows} rows pad to {shape[0]}")
    if shape[1] != cols:
        parts.append(f"{cols} columns pad to {shape[1]}")
    return " and ".join(parts) or f"{rows} rows and {cols} columns need no padding"


def size_words(layout: Layout, rows: int, cols: int, shape: tuple[int, int], found: int) -> str:
    """Why an image of `found` bytes has the wrong size, and the right one."""
    text = f"{padding_words(rows, cols, shape)}: expected {shape[0] * shape[1]} bytes, found {found}"
    found_rows, rest = divmod(found, shape[1])
    if found == rows * cols:
        return f"{text}, the size without padding"
    if not rest and found_rows > shape[0] and found_rows % layout.tile[0] == 0:
        return f"{text}, as if rows were padded to {found_rows} (row_multiple)"
    return text
