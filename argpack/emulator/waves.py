"""The registers of a group of waves that stand at one program counter.

Registers are columns: one numpy operation serves every lane of every wave of the group. Waves that take another branch
leave the group with `take`; groups never share storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.matrix import MatrixQueue
from argpack.emulator.offsets import Offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.emulator.lds import Lds
    from argpack.emulator.memory import DeviceMemory

LANES = 64
VGPRS = 512
ACC = 256  # AccVGPR n is register ACC + n here, whatever the descriptor's accum_offset
VCC, M0, EXEC = 106, 124, 126
SGPRS = 128


class Waves:
    """State of `count` waves: SGPRs uint32 [register, wave], VGPRs uint32 [quad, wave, lane, 4].

    VGPR r is `v[r]`, a view of shape (wave, lane); four consecutive registers of a lane lie together, because loads,
    LDS reads and matrix operands take them so. SGPR storage is indexed by operand code: VCC, M0 and EXEC are in it.
    `workgroup` (int64 per wave) counts inside the batch; `lds` is the batch's, `memory` the launch's. `number` (int64
    per wave) tells the waves of the batch apart: it is their place when they started.
    """

    def __init__(
        self,
        sgpr: NDArray[np.uint32],
        quads: NDArray[np.uint32],
        scc: NDArray[np.bool_],
        workgroup: NDArray[np.int64],
        lds: Lds,
        memory: DeviceMemory,
        *,
        pc: int,
    ) -> None:
        self.count = sgpr.shape[1]
        self.pc = pc
        self.sgpr = sgpr
        self.quads = quads
        self.scc = scc
        self.workgroup = workgroup
        self.number = np.arange(self.count, dtype=np.int64)
        self.lds = lds
        self.memory = memory
        self.v = [quads[r >> 2, :, :, r & 3] for r in range(VGPRS)]
        self.exec_full = True
        self.exec_mask: NDArray[np.bool_] = np.ones((self.count, LANES), dtype=np.bool_)
        self.idle = 0  # blocks run since one that accesses device memory or LDS
        self.index_mode = 0  # operands that s_set_gpr_idx_on makes relative; bit 0 is SRC0
        self.matrix = MatrixQueue()
        self._offsets: dict[int, Offsets] = {}
        self._lds_offsets: dict[int, Offsets] = {}

    @classmethod
    def start(cls, workgroup: NDArray[np.int64], lds: Lds, memory: DeviceMemory, *, pc: int) -> Waves:
        """Waves with all registers zero and all lanes enabled."""
        count = len(workgroup)
        waves = cls(
            np.zeros((SGPRS, count), dtype=np.uint32),
            np.zeros((VGPRS // 4, count, LANES, 4), dtype=np.uint32),
            np.zeros(count, dtype=np.bool_),
            workgroup,
            lds,
            memory,
            pc=pc,
        )
        waves.sgpr[EXEC : EXEC + 2] = 0xFFFFFFFF
        return waves

    def take(self, chosen: NDArray[np.bool_], *, pc: int) -> Waves:
        """A new group with the chosen waves' registers; this one must not be used any more.

        Neighbours, which is what the waves of one path mostly are, keep their storage: copying it costs more than all
        that such waves do until they part.
        """
        part = _run(chosen)
        group = Waves(
            self.sgpr[:, part],
            # Picked waves would otherwise lie wave by wave.
            self.quads[:, part] if isinstance(part, slice) else self.quads.compress(part, axis=1),
            self.scc[part],
            self.workgroup[part],
            self.lds,
            self.memory,
            pc=pc,
        )
        group.number = self.number[part]
        group.idle = self.idle
        group.matrix = self.matrix.take(part)
        group.exec_changed()
        return group

    def exec_changed(self) -> None:
        """Recompute the lane mask after EXEC was written."""
        pair = self.sgpr[EXEC : EXEC + 2]
        self.exec_full = bool((pair == 0xFFFFFFFF).all())
        if not self.exec_full:
            self.exec_mask = lanes_of(pair)

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Enabled lanes, shape (wave, lane); None where all are."""
        return None if self.exec_full else self.exec_mask

    def offsets(self, register: int) -> Offsets:
        """VGPR `register` as byte offsets."""
        found = self._offsets.get(register)
        if found is None:
            found = self._offsets[register] = Offsets(self.v[register].astype(np.int64))
        return found

    def lds_offsets(self, register: int) -> Offsets:
        """VGPR `register` as byte offsets from each wave's own LDS image into those of the batch."""
        found = self._lds_offsets.get(register)
        if found is None:
            images = self.lds.image(self.workgroup)
            found = self._lds_offsets[register] = Offsets(self.offsets(register).lane + images[:, None])
        return found

    def changed(self, register: int, count: int = 1) -> None:
        """VGPRs were written by other means than `write`."""
        for each in range(register, register + count) if self._offsets else ():
            self._offsets.pop(each, None)
            self._lds_offsets.pop(each, None)

    def write(self, register: int, value: NDArray[np.uint32]) -> None:
        """Write VGPR `register` in the enabled lanes; `value` broadcasts to (wave, lane)."""
        if register in self._offsets:
            self.changed(register)
        if self.exec_full:
            self.v[register][...] = value
        else:
            np.copyto(self.v[register], value, where=self.exec_mask)


def _run(chosen: NDArray[np.bool_]) -> slice | NDArray[np.bool_]:
    """The chosen waves as a slice, where they lie side by side."""
    first, count = int(chosen.argmax()), int(chosen.sum())
    return slice(first, first + count) if chosen[first : first + count].all() else chosen


def lanes_of(pair: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """An SGPR pair, uint32 (2, wave), as lanes: bool (wave, 64)."""
    packed = np.ascontiguousarray(pair.T).view(np.uint8)
    return np.unpackbits(packed, axis=1, bitorder="little").astype(np.bool_)


def bits_of(lanes: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Lanes, bool (wave, 64), as an SGPR pair: uint32 (2, wave)."""
    return np.packbits(lanes, axis=1, bitorder="little").view(np.uint32).T
