"""Runs a launch on the CPU emulator, workgroup batches spread over processes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.memory import DeviceMemory, MemoryFaultError, contents, lay_out
from argpack.emulator.schedule import Schedule, run_schedule
from argpack.errors import InputError
from argpack.launch.emulated import PROCESSOR, check_sizes, dispatch, load
from argpack.launch.launch import Launch, LaunchResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from argpack.codeobject import CodeObject, Kernel
    from argpack.emulator.observe import Observer
    from argpack.emulator.program import Program

_ARGUMENTS = "kernarg segment"


class EmulatorBackend:
    """The `Backend` that needs no GPU. `processes` limits the processes used (default: one per available core).

    An `observer` is told what the kernel does; then one process runs it. The code of the last kernel stays compiled:
    many small launches of it cost a fraction of the first.
    """

    name = "emulator"
    description = f"built-in CPU emulator of {PROCESSOR}"

    def __init__(self, *, processes: int | None = None, observer: Observer | None = None) -> None:
        self._observer = observer
        self._processes = processes or len(os.sched_getaffinity(0))
        self._kept: tuple[CodeObject, Kernel, DeviceMemory, Program] | None = None

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
        memory, program = self._ready(launch)
        arguments = _fill(memory, launch)
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

    def _ready(self, launch: Launch) -> tuple[DeviceMemory, Program]:
        """A memory with room for each buffer, and the kernel's code bound to it."""
        sizes = _sizes(launch)
        if self._kept is not None:
            code_object, kernel, memory, program = self._kept
            placed, needed = lay_out(sizes)
            if code_object is launch.code_object and kernel is launch.kernel and needed <= memory.capacity:
                memory.place(placed)
                return memory, program
        memory = DeviceMemory(sizes)
        program = load(launch.code_object, launch.kernel, memory, observer=self._observer)
        self._kept = (launch.code_object, launch.kernel, memory, program)
        return memory, program


def _sizes(launch: Launch) -> dict[str, int]:
    """Bytes of each allocation, the kernarg segment first."""
    sizes = {buffer.name: buffer.size for buffer in launch.buffers}
    if len(sizes) != len(launch.buffers) or _ARGUMENTS in sizes:
        raise InputError(f"buffer names are not unique: {[b.name for b in launch.buffers]}")
    return {_ARGUMENTS: max(len(launch.arguments), launch.kernel.kernarg_segment_size), **sizes}


def _fill(memory: DeviceMemory, launch: Launch) -> bytes:
    """Write the buffers and the argument buffer with its pointers; gives the latter."""
    for buffer in launch.buffers:
        data = memory.view(buffer.name)
        for start, part in buffer.parts():
            data[start : start + part.size] = part
    packed = bytearray(launch.arguments)
    names = {buffer.name for buffer in launch.buffers}
    for relocation in launch.relocations:
        where = f"argument at {relocation.offset:#x}"
        if relocation.buffer not in names:
            raise InputError(f"{where} points to {relocation.buffer}, which is no buffer")
        if not 0 <= relocation.offset <= len(packed) - 8:
            raise InputError(f"{where}: expected 8 bytes inside the {len(packed)} bytes of arguments")
        address = memory.allocations[relocation.buffer].address + relocation.addend
        if not 0 <= address < 1 << 64:
            raise InputError(f"{where}: {relocation.buffer} plus {relocation.addend} is no 64-bit address")
        packed[relocation.offset : relocation.offset + 8] = address.to_bytes(8, "little")
    segment = memory.view(_ARGUMENTS)
    segment[...] = np.frombuffer(bytes(packed).ljust(segment.size, b"\0"), dtype=np.uint8)
    return bytes(packed)
