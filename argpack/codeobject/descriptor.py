"""The kernel descriptor: 64 bytes at `NAME.kd` from which the command processor sets a wave up.

Bit positions are those of LLVM's "User Guide for AMDGPU Backend", section Kernel Descriptor. Nothing is
checked against the metadata here: AITER's files leave kernarg_size at 0, and that is what this says.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from argpack.errors import InputError

SIZE = 64
_LAYOUT = struct.Struct("<III4xq20xIIIHH4x")

# The order in which enabled user SGPRs are laid out from s0, with the dwords of each.
_USER_SGPRS = (
    ("private_segment_buffer", 4),
    ("dispatch_ptr", 2),
    ("queue_ptr", 2),
    ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2),
    ("flat_scratch_init", 2),
    ("private_segment_size", 1),
)

ROUND_MODES = ("nearest even", "toward +infinity", "toward -infinity", "toward zero")
DENORM_MODES = ("flush source and destination", "flush destination", "flush source", "keep")


@dataclass(frozen=True, slots=True)
class UserSgpr:
    """One value that the command processor puts into SGPRs: `register` is the first of `count` dwords."""

    name: str
    register: int
    count: int


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """The fields as stored, sizes in bytes; `address` is the descriptor's own virtual address.

    `entry_offset` is relative to `address`. Properties decode the three program resource registers for
    `processor`.
    """

    processor: str
    address: int
    group_segment_size: int
    private_segment_size: int
    kernarg_size: int
    entry_offset: int
    rsrc3: int
    rsrc1: int
    rsrc2: int
    properties: int
    kernarg_preload: int

    @property
    def user_sgprs(self) -> tuple[UserSgpr, ...]:
        """What the enabled user SGPRs hold, in order from s0; preloaded kernel arguments come last."""
        found = []
        register = 0
        for bit, (name, count) in enumerate(_USER_SGPRS):
            if self.properties >> bit & 1:
                found.append(UserSgpr(name, register, count))
                register += count
        if self.kernarg_preload_length:
            found.append(UserSgpr("kernarg_preload", register, self.kernarg_preload_length))
        return tuple(found)

    @property
    def user_sgpr_count(self) -> int:
        """How many user SGPRs the hardware is told to set; workgroup ids start behind them."""
        return _bits(self.rsrc2, 1, 6 if self.processor.startswith("gfx125") else 5)

    @property
    def kernarg_preload_length(self) -> int:
        """Dwords of the kernarg segment that are preloaded into SGPRs."""
        return _bits(self.kernarg_preload, 0, 7)

    @property
    def kernarg_preload_offset(self) -> int:
        """Where in the kernarg segment the preload starts, in dwords."""
        return _bits(self.kernarg_preload, 7, 9)

    @property
    def workgroup_id_x(self) -> bool:
        """Whether the workgroup id x gets an SGPR behind the user SGPRs."""
        return bool(self.rsrc2 >> 7 & 1)

    @property
    def workgroup_id_y(self) -> bool:
        """Whether the workgroup id y gets an SGPR, after x."""
        return bool(self.rsrc2 >> 8 & 1)

    @property
    def workgroup_id_z(self) -> bool:
        """Whether the workgroup id z gets an SGPR, after y."""
        return bool(self.rsrc2 >> 9 & 1)

    @property
    def workgroup_info(self) -> bool:
        """Whether the workgroup info gets an SGPR, after the workgroup ids."""
        return bool(self.rsrc2 >> 10 & 1)

    @property
    def workitem_id_mode(self) -> int:
        """0: the work-item id x only, 1: x and y, 2: x, y and z."""
        return _bits(self.rsrc2, 11, 2)

    @property
    def private_segment_enabled(self) -> bool:
        """Whether scratch memory is set up."""
        return bool(self.rsrc2 & 1)

    @property
    def round_mode_32(self) -> int:
        """Index into ROUND_MODES for float32."""
        return _bits(self.rsrc1, 12, 2)

    @property
    def round_mode_16_64(self) -> int:
        """Index into ROUND_MODES for float16 and float64."""
        return _bits(self.rsrc1, 14, 2)

    @property
    def denorm_mode_32(self) -> int:
        """Index into DENORM_MODES for float32."""
        return _bits(self.rsrc1, 16, 2)

    @property
    def denorm_mode_16_64(self) -> int:
        """Index into DENORM_MODES for float16 and float64."""
        return _bits(self.rsrc1, 18, 2)

    @property
    def dx10_clamp(self) -> bool | None:
        """Whether the clamp modifier turns NaN into 0; None where the processor has no such bit (gfx12)."""
        return None if self.processor.startswith("gfx12") else bool(self.rsrc1 >> 21 & 1)

    @property
    def ieee_mode(self) -> bool | None:
        """Whether signalling NaNs are quieted; None where the processor has no such bit (gfx12)."""
        return None if self.processor.startswith("gfx12") else bool(self.rsrc1 >> 23 & 1)

    @property
    def fp16_overflow(self) -> bool:
        """Whether float16 overflow gives the largest finite value."""
        return bool(self.rsrc1 >> 26 & 1)

    @property
    def wavefront_size(self) -> int:
        """Lanes of a wave, 32 or 64."""
        return 32 if self.properties >> 10 & 1 else 64

    @property
    def dynamic_stack(self) -> bool:
        """Whether the kernel uses a stack of a size that is not known when it is compiled."""
        return bool(self.properties >> 11 & 1)

    @property
    def vgpr_total(self) -> int:
        """Vector registers allocated to a wave, AGPRs included where the register file is unified."""
        granule = 4
        if self._unified_registers or (self._major >= 10 and self.wavefront_size == 32):
            granule = 16 if self.processor.startswith("gfx125") else 8
        return (_bits(self.rsrc1, 0, 6) + 1) * granule

    @property
    def sgpr_total(self) -> int | None:
        """Scalar registers allocated to a wave, VCC and the like included; None from gfx10 on (fixed)."""
        if self._major >= 10:
            return None
        granules = _bits(self.rsrc1, 6, 4)
        return (granules // 2 + 1) * 16 if self._major == 9 else (granules + 1) * 8

    @property
    def accum_offset(self) -> int | None:
        """First register of the unified file that is an AGPR; None where the file is not unified.

        It is on gfx90a, gfx94x and gfx950.
        """
        return (_bits(self.rsrc3, 0, 6) + 1) * 4 if self._unified_registers else None

    @property
    def vgpr_count(self) -> int:
        """Architectural vector registers (v0 and up) of a wave."""
        offset = self.accum_offset
        return self.vgpr_total if offset is None else min(offset, self.vgpr_total)

    @property
    def agpr_count(self) -> int | None:
        """Accumulation registers (a0 and up) of a wave; None where the register file is not unified."""
        offset = self.accum_offset
        return None if offset is None else max(self.vgpr_total - offset, 0)

    @property
    def _major(self) -> int:
        return _major(self.processor)

    @property
    def _unified_registers(self) -> bool:
        return self.processor.startswith(("gfx90a", "gfx94", "gfx95", "gfx9-4-generic"))


def decode(data: bytes, *, processor: str, address: int) -> KernelDescriptor:
    """Read a descriptor of exactly 64 bytes. Raises InputError for another length."""
    if len(data) != SIZE:
        raise InputError(f"kernel descriptor at {address:#x}: expected {SIZE} bytes, found {len(data)}")
    return KernelDescriptor(processor, address, *_LAYOUT.unpack(data))


def _bits(word: int, start: int, count: int) -> int:
    return word >> start & (1 << count) - 1


def _major(processor: str) -> int:
    """9 for gfx950, 10 for gfx1030 and gfx10-1-generic: the last two characters are minor and stepping."""
    digits = processor.removeprefix("gfx").split("-")[0]
    return int(digits if "-" in processor else digits[:-2])
