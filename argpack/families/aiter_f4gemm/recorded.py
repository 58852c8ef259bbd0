"""What D should be after an f4gemm launch that somebody else built: operands taken out of its buffers.

It trusts the arguments: layouts, strides and sizes are those of the contract, and what does not fit it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.families.aiter_f4gemm import limits
from argpack.families.aiter_f4gemm.geometry import (
    SCALE_BLOCK,
    SCALE_COLUMNS,
    SCALE_ROWS,
    grid,
    k_slices,
    round_up,
)
from argpack.families.aiter_f4gemm.names import parse
from argpack.families.aiter_f4gemm.placement import SCALE_LAYOUT, b_layout
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.family import ExpectedOutput, Problem
from argpack.numerics import mxfp4_gemm_reference
from scale_layout import invert, layout_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.launch import Launch


def expected_output(launch: Launch) -> ExpectedOutput:
    """The product of the operands that the launch's buffers hold, with the verdict's tolerance.

    Raises InputError where the launch is known to go wrong, or an operand is not whole in its buffer.
    """
    variant = parse(launch.kernel.name)
    values = SCHEMA.unpack(launch.arguments[: SCHEMA.size].ljust(SCHEMA.size, b"\0"))
    problem = _problem(variant, values)
    limits.check_problem(problem)
    reasons = list(limits.refusals(variant, problem))
    if launch.grid != grid(variant, problem):
        wanted = "×".join(map(str, grid(variant, problem)))
        reasons.append(f"the problem needs a grid of {wanted}, found {'×'.join(map(str, launch.grid))}")
    if reasons:
        raise InputError("; ".join(reasons))
    m, n, k = problem.m, problem.n, problem.k
    slices = k_slices(variant, problem)
    row_stride = _stride(values, "stride_C0", n)
    output, offset = launch.pointed_at(SCHEMA.offset("ptr_D"), 2 * ((m - 1) * row_stride + n), "D")
    if problem.log2_k_split and _rows(output, m, 2 * n, 2 * row_stride).any():
        raise InputError("D is not zero before a launch that adds to it")
    reference = mxfp4_gemm_reference(
        _codes(launch, "ptr_A", m, k, _stride(values, "stride_A0", k)),
        _scales(launch, "A", m, k, values),
        _b_codes(launch, variant, n, k, values),
        _scales(launch, "B", n, k, values),
        alpha=problem.alpha,
        k_slices=slices,
    )
    buffer = launch.buffer_at(SCHEMA.offset("ptr_D"))
    return ExpectedOutput(
        buffer=buffer, offset=offset, row_bytes=2 * row_stride, dtype="bfloat16", reference=reference
    )


def _problem(variant: Variant, values: Mapping[str, int | float]) -> Problem:
    """Arguments that the kernel ignores are left at what has no effect."""
    return Problem(
        m=int(values["M"]),
        n=int(values["N"]),
        k=int(values["K"]),
        alpha=float(values["alpha"]) if variant.applies_alpha else 1.0,
        log2_k_split=int(values["log2_k_split"]) if variant.splits_k else 0,
    )


def _stride(values: Mapping[str, int | float], field: str, least: int) -> int:
    found = int(values[field])
    if found < least:
        raise InputError(f"{field}: expected {least} or more, found {found}")
    return found


def _rows(data: NDArray[np.uint8], rows: int, size: int, stride: int) -> NDArray[np.uint8]:
    """`rows` rows of `size` bytes, `stride` bytes apart."""
    return np.lib.stride_tricks.as_strided(data, (rows, size), (stride, 1), writeable=False)


def _codes(launch: Launch, field: str, rows: int, k: int, stride: int) -> NDArray[np.uint8]:
    """Packed fp4, row by row; the stride counts elements."""
    if stride % 2:
        raise InputError(f"{field}: expected rows of whole bytes, found a stride of {stride} fp4 elements")
    data, _ = launch.pointed_at(SCHEMA.offset(field), (rows - 1) * stride // 2 + k // 2, field)
    return _rows(data, rows, k // 2, stride // 2).copy()


def _b_codes(
    launch: Launch, variant: Variant, n: int, k: int, values: Mapping[str, int | float]
) -> NDArray[np.uint8]:
    stride = _stride(values, "stride_B0", k)
    if not variant.preshuffled:
        return _codes(launch, "ptr_B", n, k, stride)
    if stride != k:
        raise InputError(f"stride_B0: expected K = {k} for B in blocks, found {stride}")
    image, _ = launch.pointed_at(SCHEMA.offset("ptr_B"), n * k // 2, "ptr_B")
    return invert(layout_named(b_layout(variant)), image, rows=n, cols=k // 2)


def _scales(
    launch: Launch, operand: str, rows: int, k: int, values: Mapping[str, int | float]
) -> NDArray[np.uint8]:
    columns = k // SCALE_BLOCK
    padded = _stride(values, f"stride_Scale{operand}0", round_up(columns, SCALE_COLUMNS))
    if padded % SCALE_COLUMNS:
        raise InputError(f"stride_Scale{operand}0: expected a multiple of 8, found {padded}")
    field = f"ptr_Scale{operand}"
    image, _ = launch.pointed_at(SCHEMA.offset(field), round_up(rows, SCALE_ROWS) * padded, field)
    return invert(layout_named(SCALE_LAYOUT), image, rows=rows, cols=padded)[:, :columns].copy()
