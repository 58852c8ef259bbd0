"""Runs a launch on the CPU emulator, workgroup batches spread over processes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.memory import DeviceMemory, MemoryFaultError, contents
from argpack.emulator.schedule import Schedule, run_schedule
from argpack.errors import InputError
from argpack.launch.emulated import PROCESSOR, check_sizes, dispatch, load
from argpack.launch.launch import Launch, LaunchResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from argpack.emulator.observe import Observer

_ARGUMENTS = "kernarg segment"


class EmulatorBackend:
    """The `Backend` that needs no GPU. `processes` limits the processes used (default: one per available core).

    An `observer` is told what the kernel does; then one process runs it.
    """

    name = "emulator"
    description = f"built-in CPU emulator of {PROCESSOR}"

    def __init__(self, *, processes: int | None = None, observer: Observer | None = None) -> None:
        self._observer = observer
        self._processes = processes or len(os.sched_getaffinity(0))

    def run(self, launch: Launch, *, progress: Callable[[int, int], None] | None = None) -> LaunchResult:
        """Run to the end, or to the first memory access fault, which is reported in `errors`.

        Raises UnsupportedError for a foreign target or an instruction that is not executed, InputError for a launch
        that contradicts itself.
        """
        check_sizes(
            launch.code_object,
            launch.kernel,
            grid=launch.grid,
            block=launch.block,
            dynamic_lds=launch.dynamic_lds,
        )
        memory, arguments = _place(launch)
        program = load(launch.code_object, launch.kernel, memory, observer=self._observer)
        start = dispatch(
            launch.kernel,
            block=launch.block,
            dynamic_lds=launch.dynamic_lds,
            kernarg_address=memory.allocations[_ARGUMENTS].address,
        )
        started = time.perf_counter()
        errors: tuple[str, ...] = ()
        try:
            run_schedule(program, start, memory, Schedule(launch.grid, self._processes), progress=progress)
        except MemoryFaultError as fault:
            errors = (str(fault),)
        seconds = time.perf_counter() - started
        after = contents(memory, [buffer.name for buffer in launch.buffers])
        return LaunchResult(after, seconds, arguments, memory.findings(), errors)


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
