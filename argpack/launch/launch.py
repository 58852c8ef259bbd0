"""What is launched, told apart from where: the same `Launch` runs on every backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.launch.buffer import Buffer, MadeBuffer


@dataclass(frozen=True, slots=True)
class Relocation:
    """A pointer in the argument buffer: 8 bytes at `offset` get the address of `buffer` plus `addend` bytes."""

    offset: int
    buffer: str
    addend: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch. `grid` counts workgroups, `block` work-items, `dynamic_lds` bytes.

    `arguments` is the buffer that the host passes (372 bytes for f4gemm); pointers in it are named by `relocations`
    and filled in by the backend, which alone knows addresses. `workgroups` are the ids (x, y, z) of those to run, all
    slices of an output together; None runs the whole grid, which is all that a GPU can do.
    """

    code_object: CodeObject
    kernel: Kernel
    arguments: bytes
    relocations: tuple[Relocation, ...]
    buffers: tuple[Buffer | MadeBuffer, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_lds: int = 0
    workgroups: tuple[tuple[int, int, int], ...] | None = None

    def buffer_at(self, offset: int) -> str:
        """Name of the buffer that the pointer at `offset` of the arguments points into. Raises InputError."""
        return self._relocation(offset).buffer

    def pointed_at(self, offset: int, size: int, what: str) -> tuple[NDArray[np.uint8], int]:
        """`size` bytes from where the pointer at `offset` of the arguments points, and where that is in its buffer.

        Raises InputError, which calls them `what`, where the pointer is null or the buffer ends before them.
        """
        found = self._relocation(offset)
        data = next(buffer.data for buffer in self.buffers if buffer.name == found.buffer)
        if found.addend < 0 or found.addend + size > data.size:
            left = max(0, data.size - found.addend)
            raise InputError(f"{what}: expected {size:,} bytes in its buffer, found {left:,}")
        return data[found.addend : found.addend + size], found.addend

    def _relocation(self, offset: int) -> Relocation:
        for relocation in self.relocations:
            if relocation.offset == offset:
                return relocation
        raise InputError(f"the pointer at {offset:#x} of the arguments points into no buffer")


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """What a backend returns: contents of each buffer after the launch (uint8), kernel time, the packed arguments.

    `findings` are sentences about accesses that a device would not notice (reads a little past a buffer's end).
    `errors` are accesses that make the launch wrong whatever the numbers say: a memory access fault, a store outside
    every buffer, a damaged guard zone. The emulator sees all of them, a GPU only damaged guard zones.
    `present`, by name of a buffer, are the bytes that mean something after a launch of some workgroups: what these
    should access, and all that they did; int64 (n, 2) of start and stop, ascending. Empty after one of all.
    """

    buffers: Mapping[str, NDArray[np.uint8]]
    kernel_seconds: float
    arguments: bytes
    findings: tuple[str, ...] = field(default=())
    errors: tuple[str, ...] = field(default=())
    present: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


class Backend(Protocol):
    """Runs a `Launch`. `name` is what a verdict prints; `description` says which device or emulator it is."""

    @property
    def name(self) -> str:
        """`emulator` or `hip`."""

    @property
    def description(self) -> str:
        """One line for people: what runs the kernel."""

    def run(self, launch: Launch, *, progress: Callable[[int, int], None] | None = None) -> LaunchResult:
        """Run to the end. `progress(done, total)` counts workgroups. Raises ArgpackError children only."""
