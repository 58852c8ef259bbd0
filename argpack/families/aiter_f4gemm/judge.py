"""The verdict on an f4gemm launch: numbers against a float64 reference, and where in D the kernel wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

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
    """What the launch should do to D: `rows` rows of N bf16 are allocated, the first M of them are the
    product.

    `padding_kept` says whether the rows behind must stay as they were (the kernel with row-major B writes
    whole tiles); `accumulates` whether D was zeroed and the slices of K add to it.
    """

    problem: Problem
    operands: Operands
    slices: tuple[tuple[int, int], ...]
    rows: int
    padding_kept: bool
    accumulates: bool


def judge(expected: Expectation, result: LaunchResult) -> Verdict:
    """Hold D against the reference. Fails, too, on a write outside M x N and on a memory error."""
    m = expected.problem.m
    bits = result.buffers["D"].view(np.uint16).reshape(expected.rows, expected.problem.n)
    verdict = compare(bits[:m], _reference(expected), dtype="bfloat16")
    return _with_errors(_with_writes(verdict, expected, bits), result.errors)


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


def _with_writes(verdict: Verdict, expected: Expectation, bits: NDArray[np.uint16]) -> Verdict:
    m = expected.problem.m
    reasons = [verdict.reason] if verdict.reason else []
    if not expected.accumulates:
        unwritten = int((bits[:m] == SENTINEL).sum())
        if unwritten:
            reasons.append(f"{unwritten} of {verdict.elements} outputs were never written")
    stray = np.argwhere(bits[m:] != SENTINEL) if expected.padding_kept else np.empty((0, 2))
    if len(stray):
        row, column = (int(index) for index in stray[0])
        reasons.append(
            f"{len(stray)} elements of D outside M x N were written, first at row {m + row}, column {column}"
        )
    return replace(verdict, passed=verdict.passed and not reasons, reason="; ".join(reasons))


def _with_errors(verdict: Verdict, errors: tuple[str, ...]) -> Verdict:
    if not errors:
        return verdict
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    reason = "; ".join(filter(None, [errors[0] + more, verdict.reason]))
    return replace(verdict, passed=False, reason=reason)
