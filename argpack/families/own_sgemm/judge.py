"""The verdict on an argpack_sgemm launch: numbers against a float64 reference, and where in D the kernel wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.families.own_sgemm.buffers import BLOCK, SENTINEL, tile_of
from argpack.families.own_sgemm.operands import random_block
from argpack.families.verdicts import with_failures
from argpack.numerics import sgemm_reference, verdict_of
from argpack.numerics.compare import tally_output
from argpack.numerics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from argpack.families.family import Problem
    from argpack.families.sampling import Tiles
    from argpack.launch import LaunchResult
    from argpack.numerics import Verdict

    Block = tuple[tuple[int, int], tuple[int, int]]

_ROWS = 1024  # of D, and its columns, that are compared at once


def judge(problem: Problem, tiles: Tiles | None, result: LaunchResult) -> Verdict:
    """Hold D, or these tiles (x, y) of it, against the reference. Fails, too, on outputs never written, on writes
    outside the tiles and on a memory error.
    """
    output = result.buffers["D"].view(np.float32).reshape(problem.m, problem.n)
    blocks = list(_blocks(problem)) if tiles is None else [tile_of(problem, tile) for tile in tiles]
    tally = Tally()
    unwritten = 0
    for block in blocks:
        actual = output[slice(*block[0]), slice(*block[1])]
        tally.add(_tally(problem, block, actual))
        unwritten += int(np.count_nonzero(actual.view(np.uint32) == SENTINEL))
    failures = [f"{unwritten} of {tally.elements} outputs were never written"] if unwritten else []
    if tiles is not None and (stray := _stray(problem, tiles, output, result.present["D"])):
        failures.append(f"{stray} elements of D outside the sampled tiles were written")
    return with_failures(verdict_of(tally), failures, result.errors)


def _blocks(problem: Problem) -> Iterator[Block]:
    for row in range(0, problem.m, _ROWS):
        for column in range(0, problem.n, _ROWS):
            yield (row, min(row + _ROWS, problem.m)), (column, min(column + _ROWS, problem.n))


def _tally(problem: Problem, block: Block, actual: NDArray[np.float32]) -> Tally:
    rows, columns = block
    reference = sgemm_reference(
        random_block(problem, "A", rows, (0, problem.k)),
        random_block(problem, "B", (0, problem.k), columns).T,
        random_block(problem, "C", rows, columns) if problem.beta != 0 else None,
        alpha=problem.alpha,
        beta=problem.beta,
    )
    return tally_output(
        np.ascontiguousarray(actual), reference, dtype="float32", origin=(rows[0], columns[0])
    )


def _stray(problem: Problem, tiles: Tiles, output: NDArray[np.float32], present: NDArray[np.int64]) -> int:
    """How many elements outside the tiles were written, in all bytes of D that were touched."""
    across = -(-problem.n // BLOCK[0])
    computed = np.array([y * across + x for x, y in tiles])
    flat = output.reshape(-1).view(np.uint32)
    count = 0
    for start, stop in (present // 4).tolist():
        row, column = np.divmod(np.flatnonzero(flat[start:stop] != SENTINEL) + start, problem.n)
        count += int(np.count_nonzero(~np.isin(row // BLOCK[1] * across + column // BLOCK[0], computed)))
    return count
