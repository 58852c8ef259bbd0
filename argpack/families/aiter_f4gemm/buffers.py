"""The device buffers of an f4gemm launch: operands in their layouts and paddings, and an output where a write shows.

Contents are made row block by row block where the layout keeps blocks of rows together, whole where it does not.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK, SCALE_COLUMNS
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.aiter_f4gemm.placement import b_layout
from argpack.families.sampling import block_ranges, joined, spans
from argpack.launch import MadeBuffer
from scale_layout import apply, layout_named, padded_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from argpack.families.aiter_f4gemm.launches import Plan
    from argpack.families.aiter_f4gemm.operands import OperandRows
    from scale_layout import Layout

    MakeRows = Callable[[int, int], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class Output:
    """D before the launch: `rows` rows of `row_stride` bf16 are allocated, `m` x `n` of them are the product.

    These are zero if `zeroed`, for the slices of K to add to. All else holds `SENTINEL`.
    """

    m: int
    n: int
    rows: int
    row_stride: int
    zeroed: bool

    def before(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Rows `start` up to `stop` before the launch, bf16 bits, uint16 (rows, row_stride)."""
        bits = np.full((stop - start, self.row_stride), SENTINEL, np.uint16)
        if self.zeroed:
            bits[: max(0, self.m - start), : self.n] = 0
        return bits


def output_buffer(plan: Plan, output: Output) -> MadeBuffer:
    """D."""
    width = 2 * output.row_stride
    needed = None
    if plan.tiles is not None:
        size_m, size_n = plan.variant.tile_m, plan.variant.tile_n
        blocks = [
            (*spans({y}, size_m, output.rows), *spans({x}, size_n, output.row_stride)) for x, y in plan.tiles
        ]
        needed = joined([block_ranges(rows, columns, output.row_stride, 2) for rows, columns in blocks])

    def make(start: int, stop: int) -> NDArray[np.uint8]:
        return output.before(start // width, stop // width).view(np.uint8).reshape(-1)

    return MadeBuffer("D", output.rows * width, make, width, needed, initialised=output.zeroed)


def input_buffers(plan: Plan, operands: OperandRows) -> tuple[MadeBuffer, ...]:
    """A, B and their scales as the plan places them, and C where the problem has a beta."""
    problem, placement = plan.problem, plan.placement
    images = {
        "A": _Image(layout_named("row_major"), problem.m, problem.k // 2, 0),
        "B": _Image(layout_named(placement.b_layout or b_layout(plan.variant)), problem.n, problem.k // 2, 0),
    }
    found = [
        _buffer(plan, name, image, functools.partial(operands.code_rows, name))
        for name, image in images.items()
    ]
    for name, scales, multiple in (
        ("A", placement.scale_a_layout, plan.scale_a_rows),
        ("B", placement.scale_b_layout, plan.scale_b_rows),
    ):
        image = _Image(
            layout_named(scales), images[name].rows, problem.k // SCALE_BLOCK, placement.scale_pad, multiple
        )
        make = functools.partial(operands.scale_rows, name)
        found.append(_buffer(plan, f"Scale{name}", image, make))
    if problem.beta != 0:
        found.append(_c_buffer(plan, operands))
    return tuple(found)


def scale_image(name: str, scales: NDArray[np.uint8], pad: int, row_multiple: int) -> NDArray[np.uint8]:
    """All of a buffer of scales, given as uint8 (rows, K/32)."""
    layout = layout_named(name)
    return apply(layout, scales, pad_value=pad, **_multiples(layout, row_multiple))


def _multiples(layout: Layout, row_multiple: int) -> dict[str, int]:
    """Padded as the kernel wants it in every layout, so that a wrong one differs in its order alone."""
    rows, columns = layout.tile
    return {
        "row_multiple": math.lcm(rows, row_multiple),
        "col_multiple": math.lcm(columns, SCALE_COLUMNS),
    }


@dataclass(frozen=True, slots=True)
class _Image:
    """Rows and columns (bytes) of an operand in its layout; scales have a `row_multiple` to pad to, codes none."""

    layout: Layout
    rows: int
    columns: int
    pad: int
    row_multiple: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns with padding."""
        multiples = {} if self.row_multiple is None else _multiples(self.layout, self.row_multiple)
        return padded_shape(self.layout, self.rows, self.columns, **multiples)

    @property
    def row_block(self) -> int:
        """Rows that stay together: a tile of them where their slowest axis is the slowest in memory, else all."""
        axes = self.layout.axes
        separable = axes.order[0] == axes.rows.axes[0].name and axes.rows.extendable
        return self.layout.tile[0] if separable else self.shape[0]


def _buffer(plan: Plan, name: str, image: _Image, make_rows: MakeRows) -> MadeBuffer:
    rows, width = image.shape
    block = image.row_block

    def make(start: int, stop: int) -> NDArray[np.uint8]:
        first, last = start // width, stop // width
        if first >= image.rows:
            return np.full(stop - start, image.pad, np.uint8)
        logical = make_rows(first, min(last, image.rows))
        return apply(
            image.layout, logical, pad_value=image.pad, row_multiple=last - first, col_multiple=width
        )

    needed = None
    if plan.tiles is not None:
        of_a = name in {"A", "ScaleA"}
        indices = {y if of_a else x for x, y in plan.tiles}
        found = spans(indices, plan.variant.tile_m if of_a else plan.variant.tile_n, rows)
        # The last tile may begin before a block of rows does and end behind it.
        blocks = [(start // block * block, min(-(-stop // block) * block, rows)) for start, stop in found]
        needed = np.array(blocks, np.int64) * width
    return MadeBuffer(name, rows * width, make, block * width, needed)


def _c_buffer(plan: Plan, operands: OperandRows) -> MadeBuffer:
    """No kernel reads it."""
    width = 2 * plan.problem.n

    def make(start: int, stop: int) -> NDArray[np.uint8]:
        return operands.c_rows(start // width, stop // width).view(np.uint8).reshape(-1)

    needed = None if plan.tiles is None else joined([])
    return MadeBuffer("C", plan.problem.m * width, make, width, needed)
