"""Runs a launch on the CPU emulator, workgroup batches spread over processes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.memory import DeviceMemory, MemoryFaultError, lay_out
from argpack.emulator.schedule import Schedule, run_schedule
from argpack.emulator.sparse import SparseStore
from argpack.errors import InputError, UnsupportedError
from argpack.launch.emulated import PROCESSOR, check_sizes, dispatch, load
from argpack.launch.launch import Launch, LaunchResult
from argpack.launch.placed import PlacedPages

if TYPE_CHECKING:
    from collections.abc import Callable

    from argpack.codeobject import CodeObject, Kernel
    from argpack.emulator.observe import Observer
    from argpack.emulator.program import Program

_ARGUMENTS = "kernarg segment"
# Bytes of device memory that are kept for the next launch; a larger one is not worth a copy of its results.
_KEPT = 1 << 25
# A second run finds all pages that the first one touched; only addresses read from memory need more.
_ROUNDS = 4


class EmulatorBackend:
    """The `Backend` that needs no GPU. `processes` limits the processes used (default: one per available core).

    An `observer` is told what the kernel does; then one process runs it. The code of the last kernel stays compiled,
    and small memory is kept: many small launches of it cost a fraction of the first.
    """

    name = "emulator"
    description = f"built-in CPU emulator of {PROCESSOR}"

    def __init__(self, *, processes: int | None = None, observer: Observer | None = None) -> None:
        self._observer = observer
        self._processes = processes or len(os.sched_getaffinity(0))
        self._loaded: tuple[CodeObject, Kernel, Program] | None = None
        self._kept: DeviceMemory | None = None

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
        if launch.workgroups is not None:
            return self._run_some(launch, progress)
        program = self._program(launch)
        memory = self._memory(_sizes(launch))
        for buffer in launch.buffers:
            data = memory.view(buffer.name)
            for start, part in buffer.parts():
                data[start : start + part.size] = part
        arguments = _fill_arguments(memory, launch)
        seconds, errors = self._execute(program, memory, launch, progress)
        after = {buffer.name: memory.view(buffer.name) for buffer in launch.buffers}
        if self._kept is not None:  # the next launch uses this memory
            after = {name: data.copy() for name, data in after.items()}
        return LaunchResult(after, seconds, arguments, memory.findings(), errors)

    def _run_some(self, launch: Launch, progress: Callable[[int, int], None] | None) -> LaunchResult:
        placed, needed = lay_out(_sizes(launch))
        store = SparseStore(needed)
        memory = DeviceMemory(_sizes(launch), store=store.map)
        program = self._program(launch)
        pages = PlacedPages(launch, memory, store)
        total = 0.0
        findings: tuple[str, ...] = ()
        for _ in range(_ROUNDS):
            memory.place(placed)
            pages.write()
            arguments = _fill_arguments(memory, launch)
            seconds, errors = self._execute(program, memory, launch, progress)
            total += seconds
            beside = pages.take_in_touched()
            if errors or not beside:
                after = {buffer.name: memory.view(buffer.name) for buffer in launch.buffers}
                findings = (*memory.findings(), *findings)
                return LaunchResult(after, total, arguments, findings, errors, pages.ranges())
            findings = (*findings, *beside)
        raise UnsupportedError(
            f"{launch.kernel.name}: it touches other memory each time that more of it is filled: {findings[-1]}"
        )

    def _execute(
        self,
        program: Program,
        memory: DeviceMemory,
        launch: Launch,
        progress: Callable[[int, int], None] | None,
    ) -> tuple[float, tuple[str, ...]]:
        """Seconds, and the memory access fault that ended the launch."""
        start = dispatch(
            launch.kernel,
            block=launch.block,
            dynamic_lds=launch.dynamic_lds,
            kernarg_address=memory.allocations[_ARGUMENTS].address,
        )
        schedule = Schedule(launch.grid, self._processes, launch.workgroups)
        started = time.perf_counter()
        errors: tuple[str, ...] = ()
        try:
            run_schedule(program, start, memory, schedule, progress=progress)
        except MemoryFaultError as fault:
            errors = (str(fault),)
        return time.perf_counter() - started, errors

    def _program(self, launch: Launch) -> Program:
        """The kernel's code, compiled as far as the last launch needed it."""
        if self._loaded is not None:
            code_object, kernel, program = self._loaded
            if code_object is launch.code_object and kernel is launch.kernel:
                return program
        program = load(launch.code_object, launch.kernel, observer=self._observer)
        self._loaded = (launch.code_object, launch.kernel, program)
        return program

    def _memory(self, sizes: dict[str, int]) -> DeviceMemory:
        """A memory with room for each buffer."""
        if self._kept is not None:
            placed, needed = lay_out(sizes)
            if needed <= self._kept.capacity:
                self._kept.place(placed)
                return self._kept
        memory = DeviceMemory(sizes)
        self._kept = memory if memory.capacity <= _KEPT else None
        return memory


def _sizes(launch: Launch) -> dict[str, int]:
    """Bytes of each allocation, the kernarg segment first."""
    sizes = {buffer.name: buffer.size for buffer in launch.buffers}
    if len(sizes) != len(launch.buffers) or _ARGUMENTS in sizes:
        raise InputError(f"buffer names are not unique: {[b.name for b in launch.buffers]}")
    return {_ARGUMENTS: max(len(launch.arguments), launch.kernel.kernarg_segment_size), **sizes}


def _fill_arguments(memory: DeviceMemory, launch: Launch) -> bytes:
    """Write the argument buffer with its pointers; gives the bytes that the host passes."""
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
