"""Random operands of an f4gemm problem, logical: row by row along K, without padding or layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK
from argpack.numerics import float32_to_bf16

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.families.family import Problem

# Scales of 2^-7 to 2^7: constant ones would hide every mistake in their layout, wide ones overflow nothing.
_SCALES = (120, 135)
# About what D is, so that a C that were added would show.
_C_MAGNITUDE = 2.0**16


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """A (M rows) and B (N rows): packed fp4 codes, uint8 (rows, K/2), and E8M0 scales, uint8 (rows, K/32).

    `c` is bf16 bits, uint16 (M, N), where the problem has a beta, else None.
    """

    a_codes: NDArray[np.uint8]
    a_scales: NDArray[np.uint8]
    b_codes: NDArray[np.uint8]
    b_scales: NDArray[np.uint8]
    c: NDArray[np.uint16] | None


def random_operands(problem: Problem) -> Operands:
    """Every code equally often and scales of 15 binades, chosen by the problem's seed."""
    rng = np.random.default_rng(problem.seed)

    def codes(rows: int) -> NDArray[np.uint8]:
        return rng.integers(0, 256, (rows, problem.k // 2), np.uint8)

    def scales(rows: int) -> NDArray[np.uint8]:
        return rng.integers(*_SCALES, (rows, problem.k // SCALE_BLOCK), np.uint8)

    a_codes, a_scales = codes(problem.m), scales(problem.m)
    b_codes, b_scales = codes(problem.n), scales(problem.n)
    c = None
    if problem.beta != 0:
        c = float32_to_bf16(
            rng.standard_normal((problem.m, problem.n), np.float32) * np.float32(_C_MAGNITUDE)
        )
    return Operands(a_codes, a_scales, b_codes, b_scales, c)
