"""The verdict on an f4gemm launch: numbers against a float64 reference, and where in D the kernel wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.verdicts import with_failures
from argpack.numerics import Reference, bf16_to_float32, compare, mxfp4_gemm_reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.families.aiter_f4gemm.operands import Operands
    from argpack.families.family import Problem
    from argpack.launch import LaunchResult
    from argpack.numerics import Verdict

# A signalling NaN in bf16, bytes a5 7f: rounding never makes it, so an element that still holds it was not
# written.
SENTINEL = 0x7FA5


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """What the launch should do to D: `rows` rows of `row_stride` bf16 are allocated, M x N of them are the
    product.

    `padding_kept` says whether the rows behind must stay as they were (the kernel with row-major B writes
    whole tiles); `accumulates` whether D was zeroed and the slices of K add to it.
    """

    problem: Problem
    operands: Operands
    slices: tuple[tuple[int, int], ...]
    rows: int
    row_stride: int
    padding_kept: bool
    accumulates: bool


def judge(expected: Expectation, result: LaunchResult) -> Verdict:
    """Hold D against the reference. Fails, too, on a write outside M x N and on a memory error."""
    m, n = expected.problem.m, expected.problem.n
    bits = result.buffers["D"].view(np.uint16).reshape(expected.rows, expected.row_stride)
    output = np.ascontiguousarray(bits[:m, :n])
    failures = []
    if not expected.accumulates and (unwritten := int((output == SENTINEL).sum())):
        failures.append(f"{unwritten} of {output.size} outputs were never written")
    failures += _stray(expected, bits)
    verdict = compare(output, _reference(expected), dtype="bfloat16")
    return with_failures(verdict, failures, result.errors)


def _reference(expected: Expectation) -> Reference:
    problem, operands = expected.problem, expected.operands
    product = mxfp4_gemm_reference(
        operands.a_codes,
        operands.a_scales,
        operands.b_codes,
        operands.b_scales,
        alpha=problem.alpha,
        k_slices=expected.slices,
    )
    if operands.c is None:
        return product
    # One more rounding, and the terms may cancel: the bound below is wide, the kernels ignore C altogether.
    added = problem.beta * bf16_to_float32(operands.c).astype(np.float64)
    return Reference(product.values + added, product.tolerance + np.abs(added) * 2.0**-8)


def _stray(expected: Expectation, bits: NDArray[np.uint16]) -> list[str]:
    """Writes outside M x N: behind the last column, and behind the last row where those must stay."""
    m, n = expected.problem.m, expected.problem.n
    written = bits != SENTINEL
    written[:m, :n] = False
    if not expected.padding_kept:
        written[m:] = False
    places = np.argwhere(written)
    if not len(places):
        return []
    row, column = (int(index) for index in places[0])
    return [f"{len(places)} elements of D outside M x N were written, first at row {row}, column {column}"]
