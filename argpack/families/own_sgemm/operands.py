"""Random operands of an argpack_sgemm problem: uniform float32 between -1 and 1, made by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.random_bytes import random_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.families.family import Problem

_STREAMS = ("A", "B", "C")


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """float32: `a` (M, K), `b` (K, N), `c` (M, N) or None where beta is 0."""

    a: NDArray[np.float32]
    b: NDArray[np.float32]
    c: NDArray[np.float32] | None


def random_operands(problem: Problem) -> Operands:
    """All of the operands."""
    m, n, k = problem.m, problem.n, problem.k
    c = random_block(problem, "C", (0, m), (0, n)) if problem.beta != 0 else None
    return Operands(random_block(problem, "A", (0, m), (0, k)), random_block(problem, "B", (0, k), (0, n)), c)


def shape(problem: Problem, operand: str) -> tuple[int, int]:
    """Rows and columns of operand "A", "B" or "C"."""
    return {
        "A": (problem.m, problem.k),
        "B": (problem.k, problem.n),
        "C": (problem.m, problem.n),
    }[operand]


def random_block(
    problem: Problem, operand: str, rows: tuple[int, int], columns: tuple[int, int]
) -> NDArray[np.float32]:
    """Rows and columns, start and stop each, of an operand."""
    width = shape(problem, operand)[1]
    if columns == (0, width):
        whole = random_elements(problem, operand, rows[0] * width, rows[1] * width)
        return whole.reshape(rows[1] - rows[0], width)
    found = np.empty((rows[1] - rows[0], columns[1] - columns[0]), np.float32)
    for row in range(*rows):
        start = row * width + columns[0]
        found[row - rows[0]] = random_elements(problem, operand, start, start + found.shape[1])
    return found


def random_elements(problem: Problem, operand: str, start: int, stop: int) -> NDArray[np.float32]:
    """Elements `start` up to `stop` of an operand as it lies in memory, row by row."""
    data = random_bytes(problem.seed, _STREAMS.index(operand), 4 * start, 4 * stop)
    return data.view("<i4").astype(np.float32) * np.float32(2.0**-31)
