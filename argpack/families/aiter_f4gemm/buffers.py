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
from argpack.launch import MadeBuffer
from scale_layout import apply, layout_named, padded_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from argpack.families.aiter_f4gemm.launches import Plan
    from argpack.families.aiter_f4gemm.operands import OperandRows
    from argpack.families.family import Problem
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


def output_buffer(output: Output) -> MadeBuffer:
    """D."""
    width = 2 * output.row_stride

    def make(start: int, stop: int) -> NDArray[np.uint8]:
        return output.before(start // width, stop // width).view(np.uint8).reshape(-1)

    return MadeBuffer("D", output.rows * width, make, unit=width, initialised=output.zeroed)


def input_buffers(plan: Plan, operands: OperandRows) -> tuple[MadeBuffer, ...]:
    """A, B and their scales as the plan places them, and C where the problem has a beta."""
    problem, placement = plan.problem, plan.placement
    sizes = {"A": problem.m, "B": problem.n}
    found = []
    for operand, name in (("A", "row_major"), ("B", placement.b_layout or b_layout(plan.variant))):
        layout = layout_named(name)
        shape = padded_shape(layout, sizes[operand], problem.k // 2)
        make = functools.partial(operands.code_rows, operand)
        found.append(_image(operand, layout, (sizes[operand], shape), make, pad=0))
    for operand, name, multiple in (
        ("A", placement.scale_a_layout, plan.scale_a_rows),
        ("B", placement.scale_b_layout, plan.scale_b_rows),
    ):
        layout = layout_named(name)
        shape = padded_shape(layout, sizes[operand], problem.k // SCALE_BLOCK, **_multiples(layout, multiple))
        make = functools.partial(operands.scale_rows, operand)
        found.append(
            _image(f"Scale{operand}", layout, (sizes[operand], shape), make, pad=placement.scale_pad)
        )
    if problem.beta != 0:
        found.append(_c_buffer(problem, operands))
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


def _image(
    name: str, layout: Layout, sizes: tuple[int, tuple[int, int]], make: MakeRows, *, pad: int
) -> MadeBuffer:
    """`sizes` are the rows that there are, and the image's rows and columns with padding."""
    rows, (padded_rows, width) = sizes
    # Blocks of rows stay together where the slowest axis in memory is that of the rows.
    separable = layout.axes.order[0] == layout.axes.rows.axes[0].name and layout.axes.rows.extendable
    unit = layout.tile[0] if separable else padded_rows

    def image(start: int, stop: int) -> NDArray[np.uint8]:
        first, last = start // width, stop // width
        if first >= rows:
            return np.full(stop - start, pad, np.uint8)
        return apply(
            layout, make(first, min(last, rows)), pad_value=pad, row_multiple=last - first, col_multiple=width
        )

    return MadeBuffer(name, padded_rows * width, image, unit=unit * width)


def _c_buffer(problem: Problem, operands: OperandRows) -> MadeBuffer:
    width = 2 * problem.n

    def make(start: int, stop: int) -> NDArray[np.uint8]:
        return operands.c_rows(start // width, stop // width).view(np.uint8).reshape(-1)

    return MadeBuffer("C", problem.m * width, make, unit=width)
