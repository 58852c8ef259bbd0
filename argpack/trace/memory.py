"""Which bytes of each buffer a launch reads and writes, and by which instructions; what a buffer resource drops.

It judges nothing: `findings` does.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.observe import Direction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from argpack.emulator.decoder import Instruction
    from argpack.emulator.engine import Dispatch
    from argpack.emulator.memory import Allocation, DeviceMemory
    from argpack.emulator.observe import Access, Code
    from argpack.emulator.waves import Waves

# Lanes whose addresses are kept before they are entered into the maps: many at once cost little each.
_ENOUGH = 1 << 21


@dataclass(slots=True, eq=False)
class Site:
    """What one instruction did: `bytes` accessed, `dropped` bytes that its buffer resource did not let through.

    `buffers` are where it went; `fresh` are the bytes that it read and nobody had written.
    """

    instruction: Instruction
    direction: Direction
    buffers: set[str] = field(default_factory=set)
    bytes: int = 0
    dropped: int = 0
    fresh: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """An instruction that reads `size` bytes from `offset` of the argument buffer."""

    instruction: Instruction
    offset: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class BufferUse:
    """What happened to a buffer. The masks are bool (bytes,).

    `fresh` was read before anything was in it. `rewritten` bytes were stored to again, the first of them at
    `first_rewritten`; atomic additions do not count. `behind` bytes were read past its end, by `readers_behind`.
    """

    name: str
    size: int
    read: NDArray[np.bool_]
    written: NDArray[np.bool_]
    fresh: NDArray[np.bool_]
    rewritten: int
    first_rewritten: int | None
    behind: int
    readers_behind: tuple[Instruction, ...]


class MemoryMap:
    """An `Observer` of one launch after another. `uninitialised` names buffers that the host did not fill.

    Read `sites`, `loads` and `uses` after the launch; the first allocation is the kernarg segment.
    """

    def __init__(self, uninitialised: Iterable[str] = ()) -> None:
        self._uninitialised = frozenset(uninitialised)
        self.sites: dict[int, Site] = {}
        self._loads: dict[tuple[int, int], Load] = {}
        self._allocations: list[Allocation] = []
        self._starts: list[int] = []
        self._base = 0
        self._memory: DeviceMemory | None = None
        self._read = self._written = self._fresh = _zeros(1)
        self._rewritten: dict[str, tuple[int, int]] = {}
        self._waiting: list[Access] = []
        self._waiting_lanes = 0

    def begin(self, memory: DeviceMemory) -> None:
        """As `Observer.begin`: nothing is known of the launch before."""
        self.sites, self._loads, self._rewritten = {}, {}, {}
        self._waiting, self._waiting_lanes = [], 0
        self._memory = memory
        self._allocations = list(memory.allocations.values())
        self._starts = [allocation.address for allocation in self._allocations]
        self._base = self._starts[0]
        if self._read.size < memory.capacity:
            self._read, self._written, self._fresh = (_zeros(memory.capacity) for _ in range(3))
        for shadow in (self._read, self._written, self._fresh):
            for allocation in self._allocations:
                self._part(shadow, allocation)[...] = 0

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64]) -> None:
        """As `Observer.batch`."""

    def block(self, waves: Waves, code: Code) -> None:
        """As `Observer.block`."""

    def lds_access(self, waves: Waves, access: Access) -> None:
        """As `Observer.lds_access`."""

    def memory_access(self, _: Waves, access: Access) -> None:
        """As `Observer.memory_access`."""
        self._waiting.append(access)
        self._waiting_lanes += access.address.size
        if self._waiting_lanes > _ENOUGH:
            self._enter()

    @property
    def loads(self) -> tuple[Load, ...]:
        """The instructions that read the argument buffer, by offset."""
        self._enter()
        return tuple(self._loads[key] for key in sorted(self._loads, key=lambda key: key[::-1]))

    @property
    def uses(self) -> Mapping[str, BufferUse]:
        """Every buffer by name, the kernarg segment apart."""
        self._enter()
        found = {}
        for allocation in self._allocations[1:]:
            shadows = (self._read, self._written, self._fresh)
            read, written, fresh = (self._part(shadow, allocation) != 0 for shadow in shadows)
            count, first = self._rewritten.get(allocation.name, (0, None))
            behind = self._behind(allocation.name)
            found[allocation.name] = BufferUse(
                allocation.name,
                allocation.size,
                read,
                written,
                fresh,
                count,
                first,
                sum(behind.values()),
                tuple(self.sites[at].instruction for at in sorted(behind)),
            )
        return found

    def _behind(self, name: str) -> dict[int, int]:
        """Bytes read past the end of a buffer by the instruction at each address."""
        over_reads = {} if self._memory is None else self._memory.over_reads
        by_text = {str(site.instruction).split(":", maxsplit=1)[0]: at for at, site in self.sites.items()}
        return {by_text[where]: count for (buffer, where), count in over_reads.items() if buffer == name}

    def _part(self, shadow: NDArray[np.uint8], allocation: Allocation) -> NDArray[np.uint8]:
        start = allocation.address - self._base
        return shadow[start : start + allocation.size]

    def _enter(self) -> None:
        """Enter what waits into the maps: all reads, then all writes, unless the order of the two counts."""
        waiting, self._waiting, self._waiting_lanes = self._waiting, [], 0
        pieces = [(self._site(access), *access.made()) for access in waiting]
        for access, (site, address, size) in zip(waiting, pieces, strict=True):
            self._count(site, access, address, size)
        parts = [[piece] for piece in pieces] if self._order_counts(pieces) else [pieces]
        for part in parts:
            for address, size in _joined(part, Direction.READ, Direction.ATOMIC):
                index, unit = _units(address - self._base, size, self._read.size)
                self._read.view(f"u{unit}")[index] = _ones(unit)
                if len(part) == 1:
                    self._mark_fresh(part[0][0], index, unit)
            for address, size in _joined(part, Direction.ATOMIC):
                index, unit = _units(address - self._base, size, self._written.size)
                self._written.view(f"u{unit}")[index] = _ones(unit)
            for address, size in _joined(part, Direction.WRITE):
                self._mark_written(address, size)

    def _site(self, access: Access) -> Site:
        at = access.instruction.address
        found = self.sites.get(at)
        if found is None:
            found = self.sites[at] = Site(access.instruction, access.direction)
        return found

    def _count(self, site: Site, access: Access, address: NDArray[np.int64], size: int) -> None:
        if access.in_range is not None:
            dropped, dropped_size = access.dropped()
            site.dropped += dropped.size * dropped_size
            if dropped.size:
                site.buffers.add(self._owner(int(dropped[0])).name)
        if not address.size:
            return
        site.bytes += address.size * size
        first, last = self._owner(int(address[0])), self._owner(int(address[-1]))
        site.buffers |= {first.name, last.name}
        if self._allocations[0] in (first, last):
            for start in np.unique(address).tolist():
                offset = start - self._starts[0]
                if -size < offset < self._allocations[0].size:
                    self._loads.setdefault(
                        (site.instruction.address, offset), Load(site.instruction, offset, size)
                    )

    def _owner(self, address: int) -> Allocation:
        """The allocation that an address lies in or behind."""
        return self._allocations[max(0, bisect_right(self._starts, address) - 1)]

    def _order_counts(self, pieces: list[tuple[Site, NDArray[np.int64], int]]) -> bool:
        return any(
            site.direction is not Direction.WRITE and not self._uninitialised.isdisjoint(site.buffers)
            for site, _, _ in pieces
        )

    def _mark_fresh(self, site: Site, index: NDArray[np.int64], unit: int) -> None:
        """Mark what is read of buffers that the host did not fill, where nothing was written before."""
        for allocation in self._allocations:
            if allocation.name not in self._uninitialised & site.buffers:
                continue
            start = allocation.address - self._base
            inside = _bytes(index, unit)
            inside = inside[(inside >= start) & (inside < start + allocation.size)]
            new = inside[self._written[inside] == 0]
            self._fresh[new] = 1
            site.fresh += new.size

    def _mark_written(self, address: NDArray[np.int64], size: int) -> None:
        index, unit = _units(address - self._base, size, self._written.size)
        written = self._written.view(f"u{unit}")
        if not np.isin(written[index], (0, _ones(unit))).all():
            # Stores of other sizes have left parts of these units.
            index, unit, written = _bytes(index, unit), 1, self._written
        again = index[written[index] != 0]
        new = index if not again.size else index[written[index] == 0]
        touched = [self._part(self._written, a) for a in self._allocations[1:]]
        before = sum(np.count_nonzero(part) for part in touched)
        written[new] = _ones(unit)
        if sum(np.count_nonzero(part) for part in touched) - before < new.size * unit:
            values, counts = np.unique(new, return_counts=True)
            again = np.concatenate([again, np.repeat(values, counts - 1)])
        for allocation in self._allocations[1:]:
            start = allocation.address - self._base
            inside = again[(again * unit >= start) & (again * unit < start + allocation.size)]
            if inside.size:
                first = int(inside.min()) * unit - start
                count, earlier = self._rewritten.get(allocation.name, (0, first))
                self._rewritten[allocation.name] = (count + inside.size * unit, min(first, earlier))


def _units(offset: NDArray[np.int64], size: int, end: int) -> tuple[NDArray[np.int64], int]:
    """The bytes of accesses at offsets below `end`, as numbers of the largest units that fit, and the unit's bytes."""
    bits = int(np.bitwise_or.reduce(offset)) | size | 8
    unit = bits & -bits
    index = ((offset // unit)[:, None] + np.arange(size // unit)).ravel()
    if int(offset.min()) < 0 or int(offset.max()) + size > end:
        # A wild address: the launch ends there.
        index = index[(index >= 0) & (index < end // unit)]
    return index, unit


def _bytes(index: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    """The bytes of units."""
    return (index[:, None] * unit + np.arange(unit)).ravel() if unit > 1 else index


def _joined(
    pieces: list[tuple[Site, NDArray[np.int64], int]], *directions: Direction
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """All addresses of accesses of some directions, together for each size."""
    sizes: dict[int, list[NDArray[np.int64]]] = {}
    for site, address, size in pieces:
        if site.direction in directions and address.size:
            sizes.setdefault(size, []).append(address)
    for size, addresses in sizes.items():
        yield np.concatenate(addresses), size


def _ones(unit: int) -> int:
    """A unit of bytes that are 1."""
    return int.from_bytes(b"\1" * unit, "little")


def _zeros(size: int) -> NDArray[np.uint8]:
    """Bytes that cost no memory until they are touched."""
    return np.frombuffer(mmap.mmap(-1, size), dtype=np.uint8)
