"""What an observer of a launch is told. A program with an observer compiles other steps; without one nothing changes.

An observed launch runs in one process, so that all that was seen is in one place and in order.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from argpack.emulator.decoder import Instruction
    from argpack.emulator.engine import Dispatch
    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.waves import Waves


class Direction(enum.StrEnum):
    """What an access does to the bytes. `ATOMIC` reads and writes them."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction and the registers that it names.

    `reads` and `writes` are VGPRs (0-511, AccVGPRs from 256); `scalar_reads` and `scalar_writes` operand codes (SGPRs
    0-101, VCC 106, M0 124, EXEC 126).
    """

    instruction: Instruction
    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    scalar_reads: frozenset[int] = frozenset()
    scalar_writes: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Straight-line code from address `start`: its operations, the last of them included, and how it ends.

    `kind` is that of a `Block`: branch, conditional, barrier or end. There is one object for each start.
    """

    start: int
    operations: tuple[Operation, ...]
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One execution of a memory instruction by a group of waves, before it happens.

    `address` is int64 (wave, lane), for a scalar load (wave, 1): device addresses, or bytes of LDS. Each lane accesses
    `size` bytes from there. `lanes` masks those that access at all, None is all. `in_range` says which of them the
    buffer resource lets through, for each lane or for each dword of a lane (wave, lane, dword); None is all.
    """

    instruction: Instruction
    direction: Direction
    address: NDArray[np.int64]
    size: int
    lanes: NDArray[np.bool_] | None = None
    in_range: NDArray[np.bool_] | None = None

    def made(self) -> tuple[NDArray[np.int64], int]:
        """Where the accesses that happen start, int64 (n,), and the bytes of each."""
        if self.in_range is None:
            return self._pieces(self.lanes)
        return self._pieces(self._enabled() & self.in_range)

    def dropped(self) -> tuple[NDArray[np.int64], int]:
        """Where the accesses that the buffer resource drops would start, int64 (n,), and the bytes of each."""
        if self.in_range is None:
            return np.empty(0, np.int64), self.size
        return self._pieces(self._enabled() & ~self.in_range)

    def _enabled(self) -> NDArray[np.bool_]:
        if self.lanes is None:
            return np.ones(1, np.bool_)
        return self.lanes[..., None] if self.in_range is not None and self.in_range.ndim > 2 else self.lanes

    def _pieces(self, mask: NDArray[np.bool_] | None) -> tuple[NDArray[np.int64], int]:
        if mask is None:
            return self.address.ravel(), self.size
        if mask.ndim == self.address.ndim:
            return self.address[mask], self.size
        return (self.address[..., None] + 4 * np.arange(mask.shape[-1]))[mask], 4


class Observer(Protocol):
    """What `EmulatorBackend(observer=…)` takes. The calls come in the order of execution.

    Arrays belong to the caller: what is kept must be copied, except the arrays of an `Access`.
    """

    def begin(self, memory: DeviceMemory, /) -> None:
        """A launch starts; `memory.allocations` has its buffers and its kernarg segment."""

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64], /) -> None:
        """Workgroups start side by side: ids int64 (n, 3) as x, y, z. The batch before has ended.

        `waves.workgroup` counts in `workgroups`; `waves.number // n` is the wave of the workgroup.
        """

    def block(self, waves: Waves, code: Code, /) -> None:
        """A group of waves is about to run straight-line code."""

    def memory_access(self, waves: Waves, access: Access, /) -> None:
        """A group of waves is about to access device memory, out of range accesses included."""

    def lds_access(self, waves: Waves, access: Access, /) -> None:
        """A group of waves is about to access LDS; a load to LDS makes a `memory_access` before."""


class Observers:
    """Several observers as one; each call goes to all in turn."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)

    def begin(self, memory: DeviceMemory, /) -> None:
        """As `Observer.begin`."""
        for observer in self._observers:
            observer.begin(memory)

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64]) -> None:
        """As `Observer.batch`."""
        for observer in self._observers:
            observer.batch(dispatch, workgroups)

    def block(self, waves: Waves, code: Code) -> None:
        """As `Observer.block`."""
        for observer in self._observers:
            observer.block(waves, code)

    def memory_access(self, waves: Waves, access: Access) -> None:
        """As `Observer.memory_access`."""
        for observer in self._observers:
            observer.memory_access(waves, access)

    def lds_access(self, waves: Waves, access: Access) -> None:
        """As `Observer.lds_access`."""
        for observer in self._observers:
            observer.lds_access(waves, access)
