"""Simulated device memory: every buffer between guard zones, in an address space of our own.

Device addresses are numbers; no kernel can reach the host's memory. Accesses outside every buffer are counted and,
where they are wild, end the launch as a memory access fault does on a device.
"""

from __future__ import annotations

import mmap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from argpack.emulator.offsets import Offsets

# Looks like an address that the AMD driver hands out; the kernels keep 48 bits of an address.
BASE = 0x7F00_0000_0000
# A read this close behind a buffer is an over-read that a device would not notice; anywhere else, or any write, is a
# fault. hipMalloc hands out whole pages, so a device forgives about this much.
GUARD = 1 << 20
# A fault is told by its distance from a buffer up to this far: a wrong stride reaches it, a wrong pointer hardly does.
_NEAR = 1 << 40
# Costs nothing until it is touched, and lets buffers of other sizes take the place of the first.
_SMALLEST = 1 << 27


class MemoryFaultError(Exception):
    """A wild access: the launch ends here, as it would on a device. Backends turn it into a finding."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """`size` bytes at device address `address`, called `name`."""

    name: str
    address: int
    size: int


class DeviceMemory:
    """Buffers placed in one address space and the accesses made to them.

    `sizes` gives bytes per buffer name. The backing store is zero until written and costs no memory before. Who places
    buffers himself (`place`) gives none, and a store of his own whose first byte has device address `base`.
    """

    def __init__(self, sizes: Mapping[str, int], *, store: mmap.mmap | None = None, base: int = BASE) -> None:
        placed, needed = lay_out(sizes, base=base)
        # Shared with the processes that run other workgroups; pages cost nothing before they are touched.
        try:
            store = store or mmap.mmap(-1, max(needed, _SMALLEST))
        except OSError as error:
            raise InputError(f"buffers of {needed} bytes: no memory for them ({error.strerror})") from None
        self._base = base
        self._bytes = np.frombuffer(store, dtype=np.uint8)
        self.dwords = self._bytes.view(np.uint32)
        self.quads = self._bytes.view(np.complex128)
        self.place(placed)

    @property
    def capacity(self) -> int:
        """Bytes that buffers can be placed in, guard zones included."""
        return self._bytes.size

    def place(self, allocations: Sequence[Allocation]) -> None:
        """Have these buffers, in ascending order with guard zones between, and no others; no access was made yet."""
        self.allocations = {allocation.name: allocation for allocation in allocations}
        self._starts = np.array([a.address - self._base for a in allocations], dtype=np.int64)
        self._ends = self._starts + np.array([a.size for a in allocations], dtype=np.int64)
        self._names = list(self.allocations)
        self.over_reads: Counter[tuple[str, str]] = Counter()

    def view(self, name: str) -> NDArray[np.uint8]:
        """The bytes of one buffer, shape (size,), writable and shared with the device."""
        start = self.offset(name)
        return self._bytes[start : start + self.allocations[name].size]

    def offset(self, name: str) -> int:
        """Where a buffer begins in the store, bytes."""
        return self.allocations[name].address - self._base

    def locate(
        self,
        address: NDArray[np.int64],
        size: int,
        active: NDArray[np.bool_] | None,
        *,
        where: str,
        write: bool,
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Store offsets (int64) of `size`-byte accesses at device addresses, and the mask of those inside a buffer.

        `active` masks the lanes that access at all (None: all). The returned mask is None where every lane is inside.
        A read in a guard zone is counted in `over_reads` and left out of the mask; a wild read, or a write outside
        every buffer, raises MemoryFaultError naming `where`.
        """
        offset = address - self._base
        if self._in_one_buffer(offset, size, active):
            return offset, active
        return offset, self._check_each(offset, size, active, where=where, write=write)

    def load(
        self, address: NDArray[np.int64], active: NDArray[np.bool_] | None, dwords: int, *, where: str
    ) -> NDArray[np.uint32]:
        """Read dwords at device addresses of shape S: uint32 of shape S + (dwords,), each dword checked for itself.

        Dwords that are not `active` (a mask of shape S, or None) or lie in a guard zone are 0. Raises MemoryFaultError
        as `locate` does.
        """
        offset = address - self._base
        if self._in_one_buffer(offset, 4 * dwords, active):
            return self.gather(offset, active, dwords)
        each = address[..., None] + 4 * np.arange(dwords)
        mask = None if active is None else np.broadcast_to(active[..., None], each.shape)
        offset, inside = self.locate(each, 4, mask, where=where, write=False)
        return self.gather(offset, inside, 1)[..., 0]

    def load_rows(
        self,
        base: NDArray[np.int64],
        offsets: Offsets,
        dwords: int,
        *,
        low: int,
        high: int,
        out: NDArray[np.uint32] | None = None,
    ) -> NDArray[np.uint32] | None:
        """Read dwords at device addresses base (wave,) + offsets, which span `low` up to but without `high`.

        Gives uint32 (wave, lane, dwords), for four dwords in `out` if that is given; None where the plain way is
        needed: not all in one buffer, or unaligned.
        """
        index = int(np.searchsorted(self._starts, low - self._base, side="right")) - 1
        if index < 0 or high - self._base > int(self._ends[index]):
            return None
        start = base - self._base
        if (int(np.bitwise_or.reduce(start)) | offsets.bits) & (15 if dwords == 4 else 3):
            return None
        if dwords == 4:
            at = offsets.quads + (start >> 4)[:, None]
            into = None if out is None else out.view(np.complex128)[..., 0]
            return self.quads.take(at, mode="clip", out=into).view(np.uint32).reshape(*at.shape, 4)
        at = offsets.dwords + (start >> 2)[:, None]
        return self.dwords.take(
            at[..., None] + np.arange(dwords) if dwords > 1 else at[..., None], mode="clip"
        )

    def _in_one_buffer(self, offset: NDArray[np.int64], size: int, active: NDArray[np.bool_] | None) -> bool:
        if active is not None:
            if not active.any():
                return True
            offset = offset[active]
        low, high = int(offset.min()), int(offset.max()) + size
        index = int(np.searchsorted(self._starts, low, side="right")) - 1
        return index >= 0 and high <= int(self._ends[index])

    def _check_each(
        self,
        offset: NDArray[np.int64],
        size: int,
        active: NDArray[np.bool_] | None,
        *,
        where: str,
        write: bool,
    ) -> NDArray[np.bool_]:
        owner = np.searchsorted(self._starts, offset, side="right") - 1
        known = np.clip(owner, 0, len(self._starts) - 1)
        inside = (owner >= 0) & (offset + size <= self._ends[known])
        outside = ~inside if active is None else active & ~inside
        if outside.any():
            behind = offset - self._ends[known]
            near = (owner >= 0) & (behind < GUARD) if not write else np.zeros_like(inside)
            wild = outside & ~near
            if wild.any():
                raise MemoryFaultError(
                    self._describe(int(offset[wild][0]) + self._base, size, where=where, write=write)
                )
            for number in np.unique(known[outside]):
                lanes = outside & (known == number)
                self.over_reads[self._names[int(number)], where] += int(lanes.sum()) * size
        return inside if active is None else inside & active

    def _describe(self, address: int, size: int, *, where: str, write: bool) -> str:
        verb = "write to" if write else "read from"
        offset = address - self._base
        index = int(np.searchsorted(self._starts, offset, side="right")) - 1
        behind = offset - int(self._ends[index]) if index >= 0 else 1 << 62
        ahead = int(self._starts[index + 1]) - offset if index + 1 < len(self._starts) else 1 << 62
        if behind < 0:
            place = f"across the end of {self._names[index]}"
        elif min(behind, ahead) > _NEAR:
            # A negative number is an address with its highest bit set.
            place = "below every buffer" if 0 <= address < self._base else "far above every buffer"
        elif behind <= ahead:
            place = f"{behind:,} bytes past the end of {self._names[index]}"
        else:
            place = f"{ahead:,} bytes before {self._names[index + 1]}"
        return f"memory access fault: {size}-byte {verb} {address % (1 << 64):#x}, {place}, by {where}"

    def findings(self) -> tuple[str, ...]:
        """One sentence per buffer and instruction that read past a buffer's end."""
        return tuple(
            f"{count:,} bytes read past the end of {name} by {where} (zero here; whatever lies there on a device)"
            for (name, where), count in self.over_reads.items()
        )

    def gather(
        self, offset: NDArray[np.int64], mask: NDArray[np.bool_] | None, dwords: int
    ) -> NDArray[np.uint32]:
        """Read dwords at each store offset (bytes, any shape S): uint32 of shape S + (dwords,), 0 where masked."""
        if mask is not None:
            offset = np.where(mask, offset, 0)
        if dwords == 4 and not (offset & 15).any():
            data = self.quads.take(offset >> 4, mode="clip").view(np.uint32).reshape(*offset.shape, 4)
        elif not (offset & 3).any():
            index = offset >> 2
            data = self.dwords.take(
                index[..., None] + np.arange(dwords) if dwords > 1 else index[..., None], mode="clip"
            )
        else:
            data = self.gather_bytes(offset, 4 * dwords).view(np.uint32)
        if mask is not None:
            data[~mask] = 0
        return data

    def gather_bytes(self, offset: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
        """Read `count` bytes at each store offset of shape S: uint8 of shape S + (count,)."""
        return self._bytes.take(offset[..., None] + np.arange(count), mode="clip")

    def scatter(
        self, offset: NDArray[np.int64], mask: NDArray[np.bool_] | None, data: NDArray[np.uint8]
    ) -> None:
        """Write `data` (uint8, S + (count,)) at store offsets S (bytes) where `mask`; later lanes win."""
        if mask is not None:
            offset, data = offset[mask], data[mask]
        count = data.shape[-1]
        if count == 16 and not (offset & 15).any():
            self.quads[offset >> 4] = np.ascontiguousarray(data).view(np.complex128)[..., 0]
        elif count % 4 == 0 and not (offset & 3).any():
            index = (offset >> 2)[..., None] + np.arange(count // 4)
            self.dwords[index] = np.ascontiguousarray(data).view(np.uint32)
        else:
            self._bytes[offset[..., None] + np.arange(count)] = data


def lay_out(sizes: Mapping[str, int], *, base: int = BASE) -> tuple[tuple[Allocation, ...], int]:
    """Buffers of these sizes (bytes) one behind the other from `base`, guard zones around each, and the bytes that all
    of it takes. Raises InputError where that is more than the address space has.
    """
    placed = []
    cursor = GUARD
    for name, size in sizes.items():
        placed.append(Allocation(name, base + cursor, size))
        # Twice: behind one buffer is never mistaken for in front of the next.
        cursor += -(-size // GUARD) * GUARD + 2 * GUARD
    if cursor >= 1 << 46:
        raise InputError(
            f"buffers of {cursor} bytes do not fit the emulated address space of {1 << 46} bytes"
        )
    return tuple(placed), cursor
