"""A VGPR taken as byte offsets, with what memory instructions ask of it, computed once until the register is written.

Kernels step through memory by their scalar registers: the same lanes' offsets serve many loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Offsets:
    """`lane` int64 (wave, lane), bytes."""

    lane: NDArray[np.int64]

    @cached_property
    def low(self) -> NDArray[np.int64]:
        """The least offset of each wave, (wave,)."""
        return np.asarray(self.lane.min(axis=1))

    @cached_property
    def high(self) -> NDArray[np.int64]:
        """The greatest offset of each wave, (wave,)."""
        return np.asarray(self.lane.max(axis=1))

    @cached_property
    def most(self) -> int:
        """The greatest offset of all."""
        return int(self.high.max())

    @cached_property
    def bits(self) -> int:
        """Every bit that is set in any offset: all are multiples of 16 where the lowest four are 0."""
        return int(np.bitwise_or.reduce(self.lane, axis=None))

    @cached_property
    def dwords(self) -> NDArray[np.int64]:
        """Offsets in dwords, rounded down."""
        return self.lane >> 2

    @cached_property
    def quads(self) -> NDArray[np.int64]:
        """Offsets in 16 bytes, rounded down."""
        return self.lane >> 4
