"""An MXFP4 product held against its reference, part by part, on all cores: little memory, whatever the size.

It makes no operands and knows no layout: a part brings functions that make its rows.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.numerics.compare import tally_output
from argpack.numerics.reference import mxfp4_gemm_reference
from argpack.numerics.screen import Mxfp4, screen
from argpack.numerics.tally import Tally, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from argpack.numerics.reference import Reference

    Rows = Callable[[int, int], Mxfp4]
    # Adds to a reference whose first element is at that row and column.
    Adjust = Callable[[Reference, int, int], Reference]

_ROWS, _COLUMNS = 2048, 2048  # of a part that are compared at once
_CODES = 1 << 24  # bytes of packed codes made at once for either operand
# Fewer products than this are compared in float64 and by one thread: it takes less than starting anything.
_SMALL = 1 << 28


@dataclass(frozen=True, slots=True, eq=False)
class OutputPart:
    """bfloat16 `bits`, uint16 (rows, columns), whose first element is at (`row`, `column`) of the whole output."""

    row: int
    column: int
    bits: NDArray[np.uint16]


def tally_mxfp4_gemm(
    parts: Sequence[OutputPart],
    a: Rows,
    b: Rows,
    *,
    k: int,
    alpha: float,
    k_slices: Sequence[tuple[int, int]],
    adjust: Adjust | None = None,
) -> Tally:
    """Tally parts of alpha · A · Bᵀ. `a(start, stop)` makes these rows of A, as does `b`; both are called by threads.

    `adjust` completes the reference where the output is more than the product; then all is done in float64.
    """
    pieces = [piece for part in parts for piece in _pieces(part, k)]
    small = sum(piece.bits.size for piece in pieces) * k <= _SMALL

    def tally(piece: OutputPart) -> Tally:
        rows, columns = piece.bits.shape
        left, right = a(piece.row, piece.row + rows), b(piece.column, piece.column + columns)
        origin = (piece.row, piece.column)
        if not small and adjust is None:
            found = screen(piece.bits, left, right, alpha=alpha, k_slices=k_slices, origin=origin)
            if found is not None:
                return found
        reference = mxfp4_gemm_reference(
            left.codes, left.scales, right.codes, right.scales, alpha=alpha, k_slices=k_slices
        )
        if adjust is not None:
            reference = adjust(reference, *origin)
        return tally_output(piece.bits, reference, dtype="bfloat16", origin=origin)

    if small:
        return total(map(tally, pieces))
    with _threads() as threads:
        return total(threads.map(tally, pieces))


def _pieces(part: OutputPart, k: int) -> Iterator[OutputPart]:
    rows, columns = part.bits.shape
    most = max(16, 2 * _CODES // k)
    height, width = min(_ROWS, most), min(_COLUMNS, most)
    for row in range(0, rows, height):
        for column in range(0, columns, width):
            bits = part.bits[row : row + height, column : column + width]
            yield OutputPart(part.row + row, part.column + column, bits)


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    """A thread for each core, each with a BLAS of one thread; one with BLAS's own threads where these cannot be set."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        with ThreadPoolExecutor(1) as pool:
            yield pool
        return
    with (
        threadpool_limits(limits=1, user_api="blas"),
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        yield pool
