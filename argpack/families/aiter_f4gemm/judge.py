"""The verdict on an f4gemm launch: numbers against a reference, and where in D the kernel wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.verdicts import with_failures
from argpack.numerics import Mxfp4, OutputPart, Reference, bf16_to_float32, tally_mxfp4_gemm, verdict_of
from argpack.numerics.compare import row_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from argpack.families.aiter_f4gemm.buffers import Output
    from argpack.families.aiter_f4gemm.operands import OperandRows
    from argpack.families.family import Problem
    from argpack.families.sampling import Tiles
    from argpack.launch import LaunchResult
    from argpack.numerics import Verdict

# A signalling NaN in bf16, bytes a5 7f: rounding never makes it, so an element that still holds it was not
# written.
SENTINEL = 0x7FA5


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """What the launch should do to D. `slices` are the elements of K that each workgroup along z sums.

    `padding_kept` says whether the rows behind must stay as they were (the kernel with row-major B writes
    whole tiles). `sample` are the tiles that were computed, None for all.
    """

    problem: Problem
    operands: OperandRows
    output: Output
    slices: tuple[tuple[int, int], ...]
    padding_kept: bool
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """Tiles (x, y) of D, each of `size` rows and columns."""

    tiles: Tiles
    size: tuple[int, int]


def judge(expected: Expectation, result: LaunchResult) -> Verdict:
    """Hold D against the reference. Fails, too, on a write outside M x N, or outside the tiles computed, and on a
    memory error.
    """
    output = expected.output
    bits = result.buffers["D"].view(np.uint16).reshape(output.rows, output.row_stride)
    if expected.sample is None:
        parts = [OutputPart(0, 0, bits[: output.m, : output.n])]
        stray = _stray(expected, bits)
    else:
        parts = [_tile(expected.sample, output, bits, tile) for tile in expected.sample.tiles]
        stray = _stray_from_tiles(expected, expected.sample, bits, result.present["D"])
    failures = [*_unwritten(expected, parts), *stray]
    return with_failures(_numbers(expected, parts), failures, result.errors)


def _tile(sample: Sample, output: Output, bits: NDArray[np.uint16], tile: tuple[int, int]) -> OutputPart:
    rows, columns = sample.size
    row, column = tile[1] * rows, tile[0] * columns
    return OutputPart(
        row, column, bits[row : min(row + rows, output.m), column : min(column + columns, output.n)]
    )


def _numbers(expected: Expectation, parts: list[OutputPart]) -> Verdict:
    operands, problem = expected.operands, expected.problem

    def add_c(product: Reference, row: int, column: int) -> Reference:
        # One more rounding, and the terms may cancel: the bound below is wide, the kernels ignore C altogether.
        rows, columns = product.values.shape
        c = bf16_to_float32(operands.c_rows(row, row + rows)[:, column : column + columns])
        added = problem.beta * c.astype(np.float64)
        return Reference(product.values + added, product.tolerance + np.abs(added) * 2.0**-8)

    return verdict_of(
        tally_mxfp4_gemm(
            parts,
            _rows(operands, "A"),
            _rows(operands, "B"),
            k=problem.k,
            alpha=problem.alpha,
            k_slices=expected.slices,
            adjust=add_c if problem.beta != 0 else None,
        )
    )


def _rows(operands: OperandRows, operand: str) -> Callable[[int, int], Mxfp4]:
    return lambda *span: Mxfp4(operands.code_rows(operand, *span), operands.scale_rows(operand, *span))


def _unwritten(expected: Expectation, parts: list[OutputPart]) -> list[str]:
    if expected.output.zeroed:
        return []
    total = sum(part.bits.size for part in parts)
    blocks = (part.bits[rows] for part in parts for rows in row_blocks(part.bits.shape))
    count = sum(int(np.count_nonzero(block == SENTINEL)) for block in blocks)
    return [f"{count} of {total} outputs were never written"] if count else []


def _stray(expected: Expectation, bits: NDArray[np.uint16]) -> list[str]:
    """Writes outside M x N: behind the last column, and behind the last row where those must stay."""
    m, n = expected.output.m, expected.output.n
    outside = [(0, n, bits[:m, n:])]
    if expected.padding_kept:
        outside.append((m, 0, bits[m:]))
    places = [np.argwhere(part != SENTINEL) + np.array([row, column]) for row, column, part in outside]
    written = np.concatenate(places)
    if not len(written):
        return []
    row, column = written[0].tolist()
    return [f"{len(written)} elements of D outside M x N were written, first at row {row}, column {column}"]


def _stray_from_tiles(
    expected: Expectation, sample: Sample, bits: NDArray[np.uint16], present: NDArray[np.int64]
) -> list[str]:
    """Writes outside the tiles, in all bytes of D that were touched."""
    output = expected.output
    count, first = 0, None
    across = -(-output.row_stride // sample.size[1])
    computed = np.array([y * across + x for x, y in sample.tiles])
    for start, stop in (present // 2).tolist():
        top, bottom = start // output.row_stride, -(-stop // output.row_stride)
        before = output.before(top, bottom).reshape(-1)
        offset = start - top * output.row_stride
        changed = (
            np.flatnonzero(bits.reshape(-1)[start:stop] != before[offset : offset + stop - start]) + start
        )
        row, column = np.divmod(changed, output.row_stride)
        inside = np.isin(row // sample.size[0] * across + column // sample.size[1], computed)
        inside &= column < output.n
        if expected.padding_kept:
            inside &= row < output.m
        outside = np.flatnonzero(~inside)
        count += outside.size
        if first is None and outside.size:
            first = int(row[outside[0]]), int(column[outside[0]])
    if first is None:
        return []
    return [
        f"{count} elements of D outside the sampled tiles were written, first at row {first[0]}, column {first[1]}"
    ]
