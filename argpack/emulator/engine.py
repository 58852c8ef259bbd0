"""Runs a kernel's workgroups: batches of workgroups in lockstep, batches over processes.

Waves that stand at one program counter form a group and run together up to the next barrier; a barrier is passed when
every wave of the batch that still runs has reached one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.codeobject.descriptor import DENORM_MODES, ROUND_MODES
from argpack.emulator.lds import Lds
from argpack.emulator.waves import EXEC, LANES, Waves, bits_of
from argpack.errors import UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.codeobject import KernelDescriptor
    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.program import Program

# A wave that executes this many instructions without ending is taken to hang.
_INSTRUCTION_LIMIT = 200_000_000
# So is one that runs this many blocks in a row, some seconds, without an access to device memory or LDS: a loop over a
# size of 0 counts through all of 32 bits.
_IDLE_LIMIT = 500_000
# Indices into DENORM_MODES: sources and results both flushed, or neither.
_DENORM_MODES = (0, 3)


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What the command processor knows: descriptor, entry address, block (work-items), LDS bytes, kernarg address."""

    descriptor: KernelDescriptor
    entry: int
    block: tuple[int, int, int]
    lds_size: int
    kernarg_address: int

    @property
    def waves(self) -> int:
        """Waves per workgroup."""
        return -(-int(np.prod(self.block)) // LANES)


def run_batch(
    program: Program, dispatch: Dispatch, memory: DeviceMemory, workgroups: NDArray[np.int64]
) -> int:
    """Run workgroups, ids int64 (n, 3) as x, y, z, to their end; gives the number of group instructions executed.

    Raises UnsupportedError, and MemoryFaultError for a wild access.
    """
    if program.observer is not None:
        program.observer.batch(dispatch, workgroups)
    lds = Lds(len(workgroups), dispatch.lds_size)
    running = [start_waves(dispatch, memory, workgroups, lds)]
    waiting: list[Waves] = []
    executed = 0
    with np.errstate(all="ignore"):
        while running:
            group = running.pop()
            block = program.block(group.pc)
            executed += block.instructions
            if executed > _INSTRUCTION_LIMIT:
                raise UnsupportedError(
                    f"{program.name}: no end after {executed:,} instructions, at {group.pc:#x}: it seems to hang"
                )
            group.idle = 0 if block.accesses else group.idle + 1
            if group.idle > _IDLE_LIMIT:
                raise UnsupportedError(
                    f"{program.name}: {_IDLE_LIMIT:,} turns in the code around {group.pc:#x} without an access to "
                    "memory: it seems to hang"
                )
            try:
                for execute in block.body:
                    execute(group)
            except UnsupportedError as error:
                raise UnsupportedError(f"{program.name}: {error}") from None
            if block.kind == "end":
                group.matrix.release(group.quads)
            elif block.kind == "barrier":
                group.pc = block.following
                waiting.append(group)
            elif block.kind == "branch":
                group.pc = block.target
                running.append(group)
            elif block.condition is not None:
                running += _branch(group, block.condition(group), block.target, block.following)
            if not running:
                running, waiting = waiting, []
    return executed


def _branch(group: Waves, taken: NDArray[np.bool_], target: int, following: int) -> list[Waves]:
    if taken.all():
        group.pc = target
        return [group]
    if not taken.any():
        group.pc = following
        return [group]
    return [group.take(taken, pc=target), group.take(~taken, pc=following)]


def unsupported_start(descriptor: KernelDescriptor) -> str | None:
    """What the descriptor asks for that `start_waves` does not set up or the instructions do not honour, or None."""
    for user in descriptor.user_sgprs:
        if user.name != "kernarg_segment_ptr":
            return f"the user SGPRs of {user.name}"
    if descriptor.private_segment_enabled:
        return "scratch memory"
    if descriptor.workgroup_info:
        return "the SGPR with the workgroup info"
    if descriptor.round_mode_32:
        return f"float32 rounding {ROUND_MODES[descriptor.round_mode_32]}"
    if descriptor.denorm_mode_32 not in _DENORM_MODES:
        return f"float32 denormals: {DENORM_MODES[descriptor.denorm_mode_32]}"
    return None


def start_waves(dispatch: Dispatch, memory: DeviceMemory, workgroups: NDArray[np.int64], lds: Lds) -> Waves:
    """Waves as the hardware starts them, ordered by wave of the workgroup, then by workgroup.

    Registers per LLVM's "User Guide for AMDGPU Backend", initial kernel execution state.
    """
    descriptor, count = dispatch.descriptor, len(workgroups)
    workgroup = np.tile(np.arange(count), dispatch.waves)
    wave = np.repeat(np.arange(dispatch.waves), count)
    waves = Waves.start(workgroup.astype(np.int64), lds, memory, pc=dispatch.entry)
    for user in descriptor.user_sgprs:
        waves.sgpr[user.register] = dispatch.kernarg_address & 0xFFFFFFFF
        waves.sgpr[user.register + 1] = dispatch.kernarg_address >> 32
    register = descriptor.user_sgpr_count
    for axis, enabled in enumerate(
        (descriptor.workgroup_id_x, descriptor.workgroup_id_y, descriptor.workgroup_id_z)
    ):
        if enabled:
            waves.sgpr[register] = workgroups[workgroup, axis]
            register += 1
    item = wave[:, None] * LANES + np.arange(LANES)
    x, y, _ = dispatch.block
    ids = (item % x) | (item // x % y) << 10 | (item // (x * y)) << 20
    waves.v[0][...] = ids.astype(np.uint32)
    total = int(np.prod(dispatch.block))
    if total % LANES:
        last = item >= total
        waves.sgpr[EXEC : EXEC + 2] = bits_of(~last)
        waves.exec_changed()
    return waves
