"""Which bytes of an f4gemm launch's buffers are what: elements of D, what whole tiles overwrite, padding of scales."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.aiter_f4gemm.buffers import scale_image
from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK, SCALE_COLUMNS, round_up
from argpack.families.family import Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from argpack.families.aiter_f4gemm.launches import Plan


def output(plan: Plan) -> Region:
    """The M x N elements of D."""
    return Region(buffer="D", name="the M x N elements of D", mask=partial(_elements, plan), item=2)


def spill(plan: Plan) -> Region | None:
    """The rows behind the last that a kernel writes with its tile, where it does."""
    if plan.variant.preshuffled or plan.d_rows == plan.problem.m:
        return None
    return Region(buffer="D", name="the rows behind row M of D", mask=partial(_rows_behind, plan))


def padding(plan: Plan) -> Iterator[Region]:
    """Rows and columns of the scales that there are none of, apart from each other."""
    columns = plan.problem.k // SCALE_BLOCK
    for operand, layout, rows, multiple in (
        ("A", plan.placement.scale_a_layout, plan.problem.m, plan.scale_a_rows),
        ("B", plan.placement.scale_b_layout, plan.problem.n, plan.scale_b_rows),
    ):
        padded = round_up(columns, SCALE_COLUMNS)
        if padded > columns:
            mask = partial(_padding_columns, layout, multiple, rows, columns)
            yield Region(
                buffer=f"Scale{operand}", name=f"padding columns of the scales of {operand}", mask=mask
            )
        if round_up(rows, multiple) > rows:
            mask = partial(_padding_rows, layout, multiple, rows, padded)
            yield Region(buffer=f"Scale{operand}", name=f"padding rows of the scales of {operand}", mask=mask)


def _elements(plan: Plan) -> NDArray[np.bool_]:
    inside = np.zeros((plan.d_rows, plan.d_row_stride, 2), np.bool_)
    inside[: plan.problem.m, : plan.problem.n] = True
    return inside.ravel()


def _rows_behind(plan: Plan) -> NDArray[np.bool_]:
    behind = np.zeros((plan.d_rows, plan.d_row_stride, 2), np.bool_)
    behind[plan.problem.m :] = True
    return behind.ravel()


def _padding_rows(layout: str, multiple: int, rows: int, columns: int) -> NDArray[np.bool_]:
    """Of an image whose columns are all there, what no row fills."""
    return np.asarray(scale_image(layout, np.ones((rows, columns), np.uint8), 0, multiple) == 0)


def _padding_columns(layout: str, multiple: int, rows: int, columns: int) -> NDArray[np.bool_]:
    """What no column fills, of the rows that there are."""
    padded = round_up(columns, SCALE_COLUMNS)
    inside = np.zeros((rows, padded), np.uint8)
    inside[:, columns:] = 1
    return np.asarray(scale_image(layout, inside, 0, multiple) == 1)
