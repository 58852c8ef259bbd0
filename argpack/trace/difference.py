"""An observer that records one launch and then holds others against it, up to the first thing that they do otherwise.

Control flow is which waves run which code, addresses are where device memory and LDS are accessed. It knows no fields.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.observe import Direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.emulator.decoder import Instruction
    from argpack.emulator.engine import Dispatch
    from argpack.emulator.memory import Allocation, DeviceMemory
    from argpack.emulator.observe import Access, Code
    from argpack.emulator.waves import Waves


class Change(enum.StrEnum):
    """In what a launch differs from the one recorded."""

    CONTROL_FLOW = "control flow"
    ADDRESSES = "addresses"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Load:
    """A scalar or vector load that reads bytes `first` up to but without `end` of the kernarg segment."""

    instruction: Instruction
    first: int
    end: int


class DifferenceError(Exception):
    """The launch does something else than the one recorded; it need not run to its end."""

    def __init__(self, change: Change, text: str) -> None:
        super().__init__(text)
        self.change = change
        self.text = text


class Recorder:
    """The `Observer`. The first launch after `record` is recorded, those after `compare` raise DifferenceError.

    `loads` are the instructions that read the kernarg segment, which is the allocation at `segment`'s place.
    """

    def __init__(self) -> None:
        self.loads: dict[tuple[int, int], Load] = {}
        self._events: list[tuple[int, int, int]] = []
        self._position = 0
        self._recording = True
        self._segment: Allocation | None = None

    def record(self) -> None:
        """Forget what was recorded; the next launch takes its place."""
        self.loads, self._events, self._recording = {}, [], True

    def compare(self) -> None:
        """Hold the next launch against the one recorded."""
        self._recording, self._position = False, 0

    def finish(self) -> None:
        """The launch has ended: raise DifferenceError where the one recorded went on."""
        if not self._recording and self._position < len(self._events):
            raise DifferenceError(
                Change.CONTROL_FLOW, f"it ends before code at {self._events[self._position][1]:#x}"
            )

    def begin(self, memory: DeviceMemory) -> None:
        """The kernarg segment is the first allocation."""
        self._segment = next(iter(memory.allocations.values()))

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64]) -> None:
        """Nothing: batches depend on the grid alone."""

    def block(self, waves: Waves, code: Code) -> None:
        """Which waves run which code."""
        self._event(_BLOCK, code.start, waves, b"", f"code at {code.start:#x} runs")

    def memory_access(self, waves: Waves, access: Access) -> None:
        """Where device memory is accessed."""
        address, size = access.made()
        self._access(_MEMORY, waves, access, address)
        if self._recording and access.direction is Direction.READ:
            self._note_load(access.instruction, address, size)

    def lds_access(self, waves: Waves, access: Access) -> None:
        """Where LDS is accessed."""
        self._access(_LDS, waves, access, access.made()[0])

    def _access(self, kind: int, waves: Waves, access: Access, address: NDArray[np.int64]) -> None:
        instruction = access.instruction
        where = "" if kind == _MEMORY else " of LDS"
        self._event(
            kind,
            instruction.address,
            waves,
            address.tobytes(),
            f"{instruction.mnemonic} at {instruction.address:#x} goes to other addresses{where}",
        )

    def _event(self, kind: int, pc: int, waves: Waves, where: bytes, text: str) -> None:
        event = (kind, pc, hash((waves.number.tobytes(), where)))
        if self._recording:
            self._events.append(event)
            return
        if self._position == len(self._events):
            raise DifferenceError(Change.CONTROL_FLOW, f"code at {pc:#x} runs once more")
        expected = self._events[self._position]
        self._position += 1
        if event == expected:
            return
        if event[:2] == expected[:2] and kind != _BLOCK:
            raise DifferenceError(Change.ADDRESSES, text)
        if event[:2] == expected[:2]:
            raise DifferenceError(Change.CONTROL_FLOW, f"code at {pc:#x} is run by other waves")
        raise DifferenceError(Change.CONTROL_FLOW, f"code at {pc:#x} runs, not that at {expected[1]:#x}")

    def _note_load(self, instruction: Instruction, address: NDArray[np.int64], size: int) -> None:
        segment = self._segment
        if segment is None or not address.size:
            return
        inside = address[(address + size > segment.address) & (address < segment.address + segment.size)]
        for start in np.unique(inside - segment.address).tolist():
            self.loads.setdefault((instruction.address, start), Load(instruction, start, start + size))


_BLOCK, _MEMORY, _LDS = range(3)
