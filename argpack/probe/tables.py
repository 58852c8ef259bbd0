"""Turns measured addresses into tables (row, column) -> byte offset, one for each operand, and says what columns are.

What no output shows is settled here by convention: k is numbered as row 0 of A lies in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.probe.subject import SCALE_A, SCALE_B, A, B, ProbeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.probe.measure import Places
    from argpack.probe.subject import Subject

    Addresses = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """`offsets`, int64 (rows, columns): the byte of buffer `operand` that feeds this row and column.

    A column is `per_byte` consecutive elements of K: 2 packed fp4 codes, or those that share a scale. `size` is the
    buffer's, in bytes; those that occur nowhere in `offsets` fed no output.
    """

    operand: str
    offsets: Addresses
    per_byte: int
    size: int

    @property
    def rows(self) -> int:
        """Rows of the logical operand."""
        return int(self.offsets.shape[0])

    @property
    def columns(self) -> int:
        """Bytes of a logical row."""
        return int(self.offsets.shape[1])

    @property
    def is_scales(self) -> bool:
        """Whether a byte is a scale."""
        return self.operand in {SCALE_A, SCALE_B}


def tables_of(subject: Subject, places: Places) -> dict[str, Table]:
    """The four tables by buffer name. Raises ProbeError where bytes or scale blocks do not hold consecutive k."""
    order = np.argsort(places.a[0])
    a, b, scale_a, scale_b = (
        addresses[:, order] for addresses in (places.a, places.b, places.scale_a, places.scale_b)
    )
    blocks = _blocks(SCALE_A, scale_a), _blocks(SCALE_B, scale_b)
    return {
        A: Table(A, _bytes(A, a), 2, subject.sizes[A]),
        B: Table(B, _bytes(B, b), 2, subject.sizes[B]),
        SCALE_A: Table(SCALE_A, scale_a[:, :: blocks[0]], blocks[0], subject.sizes[SCALE_A]),
        SCALE_B: Table(SCALE_B, scale_b[:, :: blocks[1]], blocks[1], subject.sizes[SCALE_B]),
    }


def _bytes(operand: str, nibbles: Addresses) -> Addresses:
    """Byte offsets, (rows, k / 2): byte i of a row holds elements 2i, low, and 2i + 1, high."""
    low, high = nibbles[:, 0::2], nibbles[:, 1::2]
    wrong = (low % 2 != 0) | (high != low + 1)
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        found = [
            f"{'high' if address % 2 else 'low'} nibble of byte {address // 2}"
            for address in (int(low[row, column]), int(high[row, column]))
        ]
        raise ProbeError(
            f"{operand}: row {row}, elements {2 * column} and {2 * column + 1} of K (numbered as row 0 of A lies in "
            f"memory): expected the low and the high nibble of one byte, found the {found[0]} and the {found[1]}"
        )
    return low // 2


def _blocks(operand: str, scales: Addresses) -> int:
    """How many consecutive elements of K share a scale, the same in all rows."""
    k = scales.shape[1]
    starts = np.flatnonzero(np.r_[True, (np.diff(scales, axis=1) != 0).any(axis=0)])
    length = int(starts[1]) if len(starts) > 1 else k
    firsts = scales[:, ::length]
    even = np.array_equal(starts, np.arange(0, k, length)) and len(np.unique(firsts)) == firsts.size
    if not even or not np.array_equal(np.repeat(firsts, length, axis=1)[:, :k], scales):
        raise ProbeError(
            f"{operand}: expected a scale for each of equal runs of K and each row, found runs that start at "
            f"{starts[:4].tolist()} and {len(np.unique(scales))} bytes used"
        )
    return length
