"""Runs a launch on the CPU emulator, workgroup batches spread over processes."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.engine import Dispatch, unsupported_start
from argpack.emulator.memory import DeviceMemory, MemoryFaultError, contents
from argpack.emulator.program import Program
from argpack.emulator.schedule import Schedule, run_schedule
from argpack.errors import InputError, UnsupportedError
from argpack.launch.launch import Launch, LaunchResult

if TYPE_CHECKING:
    from collections.abc import Callable

_ARGUMENTS = "kernarg segment"
_PROCESSOR = "gfx950"
_LDS_BYTES = 160 * 1024
_WORK_ITEMS = 1024


class EmulatorBackend:
    """The `Backend` that needs no GPU. `processes` limits the processes used (default: one per available core)."""

    name = "emulator"
    description = f"built-in CPU emulator of {_PROCESSOR}"

    def __init__(self, *, processes: int | None = None) -> None:
        self._processes = processes or len(os.sched_getaffinity(0))

    def run(self, launch: Launch, *, progress: Callable[[int, int], None] | None = None) -> LaunchResult:
        """Run to the end, or to the first memory access fault, which is reported in `errors`.

        Raises UnsupportedError for a foreign target or an instruction that is not executed, InputError for a launch
        that contradicts itself.
        """
        target = launch.code_object.target
        if target.processor != _PROCESSOR:
            raise UnsupportedError(
                f"{launch.code_object.source}: code object for {target}, this emulator executes {_PROCESSOR}"
            )
        descriptor = launch.kernel.descriptor
        missing = unsupported_start(descriptor)
        if missing:
            raise UnsupportedError(
                f"{launch.code_object.source}: kernel {launch.kernel.name!r}: the emulator does not have {missing}"
            )
        _check_sizes(launch)
        memory, arguments = _place(launch)
        code, base = _code(launch)
        program = Program(
            code, base, memory, flush_f32=descriptor.denorm_mode_32 == 0, name=launch.kernel.name
        )
        dispatch = Dispatch(
            descriptor=descriptor,
            entry=launch.kernel.code_address,
            block=launch.block,
            lds_size=launch.kernel.group_segment_size + launch.dynamic_lds,
            kernarg_address=memory.allocations[_ARGUMENTS].address,
        )
        started = time.perf_counter()
        errors: tuple[str, ...] = ()
        try:
            run_schedule(program, dispatch, memory, Schedule(launch.grid, self._processes), progress=progress)
        except MemoryFaultError as fault:
            errors = (str(fault),)
        seconds = time.perf_counter() - started
        after = contents(memory, [buffer.name for buffer in launch.buffers])
        return LaunchResult(after, seconds, arguments, memory.findings(), errors)


def _check_sizes(launch: Launch) -> None:
    """Raises InputError for a grid, block or LDS that no gfx950 device starts."""
    where = f"{launch.code_object.source}: kernel {launch.kernel.name!r}"
    items = math.prod(launch.block)
    if min(*launch.grid, *launch.block) < 1 or items > _WORK_ITEMS:
        raise InputError(
            f"{where}: grid {launch.grid}, block {launch.block}: expected 1 or more of each, "
            f"and at most {_WORK_ITEMS} work-items"
        )
    lds = launch.kernel.group_segment_size + launch.dynamic_lds
    if not 0 <= lds <= _LDS_BYTES:
        raise InputError(f"{where}: {lds} bytes of LDS, {_PROCESSOR} has {_LDS_BYTES}")


def _place(launch: Launch) -> tuple[DeviceMemory, bytes]:
    """Put the buffers into device memory and fill in the pointers of the argument buffer."""
    segment = max(len(launch.arguments), launch.kernel.kernarg_segment_size)
    sizes = {buffer.name: buffer.data.size for buffer in launch.buffers}
    if len(sizes) != len(launch.buffers) or _ARGUMENTS in sizes:
        raise InputError(f"buffer names are not unique: {[b.name for b in launch.buffers]}")
    memory = DeviceMemory({_ARGUMENTS: segment, **sizes})
    for buffer in launch.buffers:
        memory.view(buffer.name)[...] = buffer.data
    packed = bytearray(launch.arguments)
    for relocation in launch.relocations:
        where = f"argument at {relocation.offset:#x}"
        if relocation.buffer not in sizes:
            raise InputError(f"{where} points to {relocation.buffer}, which is no buffer")
        if not 0 <= relocation.offset <= len(packed) - 8:
            raise InputError(f"{where}: expected 8 bytes inside the {len(packed)} bytes of arguments")
        address = memory.allocations[relocation.buffer].address + relocation.addend
        if not 0 <= address < 1 << 64:
            raise InputError(f"{where}: {relocation.buffer} plus {relocation.addend} is no 64-bit address")
        packed[relocation.offset : relocation.offset + 8] = address.to_bytes(8, "little")
    memory.view(_ARGUMENTS)[: len(packed)] = np.frombuffer(bytes(packed), dtype=np.uint8)
    return memory, bytes(packed)


def _code(launch: Launch) -> tuple[bytes, int]:
    entry = launch.kernel.code_address
    for segment in launch.code_object.segments:
        if segment.address <= entry < segment.address + len(segment.data):
            return segment.data, segment.address
    raise InputError(
        f"{launch.code_object.source}: no segment holds the entry {entry:#x} of {launch.kernel.name}"
    )
