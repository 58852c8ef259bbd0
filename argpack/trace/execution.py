"""How often each instruction ran, counted in waves, and how many waves ran it at least once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from argpack.emulator.decoder import Instruction
    from argpack.emulator.engine import Dispatch
    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.observe import Access, Code
    from argpack.emulator.waves import Waves


@dataclass(frozen=True, slots=True)
class Executed:
    """An instruction and how often waves executed it."""

    instruction: Instruction
    count: int


# Turns in a row that access nothing: the longest loop of such a kind that was seen has a few dozen.
_IDLE_BLOCKS = 50_000


class Execution:
    """An `Observer` of one launch after another. It ends one that goes round and round without an access.

    Then `block` raises UnsupportedError, long before the emulator would.
    """

    def __init__(self) -> None:
        self._counts: dict[Code, int] = {}
        self._idle = 0

    def begin(self, _: DeviceMemory) -> None:
        """As `Observer.begin`: nothing is known of the launch before."""
        self._counts, self._idle = {}, 0

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64]) -> None:
        """As `Observer.batch`."""

    def block(self, waves: Waves, code: Code) -> None:
        """As `Observer.block`."""
        self._counts[code] = self._counts.get(code, 0) + waves.count
        self._idle += 1
        if self._idle > _IDLE_BLOCKS:
            raise UnsupportedError(
                f"it seems to hang: {_IDLE_BLOCKS:,} turns in the code around {code.start:#x} without an access to "
                "memory"
            )

    def memory_access(self, _: Waves, __: Access) -> None:
        """As `Observer.memory_access`."""
        self._idle = 0

    def lds_access(self, _: Waves, __: Access) -> None:
        """As `Observer.lds_access`."""
        self._idle = 0

    @property
    def executed(self) -> Mapping[int, Executed]:
        """By address, in order; what never ran is not there."""
        found: dict[int, Executed] = {}
        for code, count in self._counts.items():
            for operation in code.operations:
                at = operation.instruction.address
                before = found[at].count if at in found else 0
                found[at] = Executed(operation.instruction, before + count)
        return {at: found[at] for at in sorted(found)}
