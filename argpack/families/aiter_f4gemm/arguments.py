"""How a problem becomes the argument buffer of an f4gemm kernel: field values.

Addresses are not known here: pointers are null until a backend places the buffers that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK, SCALE_COLUMNS, round_up
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.extents import Extent

if TYPE_CHECKING:
    from argpack.families.family import Problem

POINTERS = {
    "ptr_D": "D",
    "ptr_C": "C",
    "ptr_A": "A",
    "ptr_B": "B",
    "ptr_ScaleA": "ScaleA",
    "ptr_ScaleB": "ScaleB",
}


def field_values(problem: Problem) -> dict[str, int | float]:
    """A value of every field for dense operands; strides that no kernel reads are 0, as are pointers.

    D's row stride is `stride_C0`, in bf16 elements. Strides of A and B count fp4 elements, those of the
    scales bytes, padding included.
    """
    scale_columns = round_up(problem.k // SCALE_BLOCK, SCALE_COLUMNS)
    values: dict[str, int | float] = {field.name: 0 for field in SCHEMA.fields}
    values.update(
        alpha=problem.alpha,
        beta=problem.beta,
        stride_C0=problem.n,
        stride_A0=problem.k,
        stride_B0=problem.k,
        M=problem.m,
        N=problem.n,
        K=problem.k,
        stride_ScaleA0=scale_columns,
        stride_ScaleB0=scale_columns,
        log2_k_split=problem.log2_k_split,
    )
    return values


def extents(problem: Problem) -> tuple[Extent, ...]:
    """The matrices of a launch, dense: two fp4 elements share a byte, scales are padded to whole columns."""
    m, n, k = problem.m, problem.n, problem.k
    columns = round_up(k // SCALE_BLOCK, SCALE_COLUMNS)
    return (
        Extent("A", m * k, m * k // 2),
        Extent("B", n * k, n * k // 2),
        Extent("ScaleA", m * columns, m * columns),
        Extent("ScaleB", n * columns, n * columns),
        Extent("D", m * n, m * n * 2),
    )
