"""What an f4gemm kernel cannot compute and does not say: it gives wrong numbers or writes elsewhere,
silently.

None of this is documented upstream. It was measured by running the 35 code objects, see `usage.brief_of`, except for
the 32-bit extents, which were read in their prologues: `s_mul_i32` gives the size of each buffer resource.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.geometry import (
    BLOCK,
    SCALE_BLOCK,
    SCALE_COLUMNS,
    SCALE_ROWS,
    grid,
    round_up,
)
from argpack.families.aiter_f4gemm.usage import brief_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.family import Problem

# These two make one buffer resource of a whole matrix, the others one of a tile's rows.
_WHOLE_MATRIX = (256, 256)
_U32 = 1 << 32


def n_multiple(variant: Variant) -> int:
    """What N must be a multiple of: 32, 256 or 512. Otherwise stores run over into the next row of D."""
    return brief_of(variant.name).n_multiple


def output_rows(variant: Variant) -> int:
    """D is allocated in multiples of this many rows: as far as the kernel writes, and some to see stray writes in."""
    return max(SCALE_ROWS, brief_of(variant.name).d_row_multiple)


def writes_whole_tiles(variant: Variant) -> bool:
    """Whether rows of D behind M are written."""
    return brief_of(variant.name).d_row_multiple > 1


def scale_rows(variant: Variant) -> tuple[int, int]:
    """Rows of the scales of A and of B are padded to multiples of these, so that nothing behind them is read."""
    brief = brief_of(variant.name)
    return brief.scale_a_rows, brief.scale_b_rows


def over_reads(variant: Variant) -> tuple[str, ...]:
    """`159,104 bytes past the end of A` and so on, for each operand that is read behind its end; the most that was
    seen.
    """
    names = ("A", "B", "the scales of A", "the scales of B")
    past = zip(names, brief_of(variant.name).over_reads, strict=True)
    return tuple(f"{size:,} bytes past the end of {name}" for name, size in past if size)


def check_problem(problem: Problem) -> None:
    """InputError where there is no such problem at all: a size below 1 or of more than 32 bits, K not in whole
    scale blocks, a split that leaves nothing, a factor that is no number.
    """
    for name, value in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
        if not 1 <= value < _U32:
            raise InputError(f"{name}: expected 1 to {_U32 - 1}, found {value}")
    if problem.k % SCALE_BLOCK:
        raise InputError(
            f"K: expected a multiple of {SCALE_BLOCK}, the elements that share a scale, found {problem.k}"
        )
    for name, factor in (("alpha", problem.alpha), ("beta", problem.beta)):
        if not math.isfinite(factor):
            raise InputError(f"{name}: expected a finite number, found {factor}")
    if problem.seed < 0:
        raise InputError(f"seed: expected 0 or more, found {problem.seed}")
    if not 0 <= problem.log2_k_split < 32:
        raise InputError(f"log2_k_split: expected 0 to 31, found {problem.log2_k_split}")
    if problem.k >> problem.log2_k_split == 0:
        raise InputError(
            f"log2_k_split: {problem.log2_k_split} leaves slices of no element, K is {problem.k}"
        )


def refusals(variant: Variant, problem: Problem) -> tuple[str, ...]:
    """Why the kernel is known to compute this problem wrongly, a sentence each; empty where it is not known
    to.
    """
    return tuple(_refusals(variant, problem))


def _refusals(variant: Variant, problem: Problem) -> Iterator[str]:
    multiple = n_multiple(variant)
    if problem.n % multiple:
        yield (
            f"N must be a multiple of {multiple} for this kernel, found {problem.n}: its stores would run "
            "over into the next row of D"
        )
    if problem.alpha != 1 and not variant.applies_alpha:
        yield f"this kernel reads alpha and ignores it, found {problem.alpha:g}"
    if problem.beta != 0:
        yield f"no f4gemm kernel adds beta·C, found beta {problem.beta:g}"
    if problem.log2_k_split and not variant.splits_k:
        yield f"this kernel does not split K, found log2_k_split {problem.log2_k_split}"
    x = grid(variant, problem)[0]
    if x * BLOCK[0] >= _U32:
        yield (
            f"the grid has {x} blocks of {BLOCK[0]} work-items along x, {x * BLOCK[0]} in all: a launch has fewer than "
            "2^32"
        )
    for name, size in _resources(variant, problem):
        if size >= _U32:
            yield (
                f"{name} needs a buffer resource of {size} bytes ({_elements(name, size)}), a size of 32 bits: the "
                "kernel wraps it"
            )


def _elements(name: str, size: int) -> str:
    if name == "D":
        return f"{size // 2} bf16 elements"
    return f"{size} e8m0 scales" if name.startswith("Scale") else f"{2 * size} fp4 elements"


def _resources(variant: Variant, problem: Problem) -> Iterator[tuple[str, int]]:
    """Bytes of the buffer resources that the kernel makes."""
    rows, columns = problem.m, problem.n
    if (variant.tile_m, variant.tile_n) != _WHOLE_MATRIX:
        rows, columns = min(rows, variant.tile_m), min(columns, variant.tile_n)
    scale_columns = round_up(problem.k // SCALE_BLOCK, SCALE_COLUMNS)
    yield "A", rows * problem.k // 2
    yield "B", columns * problem.k // 2
    yield "ScaleA", round_up(rows, SCALE_ROWS) * scale_columns
    yield "ScaleB", columns * scale_columns
    if variant.preshuffled:
        yield "D", rows * problem.n * 2
