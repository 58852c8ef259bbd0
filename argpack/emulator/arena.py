"""Device memory that buffers come into and leave while a program runs: addresses handed out, taken back, looked up.

It decides where a buffer lies; who reads and writes it is checked by `DeviceMemory`.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right, insort
from typing import TYPE_CHECKING

from argpack.emulator.memory import GUARD, Allocation, DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Iterator


class Arena:
    """Buffers of at most `capacity` bytes together, in a store whose first byte has device address `base`.

    `base` and the store's size are multiples of `GUARD`. Every buffer has guard zones as in `DeviceMemory`. Freed
    addresses are reused as late as possible, so that a stale pointer is found; their memory is given back at once.
    """

    def __init__(self, store: mmap.mmap, base: int, *, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.memory = DeviceMemory({}, store=store, base=base)
        self._store = store
        self._bytes = memoryview(store)
        self._base = base
        self._starts: list[int] = []
        self._buffers: dict[int, Allocation] = {}
        self._free: list[tuple[int, int]] = [(GUARD, len(store) - GUARD)]
        self._next = 0
        self._count = 0

    def __iter__(self) -> Iterator[Allocation]:
        """The buffers by address."""
        return (self._buffers[start] for start in self._starts)

    def allocate(self, size: int, what: str) -> Allocation | None:
        """A new buffer of `size` (over 0) bytes, zeros, or None where no room is left. `what` begins its name."""
        if self.used + size > self.capacity:
            return None
        room = -(-size // GUARD) * GUARD + 2 * GUARD
        start = self._take(room)
        if start is None:
            return None
        self._count += 1
        buffer = Allocation(f"{what} #{self._count} ({size:,} bytes)", self._base + start, size)
        insort(self._starts, buffer.address)
        self._buffers[buffer.address] = buffer
        self.used += size
        return buffer

    def _take(self, room: int) -> int | None:
        """The start of `room` free bytes: the first behind the last ones taken, else the first of all."""
        for lowest in (self._next, 0):
            for index, (gap, length) in enumerate(self._free):
                start, end = max(gap, lowest), gap + length
                if end - start >= room:
                    rest = ((gap, start - gap), (start + room, end - start - room))
                    self._free[index : index + 1] = [part for part in rest if part[1]]
                    self._next = start + room
                    return start
        return None

    def free(self, address: int) -> bool:
        """Take back the buffer that starts at `address`; False where none does."""
        buffer = self._buffers.pop(address, None)
        if buffer is None:
            return False
        del self._starts[bisect_right(self._starts, address) - 1]
        self.used -= buffer.size
        start = address - self._base
        room = -(-buffer.size // GUARD) * GUARD + 2 * GUARD
        self._store.madvise(mmap.MADV_REMOVE, start, room)
        self._give(start, room)
        return True

    def _give(self, start: int, room: int) -> None:
        """Put a gap back among the free ones, joined with its neighbours."""
        index = bisect_right(self._free, (start, 0))
        if index < len(self._free) and self._free[index][0] == start + room:
            room += self._free.pop(index)[1]
        if index and sum(self._free[index - 1]) == start:
            index -= 1
            before = self._free.pop(index)
            start, room = before[0], before[1] + room
        self._free.insert(index, (start, room))

    def holding(self, address: int) -> Allocation | None:
        """The buffer that has a byte at `address`."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        buffer = self._buffers[self._starts[index]]
        return buffer if address < buffer.address + buffer.size else None

    def owns(self, address: int) -> bool:
        """Whether an address is one of the device's, in a buffer or not."""
        return 0 <= address - self._base < len(self._store)

    def offset(self, address: int) -> int:
        """Where in the store a device address lies."""
        return address - self._base

    def view(self, address: int, size: int) -> memoryview:
        """`size` bytes of the store from a device address, writable."""
        start = address - self._base
        return self._bytes[start : start + size]

    def bound(self) -> DeviceMemory:
        """The memory with the buffers of now, for a launch."""
        self.memory.place(list(self))
        return self.memory
