"""Random operands of an f4gemm problem, logical: row by row along K, without padding or layout.

They are made by position, so that some rows made alone equal those of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK
from argpack.families.random_bytes import random_bytes
from argpack.numerics import float32_to_bf16

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.families.family import Problem

# Scales of 2^-7 to 2^7: constant ones would hide every mistake in their layout, wide ones overflow nothing.
_SCALES = (np.arange(256) * 15 // 256 + 120).astype(np.uint8)
# C is uniform up to this, about twice what D is, so that a C that were added would show.
_C_MAGNITUDE = 2.0**17
_STREAMS = ("A", "ScaleA", "B", "ScaleB", "C")


class OperandRows(Protocol):
    """Rows `start` up to `stop` of operand "A" or "B", and of C."""

    def code_rows(self, operand: str, start: int, stop: int) -> NDArray[np.uint8]:
        """Packed fp4 codes, uint8 (rows, K/2)."""

    def scale_rows(self, operand: str, start: int, stop: int) -> NDArray[np.uint8]:
        """E8M0 scales, uint8 (rows, K/32)."""

    def c_rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """bf16 bits, uint16 (rows, N), of a problem with a beta."""


@dataclass(frozen=True, slots=True)
class RandomRows:
    """The random operands of a problem, `OperandRows` made when asked for: none are kept."""

    problem: Problem

    def code_rows(self, operand: str, start: int, stop: int) -> NDArray[np.uint8]:
        """Packed fp4 codes, each as often, uint8 (rows, K/2)."""
        return self._rows(operand, start, stop, self.problem.k // 2)

    def scale_rows(self, operand: str, start: int, stop: int) -> NDArray[np.uint8]:
        """E8M0 scales of 15 binades, uint8 (rows, K/32)."""
        return _SCALES[self._rows(f"Scale{operand}", start, stop, self.problem.k // SCALE_BLOCK)]

    def c_rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """bf16 bits, uint16 (rows, N)."""
        uniform = self._rows("C", start, stop, 4 * self.problem.n).view("<i4").astype(np.float32)
        return float32_to_bf16(uniform * np.float32(_C_MAGNITUDE / 2**31))

    def _rows(self, stream: str, start: int, stop: int, width: int) -> NDArray[np.uint8]:
        data = random_bytes(self.problem.seed, _STREAMS.index(stream), start * width, stop * width)
        return data.reshape(stop - start, width)


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """A (M rows) and B (N rows) as arrays: packed fp4 codes, uint8 (rows, K/2), and E8M0 scales, uint8 (rows, K/32).

    `c` is bf16 bits, uint16 (M, N), where the problem has a beta, else None. They are `OperandRows`.
    """

    a_codes: NDArray[np.uint8]
    a_scales: NDArray[np.uint8]
    b_codes: NDArray[np.uint8]
    b_scales: NDArray[np.uint8]
    c: NDArray[np.uint16] | None

    def code_rows(self, operand: str, start: int, stop: int) -> NDArray[np.uint8]:
        """Packed fp4 codes, uint8 (rows, K/2)."""
        return (self.a_codes if operand == "A" else self.b_codes)[start:stop]

    def scale_rows(self, operand: str, start: int, stop: int) -> NDArray[np.uint8]:
        """E8M0 scales, uint8 (rows, K/32)."""
        return (self.a_scales if operand == "A" else self.b_scales)[start:stop]

    def c_rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """bf16 bits, uint16 (rows, N)."""
        if self.c is None:
            raise InputError("operands: a problem without beta has no C")
        return self.c[start:stop]


def random_operands(problem: Problem) -> Operands:
    """All rows of `RandomRows`, as arrays."""
    rows = RandomRows(problem)
    a, b = (
        (rows.code_rows(x, 0, n), rows.scale_rows(x, 0, n)) for x, n in (("A", problem.m), ("B", problem.n))
    )
    return Operands(*a, *b, rows.c_rows(0, problem.m) if problem.beta != 0 else None)
