"""Which pages of a launch's buffers hold their contents, where only some workgroups run and only some pages are needed.

What a kernel touches beyond them is placed, too, before the launch is run again: no result rests on bytes that a whole
launch would not have had there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.sparse import PAGE, pages_of, ranges_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.sparse import SparseStore
    from argpack.launch.launch import Launch


class PlacedPages:
    """The pages, by buffer. `memory` lies in `store` from its first byte on."""

    def __init__(self, launch: Launch, memory: DeviceMemory, store: SparseStore) -> None:
        self._buffers = {buffer.name: buffer for buffer in launch.buffers}
        self._memory, self._store = memory, store
        self._pages: dict[str, NDArray[np.int64]] = {}
        for name, buffer in self._buffers.items():
            needed = getattr(buffer, "needed", None)
            self._pages[name] = pages_of(np.array([[0, buffer.size]]) if needed is None else needed)

    def write(self) -> None:
        """Write the contents of all pages, as before the launch."""
        for name, ranges in self.ranges().items():
            data = self._memory.view(name)
            for start, stop in ranges.tolist():
                data[start:stop] = self._buffers[name].part(start, stop)

    def ranges(self) -> Mapping[str, NDArray[np.int64]]:
        """Start and stop of the bytes that are placed, int64 (n, 2), by buffer; the last page ends with its buffer."""
        return {
            name: np.minimum(ranges_of(pages), self._buffers[name].size)
            for name, pages in self._pages.items()
        }

    def take_in_touched(self) -> tuple[str, ...]:
        """Count the pages that a run touched elsewhere among those to place; a sentence for each buffer with some."""
        touched = pages_of(self._store.touched())
        found = []
        for name, pages in self._pages.items():
            first = self._memory.offset(name) // PAGE
            end = first - (-self._buffers[name].size // PAGE)
            here = touched[np.searchsorted(touched, first) : np.searchsorted(touched, end)] - first
            more = np.setdiff1d(here, pages, assume_unique=True)
            if more.size:
                self._pages[name] = np.union1d(pages, more)
                found.append(
                    f"{more.size * PAGE:,} bytes of {name} beside what these workgroups need were touched, the first "
                    f"at {int(more[0]) * PAGE:#x}: filled, and all run again"
                )
        return tuple(found)
