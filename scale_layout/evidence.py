"""Whether bytes lie where a rule says: a sample first, all of them where the sample agrees. What check and infer share.

A rule gives the byte offset of each logical element; logical arrays are uint8 (rows, cols), images flat uint8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from argpack.errors import InputError
from scale_layout.formula import offset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from scale_layout.layout import Layout

    Places: TypeAlias = NDArray[np.int64]
    Rule: TypeAlias = Callable[[Places, Places], Places]

_SAMPLE = 4096
_CHUNK = 1 << 20  # elements looked at together: 8 MiB for each array of offsets


@dataclass(frozen=True, slots=True)
class Fit:
    """A layout that puts every logical byte where the image has it, with rows and columns padded to these."""

    layout: Layout
    rows: int
    cols: int


def require_varied(logical: NDArray[np.uint8]) -> None:
    """Raises InputError for what cannot tell one layout from another: a wrong type or shape, or one value only."""
    if (
        not isinstance(logical, np.ndarray)
        or logical.dtype != np.uint8
        or logical.ndim != 2
        or not logical.size
    ):
        found = (
            f"{logical.dtype} {logical.shape}" if isinstance(logical, np.ndarray) else type(logical).__name__
        )
        raise InputError(f"logical: expected a uint8 array of shape (rows, cols), found {found}")
    if (logical == logical.flat[0]).all():
        raise InputError(
            f"all {logical.size} logical bytes are {logical.flat[0]:#04x}: equal values look the same in every layout"
        )


def agreement(image: NDArray[np.uint8], logical: NDArray[np.uint8], rule: Rule) -> float:
    """The share of a sample of elements that lie where `rule` says, 0..1; places outside the image count as wrong."""
    cols = logical.shape[1]
    places = np.unique(np.random.default_rng(0).integers(0, logical.size, _SAMPLE))
    if logical.size <= _SAMPLE:
        places = np.arange(logical.size)
    r, c = places // cols, places % cols
    return float(_right(image, logical, rule, r, c).mean())


def holds(image: NDArray[np.uint8], logical: NDArray[np.uint8], rule: Rule) -> bool:
    """Whether every element lies where `rule` says."""
    if agreement(image, logical, rule) < 1:
        return False
    return all(_right(image, logical, rule, r, c).all() for r, c in elements(logical.shape))


def mistakes(
    image: NDArray[np.uint8], logical: NDArray[np.uint8], rule: Rule
) -> tuple[int, tuple[int, int] | None]:
    """How many elements do not lie where `rule` says, and the first of them as (row, column)."""
    count, first = 0, None
    for r, c in elements(logical.shape):
        wrong = np.flatnonzero(~_right(image, logical, rule, r, c))
        if wrong.size and first is None:
            first = (int(r[wrong[0]]), int(c[wrong[0]]))
        count += wrong.size
    return count, first


def elements(shape: tuple[int, ...]) -> Iterator[tuple[Places, Places]]:
    """Rows and columns of all elements, a chunk at a time."""
    rows, cols = shape
    for start in range(0, rows * cols, _CHUNK):
        places = np.arange(start, min(start + _CHUNK, rows * cols), dtype=np.int64)
        yield places // cols, places % cols


def rule_of(layout: Layout, rows_padded: int, cols_padded: int) -> Rule:
    """The rule of a layout in an image of that shape."""

    def rule(r: Places, c: Places) -> Places:
        places = offset(layout, r, c, rows_padded=rows_padded, cols_padded=cols_padded)
        return np.asarray(places, np.int64)

    return rule


def fits(image: NDArray[np.uint8], logical: NDArray[np.uint8], layouts: Sequence[Layout]) -> list[Fit]:
    """The layouts, each with its padded shape, that explain every byte of `logical`, in the order given."""
    found = []
    for layout in layouts:
        for rows, cols in padded_shapes(layout, logical.shape, image.size):
            if holds(image, logical, rule_of(layout, rows, cols)):
                found.append(Fit(layout, rows, cols))
                break
    return found


def padded_shapes(layout: Layout, shape: tuple[int, ...], size: int) -> Iterator[tuple[int, int]]:
    """Padded rows and columns that an image of `size` bytes can have, the narrowest first."""
    rows, cols = shape
    tile_rows, tile_cols = layout.tile
    axes = layout.axes
    first = -(-cols // tile_cols) * tile_cols
    last = size // rows if axes.cols.extendable else cols
    for padded in range(first, last + 1, tile_cols):
        tall, rest = divmod(size, padded)
        if rest or tall % tile_rows or tall < rows or (tall != rows and not axes.rows.extendable):
            continue
        yield tall, padded


def _right(
    image: NDArray[np.uint8], logical: NDArray[np.uint8], rule: Rule, r: Places, c: Places
) -> NDArray[np.bool_]:
    places = rule(r, c)
    inside = (places >= 0) & (places < image.size)
    if not image.size:
        return inside
    right: NDArray[np.bool_] = inside & (image[np.where(inside, places, 0)] == logical[r, c])
    return right
