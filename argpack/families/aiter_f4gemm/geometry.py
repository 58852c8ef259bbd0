"""How many workgroups an f4gemm launch needs and which part of K each one sums.

The rule is the host's (AITER, csrc/py_itfs_cu/asm_gemm_a4w4.cu) and that of the kernels' own prologue.
Counts are workgroups, not work-items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.family import Problem

BLOCK = (256, 1, 1)  # work-items
K_STEP = 256  # elements of K that a kernel advances by
SCALE_BLOCK = 32  # elements of K that share a scale
SCALE_COLUMNS = 8  # scale columns are padded to a multiple of this
SCALE_ROWS = 32  # rows of a tile of scales


def slice_length(k: int, log2_k_split: int) -> int:
    """Elements of K that one slice of a split-K launch sums: K >> log2_k_split, rounded up to 256."""
    return _divide_up(k >> log2_k_split, K_STEP) * K_STEP


def k_slices(variant: Variant, problem: Problem) -> tuple[tuple[int, int], ...]:
    """(start, stop) in elements of K for each workgroup along z; all of K in one for a kernel that does not
    split.
    """
    if not (variant.splits_k and problem.log2_k_split > 0):
        return ((0, problem.k),)
    step = slice_length(problem.k, problem.log2_k_split)
    return tuple((start, min(start + step, problem.k)) for start in range(0, problem.k, step))


def grid(variant: Variant, problem: Problem) -> tuple[int, int, int]:
    """Workgroups along x (columns of D), y (rows of D) and z (slices of K).

    The slices are rounded, so z is not always 2^log2_k_split: K=1664 in 2^3 slices of 256 gives 7.
    """
    x = _divide_up(problem.n, variant.tile_n)
    y = _divide_up(problem.m, variant.tile_m)
    return x, y, len(k_slices(variant, problem))


def round_up(length: int, multiple: int) -> int:
    """`length` rounded up to a multiple of `multiple`."""
    return _divide_up(length, multiple) * multiple


def _divide_up(length: int, step: int) -> int:
    return -(-length // step)
