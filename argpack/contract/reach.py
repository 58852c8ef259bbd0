"""An observer that notes how far past the end of each buffer a launch reads. It knows no kernels."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.observe import Direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.emulator.engine import Dispatch
    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.observe import Access, Code
    from argpack.emulator.waves import Waves


class Reach:
    """The `Observer`. `past_end` has bytes by buffer for the last launch, only of buffers that were over-read."""

    def __init__(self) -> None:
        self.past_end: dict[str, int] = {}
        self._names: list[str] = []
        self._starts: list[int] = []
        self._ends: NDArray[np.int64] = np.empty(0, np.int64)

    def begin(self, memory: DeviceMemory) -> None:
        """A launch starts: forget the one before."""
        allocations = list(memory.allocations.values())
        self.past_end = {}
        self._names = [allocation.name for allocation in allocations]
        self._starts = [allocation.address for allocation in allocations]
        self._ends = np.array([a.address + a.size for a in allocations], np.int64)

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64]) -> None:
        """Nothing."""

    def block(self, waves: Waves, code: Code) -> None:
        """Nothing."""

    def memory_access(self, waves: Waves, access: Access) -> None:
        """Note what is read behind a buffer; guard zones are wide enough to tell which."""
        del waves
        address, size = access.made()
        if access.direction is Direction.WRITE or not address.size:
            return
        low, high = int(address.min()), int(address.max()) + size
        owner = bisect_right(self._starts, low) - 1
        if owner >= 0 and high <= self._ends[owner]:
            return
        owners = np.searchsorted(np.array(self._starts), address, side="right") - 1
        behind = address + size - self._ends[owners]
        for number in np.unique(owners[(owners >= 0) & (behind > 0)]).tolist():
            name = self._names[number]
            furthest = int(behind[owners == number].max())
            self.past_end[name] = max(furthest, self.past_end.get(name, 0))

    def lds_access(self, waves: Waves, access: Access) -> None:
        """Nothing."""
