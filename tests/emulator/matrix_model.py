"""Scaled FP4 products written out element by element in float64, from the operand layouts of the instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

NAME = "v_mfma_scale_f32_16x16x128_f8f6f4"
FP4 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0])
F64 = np.ndarray[Any, np.dtype[np.float64]]
# One rounding of float32. A sum rounds once per addition; a product of two FP4 numbers and their scales is exact.
EPSILON = 2.0**-24


def fragment(packed: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> F64:
    """Rows of K, float64 (16, 128): `packed` is uint32 (4, 64) for four registers, `scales` uint8 (64,).

    Lane l holds of row l % 16 the elements from 32 · (l / 16), eight to a register, low nibble first, and their scale.
    """
    lane, register, nibble = np.indices((64, 4, 8))
    power = np.array([*(2.0**e for e in range(-127, 128)), np.nan])[scales]
    codes = packed[register, lane] >> (4 * nibble).astype(np.uint32) & np.uint32(15)
    rows = np.empty((16, 128))
    rows[lane % 16, 32 * (lane // 16) + 8 * register + nibble] = FP4[codes] * power[lane]
    return rows


def accumulator_lanes(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A (16, 16) matrix as four registers (4, 64): lane l, register r is row 4 · (l / 16) + r, column l % 16."""
    register, lane = np.indices((4, 64))
    return matrix[4 * (lane // 16) + register, lane % 16]


@dataclass(frozen=True, slots=True)
class Sum:
    """An accumulator in float64 and what bounds its float32 error: the sum of sizes, and how many were added."""

    value: F64
    size: F64
    terms: int = 1

    def plus(self, rows: F64, columns: F64) -> Sum:
        """Add rows · columnsᵀ."""
        return Sum(
            self.value + rows @ columns.T,
            self.size + np.abs(rows) @ np.abs(columns).T,
            self.terms + rows.shape[1],
        )

    def bound(self) -> F64:
        """What a float32 sum in any order may be off by at most, plus the smallest denormal for each rounding."""
        return self.terms * (EPSILON * self.size + 2.0**-149)


def zero() -> Sum:
    """An accumulator of zeros."""
    return Sum(np.zeros((16, 16)), np.zeros((16, 16)))
